"""``gossamer dynamic``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.cli.console import print_entries, print_json, progress
from gossamer.errors import FileFormatError, ModelError
from gossamer.reading.tables import named_nodes

if TYPE_CHECKING:
    from gossamer.dynamic.arrivals import Arrivals
    from gossamer.dynamic.sweep import Point

__all__ = ["dynamic", "schemes"]


def dynamic(
    network: str,
    names: list[str],
    loads: str | None,
    nodes: str | None,
    arrivals: str,
    trace: Path | None,
    burst: str | None,
    options: dict[str, Any],
    table: Path | None,
    plot: Path | None,
    json: bool,
) -> None:
    """Simulate schemes at loads; print, write and draw the delays."""
    from gossamer.dynamic.sweep import load_range, sweep, table_format, write_table
    from gossamer.networks.spec import network as parse_network
    from gossamer.plots.drawing import picture_format

    for path, checked in ((table, table_format), (plot, picture_format)):
        if path is not None:  # refuse before the work
            checked(path)
            if not path.parent.is_dir():
                raise FileFormatError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}")
    if trace is None and loads is None:
        raise ModelError("say which loads to simulate: --load 0.5, or --load 0.1:0.95:0.05")
    if trace is not None and loads is not None:
        raise ModelError("a trace has a load of its own; leave out --load")
    net = parse_network(network)
    wanted = [name.strip() for text in names for name in text.split(",") if name.strip()] or ["priority"]
    process = _arrivals(arrivals, trace, burst)
    with progress() as stage:
        chosen = None if nodes is None else named_nodes(nodes, net.node_count, options["seed"])
        found = load_range(loads) if loads else ()
        points = sweep(net, wanted, found, arrivals=process, nodes=chosen, progress=stage, **options)
        if table is not None:
            stage(f"writing {table}")
            write_table(points, table)
        if plot is not None:
            from gossamer.plots.delay import draw_delays

            stage(f"drawing {plot}")
            draw_delays(points, plot)
    if json:
        print_json([_plain(point.to_dict()) for point in points])
        return
    _print(points)
    for path in (table, plot):
        if path is not None:
            print(f"wrote {path}")


def _arrivals(name: str, trace: Path | None, burst: str | None) -> Arrivals:
    from gossamer.dynamic.arrivals import Bernoulli, OnOff, Poisson, Trace

    if trace is not None:
        if name != "poisson":
            raise ModelError("a trace has arrivals of its own; leave out --arrivals")
        return Trace.read(trace)
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


def _print(points: list[Point]) -> None:
    from gossamer.dynamic.sweep import INTERVALS, grouped
    from gossamer.experiments.table import Table

    print(f"broadcast requests at random on {points[0].network}; delays in steps, 95% confidence")
    for name, theirs in grouped(points):
        rows, notes = [], []
        for p in theirs:
            if not p.stable:
                rows.append((f"{p.load:.6g}", "unstable", *["-"] * 6))
                notes.append(f"at {p.load:.6g}: {p.reason}")
                continue
            if p.result is not None and not p.result.settled:
                notes.append(f"at {p.load:.6g}: the end of the warm-up was not found; take more --steps")
            elif p.reception.mean + p.reception.half_width < p.reception_bound:
                notes.append(
                    f"at {p.load:.6g}: the run is too short, as its mean is below the bound; take more --steps"
                )
            used = f"{p.result.utilization.max():.3f}" if p.result is not None else "-"
            rows.append(
                (
                    f"{p.load:.6g}", str(p.reception), _figure(p.reception_bound), _figure(p.reception_estimate),
                    str(p.broadcast), _figure(p.broadcast_bound), _figure(p.broadcast_estimate), used,
                )
            )  # fmt: skip
        columns = ("load", "reception", "at least", "expected", "broadcast", "at least", "expected", "busiest link")
        aware = any(p.result is not None and p.result.choose != "oblivious" for p in theirs)
        what = "it is not stable from load" if aware or name == INTERVALS else "its links are saturated at load"
        title = f"{name}: {what} {theirs[0].limit:.4g}"
        print(f"\n{Table(title, columns, tuple(rows), chr(10).join(notes)).text()}")


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def schemes(network: str | None, json: bool) -> None:
    """List the schemes, or those that cover a network, with the load at which its links are saturated."""
    from gossamer.dynamic.intervals import interval_scheme
    from gossamer.dynamic.schemes import SCHEMES, scheme
    from gossamer.dynamic.sweep import INTERVALS
    from gossamer.dynamic.theory import stability_limit
    from gossamer.errors import NotApplicableError
    from gossamer.networks.spec import network as parse_network

    rows: list[dict[str, Any]] = []
    net = None if network is None else parse_network(network)
    for name, known in SCHEMES.items():
        row: dict[str, Any] = {"scheme": name, "summary": known.summary, "source": known.source}
        if net is not None:
            if known.reason(net) is not None:
                continue
            row["saturated_at"] = float(stability_limit(scheme(name, net)).load)
        rows.append(row)
    intervals = {
        "scheme": INTERVALS,
        "summary": "one partial multinode broadcast after the other, a packet of each node that has one, in d parts",
        "source": "Varvarigos and Bertsekas 1994, section 5",
    }
    if net is None:
        rows.append(intervals)
    else:
        try:
            made = interval_scheme(net)
            rows.append(intervals | {"saturated_at": float(made.load(made.largest_rate))})
        except NotApplicableError:
            pass
    if json:
        print_json(rows)
        return
    if not rows:
        print(f"no scheme covers {network}")
    print_entries((row["scheme"], [row["summary"] + _limit(row), row["source"]]) for row in rows)


def _limit(row: dict[str, Any]) -> str:
    if "saturated_at" not in row:
        return ""
    what = "not stable from load" if row["scheme"] == "varvarigos-bertsekas" else "links saturated at load"
    return f"; {what} {row['saturated_at']:.4g}"
