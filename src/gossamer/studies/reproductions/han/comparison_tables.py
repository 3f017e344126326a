"""Tables 5.1 to 5.3 of Han 1990 where they are ours to run: as printed, guaranteed exactly, and measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from gossamer.algorithms import ALGORITHMS
from gossamer.algorithms.algorithm import Algorithm
from gossamer.bounds.loads import distance_bounds
from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.networks.spec import network as parse_network
from gossamer.questions.cases import Case, Refusal
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Permutation
from gossamer.questions.tasks.patterns import PATTERNS, pattern
from gossamer.schedules import Schedule
from gossamer.studies.reproductions.table import Cell, Curve, Row, Table, tabulated
from gossamer.verification import buffer_peak, verify

__all__ = [
    "FACTS_TABLES",
    "ROUTERS",
    "SIZES",
    "TABLES",
    "RouterGrowth",
    "Worst",
    "algorithm",
    "curves",
    "growth",
    "guaranteed",
    "instances",
    "split_time",
    "worst",
]

# Routing the standard instances: what an algorithm took at worst, by schedules that the checker accepted.

_RANDOM = 3


class Worst(NamedTuple):
    """The most that a router took over the instances, each figure on its own.

    Attributes
    ----------
    data, control : int
        Steps with messages, and steps of counting.
    total : int
        Both, counted one each, on the worst instance for both.
    buffers : int
        Messages in one node between two steps, its own and delivered ones included.
    distance : int
        The largest distance between a source and its destination: no router takes fewer steps on that instance.
    """

    data: int
    control: int
    total: int
    buffers: int
    distance: int


def algorithm(name: str) -> Algorithm:
    """Return the permutation routing algorithm of that name."""
    return next(a for a in ALGORITHMS if a.name == name and Permutation in a.tasks)


def instances(network: Network) -> Iterator[tuple[str, Permutation]]:
    """Yield the named permutations that the network's size allows, and three random ones."""
    for name in PATTERNS:
        if name == "random":
            continue
        try:
            yield name, Permutation(tuple(pattern(name, network).tolist()))
        except TaskError:
            continue
    for seed in range(_RANDOM):
        yield f"random {seed}", Permutation(tuple(pattern("random", network, seed=seed).tolist()))


def split_time(schedule: Schedule) -> tuple[int, int]:
    """Return the slots with messages and those of counting, of a schedule whose control packets take no time."""
    control = sum(phase.slots for phase in schedule.phases if phase.slot_length == 0)
    return schedule.slot_count - control, control


@lru_cache(maxsize=256)
def worst(name: str, spec: str) -> Worst:
    """Return the worst over `instances` of one router on one array.

    Raises
    ------
    VerificationError
        If the checker refuses a schedule.
    """
    network = parse_network(spec)
    router = algorithm(name)
    data = control = total = buffers = distance = 0
    for _, task in instances(network):
        schedule = router.build(Case(network, task))
        verify(schedule).raise_if_invalid()
        moving, counting = split_time(schedule)
        data, control = max(data, moving), max(control, counting)
        total = max(total, moving + counting)
        buffers = max(buffers, buffer_peak(schedule, "all").packets)
        distance = max(distance, _farthest(network, task))
    return Worst(data, control, total, buffers, distance)


def _farthest(network: Network, task: Permutation) -> int:
    return max((int(b.value) for b in distance_bounds(Case(network, task))), default=0)


def guaranteed(name: str, spec: str) -> tuple[Fraction, Fraction]:
    """Return the guaranteed steps of a move-and-smooth router with messages, and of counting."""
    network, router = parse_network(spec), algorithm(name)
    task = Permutation(tuple(range(network.node_count)))
    data, both = (_promised(router, Case(network, task, Rules(), StepCost(Fraction(t_p)))) for t_p in (0, 1))
    return data, both - data


def _promised(router: Algorithm, case: Case) -> Fraction:
    """Return the guaranteed steps, also of a schedule that is too large to keep."""
    offers = router.offers(case, streamed=True)
    assert not isinstance(offers, Refusal)
    return offers[0].time or Fraction(0)


# Steps and buffers of the routers against n, for the figures.

ROUTERS: tuple[str, ...] = ("Q", "H", "kunde-2", "kunde-4", "greedy", "valiant-brebner", "random-slices")
"""The routers that are compared."""
SIZES: tuple[int, ...] = (4, 8, 16, 32, 64)
"""The sides n."""


class RouterGrowth(NamedTuple):
    """What one router took at worst on n x n for each of `SIZES`: steps (control included) and buffers."""

    name: str
    steps: tuple[int, ...]
    buffers: tuple[int, ...]


def growth() -> Iterator[RouterGrowth]:
    """Yield the growth of every router."""
    for name in ROUTERS:
        found = [worst(name, f"array:{n}x{n}") for n in SIZES]
        yield RouterGrowth(name, tuple(w.total for w in found), tuple(w.buffers for w in found))


