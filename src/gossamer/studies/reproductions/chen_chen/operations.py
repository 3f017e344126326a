"""The operations one by one: aggregation, prefix sums, tuning, all-to-all on a diagonal, data collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from gossamer.simulation.flits import simulate_schedule
from gossamer.studies.reproductions.chen_chen.schedule_costs import (
    VARIANTS,
    Cost,
    ScheduleCost,
    case_of,
    cost_of,
    lemma_1,
    partitioned,
    with_movement,
)
from gossamer.studies.reproductions.table import Cell, Row, Table, tabulated
from gossamer.wormhole import verify
from gossamer.wormhole.aggregation_distribution import ATD_5, ATD_OPT, ATD_PIECE, Variant, aggregation_distribution
from gossamer.wormhole.aggregation_distribution.closed_forms import MOVEMENTS
from gossamer.wormhole.contraction_trees import ceil_log, group_tree
from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

MIX3 = with_movement(ATD_OPT, "mix3")
FULL: tuple[tuple[int, int, Variant], ...] = (
    (5, 5, ATD_5), (5, 5, MIX3), (10, 5, ATD_5), (16, 4, ATD_5), (25, 5, ATD_5), (25, 5, MIX3), (30, 6, ATD_5),
    (50, 10, ATD_5), (50, 10, MIX3),
)  # fmt: skip
"""Side n, number of DDNs h and variant of the table with every node a source."""
TWENTY = (1, 6, 12, 13, 16, 17, 18, 22, 27, 30, 32, 34, 37, 43, 46, 52, 56, 75, 77, 79)
"""Twenty sources on 10 x 10 nodes with the loads 1, 6, 9, 2, 2 of the DDNs that the source's Fig. 3 has.

