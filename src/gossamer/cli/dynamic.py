"""``gossamer dynamic``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gossamer.cli.console import print_entries, print_json, progress
from gossamer.cli.verify import split_outputs
from gossamer.errors import ModelError
from gossamer.reading.tables import named_nodes

if TYPE_CHECKING:
    from gossamer.networks.network import Network
    from gossamer.simulation.random_arrivals.arrivals import ArrivalProcess
    from gossamer.simulation.random_arrivals.delays import Delays
    from gossamer.simulation.random_arrivals.schemes import Mix

__all__ = ["Asked", "arrivals", "dynamic", "mix", "schemes"]


class Asked(NamedTuple):
    """What is to be simulated, as the command line has it."""

    network: str
    names: tuple[str, ...]
    loads: str | None
    nodes: str | None
    mix: Mix | None
    options: dict[str, Any]


def mix(requests: dict[str, Any], simulation: dict[str, Any]) -> Mix | None:
    """Return the traffic that the options name, if they name any."""
    from gossamer.simulation.random_arrivals.schemes import Mix

    if not requests:
        return None
    if "traffic" not in requests:
        raise ModelError("say what traffic there is beside the broadcasts: --traffic broadcast:1,unicast:9")
    return Mix(**requests, seed=simulation.get("seed", 0))


def dynamic(
    asked: Asked, process: ArrivalProcess, simulation: dict[str, Any], jobs: int, output: list[Path], json: bool
) -> None:
    """Simulate schemes at loads; print, write and draw the delays."""
    from gossamer.cli import simulation_pages
    from gossamer.networks import as_network
    from gossamer.simulation.random_arrivals.settings import Settings
    from gossamer.studies.sweeps import delay_load, read_loads, write_table

    pages, others = simulation_pages.pages(output)
    tables, plots = split_outputs(others)  # refuse before the work
    net, loads, nodes = as_network(asked.network), asked.loads, asked.nodes
    wanted = [name.strip() for text in asked.names for name in text.split(",") if name.strip()] or ["priority"]
    settings = Settings(arrivals=process, **simulation)
    at = read_loads(loads) if loads else ()
    simulation_pages.check(pages, len(wanted) * max(len(at), 1))
    simulation_pages.check_schemes(pages, wanted, net)
    with progress() as stage:
        chosen = None if nodes is None else named_nodes(nodes, net.node_count, settings.seed)
        points = delay_load(
            net, wanted, at, settings=settings, nodes=chosen, scheme_options=asked.options, traffic=asked.mix,
            jobs=jobs, progress=stage,
        )  # fmt: skip
        for table in tables:
            stage(f"writing {table}")
            write_table(points, table)
        for plot in plots:
            from gossamer.plots.curves import draw_delays

            stage(f"drawing {plot}")
            draw_delays(points, plot)
        for page in pages:
            stage(f"writing {page}")
            simulation_pages.broadcasts(net, wanted, at, chosen, settings, page, asked.mix)
    if json:
        print_json([_plain(point.to_dict()) for point in points])
        return
    _print(points)
    for path in output:
        print(f"wrote {path}")


def arrivals(name: str, trace: Path | None, burst: str | None, loads: str | None) -> ArrivalProcess:
    """Return the arrivals that the options name."""
    from gossamer.simulation.random_arrivals.arrivals import Bernoulli, OnOff, Poisson, RequestTrace

    if trace is None and loads is None:
        raise ModelError("say which loads to simulate: --load 0.5, or --load 0.1:0.95:0.05")
    if trace is not None:
        if loads is not None:
            raise ModelError("a trace has a load of its own; leave out --load")
        if name != "poisson":
            raise ModelError("a trace has arrivals of its own; leave out --arrivals")
        return RequestTrace.read(trace)
    if burst is not None and name != "on-off":
        raise ModelError("--burst is for on-off arrivals; add --arrivals on-off, or leave it out")
    if name != "on-off":
        return Poisson() if name == "poisson" else Bernoulli()
    try:
        on, off = (float(word) for word in (burst or "20:80").split(":"))
    except ValueError:
        raise ModelError(f"--burst must be two mean times in steps such as 20:80, on and off, got {burst!r}") from None
    return OnOff(on, off)


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line for JSON, which has no nan and no infinity."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in line.items()}


def _print(points: list[Delays]) -> None:
    from gossamer.simulation.random_arrivals.delays import by_scheme
    from gossamer.studies.reproductions.table import Table

    mixed = any(p.result is not None and p.result.kinds for p in points)
    what = "requests" if mixed else "broadcast requests"
    print(f"{what} at random on {points[0].network}; delays in steps, 95% confidence")
    for name, theirs in by_scheme(points):
        columns, rows = _shown_columns(theirs)
        notes = [f"at {p.load:.6g}: {p.doubt or p.reason}" for p in theirs if p.doubt or p.reason]
        title = f"{name}: {theirs[0].limit}"
        print(f"\n{Table(title, columns, tuple(rows), chr(10).join(notes)).text()}")
        by_kind = [
            (f"{p.load:.6g}", kind.name, f"{kind.share:.1%}", str(kind.reception), f"{kind.reception_bound:.2f}",
             str(kind.last), f"{kind.last_bound:.2f}")
            for p in theirs if p.result is not None for kind in p.result.kinds
        ]  # fmt: skip
        if by_kind:
            heads = ("load", "traffic", "requests", "reception", "at least", "last receipt", "at least")
            print(f"\n{Table('by kind of traffic', heads, tuple(by_kind)).text()}")


_COLUMNS = (
    *("load", "reception", "at least", "expected", "broadcast", "at least", "at most", "expected"),
    "busiest link",
)


def _shown_columns(points: list[Delays]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the names of the columns and the rows of a scheme; a column that has no figure is left out."""
    delays = [(p.reception.mean, p.broadcast.mean) for p in points]
    measured = [not all(math.isnan(mean) for mean in means) for means in zip(*delays, strict=True)]
    rows = [_cells(p, [m or not any(measured) for m in measured]) for p in points]
    kept = [c for c in range(len(_COLUMNS)) if any(row[c] != "-" for row in rows)]
    return tuple(_COLUMNS[c] for c in kept), [tuple(row[c] for c in kept) for row in rows]