def curves() -> Iterator[Curve]:
    """Yield steps against n for Q and H, with messages and in all, between diameter and guarantee."""
    for name in ("Q", "H"):
        found = [worst(name, f"array:{n}x{n}") for n in SIZES]
        most = [guaranteed(name, f"array:{n}x{n}") for n in SIZES]
        lower = tuple(Fraction(w.distance) for w in found)
        yield Curve(
            f"Algorithm {name} on n x n: steps with messages", "side n", SIZES,
            tuple(Fraction(w.data) for w in found), lower, tuple(data for data, _ in most),
        )  # fmt: skip
        yield Curve(
            f"Algorithm {name} on n x n: control steps included", "side n", SIZES,
            tuple(Fraction(w.total) for w in found), lower, tuple(data + control for data, control in most),
        )  # fmt: skip


# Tables 1.1 and 5.1 to 5.3 of Han 1990 as facts: what the thesis says of its own algorithms and of others'.


def routing_before() -> Table:
    """Table 1.1: routing algorithms on meshes known in 1990."""
    return Table(
        "Table 1.1, routing (as printed)",
        ("algorithm", "model", "problems", "steps", "remark"),
        (
            ("Orcutt", "ILLIAC", "perfect shuffle, bit reversal", "4n - 4", "wrap-around"),
            ("Nassimi and Sahni 1980", "ILLIAC", "BPC", "4n - 4", ""),
            ("Flanders", "ILLIAC", "BPC", "-", "DAP"),
            ("Raghavendra, Kumar", "ILLIAC", "permutation", "3n - 3", "wrap-around"),
            ("Nassimi and Sahni 1981", "ILLIAC", "broadcast, partial", "O(n)", ""),
            ("Algorithm Q", "distributed", "broadcast, partial", "5.5n", ""),
            ("Krizanc et al.", "distributed", "permutation, partial", "2n + o(n)", "random"),
            ("Kunde", "distributed", "permutation, partial", "2n + o(n)", "unbounded buffers"),
            ("Leighton et al.", "distributed", "permutation, partial", "2n - 2", "constant buffers"),
            ("Valiant, Brebner", "distributed", "permutation, partial", "3n + o(n)", "random, unbounded buffers"),
        ),
    )


def sorting_before() -> Table:
    """Table 1.1: sorting algorithms on meshes known in 1990."""
    return Table(
        "Table 1.1, sorting (as printed)",
        ("algorithm", "model", "order", "steps", "remark"),
        (
            ("Orcutt", "ILLIAC", "row-major", "O(n log n)", "wrap-around"),
            ("Thompson, Kung", "ILLIAC", "snake", "6n + o(n)", ""),
            ("Nassimi, Sahni", "ILLIAC", "row-major", "14n + o(n)", ""),
            ("Kumar, Hirschberg", "ILLIAC", "row-major", "11n + o(n)", "wrap-around"),
            ("Lang et al.", "distributed", "snake", "7n", ""),
            ("Schnorr, Shamir", "distributed", "snake", "3n + o(n)", ""),
            ("Scherson, Sen", "distributed", "blocked snake", "3n + o(n)", ""),
            ("Sado, Igarashi", "distributed", "snake", "5.5n + o(n)", ""),
            ("Ma et al.", "extended ILLIAC", "blocked snake", "8n + o(n)", "n^(1/4) buffers"),
        ),
        "Not ours to run: claims about other authors' algorithms were not checked.",
    )


def compared() -> Table:
    """Table 5.3: deterministic routing algorithms compared, as printed."""
    return Table(
        "Table 5.3 (as printed)",
        ("algorithm", "steps", "buffers", "problems"),
        (
            ("Q", "5.5n", "5", "full, partial, restricted broadcast"),
            ("H", "9n", "3", "full, partial, restricted broadcast"),
            ("Kunde", "3.5n .. 5.5n", "4", "full, partial; by block sorting"),
            ("Leighton, Makedon, Tollis", "2n - 2", "constant (> 500)", "full, partial; by sorting"),
            ("sorting", "3n + O(n^(3/4)) .. 7n", "2", "full permutations only"),
        ),
        "The figures of Q and H count control messages as one step each. What is ours to run follows below.",
    )


FACTS_TABLES: tuple[Callable[[], Table], ...] = (routing_before, sorting_before)
"""The functions that make the tables of what was known before."""


