"""Options that fill a dataclass or a function's keywords: names, types, choices, defaults and help come from there.

They are read from its source, not from the object, so that ``--help`` need not import what a command will use.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.console import hush_libraries
from gossamer.errors import ModelError

__all__ = [
    "Engine",
    "Json",
    "NetworkArgument",
    "Scheduler",
    "Words",
    "described",
    "fails",
    "fills",
    "networks",
    "pictured",
    "taking",
    "tasks",
]

# What the shell offers at a place where a network or a task is asked for.


def networks(incomplete: str) -> list[str]:
    """Return an example of each family of networks that begins so; files come from the shell."""
    from gossamer.networks.families import FAMILIES

    return [family.example for family in FAMILIES if family.example.startswith(incomplete.lower())]


def tasks(incomplete: str) -> list[str]:
    """Return the names of tasks that begin so, in any spelling that is taken."""
    from gossamer.questions.tasks import ALIASES, TASKS

    return [name for name in (*TASKS, *ALIASES) if name.startswith(incomplete.lower())]


NetworkArgument = Annotated[
    str,
    typer.Argument(
        help="Network, such as torus:8x8, or a file of links; see 'gossamer networks'.",
        metavar="NETWORK",
        autocompletion=networks,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Engine = Annotated[
    str | None,
    typer.Option(help="processes, in-process or dask. Default processes; dask with --scheduler.", metavar="NAME"),
]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.", metavar="ADDRESS")
]

_ROOT = Path(__file__).parent.parent
_TYPES: dict[str, tuple[Any, str | None]] = {
    "int": (int, "N"), "float": (float, "NUMBER"), "str": (str, "TEXT"), "bool": (bool, None),
    "Path": (Path, "FILE"), "Fraction": (str, "NUMBER"), "Bytes": (str, "SIZE"), "Rate": (str, "RATE"),
    "Duration": (str, "TIME"),
}  # fmt: skip


@dataclass(frozen=True)
class Words:
    """Options that fill one thing.

    Attributes
    ----------
    module : str
        Where it stands, such as ``"questions/costs.py"`` in the package.
    name : str
        A dataclass, whose docstring has Attributes, or a function, whose docstring has Parameters.
    fields : tuple of str
        The fields or keywords that are options, in order; all of a dataclass when empty.
    flags : mapping of str to str
        The words of those that are not ``--`` and the name, such as ``{"split": "--split/--whole"}``.
    heading : str, optional
        The heading above them in the help.
    """

    module: str
    name: str
    fields: tuple[str, ...] = ()
    flags: dict[str, str] = field(default_factory=dict)
    heading: str | None = None

    def parameters(self) -> Iterator[inspect.Parameter]:
        """Yield a parameter for each option, None where it is not given."""
        tree = ast.parse((_ROOT / self.module).read_text(encoding="utf-8"))
        node = next(n for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef) and n.name == self.name)
        literals = _literals(tree)
        told = described(ast.get_docstring(node) or "")
        known = _fields(node)
        for name in self.fields or tuple(known):
            annotation, default = known[name]
            kind, metavar = _asked(name, annotation, literals)
            text = told[name] + ("" if default in (None, "") or " Default" in told[name] else f" Default {default}.")
            flag = self.flags.get(name, f"--{name.replace('_', '-')}")
            yield inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[
                    kind | None,
                    typer.Option(*flag.split(), help=text, metavar=metavar, rich_help_panel=self.heading),
                ],
            )


def fills(**groups: tuple[Words, ...]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of several groups; it is called with a dict for each group, of what was given.

    The command takes the groups as keywords of these names; its own arguments stand first in the help, and its own
    keywords last.
    """

    def wrapped(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        options = {group: [p for words in listed for p in words.parameters()] for group, listed in groups.items()}

        @functools.wraps(command)
        def run(**given: Any) -> None:
            filled = {
                group: {p.name: _plain(value) for p in listed if (value := given.pop(p.name)) is not None}
                for group, listed in options.items()
            }
            command(**given, **filled)

        kept = [p for p in own.values() if p.name not in groups]
        first = [p for p in kept if p.kind is not inspect.Parameter.KEYWORD_ONLY]
        last = [p for p in kept if p.kind is inspect.Parameter.KEYWORD_ONLY]
        return taking(run, itertools.chain(first, *options.values(), last))

    return wrapped


def taking(command: Callable[..., None], parameters: Iterable[inspect.Parameter]) -> Callable[..., None]:
    """Let the command line see a command with these parameters, all of them keywords."""
    every = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    command.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in every}
    return command


def described(docstring: str) -> dict[str, str]:
    """Return the first sentence that a numpydoc docstring has on each of its attributes or parameters.

    >>> import inspect
    >>> from gossamer.questions.costs import LinearCost
    >>> described(inspect.getdoc(LinearCost))["per_byte"]
    'T_c, the time that a channel takes for a byte, 0 or more.'
    """
    section = re.search(r"^(?:Attributes|Parameters)\n-+\n(.*?)(?=^\w[\w ]*\n---|\Z)", docstring, re.M | re.S)
    found: dict[str, str] = {}
    for match in re.finditer(r"^(\w[\w, ]*) : .*\n((?:    .*\n?|\n)*)", section[1] if section else "", re.M):
        words = " ".join(match[2].split()).replace("`", "").replace('"', "'")
        sentence = re.match(r".*?\.(?= [A-Z]|$)", words)
        rest = re.search(r" (Default[^.]*\.(?!\w))", words)
        for name in match[1].split(","):
            short = sentence[0] if sentence else words
            found[name.strip()] = short + (f" {rest[1]}" if rest and rest[1] not in short else "")
    return found


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


