"""The options of the commands: each that two commands share is declared here, once.

Options that fill a dataclass or a function's keywords (`Words`) have names, types, choices, defaults and help from
there. They are read from its source, not from the object, so that ``--help`` need not import what a command will use.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from gossamer.cli.console import check_other_than, hush_libraries, print_error
from gossamer.errors import ModelError

HEADINGS = (
    *("Arguments", "Network", "Task", "Requests", "Traffic", "Routers", "Rules", "Time", "Time of wormhole messages"),
    *("Search", "Output", "Rarely needed", "Options"),
)
"""The headings of a command's help, by what a person decides, in this order."""

RARE = frozenset(
    {
        *("density", "graph", "unit", "buffer_counts", "cut_through", "replication", "reduction", "control_time"),
        *("counting", "form", "counter_bytes", "hop_time", "price", "starts", "memory", "stream", "save", "sample"),
        *("routing_delay", "allocation_delay", "switch_delay", "credit_delay", "injection_delay", "ejection_delay"),
        *("input_speedup", "output_speedup", "dateline", "reply_flits", "burst", "replications", "set_size", "order"),
        *("contains", "cubes", "diversity_weight", "failure_weight", "flit_bytes", "rounds", "retry"),
    }
)
"""Fields whose options stand under the last heading."""

AT_FIRST = {
    "network": "Network, such as torus:8x8, or a file",
    "task": "Task, such as allgather or allreduce",
    "without": "What fails, such as links:0-1 or nodes:17",
    "root": "Root of a broadcast, scatter, gather or reduce",
    "counts": "Messages of each node, such as 2,0,1",
    "pattern": "Destinations by name, such as transpose",
    "demands": "Traffic from a file: a matrix or a table",
    "chunks": "Packets of each message, sent one by one",
    "groups": "Only in groups, such as 0-7 or 0-3;4-7",
    "ports": "all-port or one-port; default all-port",
    "switching": "store-and-forward or wormhole",
    "bytes": "Size, such as 64MiB: times are in seconds",
    "bandwidth": "Of every link, such as 400Gbit/s or 50GB/s",
    "latency": "Of every link, such as 2us",
    "algorithm": "A name, such as ring; see list algorithms",
    "effort": "closed form, search or solver",
    "budget": "Seconds after which the search ends",
    "jobs": "Processes that share the work",
    "seed": "The same seed gives the same result",
    "output": "",
    "json": "Print one JSON object",
    "verbose": "",
    **dict.fromkeys(("kind", "load", "saturation", "preset", "routing", "virtual_channels", "message_flits"), ""),
    **dict.fromkeys(
        ("scheme", "arrivals", "steps", "links", "families", "folder", "top", "placement", "set", "where"), ""
    ),
}
"""The options that a long help shows; with words that fit in one line, or else the first of its own help."""

_SAID = {
    "seed": "The same seed gives the same result. Default 0.",
    "jobs": "Processes that share the work; the result is the same whatever their number. Default 1.",
    "starts": "Of a run flit by flit: whether a message starts after all of the step before, or as soon as its source "
    "has what it carries and a free port. Default barrier.",
}
"""What is said of options that several dataclasses and functions have."""


# What the shell offers at a place where a network or a task is asked for.


def _networks(incomplete: str) -> list[str]:
    """Return an example of each family of networks that begins so; files come from the shell."""
    from gossamer.networks.families import FAMILIES

    return [family.example for family in FAMILIES if family.example.startswith(incomplete.lower())]


def _tasks(incomplete: str) -> list[str]:
    """Return the names of tasks that begin so, in any spelling that is taken."""
    from gossamer.questions.tasks import ALIASES, TASKS

    return [name for name in (*TASKS, *ALIASES) if name.startswith(incomplete.lower())]


def written(what: str, several: bool = True) -> Any:
    """Return the option that names the files to write: `what` is written, and with which suffixes."""
    end = "; may be repeated." if several else "."
    return typer.Option("--output", "-o", help=f"{what}{end}", metavar="FILE", rich_help_panel="Output")


Certificate = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        help="Write a certificate (.cert.json), which gossamer_check.py checks by itself.",
        metavar="FILE",
        rich_help_panel="Output",
    ),
]


def at_once(default: str = "") -> Any:
    """Return the option for the number of processes, None or 1 where it is not given."""
    text = _SAID["jobs"].partition(" Default")[0]
    return typer.Option("--jobs", help=f"{text}{default}", metavar="N", rich_help_panel="Search")


