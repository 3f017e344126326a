"""Collectives of PyTorch by schedules, over ``torch.distributed``'s point-to-point messages: gloo, NCCL and their like.

`TorchCollective` runs one program file that ``gossamer export --to program`` wrote; ranks need no planner for it.
`PlannedCollectives` has the calls of ``torch.distributed``, and plans for the size of what is sent.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer import errors
from gossamer.errors import GossamerError, NetworkError, NotApplicableError, TaskError, shown
from gossamer.execution.executor import Execution, elements_of_messages
from gossamer.execution.programs_by_size import SIZES, cache_folder, plan_program, program_file
from gossamer.programs.files import description, read_rank
from gossamer.reading.files import read_bytes

if TYPE_CHECKING:
    from gossamer.programs import Program

__all__ = ["TorchCollective"]

_KEPT = 8
"""Executions on the tensors of the last calls, which are not prepared again."""
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
    One `batch_isend_irecv` a slot, no barrier; what was prepared for the tensors of the last calls is used again.
    Whatever the backend sends works: tensors on the processor with gloo, on devices with NCCL. In groups of processes
    within the program all messages have one size, and all vectors of an allreduce one length; where groups have several
    sizes, or a rank of none passes messages on, one rank first tells all how large messages are.

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
        self._known: dict[tuple[Any, ...], Execution] = {}

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
        _check_operator(op)
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
        counts = [0 if buffer is None else buffer.numel() for buffer in buffers]
        size = (
            elements_of_messages(self._mine, self._parts, counts, ("tensor that is given", "tensor that is got")) or 0
        )
        self._run(buffers, size, op)
        if back is not None:
            back.copy_(buffers[1][: back.numel()])

    def _run(self, buffers: list[Any], size: int, op: str) -> None:
        like = next((b for b in buffers if b is not None), None)
        if self._teller is not None:  # not all ranks know, or they may differ
            size, like = self._told(self._teller, size, like)
        if like is None:
            if not self._mine.count:
                return
            raise TaskError("a tensor is needed, given or got: it says of which type the messages are")
        places = [like.new_empty(0) if buffer is None else buffer for buffer in buffers]
        key = (op, size, like.dtype, *(place.data_ptr() for place in places))
        run = self._known.pop(key, None)
        if run is None:
            backend = TorchBackend(self._torch, self._distributed, self._group, like, op)
            run = Execution(self._mine, self._parts, size, (places[0], places[1]), backend)
            while len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
        self._known[key] = run  # the last one that was used stands last
        run.run()

    def _told(self, teller: int, size: int, like: Any) -> tuple[int, Any]:
        """Return the elements of a message, and a tensor of their type, as one rank tells all."""
        torch, p2p = self._torch, self._distributed
        kinds = [kind for kind in map(torch.__dict__.get, sorted(torch.__dict__)) if isinstance(kind, torch.dtype)]
        device = "cuda" if p2p.get_backend(self._group) == "nccl" else "cpu"
        mine = [size, -1 if like is None else kinds.index(like.dtype)]
        head = torch.tensor(mine, dtype=torch.int64, device=device if like is None else like.device)
        p2p.broadcast(head, _global_rank(p2p, self._group, teller), self._group)
        told = head.tolist()
        if like is not None and told != mine:
            raise TaskError(
                f"messages have {size} elements of {like.dtype}, at rank {teller} {told[0]} of {kinds[told[1]]}"
            )
        return told[0], torch.empty(0, dtype=kinds[told[1]], device=device) if like is None else like


class TorchBackend:
    """Point-to-point messages of a process group, and PyTorch's own operators.

    Parameters
    ----------
    torch, distributed : module
        PyTorch, and its ``torch.distributed``.
    group : torch.distributed.ProcessGroup or None
        Rank r runs node r.
    like : torch.Tensor
        Of the type and on the device of what is sent.
    op : str
        What combines.
    """

    def __init__(self, torch: Any, distributed: Any, group: Any, like: Any, op: str) -> None:
        self._torch, self._distributed, self._group = torch, distributed, group
        self._like, self._name = like, _ADDING[op]
        self._next: dict[tuple[Any, int], int] = {}  # tags, as gloo does not match messages by their order

    def empty(self, count: int) -> Any:
        """Return a new tensor."""
        return self._like.new_empty(count)

    def copy(self, to: Any, given: Any) -> None:
        """Copy a tensor."""
        to.copy_(given)

    def combine(self, to: Any, came: Any) -> None:
        """Combine by the operator."""
        if self._name.endswith("_"):
            getattr(to, self._name)(came)
        else:
            getattr(self._torch, self._name)(to, came, out=to)

    def prepare(self, receives: list[tuple[int, Any]], sends: list[tuple[int, Any]]) -> list[list[Any]]:
        """Return the operations, and room for their requests."""
        p2p, found = self._distributed, []
        for way, blocks in ((p2p.irecv, receives), (p2p.isend, sends)):
            for peer, block in blocks:
                tag = self._next[way, peer] = self._next.get((way, peer), -1) + 1
                found.append(p2p.P2POp(way, block, _global_rank(p2p, self._group, peer), self._group, tag))
        return [found, []]

    def begin(self, requests: list[list[Any]]) -> None:
        """Send and receive at once."""
        requests[1] = self._distributed.batch_isend_irecv(requests[0])

    def complete(self, requests: list[list[Any]]) -> None:
        """Wait for all; on a device, its stream does."""
        for request in requests[1]:
            request.wait()

    def free(self, requests: list[list[Any]]) -> None:
        """Forget them."""


def _global_rank(distributed: Any, group: Any, rank: int) -> int:
    """Return the number among all processes of a rank of a group."""
    if group is None:
        return rank
    convert = getattr(distributed, "get_global_rank", None)
    if convert is None:  # before PyTorch 2
        convert = distributed.distributed_c10d.get_global_rank
    return int(convert(group, rank))


def _check_operator(op: str) -> None:
    if op not in _ADDING:
        raise TaskError(f"unknown operator {shown(op)}; there are: {', '.join(_ADDING)}")


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


class PlannedCollectives:
    """The collectives of ``torch.distributed`` by schedules for a network, each chosen by the bytes that are sent.

    Parameters
    ----------
    network : str
        What joins the ranks, as `gossamer.network` reads it: a family, a machine or a file. Rank r is node r.
    group : torch.distributed.ProcessGroup, optional
        Default: a new group of all processes, whose messages do not meet others.
    folder : path, optional
        Where plans are kept. Default: ``gossamer/programs`` in the user's cache.
    sizes : sequence of int
        Bytes for which there are plans.
    **choices
        ``bandwidth=``, ``latency=`` and the like, as `gossamer.TimeCost` takes them, where the network has none.
        Default of ``overhead=``, what each block costs beyond its bytes: 20us.

    Raises
    ------
    NotApplicableError
        If PyTorch is not installed.

    Notes
    -----
    The first call of a task with a size plans it on rank 0, unless it is kept there, and sends the program to all
    ranks. Calls are carried out one after the other in the order in which they are made, by a thread of their own, and
    must be made in the same order on all ranks. Tensors stay on their device; of a device the calls wait in a stream of
    their own. An allreduce works on a copy of the tensor.

    Examples
    --------
    ::

        collectives = gossamer.execution.torch.PlannedCollectives("dgx-a100:2")
        collectives.all_reduce(gradients)
        model.register_comm_hook(collectives, gossamer.execution.torch.allreduce_hook)
    """

    def __init__(
        self,
        network: str,
        group: Any = None,
        *,
        folder: str | os.PathLike[str] | None = None,
        sizes: Sequence[int] = SIZES,
        **choices: Any,
    ) -> None:
        self._torch, self._distributed = _modules()
        self._network, self._folder, self._choices = str(network), cache_folder(folder), choices
        self._sizes = sorted(sizes)
        self._group = self._distributed.new_group() if group is None else group
        self.rank: int = self._distributed.get_rank(self._group)
        self.ranks: int = self._distributed.get_world_size(self._group)
        self._known: dict[tuple[str, int, int], TorchCollective] = {}
        self._copies: dict[tuple[Any, ...], Any] = {}
        self._thread = ThreadPoolExecutor(1, "gossamer")
        self._stream: Any = None

    def all_reduce(self, tensor: Any, op: str = "sum", async_op: bool = False) -> Work | None:
        """Replace a tensor by the sum of all ranks' tensors, or their ``product``, ``max`` or ``min``.

        Parameters
        ----------
        tensor : torch.Tensor
            Contiguous, of one shape on all ranks.
        op : str
            What combines.
        async_op : bool
            Whether to return at once.

        Returns
        -------
        Work or None
            Of an asynchronous call: its ``wait()`` returns when the tensor is there.

        Raises
        ------
        GossamerError
            If nothing can be planned, or sizes do not fit together; of an asynchronous call by ``wait()``.
        """
        run = self._by_size("allreduce", tensor)

        _check_operator(op)

        def work() -> None:
            collective, own = run(), self._copied(tensor)
            if collective.task != "multinode-broadcast":
                collective(own, tensor, op)
                return
            everyone = own.new_empty(self.ranks * own.numel())  # all get all, and combine them here
            collective(own, everyone)
            backend = TorchBackend(self._torch, self._distributed, self._group, own, op)
            first, *others = everyone.split(max(1, own.numel()))
            for other in others:
                backend.combine(first, other)
            _flat(tensor, "given").copy_(first)

        return self._submit(work, tensor, async_op)

    def all_gather_into_tensor(self, output: Any, tensor: Any, async_op: bool = False) -> Work | None:
        """Gather the tensors of all ranks, one after the other, in `output`; as `all_reduce`."""
        run = self._by_size("allgather", output)
        return self._submit(lambda: run()(tensor, output), output, async_op)

    def reduce_scatter_tensor(self, output: Any, tensor: Any, op: str = "sum", async_op: bool = False) -> Work | None:
        """Sum the tensors of all ranks, of which rank r gets part r in `output`; as `all_reduce`."""
        run = self._by_size("reduce-scatter", tensor)
        return self._submit(lambda: run()(tensor, output, op), output, async_op)

    def all_to_all_single(self, output: Any, tensor: Any, async_op: bool = False) -> Work | None:
        """Send part r of the tensor to rank r, and get the parts of all ranks in `output`; as `all_reduce`."""
        run = self._by_size("alltoall", tensor)
        return self._submit(lambda: run()(tensor, output), output, async_op)

    def broadcast(self, tensor: Any, src: int = 0, async_op: bool = False) -> Work | None:
        """Replace a tensor by that of the rank `src` of the group; as `all_reduce`."""
        run = self._by_size("broadcast", tensor, src)
        return self._submit(lambda: run()(tensor, None) if self.rank == src else run()(None, tensor), tensor, async_op)

    def reduce(self, tensor: Any, dst: int = 0, op: str = "sum", async_op: bool = False) -> Work | None:
        """Replace the tensor of the rank `dst` of the group by the sum of all; as `all_reduce`."""
        run = self._by_size("reduce", tensor, dst)
        return self._submit(
            lambda: run()(self._copied(tensor), tensor if self.rank == dst else None, op), tensor, async_op
        )

    def close(self) -> None:
        """End the thread, when all calls are complete."""
        self._thread.shutdown()

    def _copied(self, tensor: Any) -> Any:
        """Return a copy of a tensor, at the same place for tensors of one kind."""
        key = tensor.numel(), tensor.dtype, tensor.device
        copy = self._copies.pop(key, None)
        if copy is None:
            while len(self._copies) >= _KEPT:
                self._copies.pop(next(iter(self._copies)))
            copy = tensor.new_empty(tensor.numel())
        self._copies[key] = copy
        return copy.copy_(_flat(tensor, "given"))

    def _by_size(self, task: str, tensor: Any, root: int = 0) -> Callable[[], TorchCollective]:
        """Return what gives the collective for as many bytes as a tensor has; collective when it is new."""
        count = max(1, tensor.numel() * tensor.element_size())
        size = min(self._sizes, key=lambda one: max(one, count) / min(one, count))
        key = task, size, root

        def found() -> TorchCollective:
            if key not in self._known:
                self._known[key] = self._made(*key, tensor.device)
            return self._known[key]

        return found

    def _made(self, task: str, size: int, root: int, device: Any) -> TorchCollective:
        """Return the collective of the program that rank 0 plans or has, and sends to all."""
        told = b""
        if self.rank == 0:
            path = program_file(self._folder, self._network, task, size, self._choices, root)
            try:
                plan_program(path, self._network, task, size, self._choices, root)
                told = b"program\n" + read_bytes(path)
            except GossamerError as error:
                told = f"{type(error).__name__}\n{error}".encode()
        kind, _, content = self._from_rank_0(told, device).partition(b"\n")
        if kind != b"program":
            raise getattr(errors, kind.decode())(content.decode())
        with tempfile.TemporaryDirectory(prefix="gossamer-") as folder:
            path = Path(folder) / "run.program"
            path.write_bytes(content)
            return TorchCollective(path, self._group)

    def _from_rank_0(self, told: bytes, device: Any) -> bytes:
        """Return the bytes of rank 0 at every rank; unlike PyTorch's own call for objects, without NumPy."""
        torch, source = self._torch, _global_rank(self._distributed, self._group, 0)
        length = torch.tensor([len(told)], device=device)
        self._distributed.broadcast(length, source, self._group)
        content = torch.tensor(list(told), dtype=torch.uint8, device=device)
        if self.rank:
            content = torch.empty(int(length), dtype=torch.uint8, device=device)
        self._distributed.broadcast(content, source, self._group)
        return bytes(content.tolist())

    def _submit(self, work: Callable[[], None], result: Any, async_op: bool) -> Work | None:
        """Have work carried out after all before."""
        torch = self._torch
        future = torch.futures.Future(devices=[result.device]) if result.is_cuda else torch.futures.Future()
        if result.is_cuda:
            self._stream = self._stream or torch.cuda.Stream(result.device)
            ready = torch.cuda.current_stream(result.device).record_event()

        def carried_out() -> None:
            try:
                if result.is_cuda:
                    with torch.cuda.device(result.device), torch.cuda.stream(self._stream):
                        self._stream.wait_event(ready)
                        work()
                        future.set_result([result])  # the stream is kept with it
                else:
                    work()
                    future.set_result([result])
            except BaseException as error:
                future.set_exception(error)
                raise

        found = Work(self._thread.submit(carried_out), future)
        if async_op:
            return found
        found.wait()
        return None


