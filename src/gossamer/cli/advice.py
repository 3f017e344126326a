"""What to type next after an error: the command as it was meant, or one that tells what there is.

A command is proposed only if it is understood: its network can be built, its task exists, its files are there. What
people type for what is here called otherwise stands in `gossamer.cli.old_spellings`.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from gossamer.cli.command_group import EXAMPLES
from gossamer.cli.command_line import OF_SCHEDULES, OF_TASKS, CommandLine, Words, msccl_ranks, understood
from gossamer.cli.files import FOREIGN
from gossamer.cli.old_spellings import (
    COMMANDS_MEANT,
    FORMATS_MEANT,
    NCCL_TESTS,
    OPTIONS_MEANT,
    VALUES_MEANT,
    meant_network,
)
from gossamer.errors import (
    FileFormatError,
    GossamerError,
    NetworkError,
    NotApplicableError,
    TaskError,
    TooLargeError,
    VerificationError,
    nearest,
)

_MEANT = re.compile(r"'([^']+)'[^']*\(did you mean '([^']+)'\?\)")
_TOO_FEW = re.compile(r"\bneeds (\w+) of at least (\d+)\b")
_TAKE = re.compile(r"; take (--[\w-]+) ([\w-]+)")
_NO_OPTION = re.compile(r"[Nn]o option (-[\w-]+)")
_OUTSIDE = re.compile(r"\b(-?\d+)\.\.(-?\d+)(?:, got '?(-?\d+)'?)?")
_SUCH_AS = re.compile(r"\bsuch as (\w[^\s,;']*)[^']*, got '([^']+)'")
_ONE_OF = re.compile(r"(?:is not one of|must be) ('[^']+'(?:(?:, | or )'[^']+')*)")
_AT_A_STEP = re.compile(r"threadblock \d+, step \d+")
"""Where a program is at fault, which no other command mends."""
_NAMES_NEXT = re.compile(r"gossamer [a-z-]+ |pip install|'gossamer [a-z ]+'|\bsee gossamer\b")
_LISTS = (
    (NetworkError, "gossamer list networks"),
    (TaskError, "gossamer list tasks"),
    (NotApplicableError, "gossamer list algorithms"),
    (TooLargeError, "gossamer plan -h"),
    (VerificationError, "gossamer verify -h"),
)
_ELSEWHERE = re.compile(r"terminals|no link|judged|no task|says itself|custom collective|name (a|the|it)\b")
"""What texts have that tell of a program that it goes with another network or task."""
_EXTRA = re.compile(r"extra arguments?(?:\(s\))? \((.*?)\)")
_LONG_TEXT = 240
"""Characters from which on a text with many reasons tells a few of them."""
_LIKE = 0.85
"""How alike the names of a file that is missing and of one that is there must be, from 0 to 1."""
_LIKE_OPTION = 0.7
"""The same of the names of options, without dashes."""
_BY_SUFFIX = {".xml": "msccl-xml", ".json": "json", ".csv": "csv", ".goal": "goal"}
"""Formats of files by their suffixes."""
_EXPORTED = {
    "json": "plan.json", "csv": "plan.csv", "goal": "plan.goal", "perfetto": "plan.json", "chakra": "traces",
    "astra-sim": "traces",
}  # fmt: skip
"""Files or folders of formats, for proposals."""
_FIELDS = {
    "--active": ("--active", "all"),
    "--pattern": ("--pattern", "random"),
    "--traffic": ("--traffic", "uniform"),
}
"""What a task that needs more than its name may be given."""


def with_advice(text: str, arguments: Sequence[str], error: Exception | None = None) -> str:
    """Return the text of an error with what to type next, where it does not say so itself.

    * `text`: what was wrong, in one line.
    * `arguments`: what was typed after ``gossamer``.
    * `error`: what was raised; bad usage of the command line if it is none of gossamer's errors.

    >>> with_advice("unknown task 'algather' (did you mean 'allgather'?)", ["plan", "torus:8x8", "algather"])
    "unknown task 'algather' (did you mean 'allgather'?); try: gossamer plan torus:8x8 allgather"
    >>> with_advice("unknown network family 'torus8x8'", ["plan", "torus8x8", "allgather"])
    "unknown network family 'torus8x8'; try: gossamer plan torus:8x8 allgather"
    >>> with_advice("routing needs virtual_channels of at least 4 here", ["deadlock", "ring:4"])
    'routing needs virtual_channels of at least 4 here; try: gossamer deadlock ring:4 --virtual-channels 4'
    """
    line = CommandLine(list(arguments))
    text = _few_reasons(text, error)
    in_the_file = isinstance(error, FileFormatError) and _in_the_file(text, line)
    if "pip install" in text or in_the_file or _AT_A_STEP.search(text):
        return text
    with suppress(Exception):  # whatever was typed: what was wrong with it is said in any case
        proposal, text = _proposal(text, line), _too_many(text, line)
        if proposal.startswith("sed "):
            text = f"{line.argument(0)!r} has commas; a list of edges has spaces between the names, as in 'a b 50GB/s'"
        if proposal:
            return _told(text, proposal)
    if _NAMES_NEXT.search(text):
        return text
    return f"{text}; try: {_next(text, line, error)}"


def _in_the_file(text: str, line: CommandLine) -> bool:
    """Return whether the fault is in the program of another tool, so that no other network or option mends it."""
    subject = line.argument(0)
    if subject is None or line.name not in (*OF_SCHEDULES, "import") or Path(subject).suffix.lower() not in FOREIGN:
        return False
    return Path(subject).is_file() and text.startswith(f"'{subject}'") and not _ELSEWHERE.search(text)


def _proposal(text: str, line: CommandLine) -> str:
    """Return the likeliest command that is understood; empty if there is none."""
    for words in _meant(text, line):
        more = ["--bandwidth", "50GB/s"] if "--bytes" in words and "--bandwidth" not in words else []
        for each in (words, [*words, *more]):
            if each != line.words and understood(each):
                return _typed(each)
    return _written_and_exported(text, line) or _with_ranks(text, line) or _with_spaces(text, line)


def _told(text: str, proposal: str) -> str:
    """Return a text with a proposal, and without another one that the text has itself."""
    hint = re.search(r" \(did you mean '([^']+)'\?\)", text)
    if hint and hint[1] not in proposal:
        text = text.replace(hint[0], "", 1)
    return f"{text}; try: {proposal}"


def _few_reasons(text: str, error: Exception | None) -> str:
    """Return a text without most of its reasons, where each algorithm has one."""
    reasons = text.split("; ")
    if not isinstance(error, NotApplicableError) or len(text) < _LONG_TEXT or len(reasons) < 4:
        return text
    return f"{'; '.join(reasons[:3])}; and {len(reasons) - 3} more"


def _too_many(text: str, line: CommandLine) -> str:
    """Return a text that says which words are too many with what the command takes, where that is a network first."""
    spec = line.argument(0) or ""
    if "unknown parameter" in text and spec.count(":") > 1 and line.takes_network:
        return f"{spec.partition(':')[0]}: commas stand between parameters, not colons, got {spec!r}"
    files = "unknown task" in text and line.name in OF_TASKS
    if not (files or _EXTRA.search(text)) or not line.takes_network:
        return text
    words = [word for i in range(len(line.places)) if (word := line.argument(i)) is not None]
    if len(words) > 1 and all(Path(word).is_file() for word in words[:2]):
        return f"two files are given, {words[0]!r} and {words[1]!r}; a network is one of them"
    if files or len(words) > 5:
        return text
    takes = "a network, such as torus:4x4"
    if line.name in OF_TASKS:
        takes = "a network and a task, such as torus:4x4 allgather"
    return f"{line.name} takes {takes}; got {len(words)} words: {' '.join(words)}"


def _typed(words: Sequence[str]) -> str:
    return f"gossamer {shlex.join(words)}"


# What may have been meant, the likeliest first.


def _meant(text: str, line: CommandLine) -> Iterator[Words]:
    yield from _commands_meant(line)
    yield from _of_nccl_tests(line)
    spec = line.argument(0) or ""
    if spec.count(":") > 1 and line.takes_network:  # colons between parameters
        name, _, given = spec.partition(":")
        yield line.changed({line.places[0]: f"{name}:{given.replace(':', ',')}"})
    if "unknown parameter" in text or re.search(r": \w+ must be a whole number in", text):  # of a network
        yield from _misspelt(text, line)
        yield from _values_meant(text, line)
    yield from _options_meant(text, line)
    yield from _with_extra(text, line)
    yield from _subjects_meant(line)
    yield from _formats_meant(text, line)
    yield from _algorithms_meant(text, line)
    yield from _misspelt(text, line)
    yield from _fields_meant(text, line)
    yield from _values_meant(text, line)
    yield from _files_meant(text, line)


def _commands_meant(line: CommandLine) -> Iterator[Words]:
    """Yield the command that a word which is none is used for elsewhere."""
    if not line.name and line.words:
        if line.words[0].endswith("_perf"):  # a program of nccl-tests
            words = ["plan", "dgx-h100", *line.words]
            yield from _of_nccl_tests(CommandLine(words))
            yield words[:3]
        if line.words[0] == "man" and line.words[1:2] and line.words[1] in EXAMPLES:
            yield [line.words[1], "-h"]
        meant = COMMANDS_MEANT.get(line.words[0].lower().replace("_", "-"))
        if meant is not None:
            yield [*meant.split(), *line.words[1:]]
            yield from _subjects_meant(CommandLine([*meant.split(), *line.words[1:]]))
            yield [*meant.split(), "-h"]


def _of_nccl_tests(line: CommandLine) -> Iterator[Words]:
    """Yield the line with the sizes that the options of nccl-tests say, and without its other options."""
    said: dict[str, str] = {}
    words = list(line.words)
    for place in range(len(words) - 1, 0, -1):
        name, value = words[place].lstrip("-"), next(iter(words[place + 1 : place + 2]), "")
        summed = words[place] == "-o" and value in ("sum", "prod", "min", "max", "avg", "all", "mulsum")
        if summed or (words[place].startswith("-") and name in NCCL_TESTS and words[place] not in line.options):
            said[NCCL_TESTS.get(name, "other")] = value
            del words[place : place + 2]
    sizes = [said[name] for name in ("first", "last") if name in said]
    if sizes:
        yield [*words, "--bytes", ":".join(dict.fromkeys(sizes)), "--bandwidth", "50GB/s"]
        yield [*words, "--bytes", ":".join(dict.fromkeys(sizes))]
    elif len(line.words) - len(words) > 2:
        yield words


def _options_meant(text: str, line: CommandLine) -> Iterator[Words]:
    """Yield the line with the option that the text names, with that which a wrong one is called here, or without it."""
    if named := _TAKE.search(text):
        yield line.with_option(named[1], named[2])
    found = _NO_OPTION.search(text)
    if found is None:
        return
    wrong = found[1]
    if len(wrong) == 2:  # a word with one dash is taken for several letters
        long = [w.partition("=")[0] for w in line.words if re.match(rf"{wrong}\w", w)]
        wrong = next(iter(long), wrong)
    place = next((i for i, word in enumerate(line.words) if word == wrong or word.startswith(f"{wrong}=")), None)
    if place is None:
        return
    value = line.words[place].partition("=")[2] or next(iter(line.words[place + 1 : place + 2]), "")
    key = wrong.lstrip("-").lower().replace("_", "-")
    meant = OPTIONS_MEANT.get(key)
    near = nearest(wrong, [o for o in line.options if o.startswith("--")])
    others = [m[1] for m in [re.search(r"'(--[^']+)'", near)] if m]
    others = [o for o in others if difflib.SequenceMatcher(None, key, o[2:]).ratio() >= _LIKE_OPTION]
    others += [o for o in line.options if o.startswith(f"--{key}") or o == f"--{key}s"]
    for new in [*([] if meant is None else meant.split("|")), *others]:
        if not new:
            yield line.without_option(wrong)
        elif " " in new:  # with its value
            yield from ([*line.without_option(wrong), *new.split()], [*_only(line, wrong), *new.split()])
        elif new.startswith("="):  # an argument, not an option
            yield _as_argument(line, wrong, value, new[1:])
        else:
            changed = CommandLine(line.changed({place: line.words[place].replace(wrong, new, 1)}))
            yield changed.words
            number = re.fullmatch(r"([0-9.]+)[a-z]+", value)
            if number:
                yield from _replaced(changed, value, number[1])
            if new == "--bytes":
                yield changed.with_option("--bandwidth", "50GB/s")
    yield line.without_option(wrong)
    yield _only(line, wrong)
    rest = line
    for word in [w for w in line.words if w.startswith("-") and w.partition("=")[0] not in line.options]:
        rest = CommandLine(rest.without_option(word.partition("=")[0]))
    yield rest.words


def _only(line: CommandLine, option: str) -> Words:
    """Return the words without an option that has no value."""
    return [word for word in line.words if word != option]


def _as_argument(line: CommandLine, option: str, value: str, what: str) -> Words:
    """Return the words with the value of an option as an argument, in the place of a network or of a task."""
    rest = CommandLine(line.without_option(option))
    others = [w for w in ("--network", "--topology", "--task", "--collective", "--topo", "--net") if w in rest.words]
    for other in others:
        words, at = list(rest.words), rest.words.index(other)
        second = words[at + 1] if at + 1 < len(words) else ""
        both = [value, second] if what == "network" else [second, value]
        return [*words[:1], *both, *words[1:at], *words[at + 2 :]]
    at = 1 if what == "network" else 2
    return [*rest.words[:at], value, *rest.words[at:]]


def _misspelt(text: str, line: CommandLine) -> Iterator[Words]:
    """Yield the line with the word that the text says was meant, or with enough of what the text says is too little."""
    few = _TOO_FEW.search(text)
    if few:
        yield line.with_option(f"--{few[1].replace('_', '-')}", few[2])
    found = _MEANT.search(text)
    if found is not None:
        given, meant = found[1], found[2]
        for place, word in enumerate(line.words):
            if re.search(rf"(?<!\w){re.escape(given)}(?!\w)", word):
                words = line.changed({place: word.replace(given, meant, 1)})
                yield words
                yield from _subjects_meant(CommandLine(words))
                return


def _fields_meant(text: str, line: CommandLine) -> Iterator[Words]:
    """Yield the line with an option that the text misses, or without one that it refuses."""
    for option, (name, value) in _FIELDS.items():
        if re.search(rf"needs .*{option}\b", text):
            yield line.with_option(name, value)
    spec = line.argument(0)
    if "needs --counts" in text or "the counts list" in text:
        with suppress(GossamerError):
            from gossamer.networks import as_network

            yield line.with_option("--counts", ",".join(["1"] * min(as_network(spec).terminal_count, 64)))
    takes_none = re.search(r"takes no (--[\w-]+)", text)
    if takes_none:
        yield line.without_option(takes_none[1])
    if "goes with --bytes" in text:
        yield line.with_option("--bytes", "1MiB")
    if "has no bandwidth" in text:
        yield line.with_option("--bandwidth", "50GB/s")
    switching = re.search(r"goes with --switching ([\w-]+)", text)
    if switching:
        yield line.with_option("--switching", switching[1])
    if "--load" in text and line.name.startswith("simulate"):
        yield line.with_option("--load", "0.5")
    if line.name == "replan" and "Missing" not in text:
        yield line.with_option("--without", "random-links:1")
    if "Missing option" in text:
        yield from _option_missing(text, line)
    if "requires an argument" in text:
        yield line.words[:-1]
        yield _only(line, line.words[-1])
    if "a network goes with algorithms" in text:
        yield line.words[:2]
    extra = _EXTRA.search(text)
    if extra:
        yield [word for word in line.words if word not in extra[1].split()]


def _with_extra(text: str, line: CommandLine) -> Iterator[Words]:
    """Yield the line with words that are too many as the unit of the number before them, or as the network."""
    found = _EXTRA.search(text)
    if found is None:
        return
    extra = found[1].split()
    for place, word in enumerate(line.words[1:], 1):
        if word == extra[0] and re.fullmatch(r"\d+(\.\d+)?", line.words[place - 1]):
            yield [*line.words[: place - 1], line.words[place - 1] + word, *line.words[place + 1 :]]
    rest = [word for place, word in enumerate(line.words) if place not in line.places[-len(extra) :]]
    first = extra[-1].rpartition("=")[2]
    if line.name in OF_SCHEDULES and Path(extra[0]).is_file() and "--network" not in line.words:
        yield [*(word for word in line.words if word not in extra), "--network", extra[0]]
    if line.name in OF_SCHEDULES and Path(str(line.argument(1))).is_file() and "--network" in line.options:
        second = str(line.argument(1))
        for network in (str(line.argument(0)), msccl_ranks(second) or "none"):
            yield [line.words[0], second, "--network", network]
    sizes = [word for word in extra if re.fullmatch(r"\d+(\.\d+)?([kKMGT]i?)?B", word)]
    rates = [word for word in extra if re.fullmatch(r"\d+(\.\d+)?[kKMGT]?(B|b|bit)(/s|ps)", word)]
    if "--bytes" in line.options and sizes:
        yield [*rest, "--bytes", sizes[0], *(["--bandwidth", rates[0]] if rates else [])]
    if line.name in OF_TASKS and len(line.places) > 2:  # a task of several words
        task = "-".join(line.words[line.places[1] : line.places[-1] + 1])
        yield [*line.words[: line.places[1]], task, *line.words[line.places[-1] + 1 :]]
    if "--root" in line.options and first.isdecimal():
        yield [*rest, "--root", first]
    written = re.fullmatch(r"[\w./-]+\.(svg|png|pdf|parquet|txt|html|csv|json)", first)
    if Path(first).is_file() and Path(first).suffix in (".txt", ".json") and not _is_schedule(first):
        written = None  # a network, not to be written over
    if "--output" in line.options and written:
        yield [*rest, "-o", first]
    if line.name == "sweep run" and len(extra) == 1 and line.argument(0):
        spec = re.sub(r"(\d+)\.\.(\d+)", r"{\1..\2}", str(line.argument(0)))
        yield ["sweep", "--network", spec, "--task", first, "-o", "results.parquet"]
    names = [line.argument(i) or "" for i in range(len(line.places))]
    crossed = names[1:2] == ["x"] and len(names) > 2  # dgx-h100 x 4
    names = [names[0], *names[2:]] if crossed else names
    if len(names) > 1 and line.takes_network:
        more = line.words[line.places[1 + crossed] + 1 :]
        sides = [n for n in names[1:] if n.isdecimal()]
        if len(sides) > 1 and names[1:] in ([*sides], [*sides, names[-1]]):  # torus 8 8
            for spec in (f"{names[0]}:{'x'.join(sides)}", f"{names[0]}:{','.join(sides)}"):
                yield [*line.words[: line.places[0]], spec, *line.words[line.places[len(sides)] + 1 :]]
        numbers = [n.strip("x*") for n in names[:2] if re.fullmatch(r"[x*]?\d[\dx*,^.]*", n)]
        pairs = [f"{name}:{numbers[0]}" for name in names[:2] if numbers and name.strip("x*") not in numbers]
        for spec in (*pairs, *(new for pair in pairs for new in meant_network(pair)), "-".join(names[:2])):
            for kept in (more, more[1:]):
                yield [*line.words[: line.places[0]], spec, *kept]
    for place in reversed(line.places):
        yield [*line.words[:place], *line.words[place + 1 :]]


def _option_missing(text: str, line: CommandLine) -> Iterator[Words]:
    """Yield the line with an option that it must have: as its other words say, or as in the example."""
    output = next((line.words[i + 1] for i, w in enumerate(line.words[:-1]) if w in ("-o", "--output")), "")
    to = _BY_SUFFIX.get(Path(output).suffix.lower())
    if to and "--to" in text:
        yield line.with_option("--to", to)
    second = line.argument(1)
    if second and line.name == "export" and "-o" not in line.words:
        kind = to or next((line.words[i + 1] for i, w in enumerate(line.words[:-1]) if w == "--to"), "")
        kind = kind or _BY_SUFFIX.get(Path(second).suffix, "")
        rest = CommandLine([word for word in line.words if word != second])
        yield [*rest.with_option("--to", kind), "-o", second]
    if second and line.name == "import" and "--network" in text:
        rest = CommandLine([word for word in line.words if word != second])
        for spec in (second, *filter(None, [msccl_ranks(line.argument(0))])):
            yield [*rest.words, "--network", spec, *([] if "-o" in rest.words else ["-o", "back.parquet"])]
    example = shlex.split(EXAMPLES.get(line.name, ""))[1:]
    words = list(line.words)
    for place, word in enumerate(example[:-1]):
        names = {"-o": ("-o", "--output"), "--output": ("-o", "--output")}.get(word, (word,))
        if word.startswith("-") and not any(w in names or w.startswith(f"{word}=") for w in words):
            value = example[place + 1]
            if line.name == "import" and word == "--network":
                value = msccl_ranks(line.argument(0)) or value
            if line.name == "export" and word == "-o" and "--to" in words[:-1]:
                value = _EXPORTED.get(words[words.index("--to") + 1], value)
            words += [word, value]
    yield words


def _values_meant(text: str, line: CommandLine) -> Iterator[Words]:
    """Yield the line with another value: of a few words that are allowed, in a range, or of the form that is asked."""
    listed = _ONE_OF.search(text)
    got = re.findall(r"(?:got |: )'([^']+)'", text)
    if listed is not None:
        allowed = re.findall("'([^']+)'", listed[1])
        for given in [*re.findall(r"'([^']+)' is not one of", text), *got]:
            word = VALUES_MEANT.get(given.lower(), given.lower())
            near = [w for w in allowed if w == word or w.startswith(word) or word.startswith(w)]
            best = re.search(r"'(.*)'", nearest(word, allowed))
            for new in [*near, *([best[1]] if best else []), *allowed]:
                yield from _replaced(line, given, new)
    if "what fails" in text:
        for given in got:
            numbered = re.fullmatch(r"(?:(node|link)s?[=:]?)?(\d+)(?:[:,](\d+))?", given.lower())
            if numbered:
                new = f"links:{numbered[2]}-{numbered[3]}" if numbered[3] else f"nodes:{numbered[2]}"
                yield from _replaced(line, given, new)
            kind, colon, rest = given.partition(":")
            yield from _replaced(line, given, f"{kind.rstrip('s')}s:{rest}" if colon else f"links:{given}")
    if "a link that fails must be" in text:
        for word in [w for w in line.words if re.fullmatch(r"links:\d+,\d+", w)]:
            yield from _replaced(line, word, word.replace(",", "-"))
    unit = re.search(r"must be a number; got '([0-9.]+)[a-z]+'", text)
    if unit:
        yield from _replaced(line, re.findall(r"got '([^']+)'", text)[0], unit[1])
    if "bytes" in text:
        for word in line.words:
            if re.fullmatch(r"(--bytes=)?\d{1,3}(,\d{3})+", word):
                yield from _replaced(line, word, word.replace(",", ""))
            if re.fullmatch(r"\d+\w*-\d+\w*", word):
                yield from _replaced(line, word, word.replace("-", ":"))
    such_as = _SUCH_AS.search(text)
    if such_as:
        yield from _replaced(line, such_as[2], such_as[1])
    outside = _OUTSIDE.search(text)
    if outside:
        low, high = int(outside[1]), int(outside[2])
        given = outside[3] or next(iter(re.findall(r"node (-?\d+) is outside|no node '(-?\w+)'", text)), "")
        value = given if isinstance(given, str) else next(filter(None, given), "")
        number = int(value) if re.fullmatch(r"-?\d+", value) else low
        inside = re.fullmatch(r"-?\d+", value) is not None
        yield from _replaced(line, value, str(min(max(number, low), high)), inside)
    if "whole number" in text and got:
        yield from _replaced(line, got[-1], "1")


def _algorithms_meant(text: str, line: CommandLine) -> Iterator[Words]:
    """Yield the line with the switching, rules and packets that its algorithm needs for the task."""
    found = re.search(r"^algorithm '([^']+)' (?:does not cover|is for|goes with)", text)
    spec, task = line.argument(0), line.argument(1)
    if found is None or line.name not in OF_TASKS or spec is None or task is None:
        return
    from gossamer.networks import as_network
    from gossamer.planning.usual_algorithms import meant
    from gossamer.questions.tasks import Chunked, as_task

    with suppress(GossamerError, OSError):
        chosen = meant(found[1], as_network(spec), task)
        words = [*line.words]
        if chosen.switching not in line.words and chosen.switching != "store-and-forward":
            words += ["--switching", chosen.switching]
        if chosen.rules is not None:
            words += ["--segmented"] if chosen.rules.segmented else ["--ports", chosen.rules.ports]
        if isinstance(chosen.task, Chunked) and chosen.task.task == as_task(task):
            words += ["--chunks", str(chosen.task.packets)]
        if words != line.words:
            yield words


def _formats_meant(text: str, line: CommandLine) -> Iterator[Words]:
    """Yield the line with the format that a word is used for elsewhere, or that the suffix of the file says."""
    found = re.search(r"unknown format '([^']+)'", text)
    if found:
        output = next((line.words[i + 1] for i, w in enumerate(line.words[:-1]) if w in ("-o", "--output")), "")
        by_suffix = _BY_SUFFIX.get(Path(output).suffix.lower())
        meant = FORMATS_MEANT.get(found[1].lower(), None if "did you mean" in text else by_suffix)
        if meant:
            yield from _replaced(line, found[1], meant)


def _replaced(line: CommandLine, given: str, new: str, inside: bool = True) -> Iterator[Words]:
    """Yield the line with a value replaced: a word of its own, after ``=``, or inside a word if that is wanted."""
    for place, word in enumerate(line.words):
        if place and given and (word == given or word.endswith(f"={given}")):
            yield line.changed({place: word[: len(word) - len(given)] + new})
    for place, word in enumerate(line.words):
        if inside and place and given and re.search(rf"(?<!\w){re.escape(given)}(?!\w)", word):
            yield line.changed({place: re.sub(rf"(?<!\w){re.escape(given)}(?!\w)", new, word, count=1)})


def _subjects_meant(line: CommandLine) -> Iterator[Words]:
    """Yield the line with its network, its task or both as they may have been meant, or exchanged."""
    network_at = {"list": 1, "import": None}.get(line.name, 0)
    place = None if network_at is None or network_at >= len(line.places) else line.places[network_at]
    if "--network" in line.words[:-1] and line.name not in ("sweep run",):
        place = line.words.index("--network") + 1
    if place is None or not ("--network" in line.words or line.takes_network):
        return
    spec = line.words[place]
    task = line.argument(1) if line.name in OF_TASKS else None
    subject = line.argument(0)
    if line.name in OF_SCHEDULES and subject and Path(subject).suffix.lower() in (".parquet", ".txt"):
        yield line.without_option("--network")
    together = re.fullmatch(r"(.+?)[/;](\w[\w-]*)", spec)
    apart = re.fullmatch(r"\d[\dx*,^.]*", task or "") if line.name in OF_TASKS else None
    for new in meant_network(f"{spec}:{task}") if apart else ():
        yield [*line.words[:place], new, "allgather", *line.words[line.places[1] + 1 :]]
    if task and Path(spec).is_file() and Path(task).is_file():
        yield [word for i, word in enumerate(line.words) if i != line.places[1]]
        yield line.changed({line.places[1]: "allgather"})
    if task is None and together and line.name in OF_TASKS:
        yield [*line.words[:place], together[1], together[2], *line.words[place + 1 :]]
    specs = [spec] if _is_network(spec) else meant_network(spec)
    if line.name in ("import", "verify") and specs != [spec]:
        specs = [*filter(None, [msccl_ranks(line.argument(0))]), *specs]
    tasks = [task] if task is None or (_is_task(task) and " " not in task) else _tasks_meant(task)
    for new in specs:
        for other in tasks:
            changes = {place: new} | ({} if other is None else {line.places[1]: other.split()[0]})
            words = line.changed(changes)
            yield [*words, *(other.split()[1:] if other else [])]
    if line.name in OF_TASKS and task is None:
        yield [*line.words[: place + 1], "allgather", *line.words[place + 1 :]]
        yield [*line.words[:place], "torus:8x8", *line.words[place:]]


def _is_network(spec: str) -> bool:
    """Return whether a text names a network or a file."""
    from gossamer.networks import network_size

    if Path(spec).is_file():
        return True
    with suppress(GossamerError):
        network_size(spec)
        return True
    return False


def _is_task(word: str) -> bool:
    from gossamer.questions.tasks.parsing import kind_of

    with suppress(GossamerError):
        kind_of(word)
        return True
    return Path(word).is_file()


def _tasks_meant(word: str) -> list[str]:
    """Return tasks with the options that they need, for a word that names none."""
    key = re.sub("^(mpi|ncclx|nccl)", "", re.sub(r"[\s_-]", "", word.lower()))
    from gossamer.questions.tasks import ALIASES, TASKS

    joined = "-".join(word.lower().split())
    if " " in word and _is_task(joined):
        return [joined]
    near = re.search("'(.*)'", nearest(word.lower(), [*TASKS, *ALIASES]) or nearest(key, [*TASKS, *ALIASES]))
    return [t for t in (VALUES_MEANT.get(key), near[1] if near else None) if t]


# Files.


def _files_meant(text: str, line: CommandLine) -> Iterator[Words]:
    """Yield the line with a file that is there, or what makes or reads a file that is missing or of another kind."""
    missing = re.search(r"no such file: '([^']+)'", text)
    subject = line.argument(0)
    if missing is not None:
        path = Path(missing[1])
        folder = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        here = [name for name in folder if Path(name).stem == path.name]
        if path.suffix.lower() in (".xml", ".json", ".goal"):
            here += sorted(name for name in folder if Path(name).suffix == path.suffix)
        if "*" in path.name:
            here += sorted(name for name in folder if path.with_name(name).match(path.name))
        names = [*difflib.get_close_matches(path.name, folder, cutoff=_LIKE), *here]
        for name in names:
            yield from _replaced(line, missing[1], str(path.with_name(name)))
        for name in names:
            yield _imported(str(path.with_name(name)))
    if line.name in OF_SCHEDULES and subject is not None and "--algorithm" not in line.words:
        yield from _schedules_meant(line, subject)
    if line.name in OF_SCHEDULES and subject is None:
        yield _written("plan.parquet", "torus:8x8")
    if line.name in (*OF_TASKS, "network") and subject and Path(subject).is_file():
        if _is_schedule(subject):
            yield ["verify", subject]
        yield _imported(subject)
    target = re.search(r"cannot write '([^']+)'", text)
    if target:
        yield from _replaced(line, target[1], Path(target[1]).name)
    kind = re.search(r"'([^']+)' is of no known kind|the page '([^']+)' must end", text)
    if kind and Path(kind[1] or kind[2]).suffix.lower() not in (".xml", ".json"):
        path = Path(kind[1] or kind[2])
        for suffix in (".html",) if kind[2] else (".parquet", ".svg", ".csv", ".html", ".tex"):
            if f"{suffix}" in text:
                new = path.with_suffix(suffix) if path.name else Path(f"plan{suffix}")
                yield from _replaced(line, kind[1] or kind[2], str(new))


def _schedules_meant(line: CommandLine, subject: str) -> Iterator[Words]:
    """Yield what may be meant by a command of schedules that is given something else."""
    path, second = Path(subject), line.argument(1)
    if second is not None and path.suffix.lower() in (".parquet", ".txt") and path.is_file():
        yield [word for word in line.words if word != second]
    if path.is_file():
        yield _imported(subject)
        yield ["network", subject]
        return
    if second is not None and Path(second).is_file():  # the network first
        yield [line.name, second, subject]
        yield _imported(second)
    if line.name == "draw" and not path.suffix:
        from gossamer.cli.draw import Picture

        plans = [p.name for p in sorted(Path().glob("*.parquet"), key=lambda p: (p.stat().st_size, p.name))]
        if subject in [each.value for each in Picture] and plans:
            yield ["draw", plans[0], "--kind", subject, "-o", f"{subject}.svg"]
    if line.name == "simulate schedule":
        yield ["simulate", "traffic", subject, "--load", "0.1"]
    for spec in (subject, *meant_network(subject)):
        if line.name == "draw":
            yield ["network", spec, "-o", "network.svg"]
        yield _written("plan.parquet", spec)
    name = subject if path.suffix.lower() in (".parquet", ".txt") else "plan.parquet"
    yield _written(name, "torus:8x8")


def _is_schedule(path: str) -> bool:
    """Return whether a file begins as the schedules do that are written here."""
    with Path(path).open("rb") as file:
        return file.read(17).startswith((b"PAR1", b"gossamer schedule"))


def _written(name: str, spec: str) -> Words:
    return ["plan", spec, "allgather", "-o", name]


def _imported(path: str) -> Words:
    """Return the line that checks a schedule of another tool, on a network of all links."""
    return ["verify", path, "--network", msccl_ranks(path) or "none"]


def _written_and_exported(text: str, line: CommandLine) -> str:
    """Return the two commands that write a plan in another tool's format; empty if that is not what was asked for."""
    found = re.search(r"'([^']+\.(xml|json))' is of no known kind", text)
    if found is None or line.name not in ("plan", "replan"):
        return ""
    plan = str(Path(found[1]).with_suffix(".parquet"))
    words = [plan if word == found[1] else word for word in line.words]
    to = "msccl-xml" if found[2] == "xml" else "json"
    if not understood(words):
        return ""
    return f"{_typed(words)} && {_typed(['export', plan, '--to', to, '-o', found[1]])}"


