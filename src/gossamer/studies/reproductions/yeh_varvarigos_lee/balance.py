"""How STAR spreads traffic over dimensions, and where the links of each scheme are saturated."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from gossamer.networks.spec import network
from gossamer.simulation.random_arrivals.intervals import interval_scheme
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.schemes import arc, scheme, star, star_probabilities
from gossamer.simulation.random_arrivals.settings import Settings
from gossamer.simulation.random_arrivals.simulator import simulate
from gossamer.simulation.random_arrivals.theory import load_factor, stability_limit
from gossamer.studies.reproductions.table import Cell, Table

__all__ = ["TABLES", "limit_by_simulation"]

_TRIES = 7
_STEPS = 20_000  # in shorter runs loads some percent above the limit may pass for stable


def load_factors() -> Table:
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
    rows: list[tuple[Cell, ...]] = []
    for spec in specs:
        net = network(spec)
        rows.append((spec, net.node_count, Fraction(net.link_count, net.node_count), load_factor(net, Fraction(1))))
    return Table(
        "Load factor rho of rate lambda = 1 (section 1)",
        ("network", "N", "links per node", "rho"),
        tuple(rows),
        "rho = lambda (N - 1) / d_ave. rho < 1 is necessary for any scheme.",
    )


def star_choice() -> Table:
    """Section 2.1: the probabilities with which STAR ends in each dimension."""
    rows: list[tuple[Cell, ...]] = []
    for spec in ("torus:3x5", "torus:2x3", "torus:4x8", "torus:3x4x5", "torus:2x2x8", "torus:4x4", "torus:8x8"):
        net = network(spec)
        assert net.grid is not None
        made = star(net)
        chosen = _last_dimension(made, len(net.grid.sides))
        plain = stability_limit(star(net, coin=False)).load
        solved = star_probabilities(net.grid.sides)
        rows.append((spec, ", ".join(map(str, solved)), chosen, plain, stability_limit(made).load))
    return Table(
        "STAR: probability of ending in dimension 1, 2, ... (section 2.1)",
        ("torus", "equal shares", "shares by links", "largest rho without coin", "largest rho"),
        tuple(rows),
        "'Equal shares' solves the system as printed, (N-1)/d transmissions in each dimension; where a side has 2 "
        "nodes a dimension has half the links, and shares go by links. Without a fair coin for the longer way round an "
        "even ring the links are not balanced (errata X1).",
    )


def _last_dimension(made: Scheme, dimensions: int) -> str:
    chances = made.exact_probability[0] if made.exact_probability else ()
    per = len(chances) // dimensions if chances and len(chances) % dimensions == 0 else 0
    if not per:
        return "-"
    return ", ".join(str(sum(chances[i * per : (i + 1) * per], Fraction(0))) for i in range(dimensions))


def limit_by_simulation(made: Scheme, low: float, high: float) -> float:
    """Return the load at which a simulation turns from stable to unstable, by bisection.

    Parameters
    ----------
    made : Scheme
        The scheme.
    low, high : float
        Loads at which it is stable and is not.
    """
    for trial in range(_TRIES):
        middle = (low + high) / 2
        if simulate(made, load=middle, above_limit=True, settings=Settings(steps=_STEPS, seed=trial)).stable:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def limits() -> Table:
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
    rows: list[tuple[Cell, ...]] = []
    for name, made, printed in cases:
        exact = stability_limit(made).load
        found = limit_by_simulation(made, 0.7 * float(exact), min(1.3 * float(exact), 1.2))
        rows.append((name, made.network.spec, printed, str(exact), float(exact), found))
    for spec in ("hypercube:6", "torus:8x8", "array:8x8"):
        intervals = interval_scheme(network(spec), control_time=Fraction(1, 10))
        limit = intervals.load(intervals.largest_rate)
        rows.append(("intervals (V.-B.)", spec, "", "", limit, None))
    return Table(
        "Largest stable load (sections 1, 2.1 and 3.1)",
        ("scheme", "network", "printed", "exact", "exact, decimal", "by simulation"),
        tuple(rows),
        "Exact: the load at which the busiest link is busy all the time. By simulation: bisection on what is reported "
        f"as unstable in {_STEPS:,} steps. Intervals: t_p = 0.1; by (14).",
    )


TABLES: tuple[Callable[[], Table], ...] = (load_factors, star_choice, limits)
"""The functions that make the tables."""