class Work:
    """A call that was begun: `wait`, `is_completed` and `get_future` are those of ``torch.distributed``."""

    def __init__(self, running: Any, future: Any) -> None:
        self._running, self._future = running, future

    def wait(self) -> bool:
        """Return when it is complete, on a device as far as the current stream sees; raise what went wrong."""
        self._running.result()
        self._future.wait()
        return True

    def is_completed(self) -> bool:
        """Return whether it is complete."""
        return bool(self._running.done())

    def get_future(self) -> Any:
        """Return the future of a list with the result."""
        return self._future


def allreduce_hook(state: PlannedCollectives, bucket: Any) -> Any:
    """Average the gradients of a bucket over all ranks: ``model.register_comm_hook(collectives, allreduce_hook)``.

    Parameters
    ----------
    state : PlannedCollectives
        What carries it out.
    bucket : torch.distributed.GradBucket
        Of a ``DistributedDataParallel`` model.

    Returns
    -------
    torch.futures.Future
        Of the averaged gradients.
    """
    gradients = bucket.buffer().div_(state.ranks)
    work = state.all_reduce(gradients, async_op=True)
    assert work is not None
    return work.get_future().then(lambda done: done.value()[0])


allreduce_hook.__annotations__.clear()  # PyTorch takes its own types or none
