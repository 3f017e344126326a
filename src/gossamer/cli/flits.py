"""What ``gossamer wormhole`` simulates flit by flit, and how it prints that."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.cli.destined import Destined
    from gossamer.routers import Freedom, Saturation, ScheduleRun, TrafficRun, TrafficSettings
    from gossamer.schedules import Verification

__all__ = ["print_run", "print_traffic", "proofs", "saturation_fields", "simulated", "write_details"]

_PROVED = 1024
"""Nodes up to which the routing function of a simulation is proved; beyond, `gossamer wormhole routing` does it."""


def proofs(networks: list[str], settings: TrafficSettings) -> dict[str, Freedom]:
    """Return for each network what the dependency graph of the routing function says; none where it is too large."""
    from gossamer.errors import ModelError
    from gossamer.networks import as_network
    from gossamer.routers import deadlock_freedom
    from gossamer.routers import routing as routing_function

    found = {}
    for net in [as_network(text) for text in networks]:
        if net.node_count > _PROVED:
            continue
        rule = routing_function(net, settings.routing, settings.routers, settings.terminals)
        with suppress(ModelError):  # too many routes to write down
            found[net.spec] = deadlock_freedom(rule)
    return found


def write_details(runs: Sequence[TrafficRun], path: Path) -> None:
    """Write what each node, flow, channel and latency of each run had."""
    import csv

    from gossamer.writing import whole_file

    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(("network", "load", "kind", "name", "count", "mean"))
        for run in runs:
            lines.writerows((run.network.spec, run.load, *row) for row in run.details())


def simulated(
    networks: list[str],
    where: Destined,
    loads: Sequence[float] | None,
    settings: TrafficSettings,
    jobs: int | None,
    written: tuple[list[Path], list[Path]],
) -> tuple[dict[str, Sequence[TrafficRun]], dict[str, Saturation]]:
    """Simulate every network at the loads, or up to its saturation without loads; write and draw the runs."""
    from gossamer.cli.console import progress
    from gossamer.networks import as_network
    from gossamer.routers import read_trace, simulate_trace
    from gossamer.sweeps import TrafficPoint, run_points, write_table
    from gossamer.sweeps.traffic import SaturationPoint

    curves: dict[str, Sequence[TrafficRun]] = {}
    found: dict[str, Saturation] = {}
    nets = [as_network(text) for text in networks]
    with progress() as stage:
        if where.trace is not None:
            trace = read_trace(where.trace)
            for net in nets:
                curves[net.spec] = [simulate_trace(net, trace, settings=settings, progress=stage)]
        elif loads is None:
            searches = [SaturationPoint(net, where.on(net), settings) for net in nets]
            for net, search in zip(nets, run_points(searches, jobs=jobs, progress=stage), strict=True):
                found[net.spec], curves[net.spec] = search, search.runs
        else:
            points = [TrafficPoint(net, pattern, load, settings) for net in nets
                      for pattern in [where.on(net)] for load in loads]  # fmt: skip
            every = run_points(points, jobs=jobs, progress=stage)
            for place, net in enumerate(nets):
                curves[net.spec] = every[place * len(loads) : (place + 1) * len(loads)]
        runs = [run for curve in curves.values() for run in curve]
        for table in written[0]:
            write_table(runs, table)
        for plot in written[1]:
            from gossamer.plots.latency import draw_latency

            stage(f"drawing {plot}")
            draw_latency(curves, plot, f"{runs[0].pattern} traffic, messages of {settings.message_flits} flits")
    return curves, found


def print_traffic(
    curves: dict[str, Sequence[TrafficRun]], found: dict[str, Saturation], proofs: dict[str, Freedom], json: bool
) -> None:
    """Print what came of each network."""
    from gossamer.cli.console import print_json

    if json:
        fields: dict[str, Any] = {"runs": [run.to_dict() for curve in curves.values() for run in curve]}
        fields["deadlock_freedom"] = [
            {"network": spec, "free": proof.free, "proof": str(proof)} for spec, proof in proofs.items()
        ]
        if found:
            fields["saturation"] = [saturation_fields(spec, s) for spec, s in found.items()]
        print_json(fields)
        return
    for place, (spec, curve) in enumerate(curves.items()):
        if place:
            print()
        _print_runs(curve)
        if spec in proofs:
            print(f"\n{curve[0].routing} routing: {proofs[spec]}")
        if spec in found:
            s = found[spec]
            print(f"\nload {s.load:.3f} gets through, {100 * s.share:.0f}% of the ideal {s.ideal:.3f}")


def saturation_fields(spec: str, s: Saturation) -> dict[str, Any]:
    """Return what a search for saturation found, in plain values."""
    return {"network": spec, "load": s.load, "throughput": s.throughput, "ideal": s.ideal}


def _print_runs(runs: Sequence[TrafficRun]) -> None:
    """Print a line for each load."""
    from gossamer.experiments.table import Table
    from gossamer.writing import quantity

    columns = ("load", "throughput", "latency", "+-", "median", "p99", "busiest channel", "")
    rows: list[tuple[str, ...]] = []
    for r in runs:
        if r.deadlock is not None:
            rows.append((f"{r.load:.4g}", f"{r.throughput:.4f}", "-", "-", "-", "-", "-", "deadlock"))
            continue
        rows.append(
            (
                f"{r.load:.4g}", f"{r.throughput:.4f}",
                *(("-",) * 4 if r.saturated else (
                    _shown(r.latency), _shown(r.half_width),
                    *(str(q) if (q := r.percentile(share)) >= 0 else "-" for share in (0.5, 0.99)),
                )),
                f"{r.peak_utilization:.3f}", "saturated" if r.saturated else "",
            )
        )  # fmt: skip
    first = runs[0]
    title = f"{first.pattern} traffic on {first.network.spec}, messages of {first.message_flits} flits; times in cycles"
    print(Table(title, columns, tuple(rows)).text())
    cycles = first.flit_cycles.tolist()
    slow = [f"{each} on {quantity(cycles.count(each), 'link')}" for each in sorted(set(cycles)) if each > 1]
    if slow:
        print(f"\na cycle is the time of a flit on the fastest links; it takes {', '.join(slow)}")
    stuck = next((r.deadlock for r in runs if r.deadlock is not None), None)
    if stuck is not None:
        print(f"\n{stuck}")


def _shown(cycles: float) -> str:
    return "-" if cycles != cycles else f"{cycles:.2f}"  # not a number where no message was measured


def print_run(found: ScheduleRun, valid: Verification) -> None:
    """Print what happened to a schedule."""
    from gossamer.cli.console import print_entries

    schedule = found.schedule
    how = "with a barrier after each step" if found.starts == "barrier" else "each message as soon as it can"
    print(f"{schedule.algorithm or 'a schedule'} on {schedule.network.spec}, {how}")
    done = [f"{found.cycles:,}, {found.predicted_cycles:,} predicted with barriers and no contention"]
    if found.deadlock is not None:
        done = [str(found.deadlock)]
    faults = ", ".join(f"{count:,} x {kind}" for kind, count in valid.counts.items() if count)
    print_entries(
        [
            ("valid", ["yes" if valid.ok else f"no: {faults}"]),
            ("cycles", done),
            ("cycle", [f"{found.cycle_time} time units; a start-up is {found.startup_cycles:,} cycles"]),
            ("messages", [f"{schedule.message_count:,}, the slowest {int(found.latency.max(initial=0)):,} cycles"]),
            ("contention", [f"{found.blocked:,} cycles waited for others, {found.stalled:,} for free slots"]),
            ("flit-hops", [f"{found.flit_hops:,}"]),
        ]
    )