def _cells(point: Delays, measured: list[bool]) -> tuple[str, ...]:
    """Return the row of a point; `measured`: whether the scheme has reception and broadcast delays."""
    load = f"{point.load:.6g}"
    if not point.stable:
        first, last = ("unstable" if m else "-" for m in measured)
        return load, first, "-", "-", last, "-", "-", "-", "-"
    bounds = (point.broadcast_bound, point.broadcast_upper_bound, point.broadcast_estimate)
    busiest = "-" if point.result is None else f"{point.result.utilization.max():.3f}"
    reception = (str(point.reception), _figure(point.reception_bound), _figure(point.reception_estimate))
    return load, *reception, str(point.broadcast), *map(_figure, bounds), busiest


_COUNTED_LINKS = 10_000
"""For more links the trees of all schemes, which a limit is counted from, take from ten seconds to minutes."""


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def schemes(network: str | Network | None, json: bool) -> None:
    """List the schemes, or those that cover a network, with the load from which on they are not stable."""
    from gossamer.networks import as_network
    from gossamer.simulation.random_arrivals.schemes import SCHEMES, broadcasts
    from gossamer.simulation.random_arrivals.settings import Settings

    rows: list[dict[str, Any]] = []
    net = None if network is None else as_network(network)
    for name, known in SCHEMES.items():
        row: dict[str, Any] = {"scheme": name, "summary": known.summary, "source": known.source}
        if net is not None:
            if known.reason(net) is not None:
                continue
            if net.link_count > _COUNTED_LINKS:
                many = f"the load from which on it is not stable is told for {_COUNTED_LINKS:,} links at most"
                row |= {"saturated_at": None, "limit": many}
            else:
                limit = broadcasts(name, net).limit(Settings())
                row |= {"saturated_at": limit.load, "limit": str(limit)}
        rows.append(row)
    if json:
        print_json(rows)
        return
    if not rows:
        print(f"no scheme covers {network if net is None else net.spec}")
    print_entries(
        (row["scheme"], ["; ".join(row[k] for k in ("summary", "limit") if k in row), row["source"]]) for row in rows
    )
