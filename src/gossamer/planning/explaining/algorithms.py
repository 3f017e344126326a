"""One algorithm explained on one network: idea, some slots, why it is optimal, source, and the steps of its code."""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import bytes_text, quantity
from gossamer.bounds import Bound
from gossamer.errors import GossamerError, ScheduleError
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.planning.explaining import MOST_SLOTS, slots_asked
from gossamer.planning.explaining.code_texts import (
    Source,
    basis_of,
    cited,
    explaining_functions,
    file_of,
    home_of,
    idea_of,
    notes_of,
    place_of,
    steps_of,
)
from gossamer.planning.outcome import Outcome
from gossamer.planning.planner import lower_bounds, plan
from gossamer.planning.usual_algorithms import example_network, exchanges, meant, partners
from gossamer.questions.cases import Proposer
from gossamer.questions.costs import Clock
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    ALLCOMBINE,
    COMBINE,
    COPY,
    MOVE,
    TASKS,
    Allreduce,
    Chunked,
    MultinodeBroadcast,
    PartialSumAllreduce,
    Task,
    as_task,
    in_packets,
    packets_of,
)
from gossamer.reading import whole
from gossamer.schedules.hop_table import hop_ends
from gossamer.schedules.packets import message_rows

__all__ = ["AlgorithmExplanation", "Section", "SlotMoves", "Source", "explain_algorithm"]

_MOST_HOPS = 500_000
"""Of larger schedules the slots are not drawn."""
_LOOKED_AT = 128
"""Slots of which pictures that are alike are shown once."""
_ALIKE = 3
"""Slots of one picture that are named."""
_LISTED = 8
"""Senders of a slot, or pairs of a round, that are named."""
_WIDTH = 79


class SlotMoves(NamedTuple):
    """What happens in one slot, or wormhole step, to what is followed.

    * `slot` (int): which, counted from 0.
    * `total` (int): how many slots there are.
    * `busy` (str): how much of the network is in use, in words.
    * `moves` (tuple of (int, int)): from which node to which.
    * `holders` (frozenset of int): nodes that have the message as the slot begins; empty where sums, or several
      messages, are followed.
    * `alike` (tuple of int): later slots with the same picture, which are not shown again.
    """

    slot: int
    total: int
    busy: str
    moves: tuple[tuple[int, int], ...]
    holders: frozenset[int]
    alike: tuple[int, ...] = ()

    def title(self, word: str, all_shown: bool = False) -> str:
        """Return which slots it is, of how many unless all are shown, and how much of the network is busy."""
        several = [str(slot) for slot in (self.slot, *self.alike)]
        several = [*several[:_ALIKE], "..."] if len(several) > _ALIKE + 1 else several
        which = f"{word}{'s' * bool(self.alike)} {', '.join(several)}"
        return f"{which}{'' if all_shown else f' of 0..{self.total - 1}'}: {self.busy}"


