"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from gossamer import atomic_files
from gossamer.atomic_files import check_writable, discard_all, whole_file, written_together
from gossamer.cli import main
from gossamer.errors import FileFormatError


def names(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir()]


def test_the_file_is_there_when_the_block_has_ended_and_not_before(tmp_path):
    target = tmp_path / "plan.txt"
    with whole_file(target) as part:
        part.write_text("all of it")
        assert part.parent == tmp_path
        assert part.suffix == ".txt"
        assert not target.exists()
    assert target.read_text() == "all of it"
    assert names(tmp_path) == ["plan.txt"]


def test_the_file_gets_the_permissions_of_any_new_file(tmp_path):
    usual = tmp_path / "usual"
    usual.write_text("")
    with whole_file(tmp_path / "ours"):
        pass
    assert (tmp_path / "ours").stat().st_mode == usual.stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, mode):
    target = tmp_path / "plan.txt"
    target.write_text("before")
    target.chmod(mode)
    with whole_file(target) as part:
        part.write_bytes(b"after")
        assert stat.S_IMODE(part.stat().st_mode) == mode | 0o200
    assert target.read_text() == "after"
    assert stat.S_IMODE(target.stat().st_mode) == mode


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_stays_one(tmp_path, there):
    (tmp_path / "data").mkdir()
    target, link = tmp_path / "data" / "plan.txt", tmp_path / "link.txt"
    if there:
        target.write_text("before")
    link.symlink_to(Path("data") / "plan.txt")
    with whole_file(link) as part:
        part.write_text("after")
        assert part.parent == tmp_path / "data"
    assert link.is_symlink()
    assert target.read_text() == "after"
    assert names(tmp_path / "data") == ["plan.txt"]


