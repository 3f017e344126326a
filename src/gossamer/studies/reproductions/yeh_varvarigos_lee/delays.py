"""Delays of the priority schemes against load, and the waits behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

from gossamer.networks.spec import network
from gossamer.simulation.random_arrivals.interval_broadcasts import interval_scheme
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.scheme_evaluation import Delays
from gossamer.simulation.random_arrivals.schemes import arc, scheme, star, star_probabilities
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
from gossamer.studies.reproductions.table import Row, Table, tabulated
from gossamer.studies.sweeps import delay_load

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


TABLES: tuple[Callable[[], Table], ...] = (load_factors, star_choice, limits, delays, waits, controls, growth)
"""The functions that make the tables."""