def _with_ranks(text: str, line: CommandLine) -> str:
    """Return the command that runs a schedule with as many ranks as it has nodes; empty if ranks are not the matter."""
    found = re.search(r"has (\d+) \w+; there are \d+ ranks", text)
    return f"mpiexec -n {found[1]} {_typed(line.words)}" if found and line.name == "run" else ""


def _with_spaces(text: str, line: CommandLine) -> str:
    """Return the two commands that make a list of edges of a table with commas and go on with it; empty if it is none.

    Names of columns above the edges go, but for those that lists of edges have, too.
    """
    name = str(line.argument(0))
    if not line.takes_network or not re.search("of no known format|expected '", text) or not Path(name).is_file():
        return ""
    with Path(name).open(encoding="utf-8-sig", errors="replace") as file:
        first, second = (re.split(r"\s*([,;])\s*", file.readline(10_000).strip()) for _ in range(2))
    if len(first) < 3 or (second != [""] and len(second) < 3):
        return ""
    ends = ("source", "target", "src", "dst", "from", "to", "node1", "node2", "u", "v")
    headed = all(word.lower().strip('"') in ends for word in first[:3:2])
    known = headed and len(first) > 3 and set(first[::2]) <= {"source", "target", "capacity", "bandwidth", "latency"}
    places = [Path(name).with_name(f"{Path(name).stem}{end}") for end in (".edges", ".txt", "-spaced.txt")]
    new = str(next((place for place in places if not place.exists()), places[-1]))
    sed = f"{'1d;' if headed and not known else ''}s/{first[1]}/ /g"
    then = ["gossamer", *(new if word == name else word for word in line.words)]
    if "--bytes" in then and "--bandwidth" not in then and not re.search(r"(B|b|bit)(/s|ps)\b", " ".join(second)):
        then += ["--bandwidth", "50GB/s"]
    return f"sed {shlex.quote(sed)} {shlex.quote(name)} > {shlex.quote(new)} && {shlex.join(then)}"


# Where nothing better is known.


def _next(text: str, line: CommandLine, error: Exception | None) -> str:
    command, arguments = line.name, line.words
    example = EXAMPLES.get(command, "gossamer -h")
    if ("Missing argument" in text or "Missing option" in text) and understood(shlex.split(example)[1:]):
        return example
    told = next((words for kind, words in _LISTS if isinstance(error, kind)), None)
    if isinstance(error, FileFormatError) or not command:
        return f"gossamer {command} -h" if command else "gossamer -h"
    if isinstance(error, NotApplicableError) and command in OF_TASKS and len(line.places) > 1:
        words = ["list", "algorithms", str(line.argument(0)), "--task", str(line.argument(1))]
        if understood(words):
            return _typed(words)
    if isinstance(error, TaskError) and "unknown task" not in text:
        return f"gossamer {command} -h"
    if isinstance(error, NotApplicableError) and command == "export":
        return "gossamer list formats"
    if told and not _typed(arguments).startswith(told):
        return told
    return f"gossamer {command} -h"
