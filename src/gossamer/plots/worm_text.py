"""A wormhole plan in text: the messages over each channel, and which channels are held in each step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.plots.link_groups import link_groups
from gossamer.plots.palette import by_number
from gossamer.plots.worms import channel_use
from gossamer.wormhole.schedule import WormholeSchedule

__all__ = ["worm_load", "worm_times"]

_BLOCKS = " ▁▂▃▄▅▆▇█"
_SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def worm_load(schedule: WormholeSchedule) -> npt.NDArray[np.float64]:
    """Return the messages that cross each link, float64[L].

    >>> import gossamer
    >>> worm_load(gossamer.plan("torus:5", "allgather", switching="wormhole").schedule).sum() > 0
    np.True_
    """
    _, link, _ = channel_use(schedule)
    return np.asarray(np.bincount(link, minlength=schedule.network.link_count), np.float64)


def worm_times(schedule: WormholeSchedule, width: int, rows: int, *, color: bool) -> list[str]:
    """Return a line for each channel or group of them.

    Of few channels the origin of what crosses each in each step, of many the share held of each group.
    """
    network, steps = schedule.network, schedule.step_count
    message, link, origin = channel_use(schedule)
    step = schedule.step[message]
    if network.link_count <= rows:
        names = [network.link_name(x).replace("->", "→") for x in range(network.link_count)]
        label = max(map(len, names))
        shown = min(steps, width - label - 1)
        cells = [["."] * shown for _ in names]
        for s, x, v in zip(step.tolist(), link.tolist(), origin.tolist(), strict=True):
            if s < shown:
                cells[x][s] = "+" if v < 0 else _sign(v, network.node_count if color else 0)
        more = f", the first {shown} of {steps}" if shown < steps else ""
        head = f"steps from 0{more}: where what the message carries began (. none, + control)"
        return [head, *(f"{name:>{label}} {''.join(row)}" for name, row in zip(names, cells, strict=True))]
    groups = link_groups(network)
    label = max(map(len, groups.names[:rows]))
    each = -(-steps // max(1, width - label - 1))
    lines = [f"steps, {each} to a character: share of the channels that are held"]
    for g, name in enumerate(groups.names[:rows]):
        mine = groups.group[link] == g
        held = np.bincount(step[mine] // each, minlength=-(-steps // each))
        share = np.minimum(held / (each * max(int((groups.group == g).sum()), 1)), 1)
        lines.append(f"{name:>{label}} " + "".join(_BLOCKS[int(np.ceil(s * 8 - 1e-9))] for s in share.tolist()))
    return lines


def _sign(node: int, colors: int) -> str:
    sign = _SIGNS[node % len(_SIGNS)]
    if not colors:
        return sign
    red, green, blue = (int(by_number(colors)[node][k : k + 2], 16) for k in (1, 3, 5))
    return f"\x1b[38;2;{red};{green};{blue}m{sign}\x1b[0m"
