"""How the processes of a test meet: over gloo, or over NCCL where ``BACKEND=nccl``, all on one device."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist

BACKEND = os.environ.get("BACKEND", "gloo")
DEVICE = "cuda" if BACKEND == "nccl" else "cpu"


def meet(rank, ranks, folder):
    """Join the group of all processes. NCCL takes processes of one device only if each says that it is a host."""
    if BACKEND == "nccl":
        os.environ["NCCL_HOSTID"] = f"host {rank}"
        os.environ["NCCL_SOCKET_IFNAME"] = "lo"
        torch.set_default_device(DEVICE)
    dist.init_process_group(BACKEND, init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks)


def finished():
    """Wait for the device."""
    if BACKEND == "nccl":
        torch.cuda.synchronize()
