"""Building and checking schedules of aggregation-then-distribution, and the expected numbers of steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gossamer.networks import torus
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import PartialMultinodeBroadcast
from gossamer.schedules.wormhole.schedule import WormholeCase
from gossamer.wormhole import verify
from gossamer.wormhole.aggregation_distribution import (
    ATD_5,
    ATD_OPT,
    ATD_PIECE,
    aggregation_distribution,
    closed_form,
    closed_form_time,
)
from gossamer.wormhole.aggregation_distribution.closed_forms import movement

ATD_OPT_MIX3 = replace(ATD_OPT, tuning="mix3")
ATD_PIECE_MIX3 = replace(ATD_PIECE, tuning="mix3")
VARIANTS = {v.name: v for v in (ATD_5, ATD_OPT, ATD_PIECE)}


def log(base, x):
    t = 0
    while base**t < x:
        t += 1
    return t


def s5(n, h):
    """Return the expected steps of ATD-5."""
    side, t = n // h, log(5, n // h)
    r5 = 2 * (t - 1) + (1 if side <= 3 * 5 ** (t - 1) else 2) if side > 1 else 0
    return 3 * log(5, h) + 4 * t + 4 * log(5, n) + r5 + log(3, h) + h - 1


def steps_opt(n, h, tuning, *, prefix):
    """Return the expected steps of ATD-opt, and of ATD-piece, which has no prefix sums."""
    N = n // h
    ranks = 2 * log(5, N) + 2 * log(3, n) if prefix else 0
    return log(5, h) + ranks + len(movement(tuning, h)) + 2 * log(5, N) + log(3, N) + log(3, h) + h // 2


def build(sides, h, sources, variant, **costs):
    network = torus(*sides)
    model = LinearCost(**{"message_bytes": 60, **costs})
    return aggregation_distribution(
        WormholeCase(network, PartialMultinodeBroadcast(sources), model), h=h, variant=variant
    )


def check(sides, h, sources, variant, **costs):
    """Build, verify, and compare with the closed form; return the schedule."""
    s = build(sides, h, sources, variant, **costs)
    assert verify(s), str(verify(s))
    phases = closed_form(sides, len(sources), h, s.cost, variant)
    assert [(p.name, p.steps) for p in s.phases] == [(p.name, len(p.bytes)) for p in phases]
    assert (s.step_length <= np.array([x for p in phases for x in p.bytes], np.int64)).all()
    hops = np.zeros(s.step_count, np.int64)
    np.maximum.at(hops, s.step, s.hops)
    assert (hops <= np.array([x for p in phases for x in p.hops], np.int64)).all()
    for phase, cost in zip(s.phases, phases, strict=True):
        if len(sides) == 2 and phase.name in ("broadcast", "rows", "columns"):
            assert s.step_length[phase.first_step :][: phase.steps].tolist() == list(cost.bytes)
    assert s.completion_time <= closed_form_time(phases, s.cost)
    return s
