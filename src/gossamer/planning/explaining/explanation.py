"""What an explanation is: a page of advice on a schedule, or what happens in a part of it."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import ring_words
from gossamer.atomic_files import column_lines, html_table, plain, quantity, seconds_text, whole_file
from gossamer.bounds import Bound
from gossamer.display_registry import display
from gossamer.errors import FileFormatError, GossamerError, ScheduleError, TooLargeError
from gossamer.networks.network import Network
from gossamer.planning.chunk_counts import AskedQuestion
from gossamer.planning.explaining.advice import AskedAgain, Gain
from gossamer.planning.explaining.binding import Binding
from gossamer.planning.explaining.critical_path import CriticalHop, TimeSpent
from gossamer.planning.planner import by_name, question_of
from gossamer.planning.usual_algorithms import USUAL, Usual, reversed_kind
from gossamer.questions.costs import Clock, TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Chunked, Grouped, PartialSumAllreduce, Together, packets_of
from gossamer.schedules import Hop
from gossamer.schedules.wormhole.worm_descriptions import Worm

__all__ = ["Beside", "beside"]

Say = Callable[[str], None]


@dataclass(frozen=True)
class Beside:
    """A usual algorithm on the same network.

    Attributes
    ----------
    name : str
        What people call it.
    usual : str
        Who uses it, and when.
    time : Fraction or None
        In seconds or in the unit of the cost; None where it does not run here.
    packets : int
        Packets a message, as many as take least where that is left open.
    skipped : str
        Why it does not run here, or an empty text.
    form : str
        The name with what is special here: along which cables a ring runs.
    algorithm : str
        Its name in the registry.
    """

    name: str
    usual: str
    time: Fraction | None
    packets: int = 1
    skipped: str = ""
    form: str = ""
    algorithm: str = ""


def beside(asked: AskedAgain, work: float, say: Say) -> tuple[tuple[Beside, ...], str]:
    """Return how rings, trees and exchanges among ranks compare on the network, and a remark if there are none.

    Each is planned as `gossamer.plan` plans it by its name.

    * `asked` (AskedAgain): the question.
    * `work` (float): seconds that building them may take by what is estimated of their transfers, whatever the machine
      does meanwhile; what takes longer is left out.
    * `say` (callable): told what is built.
    """
    task = asked.task.task if isinstance(asked.task, Chunked) else asked.task
    if asked.switching == "wormhole":
        return (), "rings and trees of libraries are compared for store-and-forward schedules only"
    if isinstance(task, PartialSumAllreduce):
        return (), "rings and trees of libraries cut the buffer otherwise: where links have speeds they are compared"
    if isinstance(task, Grouped | Together):
        return (), "rings and trees of libraries are compared for one collective among all nodes only"
    if asked.rules is not None and (asked.rules.buffer is not None or asked.rules.reduction):
        return (), "rings and trees of libraries are not compared under a limit of buffers or with sums in switches"
    if asked.network.terminal_count < 2:
        return (), "one node alone has nobody to send to"
    found = list[Beside]()
    rules = replace(asked.rules or Rules(), segmented=False)
    cost = replace(asked.cost, form="best") if isinstance(asked.cost, TimeCost) else asked.cost
    question: AskedQuestion | None = None
    for usual in USUAL:
        use = usual.uses.get(reversed_kind(task))
        if use is None:
            continue
        size = asked.cost.bytes if isinstance(asked.cost, TimeCost) else 0
        here = size and use.here is not None and use.here(size, asked.network.terminal_count)
        words = f"{use.by}; its choice for this size" if here else use.by
        say(f"building: {usual.name}")
        try:
            question = question or question_of(asked.network, asked.task, rules, cost, say)
            new, took = _timed(question, usual, words, work)
        except TooLargeError as error:
            found.append(Beside(usual.name, words, None, skipped=f"left out: {error}; --budget allows more"))
        except GossamerError as error:
            found.append(Beside(usual.name, words, None, skipped=str(error).partition("; ")[0]))
        else:
            work -= took
            found.append(new)
    remark = "" if found else f"no usual ring or tree is known for {task.name}"
    return tuple(sorted(found, key=lambda each: (each.time is None, each.time or 0))), remark


def _timed(question: AskedQuestion, usual: Usual, words: str, work: float) -> tuple[Beside, float]:
    """Return what an algorithm takes, and the seconds that building it is estimated to take."""
    took = 0.0

    def allow(seconds: float) -> bool:
        nonlocal took
        took += seconds
        return took < work

    found = by_name(question, usual.name, allow=allow)
    schedule = found.schedule
    most = {} if question.search.case.rules.ports == "all" else {"most": 1}
    form = ring_words(question.search.planned.network, **most) if usual.name == "ring" else ""
    taken = found.completion_time if found.seconds is None else found.seconds
    packets = packets_of(found.case.task if schedule is None else schedule.task)
    return Beside(usual.name, words, taken, packets, form=form, algorithm=found.algorithm), took


_DENOMINATOR = 60
"""The largest denominator that is written out."""


@dataclass(frozen=True)
class Explanation:
    """What happens in a schedule, or in a part of it, in words.

    Attributes
    ----------
    title : str
        What is explained.
    lines : tuple of str
        In the order in which it happens.
    why : tuple of str
        Why the schedule cannot be faster, or how far from that it is.
    hops : tuple of Hop or of Worm
        The hops, or wormhole messages, that the lines speak of.
    bound : Bound
        The largest lower bound, with its witness.
    """

    title: str
    lines: tuple[str, ...]
    why: tuple[str, ...]
    hops: tuple[Hop | Worm, ...]
    bound: Bound

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {line}" for line in self.lines), *self.why])


_WIDTH = 110
_LIMITS = "What limits it"
_LITTLE = 0.5
"""Percent of the time below which nothing much is gained."""
_MUCH = Fraction(1, 5)
"""Share of the time from which on a path that waits is explained."""
_STRETCHES = 8
"""Stretches of the critical path that are shown at the most."""


Section = tuple[str, list[str], tuple[Sequence[str], Sequence[Sequence[str]]] | None]
"""A heading, lines, and a table of columns and rows or None."""


@dataclass(frozen=True)
class Advice:
    """A schedule explained on a page: what limits it, where time goes, what would help, usual algorithms beside it.

    Attributes
    ----------
    schedule : Schedule or WormholeSchedule
        What is explained.
    sentence : str
        What it does, how long that takes, and how near to the bound that is.
    bound : Bound
        The largest lower bound, with its witness; in the unit of the schedule's cost, or seconds.
    why : tuple of str
        Why the schedule cannot be faster, or how far from that it is.
    binding : Binding
        The nodes and links that bind.
    spent : TimeSpent
        Where the time goes.
    gains : tuple of Gain
        What changes would help, the best first; those that were not planned come last.
    beside : tuple of Beside
        Usual algorithms on the same network, the fastest first.
    remarks : tuple of str
        What is left out, and why.
    asked : AskedAgain or None
        The question, as the planner takes it; None where it is not known.
    """

    schedule: Any
    sentence: str
    bound: Bound
    why: tuple[str, ...]
    binding: Binding
    spent: TimeSpent
    gains: tuple[Gain, ...] = ()
    beside: tuple[Beside, ...] = ()
    remarks: tuple[str, ...] = ()
    asked: AskedAgain | None = None

    def sections(self) -> list[Section]:
        """Return the parts of the page."""
        found: list[Section] = [
            (_LIMITS, [*self.why, *self.binding.drawn], None),
        ]
        if self.spent.total:
            found.append(("Where time goes", [*self._time_lines()], None))
        path = _path_rows(self.schedule, self.spent.path, self._own)
        if path:
            found.append(("", [], (("critical path", "at", "for", "begins"), path)))
        kinds = [(k.name, f"{k.links:,}", f"{float(k.busy):.1%}", f"{float(k.most):.1%}") for k in self.spent.kinds]
        if kinds:
            found.append(("", [], (("links", "count", "busy, mean", "busiest"), kinds[:6])))
        faster = list(self._faster())
        if self.gains or faster:
            rows = [self._gain_row(gain) for gain in self.gains]
            found.append(("What would help", faster, (("change", "time", "gain"), rows) if rows else None))
        if self.beside:
            rows = [self._beside_row(each) for each in self.beside]
            found.append(("Beside usual algorithms", [], (("algorithm", "time", "/ this", "used by"), rows)))
        if self.remarks:
            found.append(("Left out", list(self.remarks), None))
        return found

    def _faster(self) -> Iterator[str]:
        """Yield what says that a usual algorithm is faster, as it may be than an old schedule."""
        best = next((each for each in self.beside if each.time is not None), None)
        if best is not None and best.time is not None and self.asked is not None and best.time < self.asked.time:
            less = float(100 * (1 - best.time / self.asked.time))
            yield f"{best.name} takes {less:.2g} % less time: plan with --algorithm '{best.name}'"

    def _time(self, time: Fraction) -> str:
        """Return a time in the unit of the question for people."""
        if self.asked is not None and self.asked.seconds:
            return seconds_text(time)
        return _in_units(time, self.schedule.cost.unit)

    def _own(self, time: Fraction) -> str:
        """Return a time in the unit of the schedule for people."""
        cost = self.schedule.cost
        return seconds_text(cost.seconds(time)) if isinstance(cost, Clock) else _in_units(time, cost.unit)

    def _time_lines(self) -> Iterator[str]:
        spent = self.spent
        if not spent.total:
            return
        if spent.busiest:
            share = float(spent.busy / spent.total)
            yield f"busiest: {spent.busiest}, {self._own(spent.busy)}, {share:.1%} of the time"
        around = {"until its first packet": spent.before, "between packets": spent.pauses,
                  "after its last packet": spent.after}  # fmt: skip
        if spent.busiest and spent.path and any(around.values()):
            words = [f"{self._of_total(x)} {name}" for name, x in around.items() if x]
            yield f"it is idle for {', '.join(words)}"
        parts = {"bandwidth": spent.sending - spent.overhead, "overhead of packets": spent.overhead,
                 "latency": spent.latency, "waiting": spent.waiting}  # fmt: skip
        if sum(parts.values(), Fraction(0)):
            words = [f"{self._of_total(x)} {name}" for name, x in parts.items()
                     if x or name != "overhead of packets"]  # fmt: skip
            yield f"critical path, from the first packet to the last: {', '.join(words)}"
            if spent.waiting > spent.total * _MUCH and spent.busy > spent.waiting:
                yield (
                    "the packets of that path wait while links carry other packets: what takes the time is how busy "
                    "the links are, not the waiting"
                )
        laps = [hop for hop in spent.path if hop.times > 1]
        if laps:
            period = self.schedule.repetition.period
            took = self._own(self.schedule.time_of(period - 1))
            yield f"of the path, {quantity(laps[0].times, 'period')} of {took} each are alike and shown once"

    def _of_total(self, time: Fraction) -> str:
        """Return a time in the unit of the schedule, with its share of all of it."""
        return f"{self._own(time)} ({float(time / self.spent.total):.1%})"

    def _gain_row(self, gain: Gain) -> tuple[str, ...]:
        if gain.time is None or gain.saved is None or gain.percent is None:
            return gain.change, "-", gain.skipped
        told = f"{'saves' if gain.saved > 0 else 'costs'} {self._time(abs(gain.saved))} ({abs(gain.percent):.2g} %)"
        by = "" if abs(gain.percent) < _LITTLE else f", by {gain.algorithm}"
        return gain.change, self._time(gain.time), f"{told}{by}" if gain.saved else "nothing"

    def _beside_row(self, each: Beside) -> tuple[str, ...]:
        if each.time is None or self.asked is None:
            return each.name, "-", "-", f"{each.usual}; {each.skipped}"
        form = each.form or each.name
        form = each.name if form == each.name else f"{each.name}: {form}"
        name = form if each.packets == 1 else f"{form}, {quantity(each.packets, 'packet')}"
        ratio = f"{float(each.time / self.asked.time):.3f}" if self.asked.time else "-"
        return name, self._time(each.time), ratio, each.usual

    def __str__(self) -> str:
        lines = textwrap.wrap(self.sentence, _WIDTH, break_on_hyphens=False)
        for heading, told, table in self.sections():
            lines += ["", heading] if heading else []
            for line in told:
                lines += textwrap.wrap(
                    line, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
                )
            if table is not None:
                lines += column_lines([table[0], *table[1]], _WIDTH, "  ")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Advice: {self.sentence}>"

    def markdown(self, picture: str = "") -> str:
        """Return the page as Markdown; `picture`: the name of a file with the network and what binds it, if any."""
        lines = [f"# {self.sentence}"]
        for heading, told, table in self.sections():
            lines += ["", f"## {heading}"] if heading else []
            lines += [""] * bool(told) + [f"- {line}" for line in told]
            if picture and heading == _LIMITS:
                lines += ["", f"![{self.schedule.network.spec}: {self.binding.reason or 'the network'}]({picture})"]
            if table is not None:
                cells = [[cell.replace("|", "\\|") for cell in row] for row in (table[0], *table[1])]
                rows = [f"| {' | '.join(row)} |" for row in cells]
                lines += ["", rows[0], "|" + " --- |" * len(table[0]), *rows[1:]]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """Return the page as HTML, with the network drawn where it is not too large."""
        body = self._body()
        style = ("body{font:15px/1.45 system-ui,sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#222}"
                 "h1{font-size:1.35em}h2{font-size:1.1em;margin-top:1.6em}td,th{padding:.15em .9em .15em 0;"
                 "vertical-align:top}svg{max-width:100%;height:auto}")  # fmt: skip
        title = escape(self.sentence.partition(":")[0])
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{style}</style></head><body>{body}</body></html>\n"
        )

    def _body(self) -> str:
        draw = display("advice")
        pictures = "" if draw is None else str(draw(self))
        parts = [f"<h1>{escape(self.sentence)}</h1>"]
        for heading, told, table in self.sections():
            parts += [f"<h2>{escape(heading)}</h2>"] if heading else []
            parts += [f"<p>{escape(line)}</p>" for line in told]
            if table is not None:
                parts.append(html_table(*table))
            if heading == _LIMITS:
                parts.append(pictures)
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return self._body()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; times in seconds or in the unit of the schedule's cost."""
        spent, network, asked = self.spent, self.schedule.network, self.asked
        cost = self.schedule.cost
        scale = cost.slot_seconds if isinstance(cost, Clock) else Fraction(1)

        def number(time: Fraction | None) -> int | float | None:
            return None if time is None else plain(time)

        return {
            "sentence": self.sentence,
            "unit": "s" if isinstance(cost, Clock) else cost.unit,
            "time": plain(spent.total * scale),
            "why": list(self.why),
            "bound": {
                "value": str(self.bound.value), "name": self.bound.name, "scope": self.bound.scope,
                "witness": self.bound.witness,
            },
            "binding": {
                "words": self.binding.words,
                "nodes": [network.node_name(v) for v in self.binding.nodes.tolist()],
                "links": [network.link_name(e) for e in self.binding.links.tolist()],
                "kind": self.binding.kind, "reason": self.binding.reason, "share": self.binding.share.tolist(),
            },
            "time_goes": {
                "busiest": spent.busiest, "busy": plain(spent.busy * scale),
                "bandwidth": plain((spent.sending - spent.overhead) * scale),
                **({"overhead": plain(spent.overhead * scale)} if spent.overhead else {}),
                "latency": plain(spent.latency * scale), "waiting": plain(spent.waiting * scale),
                "before": plain(spent.before * scale), "pauses": plain(spent.pauses * scale),
                "after": plain(spent.after * scale),
                "kinds": [
                    {"links": k.name, "count": k.links, "busy": float(k.busy), "busiest": float(k.most)}
                    for k in spent.kinds
                ],
                "critical_path": [
                    {"start": plain(h.start * scale), "end": plain(h.end * scale), "after": h.why, "times": h.times,
                     "link": None if h.link < 0 else network.link_name(h.link), "generation": h.generation}
                    for h in spent.path
                ],
            },
            "gains": [
                {"change": g.change, "time": number(g.time), "saved": number(g.saved), "percent": g.percent,
                 "algorithm": g.algorithm or None, "skipped": g.skipped or None}
                for g in self.gains
            ],
            "beside": [
                {"algorithm": b.name, "usual": b.usual, "time": number(b.time), "packets": b.packets,
                 "form": b.form or None, "by": b.algorithm or None, "skipped": b.skipped or None}
                for b in self.beside
            ],
            "left_out": list(self.remarks),
            "this_time": None if asked is None else plain(asked.time),
        }  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write the page to a file, and return what was written.

        Parameters
        ----------
        path : path
            ``.html``, ``.txt``, or ``.md``, with the picture of the network in an ``.svg`` beside it where it is not
            too large; ``.svg``, ``.png`` or ``.pdf``: the picture alone, nodes and links of the witness marked.

        Raises
        ------
        FileFormatError
            If the suffix is none of these, or the file cannot be written.
        """
        target, draw = Path(path), display("advice picture")
        suffix = target.suffix.lower()
        if suffix in _PICTURES and draw is not None:
            draw(self, target)
            return [target]
        if suffix not in (".md", ".html", ".txt"):
            raise FileFormatError(f"a page of advice is .md, .html, .txt, .svg, .png or .pdf, got {str(path)!r}")
        beside = target.with_suffix(".svg")
        drawn = suffix == ".md" and draw is not None and self.schedule.network.node_count <= _DRAWN
        if drawn and draw is not None:
            draw(self, beside)
        made = {".md": lambda: self.markdown(beside.name if drawn else ""), ".html": self.html}
        text = made.get(suffix, lambda: f"{self}\n")()
        with whole_file(target) as part:
            part.write_text(text, encoding="utf-8")
        return [beside, target] if drawn else [target]


_PICTURES = (".svg", ".png", ".pdf")
_DRAWN = 256
"""Nodes of a network up to which it is drawn beside the page."""
_BEGINS = {
    "data": "when what it carries has come",
    "link": "when the link is free",
    "port": "when the port is free",
    "start": "at the start",
    "idle": "after a wait",
}


def _path_rows(schedule: Any, path: Sequence[CriticalHop], told: Callable[[Fraction], str]) -> list[tuple[str, ...]]:
    """Return the critical path as rows, what follows itself on a link together, the middle of many left out."""
    network = schedule.network
    rows: list[tuple[str, ...]] = []
    for link, group in groupby(path, key=lambda hop: hop.link):
        hops = list(group)
        when, long = told(hops[0].start), told(hops[-1].end - hops[0].start)
        if link < 0:
            rows.append(("(waits)", when, long, ""))
            continue
        u, v = (network.node_name(int(x[link])) for x in (network.link_source, network.link_target))
        many = f", {quantity(len(hops), 'packet')}" if len(hops) > 1 else ""
        rows.append((f"{u} -> {v}{many}", when, long, _BEGINS[hops[0].why]))
    if len(rows) <= _STRETCHES:
        return rows
    left = len(rows) - _STRETCHES
    return [*rows[: _STRETCHES // 2], (f"... {left:,} more", "", "", ""), *rows[-_STRETCHES // 2 :]]


def sentence(measured: str, algorithm: str, time: Fraction, bound: Bound) -> str:
    """Return what a schedule does in one sentence: what was measured, the ratio to the bound, the algorithm."""
    by = f"; by {algorithm}" if algorithm else ""
    if time == bound.value:
        return f"{measured}, optimal{f' among {bound.scope}' if bound.scope else ''}{by}"
    return f"{measured}; {f'{float(time / bound.value):.4g} x the bound' if bound.value else 'no bound'}{by}"


@dataclass(frozen=True)
class ExplainedPart:
    """What happens: a title, lines, and the hops or worms that they speak of."""

    title: str
    lines: Sequence[str]
    hops: Sequence[Hop | Worm] = ()


def why(time: Fraction, bound: Bound, words: str = "", told: Callable[[Fraction], str] | None = None) -> Iterator[str]:
    """Yield why what takes a time cannot be faster, by the witness of the largest bound or other words for it."""
    words = words or bound.witness
    if told is not None:  # in seconds
        least = told(bound.value)
        yield f"{_none(bound)} {'is faster' if time == bound.value else 'takes less'} than {least}: {words}"
        if time > bound.value:
            yield f"whether the {told(time - bound.value)} above that can be saved is not known"
    elif time == bound.value:
        yield f"{_none(bound)} is faster than {_time(time, bound.unit)}: {words}"
    else:
        least = _number(bound.value)
        yield f"this takes {_time(time, bound.unit)}; {_none(bound)} takes less than {least}: {words}"
        yield f"whether the {_time(time - bound.value, bound.unit)} above that can be saved is not known"


def _none(bound: Bound) -> str:
    return f"none of the {bound.scope}" if bound.scope else "no schedule"


def _time(time: Fraction, unit: str) -> str:
    return f"{_number(time)} {unit}{'' if time == 1 else 's'}"


def _in_units(time: Fraction, unit: str) -> str:
    return f"{float(time):,.6g} {unit}{'' if time == 1 else 's'}"


def _number(value: Fraction) -> str:
    """Return a number as it is, or with six digits if its fraction is none that people read."""
    return str(value) if value.denominator <= _DENOMINATOR else f"{float(value):.6g}"


def message_row(schedule: Any, message: int) -> int:
    """Return the row of a message of the task; ScheduleError if there is none."""
    ids = schedule.messages.ids
    row = int(np.searchsorted(ids, message))
    if row == ids.size or ids[row] != message:
        where = f"{schedule.task.name} on {schedule.network.spec}"
        raise ScheduleError(f"{where} has no message {message}; there are {_some(ids)}")
    return row


def at_node(network: Network, node: int, moves: Sequence[Hop | Worm], time: str) -> tuple[str, list[str]]:
    """Return what a node is called, and what it sends and gets, a line for each time of a name ("slot", "step")."""
    lines = []
    for at, group in groupby(moves, key=attrgetter(time)):
        mine = list(group)
        there = _together((_carried(m), network.node_name(m.target)) for m in mine if m.source == node)
        back = _together((_carried(m), network.node_name(m.source)) for m in mine if m.target == node)
        lines += [f"{time} {at}: sends {what} to {', '.join(names)}" for what, names in there]
        lines += [f"{time} {at}: gets {what} from {', '.join(names)}" for what, names in back]
    kind = "switch" if node >= network.terminal_count else "node"
    return f"{kind} {network.node_name(node)}", lines or ["it neither sends nor gets anything"]


def _carried(move: Hop | Worm) -> str:
    """Return what a hop or worm carries, out of its words."""
    return move.text.partition(" sends ")[2].partition(" by way of ")[0].rpartition(" to ")[0]


def _together(items: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Return what goes to several, or comes from several, once with all their names."""
    found: dict[str, list[str]] = {}
    for what, name in items:
        found.setdefault(what, []).append(name)
    return list(found.items())


def _some(ids: npt.NDArray[np.int64]) -> str:
    if ids.size and int(ids[-1]) - int(ids[0]) + 1 == ids.size:
        return f"{ids[0]}..{ids[-1]}"
    return ", ".join(map(str, ids[:5].tolist())) + (", ..." if ids.size > 5 else "")
