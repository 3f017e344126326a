"""Questions: what is to be communicated, under which rules, at which cost.

`tasks` says who holds what and who must end with what; `rules` what a schedule must respect; `costs` what it takes, in
steps or seconds; `cases` a question with all of that decided, as algorithms, bounds and the checker see it. Takes
networks from below and builds no schedule. A new task is one more file of `tasks` and an entry of its table.
"""
