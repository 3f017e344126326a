"""Commands that pages show without their output are carried out, each page's in order, in a folder of their own.

What stands in ``console`` blocks is run by `docs/generate.py`, and some pages have tests of their own.
"""

from __future__ import annotations

import re
import shlex

import pytest

from gossamer.cli import main
from test_docs import ROOT, blocks

FAMILIES = (
    "alltoall", "broadcast_trees", "doubling", "fat_trees", "priced_trees", "rings", "translated_trees",
    "wormhole_partition",
)  # fmt: skip
LESSONS = ("fat_tree", "hypercube", "ring", "star_graph", "torus")
PREPARED = {
    "docs/explanation/dynamic.md": [],
    "docs/explanation/move_and_smooth.md": [],
    "docs/how_to/a_study_in_one_command.md": ["sweep --network torus:2x4,torus:2x5 --task allgather -o tori.parquet"],
    "docs/how_to/chunks_and_sizes.md": [],
    **{f"docs/explanation/algorithms/{page}.md": [] for page in FAMILIES},
    **{f"docs/tutorials/networks/{page}.md": [] for page in LESSONS},
    "docs/how_to/explorer.md": [
        "plan ring:5 allgather -o plan.parquet",
        "plan ring:5 allgather -o one.parquet",
        "plan ring:5 allgather --algorithm greedy-flooding -o other.parquet",
    ],
    "docs/how_to/figures_for_a_paper.md": ["sweep --network ring:4,ring:5 --task allgather -o results.parquet"],
    "README.md": [],
}
"""Pages, and what makes the files of a reader that their commands begin with."""
BETWEEN = {"simulate wormhole plan.parquet": "plan ring:5 allgather --switching wormhole -o plan.parquet"}
"""What comes before a command whose file is another than the page has until then."""
LONG = (
    "gossamer design", "gossamer sweep report accelerators_", "gossamer sweep examples/",
    "gossamer sweep --network", "gossamer reproduce",
    "gossamer plan torus:8x8x8 allreduce", "gossamer plan torus:64x64x16 alltoall", "gossamer simulate",
)  # fmt: skip
"""How commands begin that take more than some seconds: those of studies and designs make the pages that show their
results, others are in `test_claims.py`."""
SECONDS = ("gossamer plan nvl72 allreduce", "gossamer plan examples/machines/two_servers.edges allreduce")
"""How commands of the README begin that take ten seconds and more: they take turns."""
ELSEWHERE = {
    "docs/how_to/run_it.md", "docs/how_to/four_boxes.md", "docs/how_to/damaged_torus_and_slurm.md",
    "docs/how_to/one_machine_to_a_cluster.md",
    "docs/gallery.md", "docs/tutorials/example_fixed_point.md", "docs/tutorials/getting_started.md",
    "docs/index.md", "docs/reference/cli.md",
}  # fmt: skip
"""Pages whose commands other tests run: `test_run_it.py`, `test_cluster_story.py`, `plots/test_pictures.py`,
`test_examples.py`, `test_cli_first_sight.py`; and those that only install."""


def lines(page):
    """Return the commands of the ``sh`` blocks of a page, without their remarks."""
    code = "\n".join(code for language, code, _ in blocks(ROOT / page) if language == "sh")
    return [line for line in code.splitlines() if line.startswith("gossamer ")]


@pytest.mark.exhaustive(always=6)
@pytest.mark.parametrize("page", PREPARED)
def test_the_commands_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for line in PREPARED[page]:
        assert main(shlex.split(line)) == 0, (line, capsys.readouterr().err)
    for line in lines(page):
        if line.startswith((*LONG, *SECONDS)):
            continue
        words = shlex.split(line, comments=True)[1:]
        for beginning, before in BETWEEN.items():
            if " ".join(words).startswith(beginning):
                assert main(shlex.split(before)) == 0
        assert main(words) == 0, (line, capsys.readouterr().err)
        assert all((tmp_path / name).stat().st_size > 0 for name in re.findall(r"-o (\S+)", line)), line


@pytest.mark.slow
@pytest.mark.parametrize("beginning", SECONDS)
def test_a_command_of_the_readme_that_takes_seconds_runs(beginning, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    (line,) = [line for line in lines("README.md") if line.startswith(beginning)]
    assert main(shlex.split(line, comments=True)[1:]) == 0, capsys.readouterr().err


def test_every_page_with_commands_is_here_or_elsewhere():
    pages = {str(path.relative_to(ROOT)) for path in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]}
    left = {page for page in pages if any(not line.startswith(LONG) for line in lines(page))}
    assert left - set(PREPARED) <= ELSEWHERE
    assert set(PREPARED) <= left


def test_what_a_reader_of_a_plan_could_type_next_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/how_to/reading_a_plan.md").read_text(encoding="utf-8")
    typed = re.findall(r"`gossamer ([^`]+)`", page.partition("## What you can do next")[2])
    words = "torus:3x3 allreduce --bytes 1MiB --bandwidth 50GB/s"
    assert len(typed) == 9
    assert main(["plan", *words.split(), "-o", "plan.parquet"]) == 0
    for line in typed:
        assert main(shlex.split(line.replace("NETWORK TASK", words))) == 0, (line, capsys.readouterr().err)