def test_a_link_that_points_to_itself_is_refused(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(FileFormatError, match="cannot write"):
        check_writable(link)
    assert link.is_symlink()


def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/null", tmp_path / "pipe"):
        with pytest.raises(FileFormatError, match="is no regular file"):
            check_writable(path)
        assert not Path(path).is_file()


def test_a_name_may_be_as_long_as_a_name_can_be(tmp_path):
    target = tmp_path / ("x" * 251 + ".txt")
    with whole_file(target) as part:
        part.write_text("")
    assert names(tmp_path) == [target.name]


def test_names_are_escaped_in_errors(tmp_path):
    with pytest.raises(FileFormatError) as error:
        check_writable(tmp_path / "no" / "\x1b[31m\udcff")
    assert r"\x1b[31m\udcff" in str(error.value)


@pytest.mark.parametrize("old", [None, "what was there"])
def test_a_failing_block_changes_nothing(tmp_path, old):
    target = tmp_path / "plan.txt"
    if old is not None:
        target.write_text(old)
    before = names(tmp_path)
    with pytest.raises(ZeroDivisionError), whole_file(str(target)) as part:
        part.write_text(f"half and {1 / 0}")
    assert names(tmp_path) == before
    assert old is None or target.read_text() == old


def test_what_the_disk_says_becomes_one_line(tmp_path):
    with pytest.raises(FileFormatError) as error, whole_file(tmp_path / "x"):
        raise OSError(28, "No space left on device")
    assert str(error.value) == f"cannot write {str(tmp_path / 'x')!r}: No space left on device"
    assert names(tmp_path) == []


def test_places_that_take_no_file_are_named(tmp_path):
    for place, reason in ((tmp_path, "is a folder"), (tmp_path / "no" / "x", "No such file or directory")):
        with pytest.raises(FileFormatError) as error, whole_file(place):
            pytest.fail("the block must not run")
        assert str(error.value) == f"cannot write {str(place)!r}: {reason}"
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(FileFormatError, match="Not a directory"), whole_file(file / "x"):
        pytest.fail("the block must not run")


def test_a_place_is_tried_without_a_trace(tmp_path):
    old = tmp_path / "old"
    old.write_text("as before")
    check_writable(old)
    check_writable(tmp_path / "new")
    assert list(tmp_path.iterdir()) == [old]
    assert old.read_text() == "as before"
    for path in (tmp_path, tmp_path / "none" / "x"):
        with pytest.raises(FileFormatError, match="cannot write"):
            check_writable(path)


def test_what_a_killed_process_left_is_swept_and_what_is_being_written_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr("gossamer.atomic_files._swept", set())
    left = tmp_path / ".gossamer-0123456789abcdef.txt"
    folder = tmp_path / ".gossamer-fedcba9876543210"
    other = tmp_path / ".gossamer-notes"
    left.write_text("half")
    folder.mkdir()
    (folder / "a").write_text("half")
    other.write_text("somebody's")
    with whole_file(tmp_path / "x.txt") as part:
        assert sorted(names(tmp_path)) == sorted([part.name, other.name])
        monkeypatch.setattr("gossamer.atomic_files._swept", set())
        with whole_file(tmp_path / "y.txt"):
            assert part.exists()


def test_a_signal_between_two_steps_leaves_nothing(tmp_path):
    asked = whole_file(tmp_path / "x.txt")
    part = asked.__enter__()
    assert part.exists()
    discard_all()  # as the command line does at its end
    assert names(tmp_path) == []


def test_files_that_belong_together_appear_all_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(*names):
        with written_together():
            for name in names:
                with whole_file(name) as part:
                    part.write_text("new")
                assert Path(name).exists() == (name == "old.txt")

    Path("old.txt").write_text("old")
    with pytest.raises(FileFormatError, match="cannot write 'nobody/c"):
        write("a.txt", "old.txt", "nobody/c.txt")
    assert [(path.name, path.read_text()) for path in Path().iterdir()] == [("old.txt", "old")]
    write("a.txt", "old.txt")
    assert sorted((path.name, path.read_text()) for path in Path().iterdir()) == [("a.txt", "new"), ("old.txt", "new")]


@pytest.mark.parametrize(
    ("words", "second"),
    [
        ("demands ring:4 allgather -o new.csv -o new.npy", "row 0 has 3 destinations"),
        ("demands ring:4 alltoall -o new.csv -o new.xyz", "of no known kind"),
        ("demands ring:4 alltoall -o new.csv -o nobody/new.npy", "No such file or directory"),
        ("network ring:4 -o new.edges -o nobody/new.svg", "No such file or directory"),
        ("simulate arrivals ring:4 --load 0.5 --steps 5 -o new.csv -o new.html --nodes 99", "99"),
    ],
)
def test_no_output_is_left_where_another_one_is_refused(tmp_path, monkeypatch, capsys, words, second):
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    assert second in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["plan.parquet", "./plan.parquet", "link"])
def test_a_command_does_not_write_over_what_it_reads(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "ring:4", "allgather", "-o", "plan.parquet"]) == 0
    assert main(["demands", "ring:4", "alltoall", "-o", "table.csv"]) == 0
    Path("net.edges").write_text("0 1  # mine\n")
    Path("link").symlink_to("plan.parquet")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    for words in (
        f"export plan.parquet --to program -o {name}",
        f"export {name} --to goal -o plan.parquet",
        "import plan.parquet --network ring:4 -o plan.parquet",
        "network net.edges -o net.edges",
        "demands ring:4 demands --demands table.csv -o ./table.csv",
    ):
        capsys.readouterr()
        assert main(words.split()) == 2
        assert "is the file that is read; name another one to write" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_a_table_is_told_row_by_row_and_its_remarks_below():
    class Ranking(atomic_files.Tabled):
        def table(self):
            return ("name", "steps", "x bound"), (("a", "4", "1"), ("b", "5", "1.25"))

        def remarks(self):
            return [("c", "no: it needs a torus")]

    assert Ranking().rows() == [
        ("a", "steps 4, x bound 1"),
        ("b", "steps 5, x bound 1.25"),
        ("c", "no: it needs a torus"),
    ]
    assert Ranking()._repr_html_() == atomic_files.html_rows(Ranking().rows())


def test_attributes_are_plain_values_in_the_order_asked_for():
    thing = SimpleNamespace(a=Fraction(4), b=Fraction(1, 2), c=None, d="x")
    assert list(atomic_files.attributes(thing, "d b a c").items()) == [("d", "x"), ("b", 0.5), ("a", 4), ("c", None)]
