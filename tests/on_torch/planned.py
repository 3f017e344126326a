"""Processes that call planned collectives beside PyTorch's own, and train: ``python planned.py FOLDER RANKS ASKED``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from meeting import DEVICE, finished, meet

from gossamer.errors import GossamerError
from gossamer.execution.torch import PlannedCollectives, allreduce_hook

NETWORK, CHOICES, SIZES, TASKS = json.loads(sys.argv[3])


def whole(rank, count):
    return torch.randint(-9, 10, (count,), generator=torch.Generator().manual_seed(rank), device="cpu").to(DEVICE)


def refused(work):
    """Return what is said of why something cannot be done."""
    try:
        work()
    except GossamerError as error:
        return str(error)
    raise AssertionError("not refused")


def every_call(ours, rank, ranks):
    """Compare each call with PyTorch's own, for messages near both sizes and far from them."""
    for count in (4, 400, 12_000):
        mine = whole(rank, count * ranks)
        for op, own in (("sum", dist.ReduceOp.SUM), ("max", dist.ReduceOp.MAX), ("product", dist.ReduceOp.PRODUCT)):
            got, want = mine.clone(), mine.clone()
            ours.all_reduce(got, op)
            dist.all_reduce(want, own)
            assert torch.equal(got, want), (count, op)
        everyone = [torch.empty_like(mine) for _ in range(ranks)]
        dist.all_gather(everyone, mine)
        got = torch.empty(ranks * mine.numel(), dtype=mine.dtype)
        ours.all_gather_into_tensor(got, mine)
        assert torch.equal(got, torch.cat(everyone))
        part = torch.empty(count, dtype=mine.dtype)
        ours.reduce_scatter_tensor(part, mine)
        assert torch.equal(part, sum(everyone).reshape(ranks, count)[rank])
        got = torch.empty_like(mine)
        ours.all_to_all_single(got, mine)
        assert torch.equal(got, torch.stack([one.reshape(ranks, count)[rank] for one in everyone]).flatten())
        got = mine.clone()
        ours.broadcast(got)
        assert torch.equal(got, everyone[0])
        got = mine.clone()
        ours.reduce(got)
        assert torch.equal(got, sum(everyone) if rank == 0 else mine)
    tensors = [whole(rank, 5 + 3 * i).double() for i in range(12)]
    wants = [tensor.clone() for tensor in tensors]
    works = [ours.all_reduce(tensor, async_op=True) for tensor in tensors]
    for work, tensor, want in zip(works, tensors, wants, strict=True):
        dist.all_reduce(want)
        assert work.wait()
        assert work.is_completed()
        assert torch.equal(tensor, want)
    # an error is told by wait, and what follows is carried out
    bad = ours.all_to_all_single(torch.empty(3), torch.empty(3), async_op=True)
    assert "has 3 elements for 4 messages" in refused(bad.wait)
    assert "unknown operator 'xor'" in refused(lambda: ours.all_reduce(torch.empty(3), "xor"))
    mine = torch.ones(3)
    ours.all_reduce(mine)
    assert mine.tolist() == [ranks] * 3


def trained(hook, whole_numbers, rank):
    """Return the parameters after three steps of training, with a hook or without."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).double().to(DEVICE)
    if whole_numbers:  # gradients and parameters of whole numbers and halves: sums are exact in any order
        for parameter in model.parameters():
            parameter.data.round_()
    parallel = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.002)
    if hook is not None:
        parallel.register_comm_hook(*hook)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=2.0**-8 if whole_numbers else 0.01)
    generator = torch.Generator().manual_seed(rank)
    for _ in range(3):
        batch = torch.randn(32, 16, generator=generator, dtype=torch.double, device="cpu").to(DEVICE)
        if whole_numbers:
            batch = batch.round()
        optimizer.zero_grad()
        parallel(batch).sum().backward()
        optimizer.step()
    return torch.cat([parameter.data.flatten() for parameter in model.parameters()])


def training(ours, rank):
    """A model trained with the hook is the one that is trained without."""
    hook = ours, allreduce_hook
    assert torch.equal(trained(hook, True, rank), trained(None, True, rank))
    assert torch.allclose(trained(hook, False, rank), trained(None, False, rank), rtol=1e-12, atol=0)


def overhead(ours, rank):
    """Print what a call takes beside PyTorch's own."""
    for count in (16, 16_384):
        tensor, times = torch.ones(count), []
        for call in (ours.all_reduce, dist.all_reduce):
            best = float("inf")
            for _ in range(20):
                dist.barrier()
                began = time.perf_counter()
                call(tensor)
                finished()
                best = min(best, time.perf_counter() - began)
            times.append(best)
        if rank == 0:
            print(f"all_reduce of {4 * count:,} bytes: {times[0] * 1e6:.0f} us, PyTorch's {times[1] * 1e6:.0f} us")


def main(rank, ranks, folder):
    """Run one process."""
    meet(rank, ranks, folder)
    ours = PlannedCollectives(NETWORK, folder=folder, sizes=SIZES, **CHOICES)
    every_call(ours, rank, ranks)
    training(ours, rank)
    overhead(ours, rank)
    ours.close()
    missing = PlannedCollectives("ring:4", folder=folder / "nothing", sizes=SIZES, **CHOICES)
    if "numba" not in sys.modules and rank == 0:
        sys.modules["numba"] = None  # no planner here
    told = refused(lambda: missing.all_reduce(torch.ones(1)))
    assert "no plan of allreduce for 1024 bytes on ring:4" in told
    missing.close()
    dist.barrier()
    print(f"rank {rank} of {ranks}: equal", flush=True)


if __name__ == "__main__":
    place, count = Path(sys.argv[1]), int(sys.argv[2])
    torch.multiprocessing.spawn(main, (count, place), count)
