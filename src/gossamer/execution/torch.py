"""Collectives of PyTorch by schedules, over ``torch.distributed``'s point-to-point messages: gloo, NCCL and their like.

Ranks need no planner: they read the program file that ``gossamer export --to program`` wrote.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gossamer.errors import NetworkError, NotApplicableError, TaskError, shown
from gossamer.programs.files import description, read_rank

if TYPE_CHECKING:
    from gossamer.programs import Operations, Program

__all__ = ["TorchCollective"]

# A rank's operations on tensors: slot by slot, receives and sends at once.

_SEND, _RECEIVE, _REDUCE = 0, 1, 2
_SCRATCH = 2
_ADDING = {"sum": "add_", "product": "mul_", "max": "maximum", "min": "minimum"}


class TorchCollective:
    """A schedule on a process group.

    Parameters
    ----------
    program : path or Program
        A program file, the same on all ranks, or what `gossamer.lower` returned. Rank r of the group runs node r.
    group : torch.distributed.ProcessGroup, optional
        Default: all processes.

    Raises
    ------
    FileFormatError
        If the file cannot be read or is no program.
    NotApplicableError
        If PyTorch is not installed.
    NetworkError
        If the program is for another number of ranks.

    Notes
    -----
    In each slot one `batch_isend_irecv` and a wait for it, no barrier. Whatever the backend sends works: tensors
    on the processor with gloo, on devices with NCCL. In groups of processes within the program all messages have one
    size, and all vectors of an allreduce one length; where groups have several sizes, or a rank of none passes messages
    on, one rank first tells all how large messages are.

    Examples
    --------
    ::

        gather = gossamer.execution.torch.TorchCollective("plan.program")
        everyone = torch.empty(16, *mine.shape)
        gather(mine, everyone)
    """

    def __init__(self, program: str | os.PathLike[str] | Program, group: Any = None) -> None:
        self._torch, self._distributed = _modules()
        self._group = group
        rank, ranks = self._distributed.get_rank(group), self._distributed.get_world_size(group)
        if isinstance(program, str | os.PathLike):
            told = description(program)
            have, self._parts, what, task = told["ranks"], told["parts"], told["network"], told["task"]
            buffers, passing = told["buffers"], told["passing"]
        else:
            have, self._parts, what, task = program.ranks, program.parts, program.network.spec, program.task.to_dict()
            buffers, passing = _who(program)
        self.task: str = task["name"]
        if have != ranks:
            raise NetworkError(f"the program on {what} has {have} ranks; the process group has {ranks}")
        mine = read_rank(program, rank) if isinstance(program, str | os.PathLike) else program.rank(rank)
        self._mine = mine
        self._groups: list[Any] = task.get("groups", [range(ranks)])
        several = len({len(group) for group in self._groups}) > 1
        self._teller = buffers[0] if passing or several else None
        self._slots = _by_slot(mine)

    def __call__(self, given: Any = None, got: Any = None, op: str = "sum") -> None:
        """Carry it out; collective.

        Parameters
        ----------
        given, got : torch.Tensor or None
            What the rank sends and what it gets, contiguous, of any shape, in whole messages; None where it has
            nothing to send, or gets nothing; a broadcast's root gives alone. An allreduce takes vectors of any length.
        op : str
            Of reductions: ``sum``, ``product``, ``max`` or ``min``.

        Raises
        ------
        TaskError
            If the sizes do not fit together, or a tensor is not contiguous.
        """
        if op not in _ADDING:
            raise TaskError(f"unknown operator {shown(op)}; there are: {', '.join(_ADDING)}")
        if self.task == "broadcast" and got is None:
            got = given  # the root has it where it is
        buffers = [_flat(tensor, name) for tensor, name in ((given, "given"), (got, "got"))]
        back: Any = None
        if self.task == "allreduce" and given is not None and got is not None:
            width = -(-buffers[0].numel() // min(map(len, self._groups)))
            missing = self._mine.input_size // self._parts * width - buffers[0].numel()
            alone = len({v for group in self._groups for v in group}) == sum(map(len, self._groups))
            if missing > 0 and alone and buffers[0].numel() == buffers[1].numel():
                back = buffers[1]
                wide = [b.new_zeros(b.numel() + missing) for b in buffers]
                wide[0][: back.numel()].copy_(buffers[0])
                buffers = wide
        size = self._message_size(buffers)
        self._run(buffers, size, op)
        if back is not None:
            back.copy_(buffers[1][: back.numel()])

    def _message_size(self, buffers: list[Any]) -> int:
        found = set()
        for buffer, parts, name in zip(
            buffers, (self._mine.input_size, self._mine.output_size), ("given", "got"), strict=True
        ):
            messages = parts // self._parts
            size = 0 if buffer is None else buffer.numel()
            if (size % messages) if messages else size:
                raise TaskError(f"the tensor that is {name} has {size} elements for {messages} messages")
            if messages:
                found.add(size // messages)
        if len(found) > 1:
            raise TaskError(f"messages have {' and '.join(map(str, sorted(found)))} elements in the two tensors")
        return found.pop() if found else 0

    def _run(self, buffers: list[Any], size: int, op: str) -> None:
        like = next((b for b in buffers if b is not None), None)
        if self._teller is not None:  # not all ranks know, or they may differ
            size, like = self._told(self._teller, size, like)
        if like is None:
            if not self._slots:
                return
            raise TaskError("a tensor is needed, given or got: it says of which type the messages are")
        longest = -(-size // self._parts)
        places = [*buffers, like.new_empty(self._mine.scratch_size * longest)]

        def view(buffer: int, offset: int, part: int) -> Any:
            length = (part + 1) * size // self._parts - part * size // self._parts
            if buffer == _SCRATCH:
                return places[buffer].narrow(0, offset * longest, length)
            message, part = divmod(offset, self._parts)
            return places[buffer].narrow(0, message * size + part * size // self._parts, length)

        for i, o in self._mine.copies.tolist():
            view(1, o, o % self._parts).copy_(view(0, i, i % self._parts))
        p2p = self._distributed
        for rows in self._slots:
            pending, sums = [], []
            tags: dict[tuple[bool, int], int] = {}
            for kind, peer, buffer, offset, operand, part, sent in rows:
                place = view(buffer, offset, part)
                way = p2p.isend if kind == _SEND else p2p.irecv
                tag = tags[kind == _SEND, peer] = tags.get((kind == _SEND, peer), -1) + 1
                tensor = place
                if kind == _REDUCE or sent:
                    tensor = place.new_empty(place.shape)
                    own = view(0, operand, operand % self._parts) if operand >= 0 else None
                    sums.append((tensor, place, tensor if sent else own))
                pending.append(p2p.P2POp(way, tensor, self._global(peer), self._group, tag))
            for request in p2p.batch_isend_irecv(pending) if pending else ():
                request.wait()
            for came, place, own in sums:
                if own is not None:
                    place.copy_(own)
                if own is not came:
                    _combine(place, came, op, self._torch)

    def _told(self, teller: int, size: int, like: Any) -> tuple[int, Any]:
        """Return the elements of a message, and a tensor of their type, as one rank tells all."""
        torch, p2p = self._torch, self._distributed
        kinds = [kind for kind in map(torch.__dict__.get, sorted(torch.__dict__)) if isinstance(kind, torch.dtype)]
        device = "cuda" if p2p.get_backend(self._group) == "nccl" else "cpu"
        mine = [size, -1 if like is None else kinds.index(like.dtype)]
        head = torch.tensor(mine, dtype=torch.int64, device=device if like is None else like.device)
        p2p.broadcast(head, self._global(teller), self._group)
        told = head.tolist()
        if like is not None and told != mine:
            raise TaskError(
                f"messages have {size} elements of {like.dtype}, at rank {teller} {told[0]} of {kinds[told[1]]}"
            )
        return told[0], torch.empty(0, dtype=kinds[told[1]], device=device) if like is None else like

    def _global(self, rank: int) -> int:
        """Return the number among all processes of a rank of the group."""
        if self._group is None:
            return rank
        convert = getattr(self._distributed, "get_global_rank", None)
        if convert is None:  # before PyTorch 2
            convert = self._distributed.distributed_c10d.get_global_rank
        return int(convert(self._group, rank))


def _combine(place: Any, came: Any, op: str, torch: Any) -> None:
    name = _ADDING[op]
    if name.endswith("_"):
        getattr(place, name)(came)
    else:
        place.copy_(getattr(torch, name)(place, came))


def _by_slot(mine: Operations) -> list[list[tuple[int, ...]]]:
    """Return the operations of each slot that has any: kind, peer, buffer, offset, operand, part.

    The last number says whether a block is received to a place that is sent from in the same slot.
    """
    names = ("slot", "kind", "peer", "buffer", "offset", "operand", "part")
    after = mine.after
    waits = (mine.kind == _RECEIVE) & (after >= 0)
    waits[waits] = (mine.slot[after[waits]] == mine.slot[waits]) & (mine.kind[after[waits]] == _SEND)
    found: dict[int, list[tuple[int, ...]]] = {}
    for slot, *row in zip(*(getattr(mine, n).tolist() for n in names), waits.tolist(), strict=True):
        found.setdefault(slot, []).append(tuple(row))
    return [found[slot] for slot in sorted(found)]


def _who(program: Program) -> tuple[list[int], list[int]]:
    """Return the ranks that have buffers, and those that have none and pass messages on."""
    buffers = [mine.rank for mine in program if mine.input_size or mine.output_size]
    return buffers, [mine.rank for mine in program if mine.count and not (mine.input_size or mine.output_size)]


def _flat(tensor: Any, name: str) -> Any:
    if tensor is None:
        return None
    if not tensor.is_contiguous():
        raise TaskError(f"the tensor that is {name} must be contiguous; call contiguous() first")
    return tensor.detach().reshape(-1)


def _modules() -> tuple[Any, Any]:
    try:
        import torch
        import torch.distributed as distributed
    except ImportError:
        raise NotApplicableError("gossamer.execution.torch needs PyTorch: pip install 'gossamer[torch]'") from None
    return torch, distributed
