"""What notebooks and terminals show of a schedule are its own numbers."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import gossamer
from gossamer import plots
from gossamer.cli import main
from gossamer.errors import VerificationError
from gossamer.plots import text_picture
from gossamer.verification import link_load
from plots.simple_schedules import broken, flood, with_control


def test_a_plan_shows_its_numbers_and_two_pictures_in_a_notebook():
    plan = gossamer.plan("torus:4x4", "allgather")
    page = plan._repr_html_()
    assert "allgather on torus:4x4: 4 steps, optimal among schedules of unsegmented messages: " in page
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) == 2
    for picture in pictures:
        ET.fromstring(picture)


def test_a_plan_that_is_too_large_shows_its_numbers_and_one_of_worms_two_pictures():
    page = gossamer.plan("torus:64x64", "broadcast")._repr_html_()
    assert page.startswith("<p><b>broadcast on torus:64x64: ")
    assert "lower bound" in page
    assert gossamer.plan("torus:3x3", "allgather", switching="wormhole")._repr_html_().count("<svg") == 2


def test_a_figure_displays_itself_and_a_plan_its_explorer():
    plan = gossamer.plan("ring:5", "allgather")
    assert plots.load_figure(plan.schedule)._repr_html_().startswith("<svg")
    assert plan.explore(height=300)._repr_html_().startswith("<iframe srcdoc=")


def test_a_terminal_shows_each_hop_by_link_and_slot():
    schedule = gossamer.plan("ring:6", "alltoall").schedule.expand()
    text = text_picture(schedule)
    rows = dict(re.findall(r"^\s*(\(\d\)→\(\d\)) (\S+)$", text, re.MULTILINE))
    network = schedule.network
    assert len(rows) == network.link_count
    shown = [[rows[network.link_name(link).replace("->", "→")][slot] for slot in range(5)] for link in range(12)]
    expected = [["."] * 5 for _ in range(12)]
    for slot, link, packet in zip(schedule.slot, schedule.link, schedule.packet, strict=True):
        expected[link][slot] = str(schedule.packets.origin[packet])
    assert shown == expected


@pytest.mark.parametrize("spec", ["torus:4x4", "array:3x5", "hypercube:5", "star:4", "fat-tree:k=2,h=3,capacity=1,2,4"])
def test_a_terminal_shows_the_least_and_largest_load_in_lines_that_fit(spec):
    schedule = with_control(gossamer.network(spec))
    load = link_load(schedule) / schedule.network.link_capacity
    text = text_picture(schedule, width=60)
    assert max(map(len, text.splitlines())) <= 75
    ends = [float(n) for line in re.findall(r"mean [\d.]+, ([\d.]+(?: to [\d.]+)?)", text) for n in line.split(" to ")]
    assert min(ends) == pytest.approx(load.min(), abs=0.05)
    assert max(ends) == pytest.approx(load.max(), abs=0.05)


def test_between_two_nodes_stands_the_larger_load_of_both_directions():
    schedule = gossamer.plan("array:2x3", "scatter").schedule
    network, load = schedule.network, link_load(schedule)
    first = text_picture(schedule).splitlines()[3]
    numbers = [int(n) for n in re.findall(r"-(\d+)-", first)]
    assert numbers == [max(load[network.link_between(u, u + 1)], load[network.link_between(u + 1, u)]) for u in (0, 1)]


def test_colors_are_those_of_the_origins_and_only_asked_for():
    schedule = flood(gossamer.network("ring:5"))
    assert "\x1b" not in text_picture(schedule)
    colored = text_picture(schedule, color=True)
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == text_picture(schedule)
    red, green, blue = (int(plots.appearance.by_number(5)[0][k : k + 2], 16) for k in (1, 3, 5))
    assert colored.count(f"\x1b[38;2;{red};{green};{blue}m0") == schedule.hop_count


def test_nothing_to_do_and_invalid_schedules(capsys, tmp_path):
    empty = gossamer.plan("array:2", gossamer.task("permutation", destination=[0, 1])).schedule
    assert "0 steps" in text_picture(empty)
    assert np.isfinite(len(text_picture(empty)))
    with pytest.raises(VerificationError):
        text_picture(broken(gossamer.network("ring:8")))


def test_the_command_draws_in_the_terminal_without_colors_in_a_pipe(capsys, tmp_path):
    file = tmp_path / "a.parquet"
    flood(gossamer.network("ring:5")).save(file)
    for words in (["--to", "terminal"], []):
        assert main(["draw", str(file), *words]) == 0
        out = capsys.readouterr().out
        assert out.startswith("broadcast (root 0) on ring:5: 2 steps, flood\n")
        assert "\x1b" not in out
    assert main(["draw", str(file), "--to", "terminal", "-o", str(tmp_path / "a.svg")]) == 2
    assert "leave out --output" in capsys.readouterr().err
    assert main(["draw", str(file), "--kind", "tree", "-o", str(tmp_path / "a.html")]) == 2
    assert main(["draw", str(file), "-o", str(tmp_path / "a.html")]) == 0


def test_networks_schedules_bounds_and_comparisons_have_tables():
    page = gossamer.network("fat-tree:k=2,h=2")._repr_html_()
    assert "fat-tree:k=2,h=2" in page
    assert page.count("<svg") == 1
    plan = gossamer.plan("array:4", "scatter")
    page = plan.schedule._repr_html_()
    assert ("valid</th>" in page, ">yes<" in page, page.count("<svg")) == (True, True, 2)
    bounds = gossamer.lower_bounds("array:4", "scatter")
    page = bounds._repr_html_()
    assert page.count("<tr>") == len(bounds) + 1
    assert all(f">{bound.value}<" in page and bound.source in page for bound in bounds)
    assert isinstance(bounds, tuple)
    assert bounds[0]._repr_html_().count("<tr>") == 2
    found = gossamer.compare("array:4", "scatter")
    page = found._repr_html_()
    columns, rows = found.table()
    assert all(f">{name}<" in page for name in (*columns, *(row[0] for row in rows)))


def test_a_schedule_that_is_not_valid_says_so_without_a_picture():
    page = broken(gossamer.network("ring:8"))._repr_html_()
    assert "no: " in page
    assert "<svg" not in page


def test_what_a_notebook_shows_cannot_be_marked_up_by_names():
    import networkx as nx

    network = gossamer.networks.from_networkx(nx.Graph([("<script>", "&")], name="x"))
    for page in (network._repr_html_(), flood(network)._repr_html_()):
        assert "<script" not in page


@pytest.mark.parametrize(
    ("spec", "task"), [("ring:6", "allgather"), ("torus:4x4", "broadcast"), ("torus:5x5", "allgather")]
)
def test_a_terminal_shows_wormhole_plans_too(spec, task):
    schedule = gossamer.plan(spec, task, switching="wormhole").schedule
    text = text_picture(schedule, 90)
    assert text.startswith(f"{schedule.task.describe()} on {spec}: time {float(schedule.completion_time):g} in ")
    assert max(map(len, text.splitlines())) <= 90
    found = [float(a) for a in re.findall(r"mean ([\d.]+)", text)]
    assert sum(found) / len(found) == pytest.approx(schedule.hops.sum() / schedule.network.link_count, abs=0.06)
    if spec == "ring:6":
        rows = dict(re.findall(r"^\s*(\(\d\)→\(\d\)) (\S+)$", text, re.MULTILINE))
        signs = "".join(rows.values())
        assert len(signs) - signs.count(".") == schedule.hops.sum()
        assert set(signs) <= set("012345.+")
        assert "\x1b[38" in text_picture(schedule, color=True)
