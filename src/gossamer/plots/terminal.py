"""Pictures in text, for terminals: the load of a small network, and which links are busy when."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.networks.network import Network
from gossamer.plots.appearance import by_number, time_text
from gossamer.plots.link_groups import link_groups
from gossamer.plots.link_occupancy import occupancy
from gossamer.plots.wormhole_timetables import channel_use
from gossamer.schedules import Schedule
from gossamer.schedules.wormhole.schedule import WormholeSchedule
from gossamer.verification import link_load, verify
from gossamer.verification.wormhole import verify as verify_worms

# A wormhole plan in text: the messages over each channel, and which channels are held in each step.


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
        crossed = zip(step.tolist(), link.tolist(), origin.tolist(), strict=True)
        return _each_link(network, crossed, ("steps", steps), "what the message carries", width, color)
    groups = link_groups(network)
    label = max(map(len, groups.names[:rows]))
    each = -(-steps // max(1, width - label - 1))
    lines = [f"steps, {each} to a character: share of the channels that are held"]
    for g, name in enumerate(groups.names[:rows]):
        mine = groups.group[link] == g
        held = np.bincount(step[mine] // each, minlength=-(-steps // each))
        share = np.minimum(held / (each * max(int((groups.group == g).sum()), 1)), 1)
        lines.append(f"{name:>{label}} {_blocks(share)}")
    return lines


def _each_link(
    network: Network,
    crossed: Iterable[tuple[int, int, int]],
    times: tuple[str, int],
    what: str,
    width: int,
    color: bool,
) -> list[str]:
    """Return a line for each link, with a sign for what crosses it at each time: its origin, -1 of control packets.

    `crossed` are time, link and origin of each; `times` says what times are, and how many there are.
    """
    names = [network.link_name(link).replace("->", "→") for link in range(network.link_count)]
    label, (unit, count) = max(map(len, names)), times
    shown = min(count, width - label - 1)
    hues = by_number(network.node_count) if color else []
    cells = [["."] * shown for _ in names]
    for at, link, origin in crossed:
        if at < shown:
            cells[link][at] = "+" if origin < 0 else _sign(origin, hues)
    more = f", the first {shown} of {count}" if shown < count else ""
    head = f"{unit} from 0{more}: where {what} began (. none, + control)"
    return [head, *(f"{name:>{label}} {''.join(row)}" for name, row in zip(names, cells, strict=True))]


def _sign(node: int, hues: list[str]) -> str:
    sign = _SIGNS[node % len(_SIGNS)]
    if not hues:
        return sign
    red, green, blue = (int(hues[node][k : k + 2], 16) for k in (1, 3, 5))
    return f"\x1b[38;2;{red};{green};{blue}m{sign}\x1b[0m"


def _blocks(share: npt.NDArray[np.float64]) -> str:
    """Return shares as blocks of their height."""
    return "".join(_BLOCKS[int(np.ceil(s * 8 - 1e-9))] for s in share.tolist())


_BLOCKS = " ▁▂▃▄▅▆▇█"
_ROWS = 24
_SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def text_picture(schedule: Schedule | WormholeSchedule, width: int = 80, color: bool = False) -> str:
    r"""Return a picture of a valid schedule in text: the load of its links, and what is busy when.

    Parameters
    ----------
    schedule : Schedule or WormholeSchedule
        Explicit or invariant.
    width : int
        Characters of a line, 40 or more.
    color : bool
        Whether to color what crosses a link by its origin, with the codes that terminals know.

    Returns
    -------
    str
        Lines that end in newlines. Of a small linear or two-dimensional array or torus the nodes with the load of the
        links between them; of any network the least, mean and largest load of each group of links. Then a row for each
        link, if they are few, with the origin of the packet that crosses it in each slot, or a row for each group with
        the share of it in use. Slots, and the steps of a wormhole plan, are counted from 0.

    Raises
    ------
    VerificationError
        If the schedule is not valid.

    Examples
    --------
    >>> import gossamer
    >>> print(text_picture(gossamer.plan("array:3", "broadcast").schedule).split("\n\n")[-1])
    slots from 0: where the packet began (. none, + control)
    (0)→(1) 0.
    (1)→(2) .0
    (1)→(0) ..
    (2)→(1) ..
    <BLANKLINE>
    """
    width = max(40, width)
    if isinstance(schedule, WormholeSchedule):
        verify_worms(schedule).raise_if_invalid()
        head = f"{schedule.task.describe()} on {schedule.network.spec}: time {float(schedule.completion_time):g} in "
        head += f"{quantity(schedule.step_count, 'step')}, {schedule.algorithm or 'unnamed'}"
        times = worm_times(schedule, width, _ROWS, color=color) if schedule.step_count else []
        return _joined([[head], _grid(schedule, width), _groups(schedule, width, "messages"), times])
    verify(schedule).raise_if_invalid()
    if schedule.hop_count <= 500_000:
        schedule = schedule.expand()
    time = time_text(schedule, schedule.completion_time)
    head = f"{schedule.task.describe()} on {schedule.network.spec}: {time}, {schedule.algorithm or 'unnamed'}"
    return _joined([[head], _grid(schedule, width), _groups(schedule, width), _times(schedule, width, color)])


def _joined(parts: list[list[str]]) -> str:
    return "\n\n".join("\n".join(line.rstrip() for line in part) for part in parts if part) + "\n"


def _load(schedule: Schedule | WormholeSchedule) -> npt.NDArray[np.float64]:
    if isinstance(schedule, WormholeSchedule):
        return worm_load(schedule)
    return np.asarray(link_load(schedule) / schedule.network.link_capacity, float)


def _number(load: float) -> str:
    return f"{load:.0f}" if load == round(load) else f"{load:.1f}"


def _grid(schedule: Schedule | WormholeSchedule, width: int) -> list[str]:
    """Return an array or torus in the plane, with the larger load of the two directions between neighbors."""
    network, grid = schedule.network, schedule.network.grid
    if grid is None or len(grid.sides) > 2:
        return []
    rows, columns = (1, *grid.sides)[-2:]
    if columns * 9 > width or rows > 12:
        return []
    load = _load(schedule)
    both: dict[tuple[int, int], float] = {}
    for u, v, crossed in zip(network.link_source.tolist(), network.link_target.tolist(), load.tolist(), strict=True):
        both[min(u, v), max(u, v)] = max(both.get((min(u, v), max(u, v)), 0.0), crossed)

    def between(u: int, v: int) -> str:
        return _number(both[min(u, v), max(u, v)]) if (min(u, v), max(u, v)) in both else ""

    lines = ["load: the larger one of both directions"]
    for r in range(rows):
        nodes = [r * columns + c for c in range(columns)]
        line = ""
        for u in nodes:
            line += f"{network.node_name(u).strip('()'):^5}"
            if u != nodes[-1]:
                line += f"{between(u, u + 1):-^4}"
        lines.append(line)
        if r + 1 < rows:
            lines.append("".join(f"{between(u, u + columns):^5}    " for u in nodes))
    return lines


def _groups(schedule: Schedule | WormholeSchedule, width: int, what: str = "packets") -> list[str]:
    """Return the load of each group of links as a bar."""
    groups, load = link_groups(schedule.network), _load(schedule)
    most = max(float(load.max(initial=0)), 1e-9)
    names = groups.names[:_ROWS]
    label = max(map(len, names))
    room = max(8, width - label - 30)
    lines = [f"load of {quantity(load.size, 'link')}, {what} over the whole schedule"]
    for g, name in enumerate(names):
        mine = load[groups.group == g]
        bar = "█" * round(float(mine.mean()) / most * room)
        span = " to ".join(dict.fromkeys(_number(v) for v in (mine.min(), mine.max())))
        lines.append(f"{name:>{label}} {bar:<{room}} mean {_number(mine.mean())}, {span}")
    if len(groups.names) > _ROWS:
        lines.append(f"{len(groups.names) - _ROWS} more groups")
    return lines


def _times(schedule: Schedule, width: int, color: bool) -> list[str]:
    network, slots = schedule.network, schedule.slot_count
    if not slots:
        return []
    if network.link_count <= _ROWS and schedule.explicit:
        origin = np.append(schedule.packets.origin, -1)[schedule.packet]  # of control packets, CONTROL, the last
        crossed = zip(schedule.slot.tolist(), schedule.link.tolist(), origin.tolist(), strict=True)
        return _each_link(network, crossed, ("slots", slots), "the packet", width, color)
    count = occupancy(schedule, rows=10_000, columns=width - 20)
    lines = [f"slots, {count.slots} to a character: share of the links in use"]
    label = max(len(name) for name, _, _ in count.groups[:_ROWS])
    for name, first, size in count.groups[:_ROWS]:
        used = (count.packets + count.control)[first : first + size].sum(axis=0)
        share = used / np.maximum(count.room[first : first + size].sum(axis=0), 1)
        lines.append(f"{name:>{label}} {_blocks(share)}")
    return lines
