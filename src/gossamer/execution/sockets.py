"""Collectives over TCP sockets that carry out verified schedules: boxes that are cabled to each other, and no library.

Every rank opens one connection to each rank that it exchanges blocks with. A cable with addresses of its own carries
what crosses it, where the file of addresses says so.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import socket
import struct
import time
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, ModelError, NetworkError, TaskError, shown
from gossamer.execution.executor import Execution, elements_of_messages
from gossamer.programs.files import description, read_rank
from gossamer.reading.files import read_text

if TYPE_CHECKING:
    from gossamer.programs import Program

__all__ = ["Addresses", "SocketBackend", "SocketCollective", "read_addresses"]

FIRST_PORT = 24800
"""Where no port is named, rank r listens at this one plus r."""

_HELLO = struct.Struct("!8sIIQ")
_MAGIC = b"gossamer"
_OPERATORS = {"sum": np.add, "product": np.multiply, "max": np.maximum, "min": np.minimum}
_LISTENS = 0.2
"""Seconds after which a connection is tried again."""

Address = tuple[str, int]
Addresses = Mapping[int | tuple[int, int], Address]
"""Where a rank is reached, and where by a certain peer: ``{0: ("10.0.0.1", 24800), (0, 3): ("10.0.3.1", 24800)}``."""


def read_addresses(path: str | os.PathLike[str], ranks: int) -> dict[int | tuple[int, int], Address]:
    r"""Read where the ranks are: lines ``RANK HOST[:PORT]``, and ``RANK PEER HOST[:PORT]`` for a cable to one peer.

    Parameters
    ----------
    path : path
        The file; what follows ``#`` is a remark. Every rank has a line of the first kind. One of the second kind says
        where PEER reaches RANK, over the cable between the two.
    ranks : int
        Number of ranks.

    Returns
    -------
    dict
        As `Addresses`. Without a port rank r listens at 24800 + r.

    Raises
    ------
    FileFormatError
        If a line is something else, stands twice, or a rank has none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "addresses"
    >>> _ = path.write_text("0 10.0.0.1\n1 10.0.0.2:5000\n0 1 192.168.7.1\n")
    >>> read_addresses(path, 2)
    {0: ('10.0.0.1', 24800), 1: ('10.0.0.2', 5000), (0, 1): ('192.168.7.1', 24800)}
    """
    found: dict[int | tuple[int, int], Address] = {}
    name = str(path)
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"{name!r}, line {number}"
        *who, place = words
        if len(who) not in (1, 2) or not all(re.fullmatch("[0-9]{1,9}", word) for word in who):
            raise FileFormatError(f"{where}: want RANK HOST[:PORT] or RANK PEER HOST[:PORT], got {shown(line)}")
        numbers = [int(word) for word in who]
        if max(numbers) >= ranks or len(set(numbers)) < len(numbers):
            raise FileFormatError(f"{where}: ranks are 0..{ranks - 1}, a peer another one; got {shown(' '.join(who))}")
        key = numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])
        if key in found:
            raise FileFormatError(f"{where}: {' '.join(who)} stands twice")
        found[key] = _address(place, numbers[0], where)
    missing = [rank for rank in range(ranks) if rank not in found]
    if missing:
        raise FileFormatError(f"{name!r} has no line for rank {missing[0]}; want RANK HOST[:PORT] for each of {ranks}")
    return found


def _address(text: str, rank: int, where: str) -> Address:
    match = re.fullmatch(r"(?:\[([0-9a-fA-F:.%\w]+)\]|([^:\[\]]+))(?::([0-9]{1,5}))?", text)
    port = FIRST_PORT + rank if match is None or match[3] is None else int(match[3])
    if match is None or not 0 < port < 65536:
        raise FileFormatError(f"{where}: want HOST[:PORT], an IPv6 address in brackets, got {shown(text)}")
    return match[1] or match[2], port


class SocketCollective:
    """A schedule on ranks that are connected by sockets; every rank makes one.

    Parameters
    ----------
    program : path or Program
        A program file, the same for all ranks, or what `gossamer.lower` returned.
    rank : int
        Of this process.
    addresses : Addresses or path
        Where the ranks are; a file as `read_addresses` takes it.
    seconds : float
        How long to wait for a rank that does not answer, or from which nothing comes.
    listener : socket, optional
        A socket that listens at the rank's address already.

    Raises
    ------
    FileFormatError
        If a file cannot be read.
    NetworkError
        If a rank cannot be reached, or runs another program.

    Notes
    -----
    Connections are neither encrypted nor authenticated: for networks whose hosts are trusted.

    Examples
    --------
    ::

        gather = gossamer.execution.sockets.SocketCollective("plan.program", rank=2, addresses="hosts")
        everyone = np.empty((4, *mine.shape), mine.dtype)
        gather(mine, everyone)
    """

    def __init__(
        self,
        program: str | os.PathLike[str] | Program,
        rank: int,
        addresses: Addresses | str | os.PathLike[str],
        *,
        seconds: float = 60.0,
        listener: socket.socket | None = None,
    ) -> None:
        if isinstance(program, str | os.PathLike):
            told = description(program)
            self._mine = read_rank(program, rank)
        else:
            told = {"network": program.network.spec, "task": program.task.to_dict(), "algorithm": program.algorithm}
            told |= {name: getattr(program, name) for name in ("ranks", "parts", "slots", "hops")}
            self._mine = program.rank(rank)
        ranks, self._parts, what = told["ranks"], told["parts"], told["network"]
        if not isinstance(addresses, Mapping):
            addresses = read_addresses(addresses, ranks)
        missing = [v for v in range(ranks) if v not in addresses]
        if missing:
            raise NetworkError(f"the program on {what} has {ranks} ranks; rank {missing[0]} has no address")
        self.rank = rank
        peers = sorted(set(self._mine.peer.tolist()))
        names = ("network", "task", "algorithm", "ranks", "parts", "slots", "hops")
        mark = zlib.crc32(json.dumps([told[name] for name in names]).encode())
        self._peers = _connected(rank, peers, addresses, seconds, listener, mark)
        self._seconds = seconds
        self._known: tuple[Any, Execution] | None = None

    def __call__(
        self,
        given: npt.NDArray[Any] | None = None,
        got: npt.NDArray[Any] | None = None,
        op: str = "sum",
        *,
        elements: int | None = None,
        dtype: Any = None,
    ) -> None:
        """Carry it out, on all ranks.

        Parameters
        ----------
        given, got : array or None
            What the rank sends and what it gets, in whole messages, contiguous, of any shape; None where it has nothing
            to send, or gets nothing.
        op : str
            Of reductions: ``sum``, ``product``, ``max`` or ``min``.
        elements, dtype : int, numpy.dtype
            Elements of a message, and their type, on a rank that only passes messages on.

        Raises
        ------
        TaskError
            If the sizes do not fit together, or a buffer is not contiguous.
        NetworkError
            If a peer is gone, or nothing comes from it for `seconds`.
        """
        if op not in _OPERATORS:
            raise TaskError(f"unknown operator {shown(op)}; there are: {', '.join(_OPERATORS)}")
        for buffer, name in ((given, "given"), (got, "got")):
            if buffer is not None and not buffer.flags.c_contiguous:
                raise TaskError(f"the array that is {name} must be contiguous; copy it first")
        kinds = {np.dtype(b.dtype) for b in (given, got) if b is not None} | ({np.dtype(dtype)} if dtype else set())
        if len(kinds) != 1:
            if not kinds and not self._mine.count:
                return
            told = " and ".join(sorted(map(str, kinds))) or "no type; a rank that passes messages on needs dtype"
            raise TaskError(f"all elements must be of one type, got {told}")
        counts = tuple(0 if b is None else b.size for b in (given, got))
        found = elements_of_messages(self._mine, self._parts, counts, ("array that is given", "array that is got"))
        size = elements if found is None else found
        if size is None:
            if not self._mine.count:
                return
            raise TaskError("a rank that only passes messages on needs elements, the size of a message")
        kind = kinds.pop()
        flat = [np.empty(0, kind) if b is None else b.reshape(-1) for b in (given, got)]
        key = (op, size, kind, *(b.ctypes.data for b in flat))
        if self._known is None or self._known[0] != key:
            backend = SocketBackend(self._peers, kind, op, self._seconds)
            self._known = key, Execution(self._mine, self._parts, size, (flat[0], flat[1]), backend)
        self._known[1].run()

    def __enter__(self) -> Self:
        """Return itself; the connections are closed at the end of the block."""
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        for peer in self._peers.values():
            peer.close()


class _Requests:
    """The blocks of a slot, and how many of them are not complete."""

    def __init__(self, receives: list[tuple[int, memoryview]], sends: list[tuple[int, memoryview]]) -> None:
        self.receives, self.sends = receives, sends
        self.left = 0


class SocketBackend:
    """Blocks over connections that are there, and NumPy's operators.

    Parameters
    ----------
    peers : mapping of int to socket
        The connection to each peer, not blocking.
    dtype : numpy.dtype
        Of the elements.
    op : str
        What combines.
    seconds : float
        How long to wait where nothing moves.
    """

    def __init__(self, peers: Mapping[int, socket.socket], dtype: np.dtype[Any], op: str, seconds: float) -> None:
        self._peers, self._dtype, self._operator, self._seconds = peers, dtype, _OPERATORS[op], seconds
        self._coming: dict[int, deque[tuple[memoryview, _Requests]]] = {peer: deque() for peer in peers}
        self._going: dict[int, deque[tuple[memoryview, _Requests]]] = {peer: deque() for peer in peers}

    def empty(self, count: int) -> npt.NDArray[Any]:
        """Return a new array."""
        return np.empty(count, self._dtype)

    def copy(self, to: npt.NDArray[Any], given: npt.NDArray[Any]) -> None:
        """Copy an array."""
        to[...] = given

    def combine(self, to: npt.NDArray[Any], came: npt.NDArray[Any]) -> None:
        """Combine by the operator."""
        self._operator(to, came, out=to)

    def prepare(
        self, receives: list[tuple[int, npt.NDArray[Any]]], sends: list[tuple[int, npt.NDArray[Any]]]
    ) -> _Requests:
        """Return the bytes of the blocks."""
        return _Requests(
            [(peer, block.view(np.uint8).data) for peer, block in receives if block.size],
            [(peer, block.view(np.uint8).data) for peer, block in sends if block.size],
        )

    def begin(self, requests: _Requests) -> None:
        """Line the blocks up, and send what goes at once."""
        requests.left = len(requests.receives) + len(requests.sends)
        for peer, block in requests.receives:
            self._coming[peer].append((block, requests))
        for peer, block in requests.sends:
            self._going[peer].append((block, requests))
        for peer in {peer for peer, _ in requests.sends}:
            self._send(peer)

    def complete(self, requests: _Requests) -> None:
        """Send and receive, in the order in which slots were begun, until those of this one are complete."""
        if not requests.left:
            return
        with selectors.DefaultSelector() as selector:
            while requests.left:
                for peer, link in self._peers.items():
                    wanted = selectors.EVENT_READ * bool(self._coming[peer])
                    wanted |= selectors.EVENT_WRITE * bool(self._going[peer])
                    _watch(selector, link, wanted, peer)
                ready = selector.select(self._seconds)
                if not ready:
                    waits = sorted(peer for peer in self._peers if self._coming[peer] or self._going[peer])
                    raise NetworkError(
                        f"nothing moved for {self._seconds:g} s; waiting for rank {', '.join(map(str, waits))}"
                    )
                for key, events in ready:
                    if events & selectors.EVENT_WRITE:
                        self._send(key.data)
                    if events & selectors.EVENT_READ:
                        self._receive(key.data)

    def _send(self, peer: int) -> None:
        self._move(peer, self._going[peer], self._peers[peer].send)

    def _receive(self, peer: int) -> None:
        self._move(peer, self._coming[peer], self._peers[peer].recv_into)

    def _move(self, peer: int, queue: deque[tuple[memoryview, _Requests]], call: Any) -> None:
        """Send or receive the bytes at the head of a queue for as long as that does not block."""
        while queue:
            block, requests = queue[0]
            try:
                done = call(block)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                raise NetworkError(f"the connection to rank {peer} broke: {error.strerror or error}") from None
            if not done:
                raise NetworkError(f"rank {peer} closed the connection before all had come")
            if done < len(block):
                queue[0] = block[done:], requests
                continue
            queue.popleft()
            requests.left -= 1

    def free(self, requests: _Requests) -> None:
        """Forget them."""


def _watch(selector: selectors.BaseSelector, link: socket.socket, wanted: int, peer: int) -> None:
    """Have a connection watched for what is wanted of it, no matter what it was watched for."""
    known = selector.get_map().get(link)
    if known is None:
        if wanted:
            selector.register(link, wanted, peer)
    elif not wanted:
        selector.unregister(link)
    elif known.events != wanted:
        selector.modify(link, wanted, peer)


def _connected(
    rank: int,
    peers: Sequence[int],
    addresses: Addresses,
    seconds: float,
    listener: socket.socket | None,
    mark: int,
) -> dict[int, socket.socket]:
    """Return a connection to every peer: those of higher numbers call, those of lower ones are called."""
    last = time.monotonic() + seconds
    hello = _HELLO.pack(_MAGIC, 1, rank, mark)
    links: dict[int, socket.socket] = {}
    own = listener or (_listening(rank, addresses) if any(peer > rank for peer in peers) else None)
    try:
        for peer in peers:
            if peer < rank:
                link = _called(rank, peer, addresses.get((peer, rank), addresses[peer]), last, seconds)
                links[peer] = link
                link.sendall(hello)
        waiting = {peer for peer in peers if peer > rank}
        while waiting and own is not None:
            own.settimeout(max(0.01, last - time.monotonic()))
            try:
                link, _ = own.accept()
            except TimeoutError:
                names = ", ".join(map(str, sorted(waiting)))
                raise NetworkError(f"rank {rank}: no call from rank {names} within {seconds:g} s") from None
            told = _heard(link, last)
            if told is None:
                link.close()  # somebody else
                continue
            peer, other = told
            if peer not in waiting:
                link.close()
                continue
            links[peer] = link
            if other != mark:
                raise NetworkError(f"rank {peer} runs another program than rank {rank}")
            link.sendall(hello)
            waiting.discard(peer)
        for peer in peers:
            if peer < rank:
                answer = _heard(links[peer], last)
                if answer is None or answer[0] != peer:
                    raise NetworkError(f"rank {rank}: what answers for rank {peer} is another program")
                if answer[1] != mark:
                    raise NetworkError(f"rank {peer} runs another program than rank {rank}")
        for link in links.values():
            link.setblocking(False)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return links
    except BaseException:
        for link in links.values():
            link.close()
        raise
    finally:
        if own is not None:
            own.close()


def _listening(rank: int, addresses: Addresses) -> socket.socket:
    """Return a socket that listens where the rank's peers call it, on all interfaces if it is at several addresses."""
    host, port = addresses[rank]
    others = {address for who, address in addresses.items() if isinstance(who, tuple) and who[0] == rank}
    if any(address[1] != port for address in others):
        raise ModelError(f"rank {rank} listens at one port, {port}; its cables name others")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("" if others else host, port))
        found.listen(128)
    except OSError as error:
        found.close()
        raise NetworkError(f"rank {rank} cannot listen at {host}:{port}: {error.strerror or error}") from None
    return found


def _called(rank: int, peer: int, address: Address, last: float, seconds: float) -> socket.socket:
    """Return a connection to a peer, which may not listen yet."""
    while True:
        try:
            return socket.create_connection(address, max(0.01, last - time.monotonic()))
        except OSError as error:
            if time.monotonic() > last or isinstance(error, socket.gaierror):
                where = f"{address[0]}:{address[1]}"
                why = error.strerror or str(error)
                raise NetworkError(f"rank {rank} cannot reach rank {peer} at {where} in {seconds:g} s: {why}") from None
            time.sleep(_LISTENS)


def _heard(link: socket.socket, last: float) -> tuple[int, int] | None:
    """Return the rank that calls, and the mark of its program; None if it is none of ours."""
    data = b""
    with suppress(OSError):
        while len(data) < _HELLO.size:
            link.settimeout(max(0.01, last - time.monotonic()))
            more = link.recv(_HELLO.size - len(data))
            if not more:
                return None
            data += more
        magic, version, peer, mark = _HELLO.unpack(data)
        if magic == _MAGIC and version == 1:
            return peer, mark
    return None
