"""What hostile inputs, kills and full disks once broke: the tests that keep it mended, each with its smallest case."""

from __future__ import annotations

import pytest

from named_tests import missing_tests

HOSTILE, READING, FILES = "test_hostile_inputs.py", "reading/test_node_lists.py", "schedules/test_hostile_files.py"

FAILURES = {
    "a matrix whose last number is bad ended the process": {
        HOSTILE: ["test_a_damaged_matrix_does_not_end_the_process", "test_hostile_sets_of_nodes"],
        READING: ["test_broken_matrix_market_is_refused", "test_broken_compression_is_refused"],
    },
    "exponents of many digits took minutes, or showed a traceback": {
        HOSTILE: ["test_hostile_numbers"],
        "reading/test_values.py": ["test_numbers_of_many_digits_are_refused_at_once"],
        "schedules/test_files.py": ["test_tampered_headers"],
    },
    "small files claimed gigabytes": {
        FILES: [
            "test_claims_beyond_the_size_of_the_file_are_refused",
            "test_a_hundred_million_equal_rows_in_a_small_file_are_refused",
            "test_a_lack_of_memory_is_an_error_of_the_file",
            "test_no_small_file_takes_half_a_gigabyte",
        ],
        "reading/test_parquet.py": ["test_sizes_that_a_file_claims_are_compared_before_it_is_unpacked"],
    },
    "whole numbers over 64 bits showed a traceback, and a limit was allocated": {
        HOSTILE: ["test_hostile_numbers", "test_any_number_of_violations_may_be_asked_for"],
    },
    "a full, closed or missing standard output showed a traceback, or ended with the status of an invalid schedule": {
        HOSTILE: [
            "test_a_full_standard_output_is_one_line",
            "test_a_standard_output_that_is_missing_is_no_fault",
            "test_nobody_who_reads_is_no_invalid_schedule",
        ],
        "test_cli_endings.py": ["test_what_is_refused_is_not_told_on_standard_output_where_standard_error_is_closed"],
    },
    "bursts, loads and replications without bounds made a simulation hang": {HOSTILE: ["test_hostile_numbers"]},
    "a strange header of an array showed a traceback, the more so in a trace": {
        HOSTILE: ["test_hostile_sets_of_nodes", "test_hostile_traces", "test_hostile_destinations"],
        READING: ["test_broken_npy_is_refused"],
    },
    "an edge list with nodes far apart in number reached an assertion": {
        HOSTILE: ["test_nodes_that_are_far_apart_in_number_are_named_nodes"],
    },
    "work was begun that no machine ends": {
        HOSTILE: [
            "test_hostile_numbers",
            "test_a_million_nodes_are_no_reason_to_search_for_long",
            "test_messages_of_gigabytes_are_cut_into_thousands_of_pieces_at_once",
        ],
        "cases/test_needs.py": ["test_words_of_billions_of_letters_are_not_written_down_to_be_refused"],
    },
    "a terminated process left temporary files": {
        HOSTILE: ["test_a_terminated_process_leaves_no_temporary_file"],
        "faults/test_kills.py": ["test_a_command_that_is_ended_leaves_what_was_there_or_what_will_be"],
        "test_writing.py": ["test_what_a_killed_process_left_is_swept_and_what_is_being_written_is_not"],
    },
    "an output lost its permissions, or the link that it was": {
        "test_writing.py": ["test_a_file_that_is_replaced_keeps_its_permissions", "test_a_symbolic_link_stays_one"],
    },
    "a folder as output was refused only after the simulation": {
        HOSTILE: ["test_a_folder_as_output_is_refused_before_the_simulation"],
    },
    "a pipe was waited for": {
        HOSTILE: ["test_a_pipe_is_not_waited_for", "test_no_command_waits_for_a_pipe_or_a_device"],
    },
    "kept code that is damaged showed a traceback": {
        "test_compiling.py": ["test_kept_code_that_is_no_use_is_no_error"],
    },
    "names and words that a terminal cannot show showed a traceback, or were echoed as they are": {
        HOSTILE: [
            "test_a_name_that_is_not_utf8_is_written_and_told",
            "test_a_terminal_that_knows_ascii_alone_shows_what_it_can",
            "test_a_long_word_is_not_repeated_whole",
        ],
        "test_writing.py": ["test_names_are_escaped_in_errors"],
    },
    "of several outputs some were left where another one was refused": {
        "test_writing.py": ["test_no_output_is_left_where_another_one_is_refused"],
    },
    "an output was written over the input": {
        "test_writing.py": ["test_a_command_does_not_write_over_what_it_reads"],
    },
    "signals ended a command without a word, or at once": {
        "test_cli_endings.py": ["test_a_signal_ends_a_command_by_a_status_and_never_by_itself"],
    },
    "nothing to send was a division by zero, an index out of range, or no logarithm": {
        "wormhole/test_planning.py": ["test_nothing_to_send_takes_no_time_by_any_algorithm"],
        "test_general_tasks.py": ["test_a_task_that_waits_may_have_nothing_to_send"],
        "plots/test_dress.py": ["test_what_sends_nothing_is_drawn_at_no_time"],
    },
    "a task that a format has no word for showed a traceback if its limits were not asked for": {
        "interchange/test_exporting.py": [
            "test_a_format_without_a_word_for_a_task_refuses_it_whatever_limits_are_asked_for"
        ],
    },
    "a schedule was built that the checker does not accept": {
        "test_general_tasks.py": ["test_a_job_with_numbers_that_reach_less_far_backwards_in_time"],
        "paths/test_precedence.py": ["test_copies_that_go_through_the_same_switches_both_ways_part_in_time"],
    },
    "the checker overlooked a duplicate": {
        "schedules/test_timed_checker.py": [
            "test_what_cut_through_switches_send_back_in_the_slot_in_which_it_left_is_a_duplicate"
        ],
    },
}


@pytest.mark.parametrize("failure", FAILURES)
def test_every_failure_has_tests_that_are_there(failure):
    assert missing_tests(FAILURES[failure]) == []
