"""The tables of Yeh, Varvarigos and Lee: schemes for broadcasts that arrive at random, simulated beside theory.

Delays come from the queueing simulator, with confidence intervals; lower bounds, and limits from exact link loads,
stand beside them. Static schedules are verified.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gossamer.algorithms.multinode_broadcast.mesh_interior_over_surface import ARC, inner_nodes
from gossamer.bounds import best_bound as best_static_bound
from gossamer.networks.spec import network
from gossamer.networks.spec import network as parse_network
from gossamer.questions.cases import Case
from gossamer.questions.tasks import GroupMultinodeBroadcast
from gossamer.simulation.random_arrivals.interval_broadcasts import interval_scheme
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.scheme_evaluation import Delays
from gossamer.simulation.random_arrivals.schemes import arc, scheme, star, star_minis, star_probabilities
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.simulator import simulate
from gossamer.simulation.random_arrivals.statistics import Result
from gossamer.simulation.random_arrivals.theory import (
    best_bound,
    class_loads,
    head_of_line_waits,
    load_factor,
    printed_waits,
    stability_limit,
)
from gossamer.studies.reproductions.table import Cell, Curve, Row, Table, tabulated
from gossamer.studies.sweeps import delay_load
from gossamer.verification import verify

# How STAR spreads traffic over dimensions, and where the links of each scheme are saturated.

_TRIES = 7
_STEPS = 20_000  # in shorter runs loads some percent above the limit may pass for stable


@tabulated(
    "Load factor rho of rate lambda = 1 (section 1)",
    ("network", "N", "links per node", "rho"),
    "rho = lambda (N - 1) / d_ave. rho < 1 is necessary for any scheme.",
)
def load_factors() -> Iterator[Row]:
    """Section 1: load factors of one broadcast per node and step."""
    specs = (
        "hypercube:6",
        "hypercube:10",
        "torus:5x5",
        "torus:8x8",
        "torus:4x4x4",
        "array:6x6",
        "array:10x10",
        "star:5",
    )
    for spec in specs:
        net = network(spec)
        yield spec, net.node_count, Fraction(net.link_count, net.node_count), load_factor(net, Fraction(1))


@tabulated(
    "STAR: probability of ending in dimension 1, 2, ... (section 2.1)",
    ("torus", "equal shares", "shares by links", "largest rho without coin", "largest rho"),
    "'Equal shares' solves the system as printed, (N-1)/d transmissions in each dimension; where a side has 2 "
    "nodes a dimension has half the links, and shares go by links. Without a fair coin for the longer way round an "
    "even ring the links are not balanced (errata X1).",
)
def star_choice() -> Iterator[Row]:
    """Section 2.1: the probabilities with which STAR ends in each dimension."""
    for spec in ("torus:3x5", "torus:2x3", "torus:4x8", "torus:3x4x5", "torus:2x2x8", "torus:4x4", "torus:8x8"):
        net = network(spec)
        assert net.grid is not None
        made = star(net)
        chosen = _last_dimension(made, len(net.grid.sides))
        plain = stability_limit(star(net, coin=False)).load
        solved = star_probabilities(net.grid.sides)
        yield spec, ", ".join(map(str, solved)), chosen, plain, stability_limit(made).load


def _last_dimension(made: Scheme, dimensions: int) -> str:
    chances = made.exact_probability[0] if made.exact_probability else ()
    per = len(chances) // dimensions if chances and len(chances) % dimensions == 0 else 0
    if not per:
        return "-"
    return ", ".join(str(sum(chances[i * per : (i + 1) * per], Fraction(0))) for i in range(dimensions))


def limit_by_simulation(made: Scheme, low: float, high: float) -> float:
    """Return the load at which a simulation turns from stable to unstable, by bisection.

    `low`, `high`: loads at which it is stable and is not.
    """
    for trial in range(_TRIES):
        middle = (low + high) / 2
        if simulate(made, load=middle, above_limit=True, settings=Settings(steps=_STEPS, seed=trial)).stable:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@tabulated(
    "Largest stable load (sections 1, 2.1 and 3.1)",
    ("scheme", "network", "printed", "exact", "exact, decimal", "by simulation"),
    "Exact: the load at which the busiest link is busy all the time. By simulation: bisection on what is reported "
    f"as unstable in {_STEPS:,} steps. Intervals: t_p = 0.1; by (14).",
)
def limits() -> Iterator[Row]:
    """Where links are saturated: as printed, from link loads, and by simulation."""
    cases: tuple[tuple[str, Scheme, str], ...] = (
        ("STAR", star(network("torus:4x4")), "1"),
        ("STAR without coin", star(network("torus:4x4"), coin=False), "1"),
        ("STAR without coin", star(network("torus:8x8"), coin=False), "1"),
        ("ARC, nearest side", arc(network("array:6x6")), "0.25"),
        ("ARC, random side", arc(network("array:6x6"), side="random"), "0.25"),
        ("ARC, nearest side", arc(network("array:10x10")), "0.688"),
        ("indirect (S.-T.)", scheme("stamoulis-tsitsiklis-indirect", network("hypercube:4")), "0.667"),
        ("indirect (S.-T.)", scheme("stamoulis-tsitsiklis-indirect", network("hypercube:6")), "0.667"),
        ("direct (V.-B.)", scheme("varvarigos-banerjee-direct", network("hypercube:4")), "0.5"),
    )
    for name, made, printed in cases:
        exact = stability_limit(made).load
        found = limit_by_simulation(made, 0.7 * float(exact), min(1.3 * float(exact), 1.2))
        yield name, made.network.spec, printed, str(exact), float(exact), found
    for spec in ("hypercube:6", "torus:8x8", "array:8x8"):
        intervals = interval_scheme(network(spec), control_time=Fraction(1, 10))
        limit = intervals.load(intervals.largest_rate)
        yield "intervals (V.-B.)", spec, "", "", limit, None


NETWORKS: tuple[str, ...] = (
    "hypercube:4", "hypercube:5", "hypercube:6", "hypercube:7", "hypercube:8", "torus:5x5", "torus:8x8", "torus:4x4x4",
    "star:4", "star:5",
)  # fmt: skip
"""The networks of the table of delays."""
RULES: tuple[str, ...] = ("fifo", "priority", "optimal")
"""The schemes of the table of delays."""

_LOADS = (0.1, 0.5, 0.8, 0.9)
STEPS: dict[float, float] = {0.0: 5_000.0, 0.75: 40_000.0, 0.85: 150_000.0, 0.93: 600_000.0}
"""Measured steps from each share of the limit on: near it delays hang together for long, and intervals shall stay below
4%."""


def steps_at(load: float, limit: float = 1.0) -> float:
    """Return the measured steps of a run at a load, of a scheme that is stable up to a limit.

    >>> steps_at(0.5), steps_at(0.9), steps_at(0.45, 0.5)
    (5000.0, 150000.0, 150000.0)
    """
    return STEPS[max(least for least in STEPS if least <= round(load / limit, 9))]


@lru_cache(maxsize=512)
def simulated(
    name: str,
    spec: str,
    load: float,
    ties: str = "fifo",
    choose: str = "oblivious",
    time: str = "continuous",
    limit: float = 1.0,
) -> Result:
    """Return the simulation of a scheme at a load over `steps_at` measured steps, intervals by batch means.

    What may be unstable, reversed priority and the local choice, gets 5,000 steps at any load.
    """
    steps = steps_at(0.0 if name == "reversed" or choose == "local" else load, limit)
    settings = Settings(steps=steps, ties=ties, choose=choose, time=time)
    return simulate(scheme(name, network(spec)), load=load, above_limit=True, settings=settings)


def delay_text(result: Result, what: str) -> str:
    """Return a mean delay with its interval, or that it is unstable."""
    estimate = getattr(result, what)
    return f"{estimate.mean:.2f}±{estimate.half_width:.2f}" if result.stable else "unstable"


@tabulated(
    "Delays by priority rule (sections 2.2, 4 and 5)",
    (
        *("network", "rho", "reception at least", "FIFO", "two-class", "optimal"),
        *("broadcast at least", "FIFO", "two-class", "optimal", "waits high / low"),
    ),
    "Steps, with 95% intervals by batch means over 5,000 measured steps, 40,000 at 0.8 and 150,000 at 0.9. Lower "
    "bounds hold for any order of service on these trees. Optimal priorities shorten reception; on tori and star "
    "graphs they can lengthen the broadcast (errata X2).",
)
def delays() -> Iterator[Row]:
    """Sections 2.2 and 4: reception and broadcast delays of three priority rules."""
    for spec in NETWORKS:
        for load in _LOADS:
            found = {name: simulated(name, spec, load) for name in RULES}
            bound = best_bound(scheme("fifo", network(spec)), load)
            waits = found["priority"].wait
            high_low = f"{waits[0]:.2f} / {waits[1]:.2f}" if len(waits) == 2 else "-"
            reception = [delay_text(found[name], "reception") for name in RULES]
            broadcast = [delay_text(found[name], "broadcast") for name in RULES]
            yield (spec, load, f"{bound[0]:.2f}", *reception, f"{bound[1]:.2f}", *broadcast, high_low)


@tabulated(
    "Mean waits at rho = 0.9 (section 2.2)",
    (
        *("network", "high", "M/D/1 priorities", "printed", "in slots", "low", "M/D/1 priorities", "printed"),
        *("FIFO", "M/D/1"),
    ),
    "In continuous time the printed wait of the high class leaves out the copy of the low class that is being "
    "sent; it tends to rho/2, not to 0 (errata X3). Where all copies start with a slot nothing of the kind is "
    "waited for.",
)
def waits() -> Iterator[Row]:
    """Section 2.2: the waits of the two classes, as printed, by the queue formulas, and simulated (errata X3)."""
    load = 0.9
    for spec, side in (("hypercube:4", 2), ("hypercube:8", 2), ("torus:5x5", 5), ("torus:8x8", 8)):
        net = network(spec)
        made, found = scheme("priority", net), simulated("priority", spec, load)
        high, low = printed_waits(load, side, net.node_count)
        exact = head_of_line_waits(class_loads(made, load).mean(axis=0).tolist())
        fifo, slots = simulated("fifo", spec, load), simulated("priority", spec, load, time="slotted")
        both = (found.wait[0], exact[0], high, slots.wait[0], found.wait[1], exact[1], low)
        yield (spec, *both, fifo.wait[0], load / (2 * (1 - load)))


@tabulated(
    "Orders of service on hypercube:5 at rho = 0.9 (section 4)",
    ("order", "reception", "broadcast", "utilization"),
    "Serving the copies with the fewest descendants first is unstable although no link idles while it has work: "
    "rho < 1 is enough only for some orders.",
)
def controls() -> Iterator[Row]:
    """Orders of service on the hypercube of dimension 5 at rho = 0.9: ties by age, and reversed priority."""
    for title, name, ties in (
        ("first come, first served", "fifo", "fifo"),
        ("oldest broadcast first", "fifo", "age"),
        ("two classes", "priority", "fifo"),
        ("most descendants first", "optimal", "fifo"),
        ("most descendants, then oldest", "optimal", "age"),
        ("most descendants, in three classes", "three-class", "fifo"),
        ("longest way to go first", "critical-path", "fifo"),
        ("fewest descendants first", "reversed", "fifo"),
    ):
        found = simulated(name, "hypercube:5", 0.9, ties)
        yield title, delay_text(found, "reception"), delay_text(found, "broadcast"), float(found.utilization.mean())


@tabulated(
    "Reception delay at rho = 0.9 against the dimension d (section 2.2)",
    ("d", "FIFO", "optimal", "at least"),
    "Optimal priorities add about 0.7 steps a dimension, FIFO about 2.",
)
def growth() -> Iterator[Row]:
    """Section 5: reception delay against the dimension of the hypercube, O(d + 1/(1-rho)) or O(d/(1-rho))."""
    for d in range(4, 9):
        spec = f"hypercube:{d}"
        fifo, optimal = (simulated(name, spec, 0.9).reception.mean for name in ("fifo", "optimal"))
        yield d, fifo, optimal, best_bound(scheme("fifo", network(spec)), 0.9)[0]


COMPARED: dict[str, tuple[str, ...]] = {
    "hypercube:6": (
        "fifo", "priority", "optimal", "mini-packets", "stamoulis-tsitsiklis-indirect", "varvarigos-banerjee-direct",
        "varvarigos-bertsekas",
    ),
    "torus:8x8": (
        "fifo", "priority", "optimal", "varvarigos-banerjee-direct", "varvarigos-banerjee-indirect",
        "varvarigos-bertsekas",
    ),
    "array:10x10": ("arc", "varvarigos-banerjee-direct", "varvarigos-banerjee-indirect", "varvarigos-bertsekas"),
}  # fmt: skip
"""The schemes that are compared on each network."""


@lru_cache(maxsize=8)
def compared(spec: str) -> tuple[Delays, ...]:
    """Return the delays of all schemes of `COMPARED` on a network, for loads from 0.1 to 0.9."""
    loads = [round(0.1 * i, 1) for i in range(1, 10)]
    return tuple(delay_load(network(spec), COMPARED[spec], loads, settings=Settings(steps=1000.0)))


# ARC on meshes, choices that look at the load, mini-packets, and the baselines.
#
# Figs. 1 to 3 of Yeh, Varvarigos and Lee 1998: one broadcast of the priority scheme, of ARC, and its tree.


class Sent(NamedTuple):
    """One transmission of a broadcast that meets no other: its step from 1, its ends, its class, and what follows it.

    `counted` says whether the receipt is the first of a node that must receive, and `size` how many such receipts
    it brings, its own among them.
    """

    step: int
    source: int
    target: int
    priority: int
    counted: bool
    size: int


def sent_by(scheme: Scheme, source: int, choice: int) -> list[Sent]:
    """Return the transmissions of one broadcast alone in the network, by step.

    >>> [s[:3] for s in sent_by(star(parse_network("ring:3")), 0, 0)]
    [(1, 0, 1), (1, 0, 2)]
    """
    network = scheme.network
    line = 0 if scheme.translated else int(np.flatnonzero(scheme.source_nodes == source)[0])
    found: list[Sent] = []

    def send(row: int, node: int, step: int) -> int:
        column = int(scheme.step[row])
        link = int(scheme.link_table[node, column]) if scheme.link_table is not None and scheme.translated else column
        to = int(network.link_target[link])
        place = len(found)
        found.append(Sent(step, node, to, int(scheme.priority[row]), bool(scheme.counted[row]), 0))
        after = scheme.children[scheme.child_first[row] : scheme.child_last[row]]
        size = int(scheme.counted[row]) + sum(send(int(child), to, step + 1) for child in after)
        found[place] = found[place]._replace(size=size)
        return size

    entries = slice(scheme.entry_first[line, choice, 0], scheme.entry_last[line, choice, 0])
    for row in scheme.children[entries]:
        send(int(row), source, 1)
    return sorted(found)


def _grid(side: int, texts: dict[int, str]) -> list[tuple[Cell, ...]]:
    return [(i, *(texts.get(i * side + j, "") for j in range(side))) for i in range(side)]


def priority_broadcast() -> Table:
    """Fig. 1: a broadcast in the 5-ary 2-cube by the priority broadcast scheme."""
    source = 12
    sent = sent_by(star(parse_network("torus:5x5")), source, 0)
    texts = {s.target: f"{s.step} {'low' if s.priority else 'high'}" for s in sent} | {source: "source"}
    high = sum(s.priority == 0 for s in sent)
    return Table(
        "Dynamic broadcast in a 5-ary 2-cube (Fig. 1)",
        ("row", *(f"column {j}" for j in range(5))),
        tuple(_grid(5, texts)),
        f"The step in which each node receives the packet, if no other is in the way, and the class of that copy: "
        f"{high} = N/n - 1 of high and {len(sent) - high} = (1 - 1/n)N of low priority, which end the broadcast.",
    )


@tabulated(
    "Dynamic broadcast in a 6 x 6 mesh by ARC (Fig. 2)",
    ("row", *(f"column {j}" for j in range(6))),
    "Steps and classes of the copies that each node gets: (a) down to the last row, (b) along it, (c) back through "
    "the inner 4 x 4 nodes. The source, and nodes on the way out, get the packet once more.",
)
def arc_broadcast() -> Iterable[Row]:
    """Fig. 2: a broadcast in the 6 x 6 mesh by ARC."""
    network = parse_network("array:6x6")
    scheme = arc(network)
    source = 3 * 6 + 2
    broadcasts = [sent_by(scheme, source, choice) for choice in range(scheme.choice_count)]
    down = next(some for some in broadcasts if some and some[0].target == source + 6)
    texts: dict[int, str] = {source: "source"}
    for s in down:
        word = f"{s.step} {'low' if s.priority else 'high'}"
        texts[s.target] = f"{texts[s.target]}, {word}" if s.target in texts else word
    return _grid(6, texts)


@tabulated(
    "The completely unbalanced spanning tree T_1 of the 4-cube (Fig. 3)",
    ("node", "from", "dimension i", "nodes below, itself included", "class", "printed (j-i-1 mod d)+1"),
    "j = 1. The class by the number of nodes below is the printed one. Dimensions are named in the paper's order.",
)
def unbalanced_tree() -> Iterator[Row]:
    """Fig. 3: the completely unbalanced spanning tree T_1 of the 4-cube, and its classes."""
    d = 4
    scheme = star(parse_network("hypercube:4"), priority="optimal")
    choices = [sent_by(scheme, 0, choice) for choice in range(scheme.choice_count)]
    names = {1 << k: 0 for k in range(d)}
    tree = next(some for some in choices if max(some, key=lambda s: s.size).target == 1 << (d - 1))
    for place, s in enumerate(sorted((s for s in tree if s.source == 0), key=lambda s: -s.size)):
        names[s.target] = d - place  # the paper's T_1 begins with dimension d
    for s in tree:
        dimension = names[s.source ^ s.target]
        yield f"{s.target:04b}", f"{s.source:04b}", dimension, s.size, s.priority + 1, -dimension % d + 1


@tabulated(
    "ARC: largest load (section 3.1)",
    ("mesh", "printed 1 - d n/N'", "exact, nearest side", "exact, random side", "sides balanced"),
    "The printed limit is a safe understatement. Balanced: dimension and side of each source are drawn as a linear "
    "program says, which no other drawing beats. With equal sides it gains nothing over the nearest side.",
)
def arc_limits() -> Iterator[Row]:
    """Section 3.1: the largest load of ARC on n x n meshes."""
    for spec, printed in (
        ("array:6x6", 0.25),
        ("array:10x10", 0.6875),
        ("array:14x14", 0.8056),
        ("array:6x6x6", 0.7188),
        ("array:4x8", None),
        ("array:6x10", None),
        ("array:4x6x8", None),
    ):
        nearest, random = (stability_limit(arc(network(spec), side=s)).load for s in ("nearest", "random"))
        balanced = float(stability_limit(arc(network(spec), side="balanced")).load)
        yield spec, printed, nearest, random, round(balanced, 4)


@tabulated(
    "ARC: delays (section 3.3)",
    (*("mesh", "rho", "reception at least", "FIFO", "two-class", "broadcast at least", "FIFO", "two-class"),),
    "Load factor and delays of the inner nodes, which alone generate and receive.",
)
def arc_delays() -> Iterator[Row]:
    """Section 3.3: delays of ARC, first come first served and with two classes."""
    for spec, loads in (("array:6x6", (0.6, 0.75)), ("array:10x10", (0.6, 0.81)), ("array:6x6x6", (0.6, 0.859))):
        for load in loads:
            made = {rule: arc(network(spec), priority=rule) for rule in ("fifo", "two-class")}
            limit = float(stability_limit(made["fifo"]).load)
            settings = Settings(steps=steps_at(load, limit))
            found = {r: simulate(m, load=load, settings=settings) for r, m in made.items()}
            bound = best_bound(made["fifo"], load)
            both = [delay_text(found[r], what) for what in ("reception", "broadcast") for r in ("fifo", "two-class")]
            yield (spec, load, f"{bound[0]:.2f}", *both[:2], f"{bound[1]:.2f}", *both[2:])


@tabulated(
    "ARC: static multinode broadcast (section 3.2)",
    ("mesh", "inner nodes N'", "printed", "claimed at most", "measured", "bound"),
    "Printed: N'/(2d) + n - 3, which is at least 1 too small (errata X4). Claimed: ceil(N'/(2d)) + n + d - 2.",
)
def arc_multinode() -> Iterator[Row]:
    """Section 3.2: the static multinode broadcast among the inner nodes by ARC (errata X4)."""
    for spec in ("4x4", "5x5", "6x6", "8x8", "10x10", "12x12", "6x10", "4x4x4", "6x6x6"):
        net = network(f"array:{spec}")
        sides = [int(s) for s in spec.split("x")]
        inner = math.prod(s - 2 for s in sides)
        case = Case(net, GroupMultinodeBroadcast(tuple(inner_nodes(net).tolist())))
        offer = ARC.offer(case)
        schedule = offer.build()
        verify(schedule).raise_if_invalid()
        printed = inner / (2 * len(sides)) + max(sides) - 3
        bound = best_static_bound(case).value
        yield spec, inner, printed, offer.time, schedule.completion_time, bound


@tabulated(
    "Choice of the order by load: reception / broadcast (section 6.1)",
    ("network", "rho", "priorities", "oblivious", "global", "local", "neighbors", "guarded"),
    "'Global' knows every transmission still to be made, an oracle. 'Local' balances dimensions by the queues at "
    "the source and becomes unstable at high load (errata X8); in brackets the delays seen in that run. "
    "'Neighbors' goes by the mean of the queues of the source and its neighbors, which are taken as known: the "
    "shortest delays first come, first served, but with optimal priorities it becomes unstable too. 'Guarded' "
    "mixes the local choice with random ones and gives way to them where queues are long.",
)
def load_aware() -> Iterator[Row]:
    """Section 6.1: choices that look at the load (errata X8)."""
    for spec, load in (("hypercube:4", 0.5), ("hypercube:4", 0.8), ("hypercube:6", 0.8), ("hypercube:6", 0.9)):
        for name in ("fifo", "optimal"):
            cells: list[Cell] = []
            for choose in ("oblivious", "global", "local", "neighbors", "guarded"):
                found = simulated(name, spec, load, choose=choose)
                both = f"{found.reception.mean:.2f} / {found.broadcast.mean:.2f}"
                cells.append(both if found.stable else f"unstable ({found.observed[0]:.0f} / {found.observed[1]:.0f})")
            yield (spec, load, name, *cells)


@tabulated(
    "Messages in d parts: reception / broadcast (section 6.2)",
    ("network", "parts", "rho = 0.01", "rho = 0.5", "rho = 0.9"),
    "Near load 1 only the edge-disjoint trees gain about a factor d; STAR parts barely beat whole messages (errata "
    "X9).",
)
def mini_packets() -> Iterator[Row]:
    """Section 6.2: messages in d parts on edge-disjoint trees, and as d STAR broadcasts (errata X9)."""
    for spec in ("hypercube:4", "hypercube:6"):
        net = network(spec)
        cases = (
            ("whole, optimal", scheme("optimal", net)),
            ("STAR parts, FIFO", star_minis(net)),
            ("STAR parts, optimal", star_minis(net, priority="optimal")),
            ("disjoint trees, FIFO", scheme("mini-packets", net)),
        )
        for title, made in cases:
            cells: list[Cell] = []
            for load in (0.01, 0.5, 0.9):
                found = simulate(made, load=load, settings=Settings(steps=steps_at(load)))
                cells.append(f"{found.reception.mean:.2f} / {found.broadcast.mean:.2f}")
            yield (spec, title, *cells)


@tabulated(
    "Earlier schemes (section 1)",
    ("network", "scheme", "limit", "rho", "at least", "reception", "at least", "broadcast"),
    "The delays of the schemes of Varvarigos and Banerjee depend on the spanning trees that were found.",
)
def baselines() -> Iterator[Row]:
    """Section 1: earlier schemes on the same networks."""
    for spec, name, loads in (
        ("hypercube:4", "stamoulis-tsitsiklis-indirect", (0.1, 0.3, 0.5)),
        ("hypercube:6", "stamoulis-tsitsiklis-indirect", (0.1, 0.3, 0.5, 0.6)),
        ("hypercube:4", "varvarigos-banerjee-direct", (0.1, 0.3, 0.45)),
        ("hypercube:4", "varvarigos-banerjee-indirect", (0.1, 0.3, 0.45)),
        ("torus:5x5", "varvarigos-banerjee-direct", (0.1, 0.3, 0.45)),
        ("torus:5x5", "varvarigos-banerjee-indirect", (0.1, 0.3, 0.45)),
    ):
        made = scheme(name, network(spec))
        limit = stability_limit(made).load
        for load in loads:
            found, bound = simulated(name, spec, load, limit=float(limit)), best_bound(made, load)
            both = delay_text(found, "reception"), delay_text(found, "broadcast")
            yield spec, name, limit, load, f"{bound[0]:.2f}", both[0], f"{bound[1]:.2f}", both[1]


ABOUT = """Delays are in steps, simulated with 95% confidence intervals, beside lower bounds that no order of service on
the same trees can beat."""
"""What the page of the reproduction says first."""
CURVES_TITLE = "Delays of the interval scheme between their bounds"
"""What the picture of the curves shows."""
CURVES_ABOUT = """The scheme of Varvarigos and Bertsekas, one partial multinode broadcast after the other, t_p = 0.1:
points are simulated; the band lies between a lower bound and their bound (11). The other schemes are compared below."""
"""What the page says of the curves."""

TABLES: tuple[Callable[[], Table], ...] = (
    load_factors, star_choice, limits, delays, waits, controls, growth, arc_limits, arc_delays, arc_multinode,
    load_aware, mini_packets, baselines, priority_broadcast, arc_broadcast, unbalanced_tree,
)  # fmt: skip
"""The functions that make the tables."""


def curves() -> Iterator[Curve]:
    """Yield delay against load of the interval scheme, between a lower bound and the bound (11)."""
    for spec in ("hypercube:8", "torus:8x8", "array:8x8", "torus:4x4x4"):
        scheme = interval_scheme(network(spec), control_time=Fraction(1, 10))
        shares = (2, 5, 10, 20, 40, 60, 80, 90)
        runs = [scheme.simulate(Fraction(share, 100) * scheme.largest_rate, packets=400_000) for share in shares]
        yield Curve(
            f"{spec}, delay", "percent of the largest stable load", shares,
            tuple(Fraction(run.delay).limit_denominator(10**6) for run in runs),
            tuple(run.lower_bound for run in runs), tuple(run.upper_bound for run in runs),
            simulated=True,
        )  # fmt: skip
