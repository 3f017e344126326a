"""Wormhole switching: a message follows its whole path in one step that costs a start-up and its length.

The rooms of wormhole schedules and of flits are imported when they are asked for something.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from gossamer.atomic_files import quantity
from gossamer.bounds import Bound
from gossamer.errors import ModelError, NotApplicableError
from gossamer.networks.network import Network
from gossamer.planning.switching.protocol import Facts, Say, Streamed
from gossamer.questions.cases import Needs, Offer
from gossamer.questions.costs import AskedCost, Cost, LinearCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import Task
from gossamer.schedules import files
from gossamer.verification import Verification

if TYPE_CHECKING:
    from gossamer.schedules.wormhole.schedule import WormholeCase
    from gossamer.simulation.flits.settings import Interface
    from gossamer.wormhole import WormholeAlgorithm, WormholeSchedule

_PHASES = 12
"""Phases that are told one by one."""


class Wormhole:
    """The switching of wormhole messages; see `gossamer.planning.switching.Switching`."""

    name = "wormhole"
    summary = "a message follows its whole path in one step that costs a start-up and its length"
    noun = "wormhole algorithm"
    words = ("step", "channel", "pieces")
    cost_types: tuple[type[AskedCost], ...] = (LinearCost,)
    rules: tuple[str, ...] = ("ports",)
    renames = False

    def algorithms(self, kind: type[Task] | None = None) -> tuple[WormholeAlgorithm, ...]:
        """Return the algorithms for a kind of task, or for all tasks."""
        from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

        return tuple(a for a in WORMHOLE_ALGORITHMS if kind is None or issubclass(kind, a.tasks))

    def case(
        self, network: Network, task: Task, rules: Rules | None, cost: AskedCost | None, seed: int
    ) -> WormholeCase:
        """Return the case."""
        from gossamer.schedules.wormhole.schedule import WormholeCase

        if rules is not None and rules != Rules(ports=rules.ports):
            raise ModelError("of the rules only ports are a choice of wormhole switching; messages are cut as is best")
        if cost is not None and not isinstance(cost, LinearCost):
            raise ModelError(f"wormhole messages have a linear cost; cost must be a LinearCost, got {cost!r}")
        return WormholeCase(network, task, cost, rules, seed=seed)

    def describe(self, case: WormholeCase) -> str:
        """Return the cost in words."""
        ports = "" if case.rules.ports == "all" else f"{case.rules.ports_text}, "
        return f"wormhole switching, {ports}{case.cost.describe()}"

    def time_text(self, cost: Cost, time: Fraction, *, slots: bool = False) -> str:
        """Return a time in the unit of the cost; as a fraction, too, where `slots` are asked for."""
        exact = f"{time.numerator:,}" if time.denominator == 1 else f"{float(time):,.6g}"
        exact = f"{time} = {exact}" if slots and time.denominator > 1 else exact
        return f"{exact} {cost.unit}{'' if time == 1 else 's'}"

    def bounds(self, case: WormholeCase) -> tuple[Bound, ...]:
        """Return lower bounds on the completion time in the unit of the cost, the largest first."""
        from gossamer.simulation.flits import Routers
        from gossamer.wormhole.bounds import bounds

        if case.cost.price == "steps":
            return bounds(case)
        # a flit a cycle: no message that carries bytes is faster, nor starts sooner
        cost, flit = case.cost, Routers().flit_bytes
        cycle = flit * cost.per_byte or Fraction(1)
        return bounds(
            case.varied(
                cost=replace(
                    cost,
                    startup=Fraction(ceil(cost.startup / cycle)),
                    per_byte=Fraction(1, flit),
                    hop_time=Fraction(0),
                )
            )
        )

    def quick_bounds(self, case: WormholeCase) -> tuple[Bound, ...] | None:
        """Return None: all are quick."""
        return None

    def needs(self, case: WormholeCase, offer: Offer[WormholeSchedule]) -> Needs | None:
        """Return about what building and checking an offer takes."""
        from gossamer.wormhole.bounds import wormhole_needs

        return wormhole_needs(case, offer)

    def completion(self, schedule: WormholeSchedule) -> Fraction:
        """Return the time of the steps, or the cycles of a run flit by flit if that is the price.

        A schedule that deadlocks without barriers is priced with them.
        """
        from gossamer.simulation.flits import Routers, simulate_schedule

        if schedule.cost.price == "steps":
            return schedule.completion_time
        interface: Interface = "channels" if schedule.ports == "all" else "node"
        routers = Routers(injection=interface, ejection=interface)
        run = simulate_schedule(schedule, starts=schedule.cost.starts, settings=routers)
        if run.deadlock is not None:
            run = simulate_schedule(schedule, settings=routers)
        return Fraction(run.cycles)

    def verify(self, schedule: WormholeSchedule, limit: int = 20) -> Verification:
        """Check every rule and goal of a schedule."""
        from gossamer.wormhole import verify

        return verify(schedule, limit)

    def stream(self, case: WormholeCase, offer: Offer[WormholeSchedule], say: Say) -> Streamed:
        """Refuse: wormhole messages are checked together."""
        raise NotApplicableError("streaming goes with store-and-forward switching")

    def load(self, path: str | os.PathLike[str]) -> WormholeSchedule:
        """Read a schedule from a file."""
        from gossamer.wormhole import WormholeSchedule

        return files.load(path, WormholeSchedule)

    def facts(self, schedule: WormholeSchedule) -> Facts:
        """Return what can be measured of a schedule."""
        s, size = schedule, schedule.cost.message_bytes
        channels, used, phases = int(s.channels.exists.sum()), s.channel_utilization, s.phase_costs()
        shown = [f"{p.name} {n} ({v / size:.4g})" for p, n, v in phases[:_PHASES]]
        more = f", and {len(phases) - _PHASES:,} more phases" if len(phases) > _PHASES else ""
        volume = f"{s.volume:,} bytes = {s.volume / size:.4g} messages, one after the other"
        pieces = quantity(s.packets.count, "piece")
        rows = [
            ("start-ups", f"{s.startups:,}"),
            ("transmission", volume),
            ("by phase", f"start-ups (messages): {', '.join(shown) or 'none'}{more}"),
            ("schedule", f"{quantity(s.step_count, 'step')}, {quantity(s.message_count, 'message')}, {pieces}"),
            ("channels busy", f"{float(used):.1%} of the transmission time"),
        ]
        values = {
            "channels": channels,
            "phases": [{"name": p.name, "steps": p.steps, "startups": n, "bytes": v} for p, n, v in phases],
            "steps": s.step_count,
            "startups": s.startups,
            "transmission_bytes": s.volume,
            "transmission_messages": s.volume / size,
            "messages": s.message_count,
            "pieces": s.packets.count,
            "channel_utilization": float(used),
        }
        return Facts(s.message_count, used, values, rows)
