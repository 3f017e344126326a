"""Each promise of SECURITY.md has tests, and they are named here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from named_tests import missing_tests

ROOT = Path(__file__).parents[1]

PROMISES = {
    "Reading a file never runs its content": {
        "test_hostile_inputs.py": ["test_hostile_sets_of_nodes"],
        "networks/files/test_graphs.py": ["test_files_that_hold_no_network_are_refused_in_one_line"],
    },
    "Wrong input gets one line and exit status 2": {
        "test_hostile_inputs.py": ["test_hostile_traces", "test_hostile_numbers"],
        "fuzz/test_slice.py": ["test_a_slice_of_command_lines_and_files_shows_no_fault"],
    },
    "A file is refused in one line, or takes at most": {
        "reading/test_parquet.py": [
            "test_a_long_text_in_every_row_is_counted_before_it_is_written_out",
            "test_sizes_that_a_file_claims_are_compared_before_it_is_unpacked",
        ],
        "test_hostile_inputs.py": ["test_no_command_waits_for_a_pipe_or_a_device"],
    },
    "Text is checked before it is converted to a number": {
        "reading/test_values.py": ["test_numbers_of_many_digits_are_refused_at_once"],
    },
    "Files appear completely or not at all": {
        "faults/test_every_write.py": ["test_a_write_that_fails_leaves_nothing_half_written"],
        "faults/test_kills.py": ["test_a_command_that_is_ended_leaves_what_was_there_or_what_will_be"],
        "test_hostile_inputs.py": ["test_a_terminated_process_leaves_no_temporary_file"],
        "test_writing.py": [
            "test_what_a_killed_process_left_is_swept_and_what_is_being_written_is_not",
            "test_a_file_that_is_replaced_keeps_its_permissions",
            "test_a_symbolic_link_stays_one",
        ],
    },
    "The exit status is 0": {
        "test_cli_endings.py": [
            "test_ctrl_c_is_told_in_a_word_whatever_the_command_line_library_makes_of_it",
            "test_what_is_refused_is_not_told_on_standard_output_where_standard_error_is_closed",
        ],
        "test_hostile_inputs.py": ["test_nobody_who_reads_is_no_invalid_schedule"],
    },
    "JSON, XML and lists with so many tiny elements": {
        "test_hostile_inputs.py": ["test_a_file_of_tiny_pieces_is_refused_by_counting_them"],
    },
    "the same command gives the same files": {
        "test_reproducible.py": ["test_files_are_the_same", "test_what_is_told_is_the_same_but_for_times"],
    },
    "No traceback is shown": {
        "test_hostile_inputs.py": ["test_a_fault_of_gossamer_itself_is_a_line_and_a_file"],
    },
    "Pages of the explorer are self-contained": {
        "explorer/test_scenes.py": ["test_the_page_is_small_fetches_nothing_and_holds_the_columns"],
    },
}


def promised():
    """The text of the page, on one line."""
    return " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("promise", PROMISES)
def test_what_is_promised_has_tests_that_are_there(promise):
    assert promise in promised()
    assert missing_tests(PROMISES[promise]) == []


def test_every_promise_of_the_list_is_named_here():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    part = text.partition("## Guarantees")[2].partition("## Report")[0]
    points = [" ".join(point.split()) for point in re.split(r"^\* ", part, flags=re.MULTILINE)[1:]]
    assert len(points) > 5
    assert [point for point in points if not any(promise in point for promise in PROMISES)] == []
