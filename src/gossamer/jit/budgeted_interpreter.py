"""Kernels as Python carries them out: small work, counted, and none that is not small.

The work of a function is the operations of its loops: before each round of a loop the operations in it are taken from
what is left, and when nothing is left the function ends. So it depends on the arguments alone, and on no clock, whether
Python or compiled code does a piece of work.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import threading
from collections.abc import Callable, Iterator
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

OPERATIONS = 30_000_000
"""Operations that Python carries out in a second, about."""


class TooMuchWorkError(Exception):
    """Python has done what it may."""


class _Random:
    """What kernels know of ``np.random``, with numbers of their own, as in compiled code: the same ones."""

    def seed(self, seed: int) -> None:
        drawn = np.random.RandomState(seed)
        self.random, self.randint = drawn.random_sample, drawn.randint


class Interpreted:
    """Functions for one thread, and the operations that they may still carry out."""

    def __init__(self) -> None:
        self.left = [0]
        self._numpy = ModuleType("numpy")
        self._numpy.__dict__.update(vars(np), random=_Random())
        self._made: dict[Any, Callable[..., Any] | None] = {}

    def function(self, kernel: Any) -> Callable[..., Any] | None:
        """Return what Python carries out for a kernel, None if its text is not at hand."""
        if kernel not in self._made:
            self._made[kernel] = None  # of those that call themselves
            code = counted(kernel.py_func)
            if code is not None:
                self._made[kernel] = self._known(kernel, code)
        return self._made[kernel]

    def _known(self, kernel: Any, code: Any) -> Callable[..., Any] | None:
        of = kernel.py_func
        known: dict[str, Any] = {**of.__globals__, "_left": self.left, "_TooMuchWorkError": TooMuchWorkError}
        inside: dict[int, Any] = {}

        def replaced(value: Any) -> Any:
            """Return what a value is here: kernels their functions, NumPy with random numbers of its own."""
            if value is np:
                return self._numpy
            if type(value) is type(kernel) and value is not kernel:
                inside[id(value)] = self.function(value)
                return inside[id(value)]
            return value

        cells = tuple(CellType(replaced(cell.cell_contents)) for cell in of.__closure__ or ())
        known |= {name: replaced(known[name]) for name in of.__code__.co_names if name in known}
        made = FunctionType(code, known, of.__name__, of.__defaults__, cells)
        known |= {name: made for name in of.__code__.co_names if known.get(name) is kernel}
        return None if None in inside.values() else made


_state = threading.local()


def interpreted() -> Interpreted:
    """Return the functions of this thread."""
    if not hasattr(_state, "interpreted"):
        _state.interpreted = Interpreted()
    found: Interpreted = _state.interpreted
    return found


class _Counting(ast.NodeTransformer):
    """Puts before each round of a loop that its operations are taken from what is left."""

    def _loop(self, node: Any) -> Any:
        here = sum(map(_operations, node.body)) + 1
        node.body = [*map(self.visit, node.body)]
        count = f"_left[0] -= {here}\nif _left[0] < 0:\n    raise _TooMuchWorkError"
        node.body = [*ast.parse(count).body, *node.body]
        node.orelse = [*map(self.visit, node.orelse)]
        return node

    visit_For = visit_While = _loop  # noqa: N815 - as Python's module names them


def _operations(node: ast.AST) -> int:
    """Return the operations of a statement, without those of loops in it."""
    if isinstance(node, ast.For | ast.While):
        return 0
    own = isinstance(
        node, ast.Subscript | ast.BinOp | ast.Compare | ast.Call | ast.Assign | ast.AugAssign | ast.UnaryOp
    )
    return own + sum(map(_operations, ast.iter_child_nodes(node)))


def counted(function: Any) -> Any:
    """Return the code of a function that counts its work; None if its text is not at hand."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return None
    (definition,) = tree.body
    if not isinstance(definition, ast.FunctionDef):
        return None
    definition.decorator_list = []
    inner = tuple(function.__code__.co_freevars)
    counting = ast.fix_missing_locations(_Counting().visit(tree))
    if inner:  # what it takes from the function around it
        around = ast.parse(f"def _around({', '.join(inner)}):\n    pass").body[0]
        assert isinstance(around, ast.FunctionDef)
        around.body = counting.body
        counting.body = [around]
    ast.increment_lineno(counting, first - 1)
    code = compile(ast.fix_missing_locations(counting), function.__code__.co_filename, "exec")
    return _named(code, function.__name__)


def _named(code: Any, name: str) -> Any:
    for inside in code.co_consts:
        if hasattr(inside, "co_name"):
            if inside.co_name == name:
                return inside
            if inside.co_name == "_around":
                return _named(inside, name)
    return None


def arrays_in(args: tuple[Any, ...]) -> Iterator[np.ndarray]:
    """Yield the arrays among arguments, those in tuples too."""
    for value in args:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from arrays_in(value)


def plain(value: Any) -> Any:
    """Return what compiled code would return: numbers of Python, not of NumPy."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return tuple(map(plain, value)) if type(value) is tuple else type(value)(*map(plain, value))
    return value