NetworkArgument = Annotated[
    str,
    typer.Argument(
        help="Network, such as torus:8x8, or a file of links; see 'gossamer list networks'.",
        metavar="NETWORK",
        autocompletion=_networks,
    ),
]
TaskArgument = Annotated[
    str,
    typer.Argument(help="Task, such as allgather; see 'gossamer list tasks'.", metavar="TASK", autocompletion=_tasks),
]
ScheduleFile = Annotated[Path, typer.Argument(help="Schedule file that plan --output wrote.", metavar="FILE")]
SwitchingOption = Annotated[
    str,
    typer.Option(
        help="store-and-forward, or wormhole messages on dimension-ordered paths.",
        metavar="NAME",
        rich_help_panel="Rules",
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        help="An option that the algorithm must be used with, such as h=5; may be repeated.",
        metavar="K=V",
        rich_help_panel="Search",
    ),
]
Seed = Annotated[int, typer.Option(help=_SAID["seed"].partition(" Default")[0], metavar="N", rich_help_panel="Search")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel="Output")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print all that is known of the plan.", rich_help_panel="Output")
]
Limit = Annotated[
    int, typer.Option(help="Lines to print; the rest are counted.", metavar="N", rich_help_panel="Output")
]
Foreign = Annotated[
    str | None,
    typer.Option(
        "--network",
        help="Network of a schedule of another tool (MSCCL .xml, MSCCL++ .json, .goal and more); node r is rank r.",
        metavar="NETWORK",
        rich_help_panel="Network",
    ),
]
ForeignToo = Annotated[
    str | None,
    typer.Argument(
        help="Network of a schedule of another tool, as --network.", metavar="[NETWORK]", show_default=False
    ),
]
Collective = Annotated[
    str | None,
    typer.Option(
        "--task",
        help="Task of a .goal file, which does not say it; of a custom .xml the file of its demands.",
        metavar="TASK",
        rich_help_panel="Task",
    ),
]
BytesOfPlan = Annotated[
    str | None,
    typer.Option(
        "--bytes",
        help="Size of a message, such as 64KiB; of a plan in seconds, which is made again for it, as it was asked for. "
        "Default: what a plan in seconds is for, else 1MiB.",
        metavar="SIZE",
    ),
]
OtherBytes = Annotated[
    str | None,
    typer.Option(
        "--bytes",
        help="Of a plan in seconds: for another number of bytes, without planning again. Of a schedule of another tool "
        "where links have speeds: its bytes, 64MiB by default.",
        metavar="SIZE",
    ),
]
SizesOfPlan = Annotated[
    str | None,
    typer.Option(
        "--bytes",
        help="Sizes of a message, several by commas, or first:last[:factor]. Default: what a plan in seconds is for, "
        "else 1MiB.",
        metavar="SIZES",
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        help="processes, in-process or dask. Default processes; dask with --scheduler.",
        metavar="NAME",
        rich_help_panel="Rarely needed",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.",
        metavar="ADDRESS",
        rich_help_panel="Rarely needed",
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(help="A condition, such as 'nodes == 512' or 'degree <= 6'; may be repeated.", metavar="CONDITION"),
]

# Options that fill something.

_ROOT = Path(__file__).parent.parent
_TYPES: dict[str, tuple[Any, str | None]] = {
    "int": (int, "N"), "float": (float, "NUMBER"), "str": (str, "TEXT"), "bool": (bool, None),
    "Path": (Path, "FILE"), "Fraction": (str, "NUMBER"), "Bytes": (str, "SIZE"), "Rate": (str, "RATE"),
    "Duration": (str, "TIME"),
}  # fmt: skip
_ALWAYS = {"bandwidth": "RATE", "latency": "TIME", "ports": "MODEL"}
"""What stands for the values of some fields that are kept as text."""
_AS_TEXT = ("ports",)
"""Fields of few words that are typed in more than one way."""
_DEFAULTS = {"ports": "all-port"}
"""Defaults in the words of the field."""
_FLAGS = {"segmented": "--segmented/--unsegmented", "one_way": "--one-way/--two-way", "stream": "--stream"} | {
    name: f"--{word}/--no-{word}"
    for name in ("cut_through", "replication", "reduction")
    for word in [name.replace("_", "-")]
}
"""The words of fields that are switched on or off."""


@dataclass(frozen=True)
class Words:
    """Options that fill one thing.

    * `module`: where it stands, such as ``"questions/costs.py"`` in the package.
    * `name`: a dataclass, whose docstring has Attributes, or a function, whose docstring has Parameters.
    * `fields`: the fields or keywords that are options, in order; all of a dataclass when empty.
    * `heading`: the heading above them in the help, one of `HEADINGS`.
    """

    module: str
    name: str
    fields: tuple[str, ...] = ()
    heading: str | None = None

    def parameters(self) -> Iterator[inspect.Parameter]:
        """Yield a parameter for each option, None where it is not given."""
        told, known, literals = _source(self.module, self.name)
        for name in self.fields or tuple(known):
            annotation, default = known[name]
            kind, metavar = _asked(name, annotation, literals)
            text = _SAID.get(name, told[name])
            default = _DEFAULTS.get(name, default)
            text += "" if default in (None, "") or " Default" in text else f" Default {default}."
            flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
            option = typer.Option(
                *flag.split(),
                help=text,
                metavar=_ALWAYS.get(name, metavar),
                rich_help_panel="Rarely needed" if name in RARE else self.heading,
            )
            yield inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
            )


