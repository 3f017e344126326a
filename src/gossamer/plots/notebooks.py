"""What an outcome shows in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

from gossamer.plots.load import load_figure
from gossamer.plots.occupancy import occupancy_figure
from gossamer.schedules import Schedule

__all__ = ["outcome_html"]

_MOST_NODES = 1024


def outcome_html(outcome: Any, table: str) -> str:
    """Return the numbers of an outcome beside a small picture of load and occupancy, as HTML.

    Parameters
    ----------
    outcome : Outcome
        Its schedule was verified.
    table : str
        The numbers.

    Examples
    --------
    >>> import gossamer
    >>> outcome_html(gossamer.plan("ring:5", "allgather"), "<table></table>").count("<svg")
    2
    """
    from gossamer.plots.shown import svg_text

    schedule = outcome.schedule
    if not isinstance(schedule, Schedule) or schedule.network.node_count > _MOST_NODES:
        return table
    style: dict[str, Any] = {"style": "paper", "width": 3.3}
    with_pictures = "".join(svg_text(make(schedule, **style)) for make in (load_figure, occupancy_figure))
    name = escape(f"{schedule.task.describe()} on {schedule.network.spec}")
    return (
        f"<div style='display:flex;flex-wrap:wrap;gap:12px' aria-label='{name}'><div>{table}</div>"
        f"<div style='max-width:340px'>{with_pictures}</div></div>"
    )
