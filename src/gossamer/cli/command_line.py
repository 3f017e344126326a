"""Command lines taken apart, and whether one is understood, short of carrying it out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gossamer.cli.command_group import EXAMPLES
from gossamer.errors import GossamerError

Words = list[str]
"""What is typed after ``gossamer``."""
OF_TASKS = ("plan", "compare", "bounds", "faults", "demands")
"""The commands whose first words are a network and a task."""
OF_SCHEDULES = ("verify", "certify", "draw", "explore", "explain", "run", "export", "replan", "simulate schedule")
"""The commands whose first word is a schedule."""
_MOST_NODES, _MOST_LINKS = 1100, 12_000
"""Size of the networks that are proposed."""


class CommandLine:
    """The words of a command line: which name the command, and which are its arguments.

    * `words`: what was typed after ``gossamer``.
    * `name`: the words of the command; empty if there is none.
    * `options`: the options of the command.
    * `takes_network`: whether one of its arguments is a network.
    * `places`: where its arguments stand among the words.
    """

    def __init__(self, words: Words) -> None:
        self.words = words
        self.name = next((n for n in (" ".join(words[:2]), *words[:1]) if n in EXAMPLES), "")
        self.name = {"simulate": "simulate schedule", "sweep": "sweep run"}.get(self.name, self.name)
        command = _command(self.name)
        taken = [] if command is None else command.params
        flags = {o for p in taken if getattr(p, "is_flag", False) for o in (*p.opts, *p.secondary_opts)}
        self.options = [o for p in taken for o in (*p.opts, *p.secondary_opts)]
        names = {"network", "networks"} | ({"what"} if self.name == "list" else set())
        self.takes_network = any(p.name in names for p in taken if p.param_type_name == "argument")
        self.places: list[int] = []
        place = len(self.name.split()) if " ".join(words[:2]) == self.name else 1
        while place < len(words):
            word = words[place]
            if word.startswith("-") and len(word) > 1:
                place += 1 if "=" in word or word in flags or word not in self.options else 2
                continue
            self.places.append(place)
            place += 1

    def argument(self, number: int) -> str | None:
        """Return an argument; None where there are fewer."""
        return self.words[self.places[number]] if number < len(self.places) else None

    def changed(self, changes: dict[int, str]) -> Words:
        """Return the words, some of them changed."""
        return [changes.get(place, word) for place, word in enumerate(self.words)]

    def with_option(self, option: str, value: str) -> Words:
        """Return the words with another value of an option.

        >>> CommandLine(["simulate", "traffic", "ring:4", "--routing", "ugal"]).with_option("--virtual-channels", "4")
        ['simulate', 'traffic', 'ring:4', '--routing', 'ugal', '--virtual-channels', '4']
        """
        words = list(self.words)
        if option in words[:-1]:
            words[words.index(option) + 1] = value
            return words
        return [*(w for w in words if not w.startswith(f"{option}=")), option, value]

    def without_option(self, option: str) -> Words:
        """Return the words without an option and its value.

        >>> CommandLine(["plan", "ring:4", "allgather", "--quiet", "--json"]).without_option("--quiet")
        ['plan', 'ring:4', 'allgather', '--json']
        """
        kept, skip = list[str](), False
        for place, word in enumerate(self.words):
            if skip or word == option or word.startswith(f"{option}="):
                after = self.words[place + 1 : place + 2]
                skip = not skip and word == option and bool(after) and not after[0].startswith("-")
            else:
                kept.append(word)
        return kept


def _command(name: str) -> Any:
    """Return the command of these words; None if there is none."""
    import typer.main

    from gossamer.cli.app import app

    found: Any = typer.main.get_command(app)
    for word in name.split():
        found = found.commands.get(word) if hasattr(found, "commands") else None
    return found if name else None


# Whether a command line is understood, short of carrying it out.


def understood(words: Words) -> bool:
    """Return whether a command line names what there is: command, options, network, task, files."""
    if words[-1:] in (["-h"], ["--help"], ["--version"]) or words == ["doctor"]:
        return True
    line = CommandLine(words)
    command = _command(line.name)
    if command is None:
        return False
    rest = words[len(line.name.split()) :] if " ".join(words[:2]) == line.name else words[1:]
    try:
        given = dict(command.make_context(line.name, list(rest)).params)
        return _sensible(line.name, given)
    except (GossamerError, OSError, ValueError, TypeError, IndexError, KeyError):
        return False
    except SystemExit:
        return True
    except Exception as error:
        if hasattr(error, "format_message") or hasattr(error, "exit_code"):  # of the command-line library
            return False
        raise


def _sensible(name: str, given: dict[str, Any]) -> bool:
    """Return whether the parameters of a command name what there is; some errors mean that they do not."""
    from gossamer.networks import as_network, network_size
    from gossamer.networks.derived import without
    from gossamer.networks.files import suffixes

    if name == "explain" and given.get("algorithm"):
        from gossamer.planning.usual_algorithms import example_network, meant

        if given.get("file") is None:
            return bool(example_network(given["algorithm"], given.get("of")))
        spec = str(given["file"])
        return network_size(spec).nodes > _MOST_NODES or bool(
            meant(given["algorithm"], as_network(spec), given.get("of"))
        )
    files = [given[key] for key in ("file", "study") if given.get(key) is not None]
    if not all(Path(path).is_file() for path in [*files, *(given.get("files") or [])]):
        return False
    foreign = [p for p in files if Path(p).suffix.lower() not in (".parquet", ".txt", ".toml")]
    also = given.get("on") or given.get("of")  # the network of a schedule of another tool, as an argument
    if also and not foreign:
        return False
    if foreign and name in OF_SCHEDULES and not (given.get("network") or also):
        return False
    if name in ("plan", "compare") and given.get("kind") and not set(str(given.get("bytes") or "")) & set(":,."):
        return False  # a picture of several sizes
    named = given.get("network") or given.get("networks") or also
    for spec in [named] if isinstance(named, str) else named or []:
        if not (Path(spec).suffix.lower() in suffixes() or "{" in spec):
            size = network_size(spec)
            if size.nodes > _MOST_NODES or size.links > _MOST_LINKS:
                return False
    if name == "replan":
        from gossamer.planning import switching

        without(switching.load(files[0]).network, given.get("without") or [], given.get("seed") or 0)
    if not isinstance(named, str):
        return True
    ranks = msccl_ranks(files[0]) if files else None
    if ranks is not None and network_size(named).nodes != int(ranks.partition(":")[2]):
        return False
    network = without(as_network(named), given.get("without") or [], given.get("seed") or 0)
    if name in OF_TASKS:
        return _asks(given, network)
    return not (name == "list" and given["what"] not in ("algorithms", "schemes"))


def _asks(given: dict[str, Any], network: Any) -> bool:
    """Return whether there is a task, with rules and costs that go with each other, and an algorithm for it."""
    from dataclasses import fields

    from gossamer.cli.options import OF_SECONDS
    from gossamer.planning.planner import rules_and_cost
    from gossamer.planning.switching import SWITCHINGS, named
    from gossamer.planning.usual_algorithms import meant
    from gossamer.questions.costs import TimeCost
    from gossamer.questions.rules import Rules
    from gossamer.questions.tasks.parsing import TaskWords, asked_task

    told = {key: getattr(value, "value", value) for key, value in given.items() if value is not None}
    if told.get("steps") and told.keys() & OF_SECONDS:
        return False
    if isinstance(told.get("bytes"), str):  # of several sizes, the first
        told["bytes"] = re.split(r"[:,]|\.\.", told["bytes"])[0]
    own = {field.name for field in fields(TaskWords)}
    task = asked_task(given["task"], {k: v for k, v in told.items() if k in own}, network, told.get("seed", 0))
    switching = told.get("switching", "store-and-forward")
    known = {f.name for s in SWITCHINGS.values() for c in s.cost_types for f in fields(c)}
    known |= {name for s in SWITCHINGS.values() for name in s.rules}
    how = rules_and_cost(switching, {k: v for k, v in told.items() if k in known})
    if isinstance(how["cost"], TimeCost):
        how["cost"].on(network, task)
    kind, algorithm = named(switching), told.get("algorithm", "best")
    if algorithm != "best":
        case = kind.case(network, task, how.get("rules"), None, 0)
        if not any(a.covers(case) for a in kind.algorithms(type(task)) if a.name == algorithm):
            cut = isinstance(how["cost"], TimeCost) and not how["cost"].whole
            meant(algorithm, network, task, how.get("rules") or Rules(), switching, exactly=not cut)
    return told.get("effort", "search") in ("closed form", "search", "solver")


def msccl_ranks(path: str | None) -> str | None:
    """Return a network on which an MSCCL file's ranks can send to all others; None if it is no such file."""
    if path is None or Path(path).suffix.lower() != ".xml" or not Path(path).is_file():
        return None
    with Path(path).open(encoding="utf-8", errors="replace") as file:
        found = re.search(r'<algo\b[^>]*\bngpus="(\d{1,3})"', file.read(4096))
    return None if found is None else f"complete:{found[1]}"
