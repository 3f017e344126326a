"""Changed programs: operators, numbers, texts and conditions of the checker are changed, and a case must notice it.

The laws of bounds are left out.

``python tests/certificates/mutants.py`` prints those that nothing notices, and how many there are.
"""

from __future__ import annotations

import ast
import copy
import os
import resource
import signal
import sys
import types
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import gossamer_check
from certificates.cases import CASES

SECONDS = 20
OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.FloorDiv,), ast.FloorDiv: (ast.Mult,),
    ast.Div: (ast.Mult,), ast.Pow: (ast.Mult,), ast.Mod: (ast.Mult,), ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip


def changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str, object]]:
    """Yield (node, name of a field, new value) for each change that is tried."""
    told = {id(n.body[0].value) for n in ast.walk(tree) if isinstance(getattr(n, "body", None), list) and n.body
            and isinstance(n.body[0], ast.Expr)}  # fmt: skip
    hints = {id(x) for n in ast.walk(tree) for a in (getattr(n, "annotation", None), getattr(n, "returns", None)) if a
             for x in ast.walk(a)}  # fmt: skip
    for node in ast.walk(tree):
        if id(node) in hints:
            continue
        if isinstance(node, ast.Compare):
            for i, op in enumerate(node.ops):
                for other in OPERATORS[type(op)]:
                    yield node, "ops", [*node.ops[:i], other(), *node.ops[i + 1 :]]
        elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)):
            for other in OPERATORS[type(node.op)]:
                yield node, "op", other()
            if isinstance(node, ast.BoolOp):
                for i in range(len(node.values)):
                    yield node, "values", [*node.values[:i], *node.values[i + 1 :]]
        elif isinstance(node, ast.UnaryOp):
            yield node, "op", {ast.Not: ast.UAdd, ast.USub: ast.UAdd}.get(type(node.op), ast.USub)()
        elif isinstance(node, ast.Constant) and id(node) not in told:
            if isinstance(node.value, bool):
                yield node, "value", not node.value
            elif isinstance(node.value, int):
                yield node, "value", node.value + 1
                yield node, "value", node.value - 1
            elif isinstance(node.value, str):
                yield node, "value", "?" + node.value
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
            yield node, "test", ast.UnaryOp(ast.Not(), node.test)
        elif isinstance(node, (ast.Break, ast.Continue, ast.Raise, ast.AugAssign)):
            continue


def said(module: types.ModuleType, content: bytes) -> str:
    """What a checker says of a certificate."""
    try:
        return "\n".join(module.check(content))
    except module.Refused as reason:
        return f"refused: {reason}"