class Section(NamedTuple):
    """A part of an explanation: a title, paragraphs, and whether pictures of the slots belong to it.

    `numbered` are the steps of the code, `rows` lines that stay as they are.
    """

    title: str
    paragraphs: tuple[str, ...]
    numbered: tuple[str, ...] = ()
    pictured: bool = False
    rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class AlgorithmExplanation:
    """An algorithm explained on a network.

    Attributes
    ----------
    name : str
        The algorithm's name in the registry.
    asked : str
        The task in the user's words.
    outcome : Outcome
        Its verified schedule beside the bounds.
    idea : tuple of str
        What it does, in paragraphs.
    followed : str
        What the pictures follow, in words.
    slots : tuple of SlotMoves
        Those that are shown: all in which something of that moves, if they are few, or some from the first to the last.
    rounds : tuple of str
        Who exchanges with whom, round by round, where the algorithm is one of rounds among ranks.
    code : tuple of str
        Where the code stands: "gossamer/algorithms/... function".
    steps : tuple of str
        The numbered steps of the code, in its own words.
    notes, complexity : tuple of str
        What the code says of its time, and what it costs to compute.
    sources : tuple of Source
        Entries of the bibliography.
    source : str
        The source in the words of the registry, with theorem or section.
    """

    name: str
    asked: str
    outcome: Outcome
    idea: tuple[str, ...]
    followed: str
    slots: tuple[SlotMoves, ...]
    rounds: tuple[str, ...]
    code: tuple[str, ...]
    steps: tuple[str, ...]
    notes: tuple[str, ...]
    complexity: tuple[str, ...]
    sources: tuple[Source, ...]
    source: str

    @property
    def network(self) -> Network:
        """Where it is explained."""
        return self.outcome.case.network

    @property
    def all_shown(self) -> bool:
        """Whether all slots are shown."""
        return not self.slots or sum(1 + len(s.alike) for s in self.slots) == self.slots[0].total

    @property
    def bound(self) -> Bound | None:
        """The largest lower bound, with its witness; None where there is nothing to do."""
        return self.outcome.bounds[0] if self.outcome.bounds else None

    @property
    def title(self) -> str:
        """Algorithm, task and network in a line."""
        net = self.network
        cost = self.outcome.case.cost
        size = f" of {bytes_text(cost.asked_bytes or cost.message_bytes)}" if isinstance(cost, Clock) else ""
        return (
            f"{self.name}: {self.asked}{size}{self._chunks} on {net.spec} ({quantity(net.node_count, 'node')}, "
            f"{quantity(net.link_count, 'link')})"
        )

    @property
    def _chunks(self) -> str:
        """Into how many packets messages are cut, where the words of the task do not say it."""
        task = self.outcome.case.task
        return (
            f", {task.packets} packets a message" if isinstance(task, Chunked) and "packets" not in self.asked else ""
        )

    @property
    def why(self) -> tuple[str, ...]:
        """The time that was measured beside the largest bound, with its witness, and what follows."""
        out = self.outcome
        text = functools.partial(out.switching.time_text, out.case.cost)
        unit = f" for {out.case.cost.describe()}" if out.switching.name == "wormhole" else ""
        lines = [f"measured: {text(out.completion_time)}{unit}, on a schedule that the checker accepted"]
        bound = self.bound
        if bound is None:
            return (*lines, "there is nothing to send")
        scope = f", for {bound.scope}" if bound.scope else ""
        lines.append(f"bound: {text(bound.value)}{scope}: {bound.witness}")
        if out.completion_time == bound.value:
            lines.append(f"The two are equal: no {'such ' if bound.scope else ''}schedule is faster.")
        elif bound.value:
            ratio = f"{float(out.completion_time / bound.value):.4g}"
            lines.append(f"This takes {ratio} x the bound; whether less is possible is not known from it.")
        return (*lines, *self._halves)

    @property
    def _halves(self) -> tuple[str, ...]:
        """Of an allreduce in two halves, what each takes beside the bound of an allgather."""
        out, packets = self.outcome, packets_of(self.outcome.case.task)
        task, schedule = in_packets(out.case.task, 1), out.schedule
        if task != Allreduce() or not self.name.startswith("two-way-") or out.switching.name == "wormhole":
            return ()
        if schedule is None or isinstance(out.case.cost, Clock):
            return ()
        last = [phase.last_slot for phase in schedule.phases if phase.name.startswith("reduce-scatter")]
        first = schedule.time_of(max(last)) if last else Fraction(0)
        text = functools.partial(out.switching.time_text, out.case.cost)
        half = lower_bounds(self.network, in_packets(MultinodeBroadcast(), packets), rules=out.case.rules)[0]
        rest = text(out.completion_time - first)
        least = f"no allgather {'is faster' if half.value == out.completion_time - first else 'takes less'} than"
        return (
            f"The reduce-scatter takes {text(first)}, the allgather {rest}; {least} {text(half.value)}: "
            f"{half.witness}.",
            "Run backwards, the same holds for the reduce-scatter. An allreduce in which the halves overlap, or in "
            "which partial sums are exchanged, may take less than both together.",
        )

    @property
    def commands(self) -> tuple[str, ...]:
        """Commands that make the schedule and a film of it; none where the task is no name that can be typed."""
        case = self.outcome.case
        task, chunks = (case.task.task, case.task.packets) if isinstance(case.task, Chunked) else (case.task, 1)
        if not _named(task) or self.network.links_only or re.search(r"[\s()]", self.network.spec):
            return ()
        own = isinstance(task, PartialSumAllreduce) and chunks == self.network.terminal_count
        asked = _same(self.asked, task) or (own and _same(self.asked, Allreduce()))  # a packet for each rank's block
        words = ["gossamer plan", self.network.spec, self.asked if asked else task.name]
        if own and asked:
            chunks = 1
            halvings = self.outcome.options.get("halvings")
            words += [] if halvings is None else [f"--option halvings={halvings}"]
        words += ["--switching wormhole"] if self.outcome.switching.name == "wormhole" else []
        words += [f"--chunks {chunks}"] if chunks > 1 else []
        words += [f"--ports {case.rules.ports}"] if case.rules.ports != "all" else []
        words += ["--segmented"] if case.rules.segmented else []
        words += [f"--algorithm {self.name}", "-o plan.parquet"]
        return " ".join(words), "gossamer draw plan.parquet -o film.gif"

    @property
    def sections(self) -> tuple[Section, ...]:
        """The explanation in parts, in the order in which they are read."""
        cited = [f"{s.key}: {s.authors}, {s.title}, {s.year}" for s in self.sources]
        optimal = self.bound is not None and self.outcome.completion_time == self.bound.value
        found = [
            Section("Idea", self.idea),
            Section("Rounds among ranks", (), (), rows=self.rounds),
            Section(f"Slots, for {self.followed}" if self.slots else "Slots", (), pictured=True),
            Section("Why it is optimal" if optimal else "Time and bound", (*self.why, *self.notes)),
            Section("Steps of the code", self.code, self.steps),
            Section("Complexity", self.complexity),
            Section("Source", (self.source, *cited)),
            Section("Try it", self.commands),
        ]
        return tuple(part for part in found if part.paragraphs or part.numbered or part.pictured or part.rows)

    def slots_in_text(self, width: int = _WIDTH) -> str:
        """Return the pictures of the slots in text, side by side as far as the width goes."""
        return "\n".join(_pictures(self, width))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values, for JSON."""
        return {
            "algorithm": self.name,
            "task": self.asked,
            "network": self.network.spec,
            "idea": list(self.idea),
            "rounds": list(self.rounds),
            "slots": [
                {"slot": s.slot, "busy": s.busy, "moves": [list(map(self.network.node_name, m)) for m in s.moves]}
                for s in self.slots
            ],
            "completion_time": str(self.outcome.completion_time),
            "bound": None if self.bound is None else str(self.bound.value),
            "why": list(self.why),
            "code": list(self.code),
            "steps": list(self.steps),
            "notes": list(self.notes),
            "complexity": list(self.complexity),
            "source": self.source,
            "references": [s._asdict() for s in self.sources],
        }

    def __str__(self) -> str:
        lines = [self.title]
        for part in self.sections:
            lines += ["", part.title]
            for paragraph in part.paragraphs:
                if paragraph in self.commands:
                    lines.append(f"  {paragraph}")
                    continue
                lines += textwrap.wrap(paragraph, _WIDTH, initial_indent="  ", subsequent_indent="  ",
                                       break_long_words=False, break_on_hyphens=False)  # fmt: skip
            for number, step in enumerate(part.numbered, 1):
                lines += textwrap.wrap(step, _WIDTH, initial_indent=f"  {number}. ", subsequent_indent="     ")
            for row in part.rows:
                lines += textwrap.wrap(row, _WIDTH, initial_indent="  ", subsequent_indent="    ")
            if part.pictured:
                lines += [f"  {line}".rstrip() for line in _pictures(self, _WIDTH - 2)]
        return "\n".join(lines)


def explain_algorithm(
    name: str, network: Any = None, task: Task | str | None = None, *, rules: Rules | None = None,
    slots: int | str | Sequence[int] = 4,
) -> AlgorithmExplanation:  # fmt: skip
    """Explain an algorithm on a network: idea, some slots, why it is optimal, source, and the steps of its code.

    Parameters
    ----------
    name : str
        A name of the registry, such as ``"translated-tree"``, or a usual one such as ``"ring"``.
    network : Network, str, path or networkx graph, optional
        A network, as for `gossamer.plan`; small ones make pictures that are seen at a glance. Default: a small one that
        suits the algorithm.
    task : Task or str, optional
        What is carried out. Default: the first task that the algorithm covers on this network.
    rules : Rules, optional
        What the schedule must respect. Default: all ports and unsegmented messages; where the algorithm needs it,
        messages in parts or one port.
    slots : int, str or sequence of int
        How many slots are shown, 1 to 100, the first and the last among them; or which, such as ``"1-8"``.

    Returns
    -------
    AlgorithmExplanation
        ``print`` gives it as text; `gossamer.plots.slot_pictures.write_page` as HTML or Markdown with pictures.

    Raises
    ------
    NotApplicableError
        If no algorithm has the name, or it does not cover the task on this network; with those that do.
    GossamerError
        If network, task, rules or slots are illegal.

    Notes
    -----
    The time of a plan. The idea is the docstring of the function that builds the schedule, the steps are the comments
    ``# Step 1: ...`` of its source, so that an algorithm from outside the package is explained as well.

    Examples
    --------
    >>> import gossamer
    >>> found = gossamer.explain_algorithm("binomial", "hypercube:3")
    >>> found.name, found.asked
    ('binomial-tree', 'broadcast')
    >>> print(found.slots_in_text())
    * has it, + gets it in this slot, . does not have it yet
    slot 0: 3 of 24 links busy
      *000 > 001, 010, 100
    slot 1: 3 of 24 links busy
      *010 > 011
      *100 > 101, 110
    slot 2: 1 of 24 links busy
      *110 > 111
    >>> gossamer.explain_algorithm("ring").network.spec
    'ring:8'
    """
    which = slots if isinstance(slots, int) else slots_asked(slots)
    if isinstance(which, int):
        which = whole(which, "slots", 1, MOST_SLOTS)
    net = as_network(example_network(name, task, rules) if network is None else network)
    chosen = meant(name, net, task, rules)
    out = plan(
        net, chosen.task, switching=chosen.switching, rules=chosen.rules, algorithm=chosen.algorithm.name,
        options=chosen.options, effort="solver",
    )  # fmt: skip
    basis = basis_of(chosen.algorithm)
    explaining = explaining_functions(basis, out.offer)
    home = home_of(basis)
    docs = [inspect.getdoc(f) or "" for f in explaining] or [inspect.getdoc(sys.modules[home]) or ""]
    source = chosen.algorithm.source
    followed, drawn = _slots(out, which)
    steps = [step for f in explaining for step in steps_of(f, home)] or steps_of(out.offer.build, home)
    asked = task if isinstance(task, str) else chosen.task.name if _named(chosen.task) else chosen.task.describe()
    return AlgorithmExplanation(
        chosen.algorithm.name, asked, out, tuple(idea_of(chosen.algorithm, docs)), followed, drawn,
        _rounds(basis, net),
        tuple(dict.fromkeys(place_of(f) for f in explaining)) or (file_of(home),),
        tuple(dict.fromkeys(steps)),
        *notes_of(chosen.algorithm, docs), tuple(cited(source)), source,
    )  # fmt: skip


def _rounds(algorithm: Proposer[Any, Any], network: Network) -> tuple[str, ...]:
    """Return who exchanges with whom in each round, where that is a pattern of ranks."""
    lines = []
    rounds = partners(algorithm, network)
    for number, pairs in enumerate(rounds[:_LISTED]):
        both = {pair for pair in pairs if pair[::-1] in pairs}
        words = [f"{network.short_name(u)}{way}{network.short_name(v)}"
                 for way, some in (("<>", both), (">", pairs - both))
                 for u, v in sorted(some) if u < v or way == ">"]  # fmt: skip
        more = f", and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
        lines.append(f"round {number}: {', '.join(words[:_LISTED])}{more}")
    left = [f"and {quantity(len(rounds) - _LISTED, 'more round')}"] if len(rounds) > _LISTED else []
    return (*lines, *left)


def _named(task: Task) -> bool:
    """Whether the name of a task says all of it."""
    return task.name in TASKS and _same(task.name, task)


def _same(words: str, task: Task) -> bool:
    """Whether some words name a task."""
    try:
        return as_task(words) == task
    except GossamerError:
        return False


# What moves in slots, and pictures of it in text.


def _slots(out: Outcome, which: int | tuple[int, ...]) -> tuple[str, tuple[SlotMoves, ...]]:
    """Return what is followed, in words, and slots in which something of it moves: so many, or the given ones."""
    schedule, network = out.schedule, out.case.network
    if schedule is None or not schedule.messages.count or out.facts.size > _MOST_HOPS:
        return "", ()
    packets = out.switching.name != "wormhole"
    explicit = schedule.expand() if packets else schedule
    messages = explicit.messages
    if packets:
        of = np.append(message_rows(messages, explicit.packets), -1)[explicit.packet]
        begin, source, target = explicit.slot, network.link_source[explicit.link], network.link_target[explicit.link]
        end = hop_ends(network, explicit.parts, explicit.slot, explicit.link)
    else:
        rows = schedule.timeline()
        begin = np.unique(rows.start, return_inverse=True)[1]
        of = np.where(rows.message >= 0, np.searchsorted(messages.ids, rows.message), -1)
        source, target, end = rows.source, rows.target, begin + 1
    words, mine, whose = _followed(messages, of, network, exchanges(out.algorithm))
    if packets and mine.any() and messages.discipline[int(of[mine][0])] not in (MOVE, ALLCOMBINE) and len(whose) < 2:
        first = explicit.packet[mine].min()
        others = explicit.packets.part[explicit.packet] != explicit.packets.part[first]
        if bool((mine & others).any()):
            words, mine = f"the first packet of {words}", mine & ~others
    used = np.unique(begin[mine])
    last = int(begin.max(initial=-1))
    if isinstance(which, tuple):
        beyond = [slot for slot in which if slot > last]
        if beyond:
            word = out.switching.words[0]
            raise ScheduleError(f"the {word} must be 0..{last}, got {beyond[0]}")
        used = np.array(which)
    elif used.size > _LOOKED_AT:
        used = used[np.round(np.linspace(0, used.size - 1, max(which, 2))).astype(int)]
    found: list[SlotMoves] = []
    places: dict[tuple[Any, ...], int] = {}
    for slot in used.tolist():
        now = np.flatnonzero(begin == slot)
        if packets:
            busy = f"{np.unique(explicit.link[now]).size:,} of {network.link_count:,} links busy"
        else:
            busy = quantity(np.unique(source[now].astype(np.int64) * network.node_count + target[now]).size, "message")
        moves = sorted({(int(source[i]), int(target[i])) for i in now[mine[now]]})
        holders = {*whose, *target[mine & (end <= slot)].tolist()} if whose else set()
        looks = busy, tuple(moves), frozenset(holders)
        if isinstance(which, int) and looks in places:  # as one before it
            same = found[places[looks]]
            found[places[looks]] = same._replace(alike=(*same.alike, slot))
            continue
        places[looks] = len(found)
        found.append(SlotMoves(slot, last + 1, *looks))
    if isinstance(which, int) and len(found) > which:  # from the first to the last
        spread = np.round(np.linspace(0, len(found) - 1, which)).astype(int) if which > 1 else [0]
        found = [found[i] for i in spread]
    return words, tuple(found)


def _followed(
    messages: Any, of: npt.NDArray[Any], network: Network, exchanged: bool
) -> tuple[str, npt.NDArray[np.bool_], set[int]]:
    """Return what is followed in words, which moves are of it, and who has it at first, if it is one that is copied."""
    seen = of[of >= 0]
    first = int(seen.min()) if seen.size else 0
    kind, origin = messages.discipline[first], int(messages.origin[first])
    if kind == ALLCOMBINE:
        return ("the first of the sums" if messages.count > 1 else "the sum"), of == first, set()
    if kind == COMBINE:
        results = [] if messages.after is None else np.flatnonzero(messages.after == first).tolist()
        many = messages.count > 1 + len(results)
        words = ("the first of the sums" if many else "the sum") + (" and its result" if results else "")
        return words, np.isin(of, [first, *results]), set()
    if exchanged:
        return "all messages", of >= 0, set()
    if kind == COPY:
        return f"the message of node {network.node_name(origin)}", of == first, {origin}
    same = np.flatnonzero(messages.origin == origin)
    if same.size > 1 and same.size < messages.count:
        return f"the messages of node {network.node_name(origin)}", np.isin(of, same), set()
    return "all messages", of >= 0, set()


def _pictures(found: AlgorithmExplanation, width: int) -> list[str]:
    """Return the pictures of the slots in lines."""
    if not found.slots:
        return ["nothing moves, or the schedule is too large to be drawn: try a smaller network"]
    word = found.outcome.switching.words[0]
    flat = _grid(found.network, found.slots[0]) is not None
    legend = (
        f"* has it, + gets it in this {word}, . does not have it yet" if found.slots[0].holders
        else f"* sends in this {word}, + receives, x does both, . neither" if flat else "> to, <> both ways"
    )  # fmt: skip
    blocks = []
    for slot in found.slots:
        drawn = _grid(found.network, slot) or _list(found.network, slot)
        blocks.append([slot.title(word, found.all_shown), *drawn])
    signs = [sign for sign in ("<>", "X") if flat and any(sign in line for block in blocks for line in block[1:])]
    legend += f", {' and '.join(signs)} both ways" if signs else ""
    lines = _side_by_side(blocks, width) if flat else [line for block in blocks for line in block]
    more = [] if found.all_shown else [f"others: --slots 0-{min(found.slots[0].total, MOST_SLOTS) - 1}"]
    return [legend, *lines, *more]


def _mark(node: int, slot: SlotMoves) -> str:
    """Return the sign of a node in the picture of a slot."""
    gets = any(target == node for _, target in slot.moves)
    if slot.holders:
        return "*" if node in slot.holders else "+" if gets else "."
    sends = any(source == node for source, _ in slot.moves)
    return "x" if sends and gets else "*" if sends else "+" if gets else "."


def _grid(network: Network, slot: SlotMoves) -> list[str] | None:
    """Return a line, ring, array or torus in the plane with arrows along the links in use; None of other networks."""
    grid = network.grid
    if grid is None or len(grid.sides) > 2:
        return None
    rows, columns = (1, *map(int, grid.sides))[-2:]
    wrapped = (False, *grid.wraps)[-2:]
    if columns > 16 or rows > 16:
        return None
    moves = set(slot.moves)

    def across(u: int, v: int) -> str:
        return {(True, True): "<>", (True, False): "->", (False, True): "<-"}.get(
            ((u, v) in moves, (v, u) in moves), "  "
        )

    def down(u: int, v: int) -> str:
        return {(True, True): "X", (True, False): "v", (False, True): "^"}.get(((u, v) in moves, (v, u) in moves), " ")

    lines = []
    around = rows > 2 and wrapped[0]
    tall = [down((rows - 1) * columns + c, c) for c in range(columns)] if around else []
    margin = "  " if wrapped[1] and columns > 2 else ""
    if around:
        lines.append(margin + "  ".join(tall))
    for r in range(rows):
        nodes = [r * columns + c for c in range(columns)]
        line = _mark(nodes[0], slot)
        for u, v in itertools.pairwise(nodes):
            line += across(u, v) + _mark(v, slot)
        if margin:
            over = across(nodes[-1], nodes[0])
            line = over + line + over
        lines.append(line)
        if r + 1 < rows:
            lines.append(margin + "  ".join(down(u, u + columns) for u in nodes))
    if around:
        lines.append(margin + "  ".join(tall))
    return lines


def _list(network: Network, slot: SlotMoves) -> list[str]:
    """Return who sends to whom, a line for each sender; what goes both ways once, where nobody is followed."""
    targets: dict[tuple[int, str], list[str]] = {}
    moves = set(slot.moves)
    for source, target in slot.moves:
        both = not slot.holders and (target, source) in moves
        if not both or source < target:
            targets.setdefault((source, "<>" if both else ">"), []).append(network.short_name(target))
    mark = functools.partial(_mark, slot=slot) if slot.holders else lambda node: ""
    lines = [f"  {mark(u)}{network.short_name(u)} {way} {', '.join(names)}" for (u, way), names in targets.items()]
    more = [f"  and {quantity(len(lines) - _LISTED, 'more line')}"] if len(lines) > _LISTED else []
    return lines[:_LISTED] + more if lines else ["  nothing of it"]


def _side_by_side(blocks: list[list[str]], width: int) -> list[str]:
    """Return blocks of lines side by side as far as they fit, the others below."""
    wide = max(len(line) for block in blocks for line in block) + 3
    each = max(1, (width + 3) // wide)
    lines: list[str] = []
    for i in range(0, len(blocks), each):
        row = blocks[i : i + each]
        high = max(map(len, row))
        lines += [
            "".join(f"{block[k] if k < len(block) else '':{wide}}" for block in row).rstrip() for k in range(high)
        ]
        lines.append("")
    return lines[:-1]