def _literals(tree: ast.Module) -> dict[str, list[str]]:
    """Return the words of each ``Name = Literal[...]`` of a module."""
    return {
        node.targets[0].id: [ast.literal_eval(word) for word in _elements(node.value)]
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_literal(node.value)
    }


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal"


def _elements(node: ast.expr) -> list[ast.expr]:
    assert isinstance(node, ast.Subscript)
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _fields(node: ast.ClassDef | ast.FunctionDef) -> dict[str, tuple[ast.expr, str | None]]:
    """Return the annotation of each field or keyword, and its default in words, None where there is none to tell."""
    if isinstance(node, ast.ClassDef):
        stated = [s for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        return {s.target.id: (s.annotation, _told(s.value)) for s in stated if isinstance(s.target, ast.Name)}
    keywords = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return {a.arg: (a.annotation, _told(value)) for a, value in keywords if a.annotation is not None}


def _told(default: ast.expr | None) -> str | None:
    if isinstance(default, ast.Call) and ast.unparse(default.func) == "Fraction":
        return ast.unparse(default.args[0])
    if not isinstance(default, ast.Constant) or default.value is None or isinstance(default.value, bool):
        return None
    return str(default.value)


def _asked(name: str, annotation: ast.expr, literals: dict[str, list[str]]) -> tuple[Any, str | None]:
    """Return the type that the command line reads for an annotation, and what stands for it in the help."""
    kinds = [kind.strip() for kind in ast.unparse(annotation).split("|") if kind.strip() != "None"]
    words = literals.get(kinds[0])
    if _is_literal(annotation):
        words = [ast.literal_eval(word) for word in _elements(annotation)]
    if words:
        return StrEnum(name, {re.sub(r"\W", "_", word): word for word in words}), None
    return _TYPES.get(kinds[0] if len(kinds) == 1 else "str", (str, "TEXT"))


# The option ``--without`` of every command that takes a network.

_OPTION = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        help="What fails: links:0-1,5-6, nodes:17, terminals:17 (they stay as switches), random-links:2%, "
        "random-nodes:1; may be repeated.",
        metavar="WHAT",
    ),
]


def fails(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the option; it gets the network that is left in place of the word for it."""
    listed = list(inspect.signature(command, eval_str=True).parameters.values())

    @functools.wraps(command)
    def run(**given: Any) -> None:
        words = given.pop("without")
        if words:
            given["network"] = _left(given["network"], words, given.get("seed") or 0)
        command(**given)

    place = next(i for i, p in enumerate(listed) if p.name in ("output", "json"))
    option = inspect.Parameter("without", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_OPTION)
    return taking(run, [*listed[:place], option, *listed[place:]])


def _left(network: str | None, words: list[str], seed: int) -> Any:
    from gossamer.networks import as_network
    from gossamer.networks.derived import without

    if network is None:
        raise ModelError("--without goes with a network")
    return without(as_network(network), words, seed)


# The options of commands that draw pictures: how these are dressed.


class Style(StrEnum):
    """How pictures are dressed."""

    screen = "screen"
    paper = "paper"


_PANEL: dict[str, Any] = {"rich_help_panel": "Pictures"}
_STYLE = "paper: 3.3 inches wide, without the heading and notes that a caption gives. Default screen."
_OPTIONS = {
    "style": Annotated[Style | None, typer.Option(help=_STYLE, **_PANEL)],
    "width": Annotated[
        str | None, typer.Option(help="Width, such as 3.3in, 84mm, 8.4cm or 240pt.", metavar="W", **_PANEL)
    ],
    "title": Annotated[str | None, typer.Option(help="Title instead of its own.", metavar="TEXT", **_PANEL)],
}


def pictured(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that draws pictures, into the files of its ``output`` or its ``folder``, what dresses them."""
    own = inspect.signature(command, eval_str=True).parameters

    @functools.wraps(command)
    def run(**given: Any) -> None:
        hush_libraries()
        style, width, title = (given.pop(name) for name in _OPTIONS)
        if style is None and width is None and title is None:
            return command(**given)
        from gossamer import plots
        from gossamer.cli.verify import is_picture
        from gossamer.errors import FileFormatError
        from gossamer.reading.quantities import inches

        asked = given.get("output") or []
        pictures = any(map(is_picture, [asked] if isinstance(asked, Path) else asked))
        if not pictures and given.get("folder") is None:
            raise FileFormatError("--style, --width and --title go with a picture: --output FILE.svg, .png or .pdf")
        wide = None if width is None else inches(width, "--width", error=FileFormatError)
        with plots.dressed_as(style and style.value, wide, title):
            return command(**given)

    further = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _OPTIONS.items()
    ]
    return taking(run, [*own.values(), *further])