def noticed(code: types.CodeType, expected: dict[str, str]) -> bool:
    """Whether a case tells the changed program from the right one; a process of its own may not end, or fill memory."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            module = types.ModuleType("changed")
            sys.modules["changed"] = module
            exec(code, module.__dict__)
            alike = all(said(module, CASES[name]) == told for name, told in expected.items())
        except BaseException:
            alike = False
        os._exit(0 if alike else 1)
    return os.waitpid(child, 0)[1] != 0


def alive(first: int = 0, last: int = 10**9) -> Iterator[str]:
    """Yield the changes, from one number to another, that no case notices; of the laws with their function."""
    tree = ast.parse(Path(gossamer_check.__file__).read_text(encoding="utf-8"))
    expected = {name: said(gossamer_check, CASES[name]) for name in sorted(CASES, key=lambda name: len(CASES[name]))}
    first_law, last_law = (n.lineno for n in tree.body if getattr(n, "name", "") in ("Flow", "in_blocks"))
    laws = {
        id(x): getattr(n, "name", "")
        for n in tree.body if first_law <= n.lineno <= last_law for x in ast.walk(n)
    }  # fmt: skip
    skip = {n for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == "main" for n in map(id, ast.walk(f))}
    skip |= set(map(id, ast.walk(tree.body[-1])))
    names = [ast.unparse(getattr(s, "targets", [ast.Name(getattr(s, "name", ""))])[0]) for s in tree.body]
    laws = range(names.index("Flow"), names.index("in_blocks") + 1)  # `test_lower_bounds` has the cases for these
    limits = [names.index(limit) for limit in ("FAR", "MANY", "ENDS", "BITS")]  # large is large
    skip |= {id(n) for i in (*laws, *limits) for n in ast.walk(tree.body[i])}
    skip |= {id(n) for s in tree.body for d in getattr(s, "decorator_list", []) for n in ast.walk(d)}
    for k, (node, name, value) in enumerate(changes(tree)):
        if not first <= k < last or id(node) in skip:
            continue
        old, before = getattr(node, name), " ".join(ast.unparse(node).split())
        setattr(node, name, value)
        try:
            code = compile(ast.fix_missing_locations(copy.deepcopy(tree)), "changed", "exec")
            now = " ".join(ast.unparse(node).split())
        except (TypeError, ValueError, SyntaxError):
            continue
        finally:
            setattr(node, name, old)
        if not noticed(code, expected):
            yield f"{laws[id(node)] + ': ' if id(node) in laws else ''}{before[:150]}   ->   {now[:150]}"


EQUIVALENT = {
    # what is too much to check, by one more or less
    "10 ** 8   ->   10 * 8",
    "10 ** 100   ->   10 * 100",
    "100   ->   101",
    "100   ->   99",
    "10   ->   11",
    "10   ->   9",
    "8   ->   7",
    "8   ->   9",
    "copies * len(uses) > MANY   ->   copies * len(uses) >= MANY",
    # what is remembered though nobody asks
    "c < -1   ->   c <= -1",
    "-1   ->   +1",
    "1   ->   0",
    "0   ->   -1",
    # memory
    "True   ->   False",
}
"""Changes that change no verdict."""

UNNOTICED = {
    "Law: 0   ->   -1",
    "Law: False   ->   True",
    "Law: True   ->   False",
    "Law: begin >= enter[e]   ->   begin > enter[e]",
    "Prices: heads[e] < FAR   ->   heads[e] <= FAR",
    "Sets: 0   ->   -1",
    "Sets: 0   ->   1",
    "at_least: 0   ->   -1",
    "at_least: 0   ->   1",
    "by_calls: 0   ->   -1",
    "by_calls: 0   ->   1",
    "by_growth: 0   ->   -1",
    "by_growth: 1   ->   0",
    "by_growth: 1   ->   2",
    "by_growth: left > 0   ->   left >= 0",
    "by_growth: max((here[v] for v in flow.leaves)) < FAR   ->   max((here[v] for v in flow.leaves)) <= FAR",
    "by_late: enter[e] + left   ->   enter[e] - left",
    "by_late: enter[e] + left < FAR   ->   enter[e] + left <= FAR",
    "by_late: flow.copy != back and inside.issuperset(flow.root) and outside   ->   flow.copy != back and inside.issuperset(flow.root)",  # noqa: E501
    "by_ranks: 1   ->   0",
    "by_ranks: 1   ->   2",
    "by_ranks: 10   ->   11",
    "by_ranks: 10   ->   9",
    "by_ranks: 10 ** 6   ->   10 * 6",
    "by_ranks: 6   ->   5",
    "by_ranks: 6   ->   7",
    "by_ranks: delay > 10 ** 6   ->   delay >= 10 ** 6",
    "by_ranks: not flow.copy   ->   +flow.copy",
    "by_sets: 'across'   ->   '?across'",
    "by_sets: 0   ->   -1",
    "by_sets: 0   ->   1",
    "by_time_cut: 0   ->   1",
    "by_trees: net.nodes > net.ranks   ->   net.nodes >= net.ranks",
    "first: -1   ->   +1",
    "first: 1   ->   0",
    "first: 1   ->   2",
    "first: 2   ->   3",
    "in_blocks: 'copy'   ->   '?copy'",
    "least_time: 0   ->   -1",
    "least_time: 0   ->   1",
    "least_time: time <= wait   ->   time < wait",
    "members: True   ->   False",
}  # fmt: skip
"""Changes of the laws of bounds that no case has noticed so far."""


def main() -> None:
    """Print the changes that no case notices."""
    count = sum(1 for _ in changes(ast.parse(Path(gossamer_check.__file__).read_text(encoding="utf-8"))))
    found = 0
    for told in alive(*map(int, sys.argv[1:])):
        found += 1
        print(told, flush=True)
    print(f"{count} changes, {found} not noticed")


if __name__ == "__main__":
    main()