TASK = (Words("questions/tasks/parsing.py", "TaskWords", heading="Task"),)
RULES = Words("questions/rules.py", "Rules", heading="Rules")
COSTS = (
    Words("questions/costs.py", "StepCost", heading="Time"),
    Words("questions/costs.py", "TimeCost", ("bytes", "counting", "bandwidth", "latency", "overhead", "form"), "Time"),
    Words("questions/costs.py", "LinearCost", heading="Time of wormhole messages"),
)


def planner_words(*fields: str) -> tuple[Words, ...]:
    """Return the options of the planner of these names."""
    return (Words("planning/planner.py", "plan", fields, "Search"),)


@functools.cache
def _module(path: str) -> tuple[dict[str, ast.ClassDef | ast.FunctionDef], dict[str, list[str]]]:
    """Return the classes and functions of a module by name, and the words of each ``Name = Literal[...]``."""
    tree = ast.parse((_ROOT / path).read_text(encoding="utf-8"))
    return {n.name: n for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef)}, _literals(tree)


@functools.cache
def _source(
    path: str, name: str
) -> tuple[dict[str, str], dict[str, tuple[ast.expr, str | None]], dict[str, list[str]]]:
    """Return what is said of the fields of a class or function, the fields, and the words of types of its module."""
    nodes, literals = _module(path)
    return described(ast.get_docstring(nodes[name]) or ""), _fields(nodes[name]), literals


def fills(**groups: tuple[Words, ...]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of several groups; it is called with a dict for each group, of what was given.

    The command takes the groups as keywords of these names.
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
        return taking(run, itertools.chain(kept, *options.values()))

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
    if words and name not in _AS_TEXT:
        return StrEnum(name, {re.sub(r"\W", "_", word): word for word in words}), None
    return _TYPES.get(kinds[0] if len(kinds) == 1 else "str", (str, "TEXT"))


# The option ``--without`` of every command that takes a network.

_WITHOUT = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        help="What fails: links:0-1,5-6, links:0-1*1 (one of the cables of a link), nodes:17, nodes:4-7, "
        "links:gpu[0-3]-leaf0, terminals:17 (they stay as switches), random-links:2%, random-nodes:1; may be repeated.",
        metavar="WHAT",
        rich_help_panel="Network",
    ),
]


