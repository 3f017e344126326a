"""Where the messages of random traffic go, as the command line says it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import TaskError
from gossamer.networks import Network

__all__ = ["Destined"]


@dataclass(frozen=True)
class Destined:
    """The options that say where messages go; one at most.

    Attributes
    ----------
    pattern : str
        Destinations: uniform, hotspot, hotspot:NODE,..., or a permutation such as transpose. Default uniform.
    destinations : Path
        File (text, .npy) with the destination of each node, -1 for none; or lines 'source: destination'.
    demands : Path
        File (text, .npy) with a table: how much each node sends to each other one.
    trace : Path
        Run the messages of a file instead: lines 'cycle source target flits' in order of time.
    """

    pattern: str | None = None
    destinations: Path | None = None
    demands: Path | None = None
    trace: Path | None = None

    def check(self, hot_share: bool) -> None:
        """Refuse more than one, and a share of hot nodes where there are none."""
        if sum(x is not None for x in (self.pattern, self.destinations, self.demands, self.trace)) > 1:
            raise TaskError("give one of --pattern, --destinations, --demands and --trace")
        if hot_share and not (self.pattern or "").strip().lower().startswith("hotspot"):
            raise TaskError("--hot-share goes with --pattern hotspot")

    def on(self, network: Network) -> Any:
        """Return the pattern, the destinations or the table of demands for a network."""
        from gossamer.reading.tables import read_destinations

        if self.destinations is not None:
            return read_destinations(self.destinations, network.terminal_count)
        if self.demands is not None:
            from gossamer.simulation.flits.destinations import read_demands

            return read_demands(self.demands)
        return self.pattern or "uniform"
