"""Processes that run every collective over gloo beside PyTorch's own: ``python processes.py FOLDER RANKS``."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.distributed as dist
from meeting import DEVICE, meet

from gossamer.errors import GossamerError
from gossamer.execution.torch import TorchCollective
from gossamer.programs.files import description

SIZE = 7


def whole(ranks, *shape):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(-9, 10, (ranks, *shape), generator=generator, device="cpu").to(DEVICE)


def check(folder, rank, ranks):
    """Compare every collective whose program is in the folder."""
    each = whole(ranks, SIZE)
    pairs = whole(ranks, ranks, SIZE)
    for path in sorted(folder.glob("*.program")):
        run = TorchCollective(path)
        task, root = run.task, 1
        if task == "multinode-broadcast":
            given, got, want = each[rank], torch.empty(ranks, SIZE, dtype=torch.int64), each
            own = [torch.empty_like(each[0]) for _ in range(ranks)]
            dist.all_gather(own, each[rank])
            assert torch.equal(torch.stack(own), want)
        elif task == "total-exchange":
            given, got, want = pairs[rank], torch.empty(ranks, SIZE, dtype=torch.int64), pairs[:, rank]
        elif task == "reduce-scatter":
            given, got, want = pairs[rank], torch.empty(SIZE, dtype=torch.int64), pairs[:, rank].sum(0)
        elif task in ("allreduce", "partial-sum-allreduce"):
            given, got, want = each[rank], torch.empty(SIZE, dtype=torch.int64), each.sum(0)
            own = each[rank].clone()
            dist.all_reduce(own)
            assert torch.equal(own, want)
        elif task == "broadcast":
            given, got = (each[1], None) if rank == root else (None, torch.empty(SIZE, dtype=torch.int64))
            want = each[1]
        elif task == "reduce":
            given, want = each[rank], each.sum(0)
            got = torch.empty(SIZE, dtype=torch.int64) if rank == root else None
        elif task == "gather":
            given, want = each[rank], each
            got = torch.empty(ranks, SIZE, dtype=torch.int64) if rank == root else None
        else:
            assert task == "scatter", task
            given = pairs[1] if rank == root else None
            got, want = torch.empty(SIZE, dtype=torch.int64), pairs[1, rank]
        for _ in range(2):
            run(given, got)
            assert got is None or torch.equal(got, want), (path.name, rank, got, want)
        if task in ("allreduce", "partial-sum-allreduce"):
            run(given, got, op="max")
            assert torch.equal(got, each.max(0).values)
            halves = torch.empty(SIZE)
            run(each[rank] / 2, halves)
            assert torch.equal(halves, each.sum(0) / 2)
    for wrong in (lambda: run(given, got, op="xor"), lambda: TorchCollective(folder / "other.of_three")):
        try:
            wrong()
        except GossamerError:
            continue
        raise AssertionError("not refused")


def among_members(folder, rank, ranks):
    """Compare every collective in groups of processes within a program with PyTorch's own in these groups."""
    for path in sorted(folder.glob("*.grouped")):
        run, told = TorchCollective(path), description(path)["task"]
        root = told.get("root", 0)
        given, want = [], []
        for members in told["groups"]:
            own = dist.new_group(sorted(members))  # of all processes
            if rank not in members:
                continue
            n, me = len(members), members.index(rank)
            alone = sum(map(len, told["groups"])) == len(set().union(*told["groups"]))
            rows = ranks if run.task == "allreduce" and alone else n  # vectors of one length in all groups
            messages = whole(ranks, 2 * ranks)[rank].reshape(ranks, 2)[:rows]
            found = [torch.empty_like(messages) for _ in members]
            dist.all_gather(found, messages, own)
            each = torch.stack([found[sorted(members).index(v)] for v in members])
            one = each[:, 0].clone()
            here = torch.empty(0, 2, dtype=torch.int64)
            if run.task == "allreduce":
                total = messages.clone()
                dist.all_reduce(total, group=own)
            if run.task == "broadcast":
                total = one[me].clone()
                dist.broadcast(total, members[root], own)
            give, get = {
                "multinode-broadcast": (one[me], one),
                "total-exchange": (messages, each[:, me]),
                "reduce-scatter": (messages, each.sum(0)[me]),
                "allreduce": (messages, total if run.task == "allreduce" else None),
                "partial-sum-allreduce": (one[me], one.sum(0)),
                "broadcast": (one[me] if me == root else here, total if run.task == "broadcast" else None),
                "reduce": (one[me], one.sum(0) if me == root else here),
                "gather": (one[me], one if me == root else here),
                "scatter": (messages if me == root else here, each[root, me]),
            }[run.task]
            given.append(give.reshape(-1))
            want.append(get.reshape(-1))
        given, want = (torch.cat(rows) if rows else torch.empty(0, dtype=torch.int64) for rows in (given, want))
        got = torch.full_like(want, -99)
        for _ in range(2):
            run(given if given.numel() else None, got if got.numel() else None)
            assert torch.equal(got, want), (path.name, rank, got, want)
        if rank == 0:
            print(path.stem, "equal", flush=True)


def in_groups(folder, rank, ranks):
    """Two groups of half of the ranks each gather among themselves."""
    half = ranks // 2
    groups = [dist.new_group(list(range(i, ranks, 2))) for i in range(2)]
    mine = groups[rank % 2]
    got = torch.empty(half, 1)
    TorchCollective(folder / "half.of_half", mine)(torch.tensor([float(rank)], device=DEVICE), got)
    assert got.flatten().tolist() == [float(r) for r in range(rank % 2, ranks, 2)]


def main(rank, ranks, folder):
    """Run one process."""
    meet(rank, ranks, folder)
    check(folder, rank, ranks)
    in_groups(folder, rank, ranks)
    among_members(folder, rank, ranks)
    dist.barrier()
    print(f"rank {rank} of {ranks}: equal", flush=True)


if __name__ == "__main__":
    place, count = Path(sys.argv[1]), int(sys.argv[2])
    torch.multiprocessing.spawn(main, (count, place), count)