Which nodes they are there is not known, because the figure is lost: these were chosen here.
"""

_FEW = 120
_PHASES = ("aggregation", "prefix sums", "tuning", "alignment", "all-gather", "broadcast", "rows", "columns")


def _full(n: int, variant: Variant, h: int) -> ScheduleCost:
    return partitioned(n, n * n, variant, h, _FEW)


def _phase(run: ScheduleCost, name: str) -> Cost:
    return run.phases.get(name, Cost(0, Fraction(0)))


@tabulated(
    "Data aggregation (Lemma 1)",
    ("h", "start-ups", "measured", "messages: sum", "closed form", "corrected", "measured", "bound"),
    "All nodes are sources. The printed sum ends one level too early; the closed form is right for h = 5^t and an "
    "upper bound otherwise (errata X14). Bound: h - 1 messages for a node enter by four channels. No start-up can "
    "be spared: a step makes at most one node of five.",
)
def aggregation() -> Iterator[Row]:
    """Lemma 1: h diagonals to one."""
    for h in (2, 3, 4, 5, 6, 8, 10, 15, 25, 26):
        printed, levels = lemma_1(h), ceil_log(5, h)
        found = _phase(_full(4 if h == 2 else h, ATD_5, h), "aggregation")
        as_summed = sum(5 ** (i - 1) for i in range(1, levels))
        corrected = sum(group_tree(h).loads)
        yield (
            h, printed.startups, found.startups, as_summed, printed.messages, corrected, found.messages,
            Fraction(h - 1, 4),
        )  # fmt: skip


@tabulated(
    "Prefix sums (section 3.1.2): steps",
    ("n", "h", "printed", "groups of 5", "groups of 3", "bound"),
    "Groups of 3 on the diagonal take one step a level where groups of 5 take two. Bound: the last rank depends on "
    "all n N counters, N = n/h, and in a step a node hears from four others.",
)
def prefix_sums() -> Iterator[Row]:
    """Prefix sums: steps of counters."""
    for n, h in ((5, 5), (10, 5), (10, 2), (16, 4), (20, 5), (25, 5), (25, 25), (30, 6), (30, 15), (50, 10)):
        blocks = n // h
        printed = 4 * ceil_log(5, n) + 2 * ceil_log(5, blocks)
        found = [_phase(partitioned(n, (0,), v, h, _FEW), "prefix sums").startups for v in (ATD_5, ATD_OPT)]
        yield (n, h, printed, *found, ceil_log(5, n * blocks))


@tabulated(
    "Data tuning (section 3.1.2): steps and messages",
    ("h", "claimed", *(c for name in MOVEMENTS for c in (name, "messages")), "least, m a step", "bound"),
    "All nodes are sources. Claimed are as many steps as messages. mix5 is the source's hierarchy, mix3 and direct "
    "are Gossamer's. A node with h messages of all destinations sends h - 1 of them: that many messages over four "
    "channels (bound), and one message a channel and step in no fewer steps than the last column but one. So the "
    "claim holds by direct for h <= 13 and for no h >= 16 by any means (errata X4).",
)
def tuning() -> Iterator[Row]:
    """Tuning: steps and messages of the three movements."""
    for h in (2, 3, 4, 5, 6, 8, 10, 13, 14, 15, 16, 20, 25, 30):
        cells: list[Cell] = []
        for name in ("mix5", "mix3", "direct"):
            found = _phase(_full(4 if h == 2 else h, with_movement(ATD_OPT, name), h), "tuning")
            cells += [found.startups, found.messages]
        least = 1 + max(0, -(-(h - 3) // 4))
        yield (h, 2 * ceil_log(5, h), *cells, least, Fraction(h - 1, 4))


def plain_pattern_collides(nodes: int) -> bool:
    """Whether the printed all-to-all pattern on a diagonal, partners u and 2u away for u = 1, 5, 25, ..., collides.

    >>> [n for n in range(2, 40) if plain_pattern_collides(n)]
    [2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]
    """
    unit = 1
    while unit < nodes:
        used: Counter[tuple[int, int]] = Counter()
        for i in range(nodes):  # in step b: down column i from rows i - 2u and i
            used.update((i, (i - 2 * unit + x) % nodes) for x in range(2 * unit))
            used.update((i, (i + x) % nodes) for x in range(unit))
        if max(used.values()) > 1:
            return True
        unit *= 5
    return False


@tabulated(
    "All-to-all broadcast on a diagonal of N nodes (section 3.2.1)",
    ("N", "printed pattern", "steps", "messages", "4 partners", "messages", "2 partners", "messages", "bound",
     "messages"),
    "One message at each node of the diagonal. The printed pattern collides if u < N < 3u for a power u of 5 "
    "(errata X5); with the last partners cut short it does not.",
)  # fmt: skip
def all_to_all() -> Iterator[Row]:
    """All-to-all broadcast on a diagonal of N nodes."""
    for nodes in (2, 3, 4, 5, 6, 8, 9, 10, 14, 15, 16, 20, 25, 26, 27, 30):
        diagonal = tuple(i * nodes + i for i in range(nodes))
        found = [_phase(partitioned(nodes, diagonal, v, 1, _FEW), "all-gather") for v in (ATD_5, ATD_OPT)]
        steps = 2 * ceil_log(5, nodes)
        plain = "collides" if plain_pattern_collides(nodes) else "is free"
        cells = [c for cost in found for c in (cost.startups, cost.messages)]
        yield (nodes, plain, steps, steps * nodes, *cells, ceil_log(5, nodes), Fraction(nodes - 1, 4))


@tabulated(
    "Data collection (section 3.2.3): steps and messages",
    ("h", "rows", "in DCNs", "windows", "bound", "columns", "ring", "shift", "bound", "messages", "ATD-5",
     "ATD-opt", "bound"),
    "One message in each DDN. Rows inside the DCNs take log_3(2h - 1) steps rounded up, more than printed for "
    "h = 3, 6 to 9, 15, ... (errata X6); windows around each copy cross their borders. ATD-opt sends halves both "
    "ways at once, and shifts instead of rings. The bounds on steps are for one message a channel, along rows or "
    "columns alone; that on messages is for four channels.",
)  # fmt: skip
def collection() -> Iterator[Row]:
    """Rows and columns of the data collection."""
    inside = replace(ATD_5, name="inside DCNs", rows="block")
    for h in (2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 25):
        chosen = tuple(range(h))
        block, window, halves = (partitioned(2 * h, chosen, v, h, _FEW) for v in (inside, ATD_5, ATD_OPT))
        row, column = ceil_log(3, h), h - 1
        yield (
            h, row, _phase(block, "rows").startups, _phase(window, "rows").startups, row,
            column, _phase(window, "columns").startups, _phase(halves, "columns").startups, -(-(h - 1) // 2),
            row + column, *(_phase(r, "rows").messages + _phase(r, "columns").messages for r in (window, halves)),
            Fraction(h - 1, 4),
        )  # fmt: skip


def _by_phase(title: str, cases: list[tuple[Cell, Cell, Variant, ScheduleCost, Cost]], note: str) -> Table:
    rows = []
    for n, h, variant, run, least in cases:
        cells = []
        for name in _PHASES:
            cost = run.phases.get(name)
            text = "-" if cost is None else str(cost.startups)
            if cost is not None and name != "prefix sums":
                text += f" ({float(cost.messages):g})"
            cells.append(text)
        total = run.data
        rows.append((n, h, variant.name, *cells, total.startups, total.messages, least.startups, least.messages))
    columns = ("n", "h", "variant", *_PHASES, "start-ups", "messages", "bound", "messages")
    return Table(title, columns, tuple(rows), note)


_HOW = "Start-ups, with the messages sent one after the other in brackets; counters of the prefix sums are left out."


def full_load() -> Table:
    """Every phase with every node a source."""
    cases: list[tuple[Cell, Cell, Variant, ScheduleCost, Cost]] = []
    for n, h, variant in FULL:
        least = Cost(ceil_log(5, n * n), Fraction(n * n - 1, 4))
        cases.append((n, h, variant, _full(n, variant, h), least))
    return _by_phase("The phases where every node is a source", cases, f"{_HOW} atd-opt with tuning by mix3.")


def twenty_sources() -> Table:
    """Every phase for twenty sources on 10 x 10 nodes."""
    least = Cost(3, Fraction(5))
    piece = with_movement(ATD_PIECE, "mix3")
    cases: list[tuple[Cell, Cell, Variant, ScheduleCost, Cost]] = [
        (10, 5, v, partitioned(10, TWENTY, v, 5, _FEW), least) for v in (ATD_5, MIX3, piece)
    ]
    note = (
        f"{_HOW} The DDNs have 1, 6, 9, 2 and 2 messages after the aggregation, as in the figure, and 4 each after the "
        "tuning, by mix3 but for atd-5. The sources are chosen here: those of the figure, which is lost, are not known."
    )
    return _by_phase("The phases for twenty sources on 10 x 10 nodes, with the loads of Fig. 3", cases, note)


TABLES: tuple[Callable[[], Table], ...] = (
    aggregation, prefix_sums, tuning, all_to_all, collection, full_load, twenty_sources,
)  # fmt: skip


# The schedules run flit by flit.

ALGORITHMS = (
    "atd-5", "atd-opt", "atd-piece", "ring-all-gather", "packed-ring-all-gather",
    "spanning-trees", "spanning-trees-pipelined", "sequential-broadcasts",
)  # fmt: skip
"""The algorithms that are run, aggregation-then-distribution with h = 5."""


@tabulated(
    "Flit by flit: twenty sources on 10 x 10 nodes, tau = 0.1",
    ("algorithm", "start-ups", "model", "predicted", "with barriers", "blocked", "without", "blocked", "deadlock"),
    "Cycles in which a channel carries one flit of 4 bytes; m = 1024 bytes, routers of 1 cycle, buffers of 4 "
    "flits, 2 virtual channels. Rules: the schedule's time, distance left out. Predicted: with the way of the "
    "slowest head in each step. Blocked: cycles that flits waited for a channel. Without barriers a message starts "
    "as soon as its source has what it carries; then messages of different steps can meet.",
)
def flit_by_flit() -> Iterator[Row]:
    """Schedules for twenty sources on 10 x 10 nodes, flit by flit."""
    case = case_of(10, TWENTY, cost_of(Fraction(1, 10)))
    for name in ALGORITHMS:
        if name in VARIANTS:
            schedule = aggregation_distribution(case, h=5, variant=VARIANTS[name])
        else:
            schedule = next(a for a in WORMHOLE_ALGORITHMS if a.name == name).build(case)
        verify(schedule).raise_if_invalid()
        barrier = simulate_schedule(schedule, starts="barrier")
        free = simulate_schedule(schedule, starts="dependencies")
        yield (
            name, schedule.startups, barrier.model_cycles, barrier.predicted_cycles, barrier.cycles, barrier.blocked,
            free.cycles, free.blocked, "none" if free.deadlock is None else str(free.deadlock),
        )  # fmt: skip


FLITS_TABLES: tuple[Callable[[], Table], ...] = (flit_by_flit,)
