"""The pages are made afresh where, and only where, something that they depend on changed."""

from __future__ import annotations

import ast
import importlib
import io
import json
import shlex
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module", autouse=True)
def _path():
    sys.path.insert(0, str(DOCS))
    yield
    sys.path.remove(str(DOCS))


def part(name):
    return importlib.import_module(f"generating.{name}" if name else "generate")


# -- inputs ----------------------------------------------------------------------------------------------------


def package(folder, **texts):
    """Write a package `gossamer` of modules with these texts; a name such as `a__b` is the module a.b."""
    for name, text in {"__init__": "", **texts}.items():
        path = folder.joinpath("gossamer", *name.split("__")) if name != "__init__" else folder / "gossamer/__init__"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".py").write_text(text)
    for inner in {p.parent for p in folder.rglob("*.py")}:
        (inner / "__init__.py").touch()
    return part("inputs").Inputs(folder, folder)


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("import gossamer.b.inner", {"b", "b.inner"}),
        ("from gossamer.b import inner", {"b", "b.inner"}),
        ("def f():\n    from gossamer.c import g", {"c"}),
        ("TABLE = {'c': 'gossamer.c'}", {"c"}),
        ("if TYPE_CHECKING:\n    import gossamer.c\nelse:\n    import gossamer.b", {"b"}),
        ("import numpy\nname = 'gossamer.nowhere'", set()),
    ],
)
def test_a_module_reaches_what_it_imports_anywhere_but_not_what_it_imports_for_types(tmp_path, text, reached):
    inputs = package(tmp_path, a=text, b__inner="", c="")
    assert set(inputs.reached(["gossamer.a"])) == {"gossamer", "gossamer.a", *(f"gossamer.{r}" for r in reached)}


def test_imports_are_followed_through_circles_and_packages(tmp_path):
    inputs = package(tmp_path, a="import gossamer.b", b="import gossamer.c.d", c__d="import gossamer.a")
    assert set(inputs.reached(["gossamer.a"])) == {"gossamer", *(f"gossamer.{m}" for m in ("a", "b", "c", "c.d"))}


def test_the_hash_of_inputs_changes_with_every_module_that_is_reached_and_no_other(tmp_path):
    texts = {"a": "import gossamer.b", "b": "", "c": ""}
    before = package(tmp_path, **texts).digest(["gossamer.a"])
    assert package(tmp_path, **{**texts, "c": "changed = 1"}).digest(["gossamer.a"]) == before
    assert package(tmp_path, **{**texts, "b": "changed = 1"}).digest(["gossamer.a"]) != before
    assert package(tmp_path, **texts).digest(["gossamer.a"], ["gossamer.c"]) != before


def test_only_what_a_module_does_counts_and_docstrings_where_they_are_shown(tmp_path):
    def hashed(text, words=()):
        return package(tmp_path, a=text).digest(["gossamer.a"], words=words)

    plain, said = '"""One."""\nx = 1\n"""Of x."""\n', '"""Two."""\nx = 1\n"""Of it."""\n'
    assert hashed(plain) == hashed("# why\n" + plain.replace(" = ", "=")) == hashed(said)
    assert hashed(plain) != hashed(plain.replace("1", "2"))
    assert hashed(plain, ("gossamer.a",)) != hashed(said, ("gossamer.a",))
    assert hashed(plain, ("gossamer.b",)) == hashed(said, ("gossamer.b",))


def test_what_is_passed_over_counts_only_where_it_is_reached_by_another_way(tmp_path):
    inputs = package(tmp_path, a="import gossamer.b, gossamer.c", b="import gossamer.d", c="", d="")
    assert "gossamer.d" not in inputs.reached(["gossamer.a"], ["gossamer.b"])
    assert "gossamer.b" in inputs.reached(["gossamer.a", "gossamer.b"], ["gossamer.b"])


@pytest.fixture(scope="module")
def stale(tmp_path_factory):
    """A function that says which pieces are stale after a change in a module of a copy of gossamer."""
    copy = tmp_path_factory.mktemp("copy") / "src"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    pieces = part("pieces").all_pieces()

    def entries():
        known = part("pieces").Record(inputs=part("inputs").Inputs(copy))
        return {piece.name: known.entry(piece, ()) for piece in pieces}

    before = entries()

    def after(file, edit):
        place = copy / "gossamer" / file
        text = place.read_text(encoding="utf-8")
        place.write_text(edit(text), encoding="utf-8")
        try:
            return {name for name, entry in entries().items() if entry != before[name]}
        finally:
            place.write_text(text, encoding="utf-8")

    return after


def test_a_changed_comment_makes_no_page_stale(stale):
    for file in ("errors.py", "networks/network.py"):
        assert stale(file, lambda text: "# said\n" + text.replace("\n\n\n", "\n\n\n\n")) == set()


