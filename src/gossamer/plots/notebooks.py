"""What plans, schedules and networks show in a notebook: their numbers beside small pictures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from gossamer.atomic_files import html_rows, html_summary, quantity
from gossamer.errors import FileFormatError, GossamerError
from gossamer.networks.description import describe
from gossamer.networks.network import Network
from gossamer.planning import switching
from gossamer.planning.outcome import measured_text
from gossamer.plots.link_load import load_figure
from gossamer.plots.link_occupancy import occupancy_figure
from gossamer.plots.network import NODE_LIMIT, Marked, network_figure
from gossamer.plots.panels import svg_text
from gossamer.plots.picture_files import picture_format, write_picture
from gossamer.plots.wormhole_timetables import channels_figure, worms_figure
from gossamer.questions.tasks import in_packets
from gossamer.schedules import Schedule
from gossamer.schedules.wormhole.schedule import WormholeSchedule

_MOST_NODES, _MOST_WORMS, _DRAWN = 1024, 400, 256
_STYLE: dict[str, Any] = {"style": "paper", "width": 3.3}


def html(thing: Network | Schedule | WormholeSchedule) -> str:
    """Return the numbers of a network or a schedule beside small pictures, as HTML.

    A schedule is verified, and what is not valid has no picture but a sentence for each violation.

    >>> import gossamer
    >>> html(gossamer.plan("ring:5", "allgather").schedule).count("<svg")
    2
    >>> html(gossamer.network("torus:4x4")).count("<svg")
    1
    """
    if isinstance(thing, Network):
        few = thing.node_count <= _MOST_NODES
        rows = describe(thing).rows() if few else [("network", repr(thing)[1:-1])]
        drawn = thing.node_count <= _DRAWN and thing.link_count > 0
        return _beside(html_rows(rows), [lambda: network_figure(thing)] if drawn else [], thing.spec)
    kind = switching.of(thing)
    task = in_packets(thing.task, 1)
    told = html_summary(measured_text(kind, thing.network, task, thing.cost, thing.completion_time))
    rows = [("task", thing.task.describe()), ("algorithm", thing.algorithm or "unnamed")]
    verified = kind.verify(thing, 3)
    if not verified.ok:
        count = sum(verified.counts.values())
        rows += [("valid", f"no: {quantity(count, 'violation')}"), *(("", str(v)) for v in verified.violations)]
        return told + html_rows(rows)
    rows = [*rows, ("valid", "yes"), *kind.facts(thing).rows]
    return _beside(told + html_rows(rows), _pictures(thing), f"{thing.task.describe()} on {thing.network.spec}")


def outcome_html(outcome: Any, table: str) -> str:
    """Return the numbers of an outcome beside a small picture of load and occupancy, as HTML.

    `outcome`: its schedule was verified. `table`: the numbers.

    >>> import gossamer
    >>> outcome_html(gossamer.plan("ring:5", "allgather"), "<table></table>").count("<svg")
    2
    """
    schedule = outcome.schedule
    if schedule is None:
        return table
    return _beside(table, _pictures(schedule), f"{schedule.task.describe()} on {schedule.network.spec}")


def advice_figure(advice: Any, **dressing: Any) -> Any:
    """Return the network with the nodes and links of the witness marked.

    `advice`: of `gossamer.explain`. `**dressing`: as for all figures.

    >>> import gossamer
    >>> figure = advice_figure(gossamer.explain(gossamer.plan("array:4", "alltoall"), quick=True))
    >>> len(figure.axes)
    1
    """
    binds = advice.binding
    marked = Marked(binds.nodes, binds.links, binds.reason) if binds.reason else None
    return network_figure(advice.schedule.network, marked=marked, **dressing)


def draw_advice(advice: Any, path: str | os.PathLike[str]) -> None:
    """Write the network with the nodes and links of the witness marked to a file, ``.svg``, ``.png`` or ``.pdf``.

    Raises `FileFormatError` if the suffix names no format, the file cannot be written, or the network is too large to
    be seen.
    """
    picture_format(path)
    nodes = advice.schedule.network.node_count
    if nodes > NODE_LIMIT:
        raise FileFormatError(f"a network of {nodes:,} nodes is not drawn; at most {NODE_LIMIT:,} are seen")
    write_picture(lambda: advice_figure(advice), path, advice.sentence)


def advice_html(advice: Any) -> str:
    """Return the network with the nodes and links of the witness marked, beside the load of the links.

    `advice`: of `gossamer.explain`; an empty text where the network is too large for small pictures.

    >>> import gossamer
    >>> advice_html(gossamer.explain(gossamer.plan("array:4", "alltoall"), quick=True)).count("<svg")
    2
    """
    schedule = advice.schedule
    network = schedule.network
    if network.node_count > _DRAWN or not network.link_count:
        return ""
    pictures: list[Callable[[], Any]] = [lambda: advice_figure(advice, width=4.6)]
    if not isinstance(schedule, WormholeSchedule):
        pictures.append(lambda: load_figure(schedule, style="paper", width=4.6))
    try:
        return "".join(svg_text(make()) for make in pictures)
    except GossamerError:  # a picture that cannot be is missed by nobody who reads the words
        return ""


def _pictures(schedule: Any) -> list[Callable[[], Any]]:
    """Return what makes the pictures of a valid schedule; nothing where it is too large for small ones."""
    nodes = schedule.network.node_count
    if isinstance(schedule, WormholeSchedule):
        if nodes > _MOST_WORMS or not schedule.message_count:
            return []
        return [lambda: worms_figure(schedule, **_STYLE), lambda: channels_figure(schedule, **_STYLE)]
    if nodes > _MOST_NODES:
        return []
    return [lambda: load_figure(schedule, **_STYLE), lambda: occupancy_figure(schedule, **_STYLE)]


def _beside(table: str, pictures: Iterable[Callable[[], Any]], name: str) -> str:
    try:
        drawn = "".join(svg_text(make()) for make in pictures)
    except GossamerError:  # a picture that cannot be is missed by nobody who reads the numbers
        drawn = ""
    if not drawn:
        return table
    return (
        f"<div style='display:flex;flex-wrap:wrap;gap:12px' aria-label='{escape(name, quote=True)}'><div>{table}</div>"
        f"<div style='max-width:340px'>{drawn}</div></div>"
    )