def fails(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the option; it gets the network that is left in place of the word for it."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        if words := given.pop("without"):
            from gossamer.networks import as_network
            from gossamer.networks.derived import without

            if given["network"] is None:
                raise ModelError("--without goes with a network")
            if isinstance(given.get("output"), list):  # what is read is not written over
                check_other_than([given["network"]], given["output"])
            given["network"] = without(as_network(given["network"]), words, given.get("seed") or 0)
        command(**given)

    option = inspect.Parameter("without", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_WITHOUT)
    return taking(run, [*inspect.signature(command, eval_str=True).parameters.values(), option])


# The options that pose a question: a network, a task, rules and cost.


_LARGE = 1_000_000
"""Links of a network that is not built before the words of the task are known to be right."""


class Question(NamedTuple):
    """What is asked, in the words of the command line."""

    network: Any
    task: str
    task_words: dict[str, Any]
    switching: str
    rules: dict[str, Any]
    seed: int
    steps: bool = False
    memory: Any = None

    def read(self, **other: Any) -> dict[str, Any]:
        """Return it as `gossamer.plan` takes it: network, task, switching, rules and cost; with `other` rules."""
        from gossamer.networks.structures import Assumptions
        from gossamer.planning.planner import as_usual, rules_and_cost
        from gossamer.questions.tasks.parsing import asked_task

        self._check_words()
        network = read_network(self.network, say=False)
        task = asked_task(self.task, self.task_words, network, self.seed)
        rules = {**self.rules, **other}
        known = network.find(Assumptions)
        say_assumed([] if known is None or self.steps else known.beside_latencies.every)
        if self.switching == "store-and-forward":
            rules |= as_usual(network, rules) | self._bytes(network, rules)
        if self.task_words.get("chunks") == 1 and "bytes" in rules:
            rules.setdefault("segmented", False)
        asked = {"network": network, "task": task, **rules_and_cost(self.switching, rules)}
        if "bytes" in rules and self.switching == "store-and-forward":
            _say_latency(network, rules)
        return asked

    def _check_words(self) -> None:
        """Refuse what the task does not take, or no memory holds, before a network is built that takes gigabytes."""
        from gossamer.errors import GossamerError
        from gossamer.networks.spec import network_size, reads_file
        from gossamer.questions.tasks.parsing import check_words

        try:
            named = isinstance(self.network, str) and not reads_file(self.network)
            measured = network_size(self.network) if named else None
        except GossamerError:  # it is said where the network is read
            return
        if measured is not None and measured.links >= _LARGE:
            check_words(self.task, self.task_words)
            self._check_room(measured.links, measured.nodes)

    def _check_room(self, links: int, nodes: int) -> None:
        """Refuse a network on which no plan of the task fits into memory, before it is built."""
        from gossamer.atomic_files import memory_text
        from gossamer.errors import TooLargeError
        from gossamer.processes.memory import free_memory
        from gossamer.questions.cases.algorithm_offers import least_bytes
        from gossamer.questions.tasks import (
            Allreduce,
            Broadcast,
            MultinodeBroadcast,
            Reduce,
            ReduceScatter,
            TotalExchange,
        )
        from gossamer.questions.tasks.parsing import kind_of
        from gossamer.reading.quantities import size

        free = free_memory() if self.memory is None else size(self.memory, "memory")
        copied = kind_of(self.task) in (Allreduce, Broadcast, MultinodeBroadcast, Reduce, ReduceScatter)
        least = least_bytes(links, copied, nodes if kind_of(self.task) is TotalExchange else 0)
        if free is not None and least > free:
            there = "free" if self.memory is None else "allowed (--memory)"
            raise TooLargeError(
                f"{self.task} on {self.network} needs at least {memory_text(least)} of memory for its {links:,} "
                f"links, and {memory_text(free)} are {there}: about {int(links * (free / least)):,} links would fit"
            )

    def _bytes(self, network: Any, rules: dict[str, Any]) -> dict[str, Any]:
        """Return the bytes of a question in seconds that does not say how many, and say so; none of one in steps."""
        from gossamer.networks.network import has_speeds
        from gossamer.networks.structures import Assumption
        from gossamer.questions.costs import USUAL_BYTES

        given = [f"--{name}" for name in OF_SECONDS if name in rules]
        if self.steps:
            if given:
                raise ModelError(f"--steps counts steps; leave out {', '.join(given)}")
            return {}
        seconds = "bandwidth" in rules or (has_speeds(network) and "control_time" not in rules)
        if "bytes" in rules or not seconds:
            return {}
        say_assumed([Assumption("64 MiB, as no --bytes is given", "--bytes SIZE, or --steps to count steps")])
        return {"bytes": USUAL_BYTES}


def _say_latency(network: Any, rules: dict[str, Any]) -> None:
    """Say that links of a question in seconds have no latency, and what follows for packets, where nobody gave one."""
    from gossamer.atomic_files import seconds_text
    from gossamer.networks.network import has_speeds
    from gossamer.networks.structures import Assumptions, Speeds, no_latency
    from gossamer.questions.costs import LEAST_PACKET

    if "latency" in rules or not (has_speeds(network) or "bandwidth" in rules):
        return
    speeds, known = network.find(Speeds), network.find(Assumptions)
    if "overhead" not in rules and (speeds is None or not speeds.latency.any()):
        links = f"links taken as 0, and packets as {seconds_text(LEAST_PACKET)} long or longer"
        options = "--latency TIME, such as --latency 2us, or --overhead TIME, of each packet"
        say_assumed([f"latency of {links}; to change it: {options}"])
    elif speeds is None:
        say_assumed([no_latency()])
    elif known is not None:
        say_assumed(each for each in known.every if each not in known.beside_latencies.every)


OF_SECONDS = ("bytes", "counting", "bandwidth", "latency", "overhead", "form")
"""Options of questions in seconds."""


def read_network(value: Any, say: bool = True) -> Any:
    """Return the network that somebody means, and say on standard error what was assumed of it."""
    from gossamer.networks import as_network
    from gossamer.networks.structures import Assumptions

    network = as_network(value)
    known = network.find(Assumptions)
    say_assumed([] if known is None or not say else known.every)
    return network


def say_assumed(lines: Iterable[object]) -> None:
    """Print what was assumed, a line each, on standard error."""
    for line in lines:
        print_error(f"assumed: {line}")


def network_first(command: str, network: str, task: str) -> tuple[str, str]:
    """Return the network and the task, which are exchanged, with a note, where the task was typed first."""
    from gossamer.errors import GossamerError
    from gossamer.questions.tasks.parsing import kind_of

    def is_task(word: str) -> bool:
        try:
            kind_of(word)
        except GossamerError:
            return False
        return True

    if not isinstance(network, str) or not is_task(network) or is_task(task) or Path(network).exists():
        return network, task
    print_error(f"gossamer: note: read as: gossamer {command} {task} {network}; the network comes first")
    return task, network


def asks(**groups: tuple[Words, ...]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the arguments and options of a question, which it is called with first, and those of groups."""

    def wrapped(command: Callable[..., None]) -> Callable[..., None]:
        def ask(
            network: NetworkArgument,
            task: TaskArgument,
            *,
            task_words: dict[str, Any],
            switching: SwitchingOption = "store-and-forward",
            rules: dict[str, Any],
            steps: Annotated[
                bool,
                typer.Option(
                    "--steps",
                    help="Count steps, in which all links are alike, where links have speeds too.",
                    rich_help_panel="Time",
                ),
            ] = False,
            seed: Seed = 0,
            **own: Any,
        ) -> None:
            network, task = network_first(command.__name__, network, task)
            memory = (own.get("search") or {}).get("memory")
            command(Question(network, task, task_words, switching, rules, seed, steps, memory), **own)

        asked = list(inspect.signature(ask, eval_str=True).parameters.values())[:-1]
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        whole = taking(functools.wraps(command)(ask), [*asked, *own])
        return fails(fills(task_words=TASK, rules=(RULES, *COSTS), **groups)(whole))

    return wrapped


# The options of commands that draw pictures: how these are dressed.


class Style(StrEnum):
    """How pictures are dressed."""

    screen = "screen"
    paper = "paper"


_PANEL: dict[str, Any] = {"rich_help_panel": "Output"}
_STYLE = "paper: 3.3 inches wide, without the heading and notes that a caption gives. Default screen."
_DRESS = {
    "style": Annotated[Style | None, typer.Option(help=_STYLE, **_PANEL)],
    "width": Annotated[
        str | None, typer.Option(help="Width, such as 3.3in, 84mm, 8.4cm or 240pt.", metavar="W", **_PANEL)
    ],
    "title": Annotated[str | None, typer.Option(help="Title instead of its own.", metavar="TEXT", **_PANEL)],
}


class SizeKind(StrEnum):
    """What is drawn over several numbers of bytes."""

    bound = "bound"
    time = "time"
    bandwidth = "bandwidth"


SizesKind = Annotated[
    SizeKind | None,
    typer.Option(
        "--kind", help="Of several --bytes: one panel instead of three, in .tex as TikZ instead of the table.", **_PANEL
    ),
]


def pictured(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that draws pictures, into the files of its ``output`` or its ``folder``, what dresses them."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        hush_libraries()
        style, width, title = (given.pop(name) for name in _DRESS)
        if style is None and width is None and title is None:
            return command(**given)
        from gossamer import plots
        from gossamer.errors import FileFormatError
        from gossamer.plots.picture_files import FORMATS
        from gossamer.reading.quantities import inches

        asked = given.get("output") or []
        files = [asked] if isinstance(asked, Path) else asked
        pictures = any(path.suffix.lower().removeprefix(".") in (*FORMATS, "tex") for path in files)
        if not pictures and given.get("folder") is None:
            raise FileFormatError("--style, --width and --title go with a picture: --output FILE.svg, .png or .pdf")
        wide = None if width is None else inches(width, "--width", error=FileFormatError)
        with plots.dressed_as(style and style.value, wide, title):
            return command(**given)

    own = inspect.signature(command, eval_str=True).parameters.values()
    further = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _DRESS.items()
    ]
    return taking(run, [*own, *further])