def test_a_changed_constant_makes_what_shows_it_stale(stale):
    changed = stale("simulation/random_arrivals/schemes/__init__.py", lambda text: text + "\nCHANGED = 1\n")
    assert {"docs/explanation/dynamic.md", "docs/reference/algorithms.md", "docs/reference/cli.md"} <= changed
    shown = ("networks.md", "tasks.md")
    assert not {"docs/api/builders.md", "docs/gallery.md", *(f"docs/reference/{name}" for name in shown)} & changed


def test_a_changed_docstring_makes_the_reference_of_commands_stale_and_no_other(stale):
    changed = stale("networks/network.py", lambda text: text.replace('"""', '"""Ah: ', 1))
    assert changed == {"docs/reference/cli.md"}


def test_modules_of_gossamer_import_each_other_by_their_full_names():
    """What `inputs` relies on: nothing is reached through the names that `gossamer` itself offers."""
    source = ROOT / "src" / "gossamer"
    rooms = {path.stem for path in source.iterdir()}
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert all(alias.name != "gossamer" for alias in node.names), path
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, path
                assert node.module != "gossamer" or {alias.name for alias in node.names} <= rooms, path


# -- pictures --------------------------------------------------------------------------------------------------


def drawing(*points, label="one"):
    """Return a small SVG file by matplotlib."""
    from matplotlib.figure import Figure

    from gossamer.plots.picture_files import settings

    with settings():
        figure = Figure(figsize=(2, 2))
        figure.subplots().plot(*np.transpose(points), "o-")
        figure.axes[0].set(xlim=(0, 10), ylim=(0, 10), title=label)
        file = io.BytesIO()
        figure.savefig(file, format="svg")
    return file.getvalue()


def moving(*frames):
    from PIL import Image

    images = [Image.fromarray(frame.astype(np.uint8)) for frame in frames]
    file = io.BytesIO()
    images[0].save(file, "gif", save_all=True, append_images=images[1:], duration=60)
    return file.getvalue()


def test_drawings_that_differ_in_the_last_digits_are_the_same():
    one, other = drawing((1, 2), (3, 4)), drawing((1.00001, 2), (3, 4))
    assert one != other
    assert part("pictures").same_picture(one, other)


@pytest.mark.parametrize(
    "other",
    [
        drawing((1.1, 2), (3, 4)),
        drawing((1, 2), (3, 4), (5, 6)),
        drawing((1, 2), (3, 4), label="two"),
        drawing((1, 2), (3, 4)).replace(b"#1f77b4", b"#1f77b5"),
        drawing((1, 2), (3, 4)).replace(b"#1f77b4", b"#1e77b4"),
        moving(np.zeros((8, 8))),
    ],
)
def test_drawings_of_other_lines_words_or_colors_are_not_the_same(other):
    assert not part("pictures").same_picture(drawing((1, 2), (3, 4)), other)


def test_animations_are_compared_frame_by_frame():
    still, bright = np.full((40, 40), 100), np.full((40, 40), 200)
    dot, patch = still.copy(), still.copy()
    dot[0, 0], patch[:10, :10] = 105, 200
    same = part("pictures").same_picture
    assert same(moving(still, bright), moving(dot, bright))
    assert not same(moving(still, bright), moving(patch, bright))
    assert not same(moving(still, bright), moving(still, bright, still))
    assert not same(moving(still, bright), moving(bright, still))


# -- what is stale ---------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path):
    """A repository with a page of one piece, and a function that says whether it is fresh."""
    (tmp_path / "docs").mkdir()
    piece = part("pieces").Piece(
        "docs/page.md", ("gossamer.a",), lambda: [str], lambda made: {"docs/page.md": b"one\n"}
    )
    return tmp_path, piece


def record(root, **texts):
    return part("pieces").Record(root, package(root / "src", **{"a": "import gossamer.b", "b": "", "c": "", **texts}))


def test_a_piece_is_stale_until_made_and_when_inputs_or_outputs_change(place):
    root, piece = place
    assert not record(root).fresh(piece)
    part("").renew([piece], record(root))
    assert (root / "docs/page.md").read_text() == "one\n"
    assert record(root).fresh(piece)
    assert record(root, c="other = 1").fresh(piece)
    assert not record(root, b="other = 1").fresh(piece)
    (root / "docs/page.md").write_text("edited by hand\n")
    assert not record(root, b="").fresh(piece)
    (root / "docs/page.md").unlink()
    assert not record(root, b="").fresh(piece)


