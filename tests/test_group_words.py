"""Groups in words and files."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.errors import FileFormatError, TaskError
from gossamer.questions.tasks.group_tasks import named_groups, read_groups

GRID = gossamer.network("torus:4x3")


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("0-2", ((0, 1, 2),)),
        ("0,2 4 ; 1-3", ((0, 2, 4), (1, 2, 3))),
        ("2,0,1", ((2, 0, 1),)),
        ("dimension 0", ((0, 3, 6, 9), (1, 4, 7, 10), (2, 5, 8, 11))),
        ("dimensions 0,1", (tuple(range(12)),)),
        ("blocks 6", (tuple(range(6)), tuple(range(6, 12)))),
        ("rails 6", ((0, 6), (1, 7), (2, 8), (3, 9), (4, 10), (5, 11))),
    ],
)
def test_groups_in_words(text, groups):
    assert named_groups(text, GRID) == groups


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-12", "group 0: node 12 is outside 0..11"),
        ("5-3", "group 0: the range 5-3 is empty"),
        ("0,0", "group 0: node 0 is listed twice"),
        ("1;;0,1-1,1", "group 2: node 1 is listed twice"),
        ("dimension 2", r"dimensions must be in 0..1"),
        ("dimension 99999999999999999999", "dimensions must be in"),
        ("blocks 5", "blocks need one number that divides the 12 terminals, got 5"),
        ("rails 0", "rails need one number"),
        ("blocks 2,3", "blocks need one number"),
        ("rows", "groups must be lists such as"),
        ("", "groups must be lists such as"),
        ("0-4000000000", "node 4000000000 is outside"),
    ],
)
def test_words_that_are_refused(text, message):
    with pytest.raises(TaskError, match=message):
        named_groups(text, GRID)


def test_files_of_groups(tmp_path):
    path = tmp_path / "groups.txt"
    path.write_text("# two groups\ntensor: 0 1 2-4\n5,6\n")
    assert read_groups(path, 12) == {"tensor": (0, 1, 2, 3, 4), "1": (5, 6)}
    assert named_groups(str(path), GRID) == ((0, 1, 2, 3, 4), (5, 6))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no group"),
        ("a: 1\na: 2\n", "line 2: a group needs a name of its own"),
        (": 1\n", "line 1: a group needs a name of its own"),
        ("1 x\n", "line 1: 'x' is no node number"),
        ("1\n2 12\n", "line 2: node 12 is outside"),
        ("3-1\n", "line 1: the range 3-1 is empty"),
    ],
)
def test_files_that_are_refused(tmp_path, content, message):
    path = tmp_path / "groups.txt"
    path.write_text(content)
    with pytest.raises((FileFormatError, TaskError), match=message):
        read_groups(path, 12)
    with pytest.raises(FileFormatError, match="no such file"):
        named_groups(str(tmp_path / "none.txt"), GRID)