_Q = (
    ("Q", "array:16x16", "4n ; 1.5n", "5"),
    ("Q", "array:32x32", "4n ; 1.5n", "5"),
    ("Q-k-partition", "array:16x16", "(5k+3)n/4 ; 1.5n/(k-1)", "k^2 + 2"),
    ("Q-k-partition", "array:64x64", "(5k+3)n/4 ; 1.5n/(k-1)", "k^2 + 2"),
    ("Q", "array:8x8x8", "O(K 2^K n)", "2^K + 1"),
    ("Q", "array:13x13", "4.3n ; 1.5n", "5"),
    ("Q-A", "array:13x13", "4.5n ; 1.5n", "9"),
    ("Q", "array:19x19", "4.3n ; 1.5n", "5"),
    ("Q", "array:32x8", "1.75r + 2.2c ; 0.5r + c", "5"),
)
_H = (
    ("H", "array:16x16", "5.5n ; 3.5n", "3"),
    ("H", "array:32x32", "5.5n ; 3.5n", "3"),
    ("H-k-strips", "array:16x16", "4.05n ; 1.5n", "k + 1"),
    ("H-k-strips", "array:64x64", "4.05n ; 1.5n", "k + 1"),
    ("H", "array:8x8x8", "12.5n ; 9.5n", "3"),
    ("H", "array:13x13", "5.5n ; 3.5n", "3"),
    ("H", "array:17x17", "5.5n ; 3.5n", "3"),
    ("H", "array:32x8", "2.5r + 3c ; 1.5r + 2c", "3"),
)
_ROUTERS = (
    ("Q", "5.5n", "5"),
    ("H", "9n", "3"),
    ("kunde-2", "3.5n .. 5.5n", "4"),
    ("kunde-4", "2.75n .. 3.75n", "8"),
    ("greedy", "2n - 2", "n"),
    ("valiant-brebner", "3n + o(n)", "O(log n)"),
    ("random-slices", "2n + o(n)", "constant, large"),
)
_COLUMNS = (
    *("algorithm", "mesh", "printed steps", "printed buffers", "guaranteed data", "control", "measured data"),
    *("control", "buffers", "distance"),
)
_NOTE = (
    "k = 4. 'Guaranteed' is the exact length that the phases of the clock version take on every instance; 'measured' "
    "is the worst over the named and three random permutations, phases ending with their last hop; 'distance' is the "
    "largest distance that one of these messages has to go. Buffers count all messages in a node, also delivered ones."
)


def _family(title: str, rows: tuple[tuple[str, str, str, str], ...]) -> Table:
    found: list[tuple[Cell, ...]] = []
    for name, spec, steps, buffers in rows:
        data, control = guaranteed(name, spec)
        most = worst(name, spec)
        mesh = spec.removeprefix("array:")
        taken = (most.data, most.control, most.buffers, most.distance)
        found.append((name, mesh, steps, buffers, data, control, *taken))
    return Table(title, _COLUMNS, tuple(found), _NOTE)


def family_q() -> Table:
    """Table 5.1: the family of Algorithm Q."""
    return _family("Table 5.1, the family of Algorithm Q", _Q)


def family_h() -> Table:
    """Table 5.2: the family of Algorithm H."""
    return _family("Table 5.2, the family of Algorithm H", _H)


@tabulated(
    "Table 5.3 measured, n = 32",
    ("algorithm", "printed steps", "printed buffers", "data", "control", "total", "buffers", "distance"),
    "Worst over the named and three random permutations. Kunde's steps depend on the sorter: 2n + O(n/eps) besides "
    "it. The randomized routers draw with seed 0.",
)
def routers() -> Iterator[Row]:
    """Table 5.3: the routers that are ours to run, on the 32 x 32 array."""
    for name, steps, buffers in _ROUTERS:
        most = worst(name, "array:32x32")
        yield name, steps, buffers, most.data, most.control, most.total, most.buffers, most.distance


@tabulated(
    "Guaranteed lengths on n x n (Theorems 3.3 and 4.5)",
    ("n", "Q data", "control", "total", "5.5n", "H data", "control", "total", "9n", "distance"),
    "Q: at most 3.95n - 6.4 and exactly 1.5n - 2 log2 n - 1 for n >= 4; H: exactly 5.5n - 6 - 2 log2 n and "
    "3.5n - 3 - 4 log2 n. 'Distance' is the diameter, which the reversal makes a message travel.",
)
def guaranteed_lengths() -> Iterator[Row]:
    """Theorems 3.3 and 4.5: the exact guaranteed lengths of Q and H on n x n."""
    for n in (2, 4, 8, 16, 32, 64, 128, 1024):
        q, h = guaranteed("Q", f"array:{n}x{n}"), guaranteed("H", f"array:{n}x{n}")
        yield (n, *q, sum(q), 5.5 * n, *h, sum(h), 9 * n, 2 * n - 2)


@tabulated(
    "Guaranteed lengths of H on squares of any size (section 4.6.4)",
    ("n", "data", "control", "total", "9n", "claim"),
    '"Time unchanged" holds to leading order: 9n + O(log n).',
)
def arbitrary_h() -> Iterator[Row]:
    """Section 4.6.4: sizes at which the guarantee of H exceeds 9n (errata 10)."""
    for n in (3, 5, 9, 16, 17, 32, 33, 65, 129):
        data, control = guaranteed("H", f"array:{n}x{n}")
        yield n, data, control, data + control, 9 * n, "above" if data + control > 9 * n else "within"


TABLES: tuple[Callable[[], Table], ...] = (guaranteed_lengths, family_q, family_h, arbitrary_h, compared, routers)
"""The functions that make the tables."""
