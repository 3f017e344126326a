"""Energy by counting events: each event of a kind costs the same."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ENERGY_COSTS", "Energy"]

ENERGY_COSTS: dict[str, float] = {"buffer": 1.0, "switch": 1.0, "link": 1.0, "allocation": 0.1}
"""What an event costs unless said otherwise, in units of one flit crossing a link: a flit written into a buffer and
read again, a flit through a switch, a flit over a link, a virtual channel granted to a message. They stand for no
technology; give your own to `Energy.total`."""


@dataclass(frozen=True)
class Energy:
    """Events of a run that take energy.

    Attributes
    ----------
    buffer, switch, link, allocation : int
        Flits written into buffers, flits through switches, flits over links, and virtual channels granted.

    Examples
    --------
    >>> Energy(buffer=10, switch=10, link=8, allocation=5).total(link=2.0)
    36.5
    """

    buffer: int
    switch: int
    link: int
    allocation: int

    def total(self, **costs: float) -> float:
        """Return the energy, with some of `ENERGY_COSTS` replaced."""
        each = {**ENERGY_COSTS, **costs}
        return float(sum(each[kind] * getattr(self, kind) for kind in ENERGY_COSTS))
