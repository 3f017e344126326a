"""The options of all commands together: one name means one thing, and each stands under a heading."""

from __future__ import annotations

from collections import defaultdict

import pytest

from command_lines import tree
from gossamer.cli.options import HEADINGS

SEVERAL = {
    "--output": "each command says what it writes, and with which suffixes",
    "--algorithm": "by which a task is planned; the one that is explained",
    "--network": "of a foreign schedule; of the one imported, which needs it; networks with braces of a sweep",
    "--task": "what is listed; of a foreign schedule; what a network is designed for, with weights; tasks of a sweep",
    "--without": "a repair says only which links failed",
    "--bytes": "of a collective; of a message; several sizes",
    "--bandwidth": "of all links, where a network has none of its own, and which default there is then",
    "--latency": "as --bandwidth",
    "--overhead": "of each packet on a link; at each end of a message, in LogGP",
    "--memory": "of a plan; of all points of a sweep",
    "--budget": "of a plan; of a design",
    "--ports": "of a design a word for several rules",
    "--destinations": "of a task, several for a node; of random traffic, one for a node",
    "--pattern": "of a task; of random traffic, where it may be uniform",
    "--demands": "of a task; of random traffic",
    "--traffic": "of a task; shares of requests",
    "--segmented": "a rule; of a scheme of random arrivals",
    "--control-time": "a cost; of a scheme of random arrivals",
    "--kind": "of a picture; of the points of a sweep",
    "--nodes": "of ranks; of a design; where requests arrive",
    "--rank": "of which slots are told; that this machine runs",
    "--load": "a load factor; flits per node and cycle",
    "--burst": "in steps on and off; in cycles",
    "--trace": "of requests; of messages",
    "--steps": "of a plan, its unit; of random arrivals, how many",
    "--warmup": "in steps; in cycles",
}
"""Names of options that mean several things, and which."""


def options():
    """Yield every option of every command, with the words of the command."""
    for name, (command, _) in tree()[2].items():
        if not hasattr(command, "list_commands"):
            for parameter in command.params:
                if parameter.param_type_name == "option":
                    yield name, parameter


def meaning(parameter):
    """Return the help of an option without its default, its type and its metavar."""
    kind = getattr(parameter, "type_descriptor", None) or getattr(parameter, "type", None)
    members = getattr(getattr(kind, "annotation", None), "__members__", None)
    words = tuple(map(str, members.values())) if members else tuple(getattr(kind, "choices", None) or ())
    name = getattr(kind, "name", None) or type(kind).__name__
    return (parameter.help or "").partition(" Default")[0], name, tuple(map(str, words)), parameter.metavar


def test_an_option_of_one_name_is_declared_alike_in_all_commands():
    found = defaultdict(lambda: defaultdict(list))
    for command, parameter in options():
        for name in (*parameter.opts, *parameter.secondary_opts):
            if name.startswith("--"):
                found[name][meaning(parameter)].append(command)
    several = {name: dict(ways) for name, ways in found.items() if len(ways) > 1}
    unlike = {name: ways for name, ways in several.items() if name not in SEVERAL}
    assert not {name for name in unlike if not name.startswith(("--no-", "--unsegmented"))}, unlike
    assert set(SEVERAL) <= set(several)


def test_every_option_stands_under_a_heading():
    for command, parameter in options():
        heading = getattr(parameter, "rich_help_panel", None) or "Options"
        assert heading in HEADINGS, (command, parameter.opts)


@pytest.mark.parametrize("command", ["plan", "compare", "bounds", "faults", "simulate traffic", "simulate arrivals"])
def test_a_command_of_many_options_has_none_without_a_heading(command):
    assert [p.opts for name, p in options() if name == command and not p.rich_help_panel] == []


OTHERWISE = {
    "options": "several of them are given one by one, as --option h=5",
    "output": "what is printed in Python is written by a method",
}
"""Parameters whose options have other names, and why."""


def test_an_option_has_the_name_that_it_has_in_python():
    from gossamer.cli.old_spellings import OPTIONS

    for command, parameter in options():
        words = parameter.opts[0] if parameter.opts[0].startswith("--") else parameter.opts[-1]
        if parameter.name in OTHERWISE or parameter.name == "help":
            continue
        assert words == f"--{parameter.name.rstrip('_').replace('_', '-')}", (command, parameter.opts)
        assert words not in {old for command, old, _ in OPTIONS if not command}


def test_python_has_the_words_of_the_command_line_and_the_old_ones():
    import inspect
    from dataclasses import fields

    import gossamer
    from gossamer.questions.tasks.parsing import TaskWords

    plan = set(inspect.signature(gossamer.plan).parameters)
    kinds = (gossamer.Rules, gossamer.StepCost, gossamer.TimeCost, gossamer.LinearCost, TaskWords)
    fields_of = {f.name for kind in kinds for f in fields(kind)}
    of_plan = {p.name for name, p in options() if name == "plan"}
    apart = {
        "steps",
        "certificate",
        "help",
        "output",
        "kind",
        "json",
        "without",
        "style",
        "width",
        "title",
        "verbose",
    }
    assert of_plan - plan - fields_of <= apart
    assert gossamer.task("allgather", chunks=2) == gossamer.task("allgather", packets=2)
    assert gossamer.Rules(segmented=True) == gossamer.Rules(split=True)