def test_a_stale_page_is_named_with_the_right_one_beside_it_and_not_recorded(place):
    root, piece = place
    (root / "docs/page.md").write_text("wrong\n")
    known = record(root)
    assert part("").stale_files([piece], known) == [root / "docs/page.md"]
    assert (root / "docs/page.md.new").read_text() == "one\n"
    assert not known.fresh(piece)
    part("").renew([piece], known)
    assert part("").stale_files([piece], known) == []
    assert not (root / "docs/page.md.new").exists()
    assert json.loads((root / "docs/generated.json").read_text())["docs/page.md"]["outputs"].keys() == {"docs/page.md"}


def test_a_picture_that_shows_the_same_stays_as_it_is(place):
    root, piece = place
    here, elsewhere = drawing((1, 2), (3, 4)), drawing((1.00001, 2), (3, 4))
    (root / "docs/x.svg").write_bytes(here)
    piece = replace(piece, files=lambda made: {"docs/x.svg": elsewhere})
    part("").renew([piece], record(root))
    assert (root / "docs/x.svg").read_bytes() == here
    assert record(root).fresh(piece)


def test_text_around_commands_is_not_made_and_their_outputs_are(place):
    root, piece = place
    text = "before\n\n```console\n$ echo one\none\n```\n"
    piece = replace(piece, files=lambda made: {"docs/page.md": text.encode()})
    part("").renew([piece], record(root))
    (root / "docs/page.md").write_text(text.replace("before", "other words"))
    assert record(root).fresh(piece)
    (root / "docs/page.md").write_text(text.replace("\none", "\ntwo"))
    assert not record(root).fresh(piece)


def test_a_page_whose_program_is_not_installed_stays_as_it_is(place, capsys):
    root, piece = place
    text = "```console\n$ printf 'smpirun is not %s' installed\nsmpirun said 1\n```\n"
    job = partial(part("commands").with_outputs, text)
    (root / "docs/page.md").write_text(text)
    lacking = replace(piece, jobs=lambda: [job], files=lambda made: {"docs/page.md": made[0][0].encode()})
    known = record(root)
    assert part("").stale_files([lacking], known) == []
    part("").renew([lacking], known)
    assert (root / "docs/page.md").read_text() == text
    assert "docs/page.md stays as it is: smpirun is not installed" in capsys.readouterr().err


def test_several_processes_make_what_one_makes(place):
    _, piece = place
    pieces = part("pieces")
    work = [replace(piece, jobs=lambda k=k: [k.bit_length] * 3, files=lambda made: {"x": bytes(made)}) for k in (1, 5)]
    assert [files for _, files in pieces.made(work, 2)] == [{"x": b"\1\1\1"}, {"x": b"\3\3\3"}]
    assert [files for _, files in pieces.made(work, 1)] == [{"x": b"\1\1\1"}, {"x": b"\3\3\3"}]


def test_what_fails_says_which_page_was_being_made(place):
    _, piece = place
    work = [piece, replace(piece, name="docs/other.md", jobs=lambda: [int, partial(int, "one")])]
    with pytest.raises(ValueError, match="invalid literal") as failed:
        list(part("pieces").made(work, 2))
    assert failed.value.__notes__ == ["while making docs/other.md"]


# -- pages and commands ----------------------------------------------------------------------------------------


def test_generated_pages_and_outputs_of_commands_are_fresh():
    """All but the reproductions and the pages that take long, which ./check renews."""
    slow = {"README.md", "docs/reference/algorithms.md"}
    slow |= {f"docs/explanation/{name}.md" for name in ("dynamic", "flit_simulator", "wormhole")}
    pieces = [p for p in part("pieces").all_pieces() if p.name not in slow and "papers/" not in p.name]
    pieces = [p for p in pieces if not p.name.startswith("pictures of")]
    expected = {"docs/reference/cli.md", "docs/reference/networks.md", "docs/tutorials/getting_started.md"}
    assert expected <= {p.name for p in pieces}
    known = part("pieces").Record()
    stale = part("").stale_files([p for p in pieces if not known.fresh(p)], known)
    assert not stale, f"run python docs/generate.py: {', '.join(map(str, stale))}"


def test_outputs_of_commands_are_replaced():
    page = "```console\n$ echo one\ntwo\n```\n"
    assert part("commands").with_outputs(page) == (page.replace("two", "one"), {})


def test_times_and_memory_are_cut_from_outputs():
    printed = ["took     0.1 s to build", "         and 120 MB", "saved    x.parquet", '  "build_seconds": 3e-05,']
    with part("commands").workplace():
        shown = part("commands").output_of(f"printf '%s\\n' {shlex.join(printed)}")
    assert shown.splitlines() == ["took     ...", "saved    x.parquet", '  "build_seconds": ...,']


def test_unknown_pages_and_options_are_refused(capsys):
    assert part("").main(["docs/nothing.md"]) == 2
    assert part("").main(["--chek"]) == 2
    assert "no page or option 'docs/nothing.md'" in capsys.readouterr().err
