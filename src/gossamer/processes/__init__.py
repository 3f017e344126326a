"""Worker processes: points of a sweep, or the trials of a search, on all processors of a machine.

`pool` takes points (`job`) and gives their results in any order, each once, and replaces workers that die;
`search_trials` takes the trials of one search and gives them in order; `memory` says how much there is and limits it.
"""
