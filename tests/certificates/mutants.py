"""Changed programs: operators, numbers, texts and conditions of the checker are changed, and a case must notice it.

``python tests/certificates/mutants.py`` prints those that nothing notices, and how many there are.
"""

from __future__ import annotations

import ast
import os
import resource
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import gossamer_check
from certificates.cases import CASES

SECONDS = 8
"""Of the processor, not of the clock: a busy machine must not look like a program that never ends."""
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
    bodies: list[Any] = [n.body for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    told = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
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
                yield node, "value", "!" + node.value
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


def noticed(code: types.CodeType, expected: dict[str, str]) -> str | None:
    """The first case that tells the changed program from the right one, "" if it fails otherwise, None if none does.

    A process of its own tries them: it may not end, or fill memory.
    """
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        name = ""
        try:
            module = types.ModuleType("changed")
            sys.modules["changed"] = module
            exec(code, module.__dict__)
            for name, told in expected.items():
                if said(module, CASES[name]) != told:
                    break
            else:
                os._exit(0)
        except BaseException:
            pass
        os.write(there, name.encode())
        os._exit(1)
    os.close(there)
    name = os.read(here, 10_000).decode()
    os.close(here)
    return name if os.waitpid(child, 0)[1] else None


def name_of(statement: Any) -> str:
    """The function, class or constant that a statement defines."""
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]).strip("()")
    return getattr(statement, "name", "")


def alive(first: int = 0, last: int = 10**9) -> Iterator[str]:
    """Yield the changes, from one number to another, that no case notices, each after the line that it is in."""
    text = Path(gossamer_check.__file__).read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    quick = sorted(CASES, key=lambda name: (name == "the most nodes", len(CASES[name])))
    expected = {name: said(gossamer_check, CASES[name]) for name in quick}
    skip = {n for f in tree.body if name_of(f) in ("main", "FAR", "MANY", "") for n in map(id, ast.walk(f))}
    skip |= {id(n) for s in tree.body for d in getattr(s, "decorator_list", []) for n in ast.walk(d)}
    for k, (node, name, value) in enumerate(changes(tree)):
        if not first <= k < last or id(node) in skip:
            continue
        old, before = getattr(node, name), " ".join(ast.unparse(node).split())
        setattr(node, name, value)
        try:
            code = compile(ast.fix_missing_locations(tree), "changed", "exec")
            now = " ".join(ast.unparse(node).split())
        except (TypeError, ValueError, SyntaxError):
            continue
        finally:
            setattr(node, name, old)
        by = noticed(code, expected)
        if by:  # what noticed one change is likely to notice the next
            expected = {by: expected.pop(by), **expected}
        if by is None:
            line = lines[node.lineno - 1].strip() if isinstance(node, ast.expr | ast.stmt) else ""
            yield f"{line}   {before[:80]}   ->   {now[:80]}"


EQUIVALENT = {
    # generations come as often one after the other if time runs backwards
    "t + period * g   ->   t - period * g",
    # what a node has from the start is usable before the first slot, too
    "(1 << i, 0, -generations * period, [])) for i, v in enumerate(sources))   0   ->   -1",
    # links that lead from a node, and to it, are counted under any two names
    "(u, v): places})   'from'   ->   '!from'",
    "(u, v): places})   'to'   ->   '!to'",
    # whether nobody new knows is seen a slot later, too
    'need(fresh[-1], "no network of so few links is connected")   1   ->   2',
    # more than enough is enough
    "told < wanted   ->   told <= wanted",
    # where slack is negative, what is counted later only makes it smaller
    "self.whole and not (helped and any(net.passes)):   0   ->   -1",
    # of a list that stands for a form, the only entry is the first one and the last one
    "all(fits(each, form[0]) for each in value)   0   ->   -1",
    # what is looked at of an item has one root
    "far = here(flow.back, flow.root[0])   0   ->   -1",
    "- of[flow.root[0]] for some in draw)   0   ->   -1",
    # any node of a list stands for it, and all lists are as long
    "# whichever of them is drawn   0   ->   -1",
    "for n in range(len(draw[0]))]   0   ->   -1",
    # what passes without limit never has too much
    "self.room[one] < FAR   ->   self.room[one] <= FAR",
    # what is copied from a node to itself needs nothing, as two items, too
    "self.blocks and x.back and (x.root == x.leaves)   ->   self.blocks and x.root == x.leaves",
    # of two halves of the ranks, either comes first
    "for bit, side in sides]   v >> bit & 1 == side   ->   v >> bit & 1 != side",
    # what is less than any price counts for nothing, as 0 does
    "# what counts up to a link   0   ->   -1",
    "# and from there on   0   ->   -1",
    # a list of links more, that nothing looks at
    "for _ in range(net.nodes)] for _ in range(2)]   2   ->   3",
}
"""Changes that change no verdict, each by the end of what is told of it."""


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
