"""Usual algorithms beside a schedule: what rings, trees and exchanges among ranks take on its network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import ring_words
from gossamer.errors import GossamerError, TooLargeError
from gossamer.planning.chunk_counts import AskedQuestion
from gossamer.planning.explaining.advice import AskedAgain
from gossamer.planning.planner import by_name, question_of
from gossamer.planning.usual_algorithms import USUAL, Usual, reversed_kind
from gossamer.questions.costs import TimeCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Chunked, Grouped, Together, packets_of

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
