"""Arguments of another kind than is documented: each is refused by gossamer's own error, in one line, and no other."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.plots import tree_figure
from gossamer.simulation.flits import Routers, simulate_schedule, simulate_traffic
from gossamer.simulation.random_arrivals import record, scheme_from_parents, simulate
from gossamer.simulation.random_arrivals.schemes import scheme
from gossamer.studies.design import least_diameter
from gossamer.studies.sweeps import asked_point
from gossamer.verification import buffer_peak

NET = gossamer.network("ring:4")
TASK = gossamer.task("allgather")
PLAN = gossamer.plan(NET, TASK).schedule
PLAIN = PLAN.expand()
WORMS = gossamer.plan("torus:4x4", TASK, switching="wormhole").schedule
STAR = scheme("star", gossamer.network("torus:4x4"))


class OtherRepr:
    """An object of no known kind."""

    def __repr__(self) -> str:
        return "an object\nof two lines"


def made_of(known, *more, **changes):
    """Return a schedule of the class of a known one, and with its arguments but for some that are changed."""
    names = ("network", "task", *more)
    return type(known)(**({name: getattr(known, name) for name in names} | changes))


schedule = partial(made_of, PLAIN, "rules", "slot", "link", "packet")
worms = partial(made_of, WORMS, "cost", "step", "source", "displacement", "payload", "payloads")

WRONG = {
    "options of a plan": lambda x: gossamer.plan(NET, TASK, options=[x]),
    "network of a case": lambda x: gossamer.Case(x, TASK),
    "task of a case": lambda x: gossamer.Case(NET, x),
    "rules of a case": lambda x: gossamer.Case(NET, TASK, rules=x),
    "network of a schedule": lambda x: schedule(network=x),
    "task of a schedule": lambda x: schedule(task=x),
    "rules of a schedule": lambda x: schedule(rules=x),
    "cost of a schedule": lambda x: schedule(cost=x),
    "packets of a schedule": lambda x: schedule(packets=x),
    "phases of a schedule": lambda x: schedule(phases=[x]),
    "symmetry of a schedule": lambda x: schedule(symmetry=x),
    "algorithm of a schedule": lambda x: schedule(algorithm=x),
    "network of worms": lambda x: worms(network=x),
    "task of worms": lambda x: worms(task=x),
    "cost of worms": lambda x: worms(cost=x),
    "packets of worms": lambda x: worms(packets=x),
    "payloads of worms": lambda x: worms(payloads=x),
    "phases of worms": lambda x: worms(phases=[x]),
    "algorithm of worms": lambda x: worms(algorithm=x),
    "network of a symmetry": gossamer.Symmetry,
    "generators of a symmetry": lambda x: gossamer.Symmetry(NET, [x]),
    "nodes of a network": lambda x: gossamer.Network("x", x, [0], [1]),
    "terminals of a network": lambda x: gossamer.Network("x", 2, [0], [1], terminal_count=x),
    "ports of a network": NET.with_ports,
    "source of a search": NET.breadth_first,
    "node of links": NET.out_links,
    "ends of a link": lambda x: NET.link_between(0, x),
    "node of a name": NET.node_name,
    "link of a name": NET.link_name,
    "schedule with buffers": buffer_peak,
    "network of other names": lambda x: PLAIN.relabel(range(4), x),
    "schedule that follows": PLAN.then,
    "slot of a time": PLAN.time_of,
    "phase of hops": PLAN.phase_hops,
    "message of pieces": WORMS.pieces_of,
    "settings of traffic": lambda x: simulate_traffic(NET, settings=x),
    "settings of routers": lambda x: simulate_schedule(WORMS, settings=x),
    "settings of broadcasts": lambda x: simulate(STAR, load=0.1, settings=x),
    "settings of a record": lambda x: record(STAR, load=0.1, settings=x),
    "network of parents": lambda x: scheme_from_parents("x", x, parent=[-1], step=[0]),
    "parts of parents": lambda x: scheme_from_parents("x", NET, parent=[-1], step=[0], parts=x),
    "nodes of a limit": lambda x: least_diameter(x, 3),
    "packet of a picture": lambda x: tree_figure(PLAN, packet=x),
}
NONE_MEANS_NO = ("rules", "cost", "packets", "symmetry of", "terminals", "ports", "network of other", "settings")


@pytest.mark.parametrize("what", WRONG)
def test_what_is_of_another_kind_is_refused_in_one_line(what):
    values = [0.5, float("inf"), "x\x1b", OtherRepr(), np.zeros((2, 2)), object()]
    for value in values if what.startswith(NONE_MEANS_NO) else [None, *values]:
        if isinstance(value, str) and what.startswith("algorithm"):
            continue
        with pytest.raises(gossamer.GossamerError) as caught:
            WRONG[what](value)
        assert str(caught.value).isprintable()


def test_numbers_beyond_64_bits_are_no_words_of_a_point(capsys, tmp_path):
    with pytest.raises(gossamer.GossamerError, match="seed of a point must be a whole number"):
        asked_point({"network": "ring:4", "task": "allgather", "seed": 10**400})
    with pytest.raises(gossamer.GossamerError, match="must be of characters that can be written"):
        asked_point({"network": "\udcff", "task": "allgather"})
    study = tmp_path / "study.toml"
    study.write_text(f'[[points]]\nnetwork = "ring:4"\ntask = "allgather"\nseed = {"9" * 400}\n')
    words = ["sweep", "run", str(study), "-o", str(tmp_path / "x.parquet"), "--engine", "in-process"]
    assert main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_routers_are_no_settings_of_traffic():
    with pytest.raises(gossamer.GossamerError, match="settings must be of the class TrafficSettings, got Routers"):
        simulate_traffic(NET, settings=Routers())
