"""LaTeX: the load as TikZ, every node and link once, braces that close; tables no wider than a line."""

from __future__ import annotations

import re

import pytest

import gossamer
from gossamer.atomic_files import latex_table
from gossamer.errors import NotApplicableError
from gossamer.plots import draw, load_tikz
from plots.irregular_networks import SAMPLES, network_of, planned, write_files

KNOWN = {"begin", "end", "definecolor", "draw", "node", "fontsize", "selectfont", "textbackslash", "textasciitilde",
         "textasciicircum", "usepackage"}  # fmt: skip


def checked(text):
    """Return the lines without comments, after their braces, commands and colors were checked."""
    lines = [re.sub(r"(?<!\\)%.*", "", line) for line in text.splitlines()]
    depth = 0
    for sign in re.findall(r"(?<!\\)[{}]", "\n".join(lines)):
        depth += 1 if sign == "{" else -1
        assert depth >= 0
    assert depth == 0
    for line in lines:
        assert line.count("[") == line.count("]") or "tikzpicture" in line or line.strip() == "]"
        if line.strip().startswith(("\\draw", "\\node")):
            assert line.rstrip().endswith(";")
    body = "\n".join(lines)
    assert set(re.findall(r"\\([a-zA-Z]+)", body)) <= KNOWN
    defined = set(re.findall(r"\\definecolor\{(\w+)\}\{HTML\}\{[0-9A-F]{6}\}", body))
    used = set(re.findall(r"link, (\w+),", body)) | set(re.findall(r"draw=(\w+)", body)) | {"ground"}
    assert used <= defined
    assert body.count(r"\begin{tikzpicture}") == body.count(r"\end{tikzpicture}") == 1
    return lines


@pytest.mark.exhaustive(always=8)
@pytest.mark.parametrize("sample", [s for s in SAMPLES if "128" not in s.name], ids=lambda s: s.name)
def test_every_node_and_link_is_there_once(sample, tmp_path):
    write_files(tmp_path)
    network = network_of(sample, tmp_path)
    lines = checked(load_tikz(planned(sample, tmp_path)))
    nodes = re.findall(r"\\node\[(?:terminal|switch)\] \(n(\d+)\)", "\n".join(lines))
    assert sorted(map(int, nodes)) == list(range(network.node_count))
    assert sum(line.strip().startswith(r"\draw[link,") for line in lines) == network.link_count


def test_the_key_tells_loads_as_they_are():
    """Of six nodes in a line 9 packets cross the middle cable each way, 8 the next ones and 5 the outer ones."""
    text = load_tikz(gossamer.plan("array:6", "alltoall").schedule)
    lines = checked(text)
    loads = sorted({float(found) for found in re.findall(r"%.*: ([\d.]+) %$", text, re.MULTILINE)})
    assert loads == pytest.approx([100 * 5 / 9, 100 * 8 / 9, 100], abs=0.05)
    key = [line for line in lines if line.strip().startswith(r"\draw[key,")]
    assert [line.split("{")[-1] for line in key] == [r"55.6 \%};", r"88.9 \%};", r"100 \%};"]


def columns_of(text):
    """Return the columns of a table in LaTeX, and its first row."""
    return re.search(r"begin\{tabular\}\{(.*)\}", text)[1], text.split("\\toprule\n")[1].split("\n")[0]


def test_times_of_a_table_have_one_unit():
    text = latex_table(("name", "time", "bus"), [("a", "1.5 ms", "2 TB/s"), ("b", "250 us", "50 GB/s"), ("c", "", "")])
    assert columns_of(text) == ("lrr", r"name & time (ms) & bus (TB/s) \\")
    assert r"b & 0.25 & 0.05 \\" in text
    mixed = latex_table(("name", "time"), [("a", "1.5 ms"), ("b", "4 steps")])
    assert columns_of(mixed) == ("ll", r"name & time \\")
    wide = latex_table(
        ("bytes", "ring", "plan", "bus"),
        [("1 KiB", "9.6 ns (8)", "1.024e+01 ns", "90 GB/s"), ("1 MiB", "-", "10.49 us", "-"),
         ("1 GiB", "10.07 ms (1024)", "43 ms", "1 TB/s")],
    )  # fmt: skip
    assert columns_of(wide) == ("lrrr", r"bytes & ring ($\mu$s) & plan ($\mu$s) & bus (TB/s) \\")
    assert r"1 KiB & 0.0096 (8) & 0.01024 & 0.09 \\" in wide
    assert r"1 MiB & - & 10.49 & - \\" in wide
    assert r"1 GiB & 10070 (1024) & 43000 & 1 \\" in wide


def test_long_texts_are_paragraphs_that_fit_the_line():
    words = "what must cross the cut " * 10
    text = latex_table(("bound", "time", "why", "holds for"), [("cut", "2", words, words[:70])], "note")
    shares = [float(share) for share in re.findall(r"p\{([\d.]+)\\linewidth\}", text)]
    assert len(shares) == 2
    assert 0.5 < sum(shares) < 0.95
    assert r"\usepackage{booktabs,array}" in text
    assert "p{" not in latex_table(("bound", "time"), [("cut", "2")], "note")


def test_a_file_is_written_and_larger_networks_and_other_kinds_are_refused(tmp_path):
    schedule = gossamer.plan("ring:4", "allgather").schedule
    draw(schedule, tmp_path / "load.tex")
    checked((tmp_path / "load.tex").read_text(encoding="utf-8"))
    with pytest.raises(NotApplicableError, match="TikZ is written of the load of links, not of 'occupancy'"):
        draw(schedule, tmp_path / "other.tex", "occupancy")
    with pytest.raises(NotApplicableError, match="at most 64 nodes"):
        draw(gossamer.plan("ring:65", "broadcast").schedule, tmp_path / "large.tex")
    assert [path.name for path in tmp_path.iterdir()] == ["load.tex"]
