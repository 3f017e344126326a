"""Load as TikZ: every node and link once, braces that close, commands that TikZ knows."""

from __future__ import annotations

import re

import pytest

import gossamer
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


@pytest.mark.parametrize("sample", [s for s in SAMPLES if "128" not in s.name], ids=lambda s: s.name)
def test_every_node_and_link_is_there_once(sample, tmp_path):
    write_files(tmp_path)
    network = network_of(sample, tmp_path)
    lines = checked(load_tikz(planned(sample, tmp_path)))
    nodes = re.findall(r"\\node\[(?:terminal|switch)\] \(n(\d+)\)", "\n".join(lines))
    assert sorted(map(int, nodes)) == list(range(network.node_count))
    assert sum(line.strip().startswith(r"\draw[link,") for line in lines) == network.link_count


def test_a_file_is_written_and_larger_networks_and_other_kinds_are_refused(tmp_path):
    schedule = gossamer.plan("ring:4", "allgather").schedule
    draw(schedule, tmp_path / "load.tex")
    checked((tmp_path / "load.tex").read_text(encoding="utf-8"))
    with pytest.raises(NotApplicableError, match="TikZ is written of the load of links, not of 'occupancy'"):
        draw(schedule, tmp_path / "other.tex", "occupancy")
    with pytest.raises(NotApplicableError, match="at most 64 nodes"):
        draw(gossamer.plan("ring:65", "broadcast").schedule, tmp_path / "large.tex")
    assert [path.name for path in tmp_path.iterdir()] == ["load.tex"]
