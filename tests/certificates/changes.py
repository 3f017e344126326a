"""Certificates with something changed: whatever is still accepted, gossamer's own checker must accept, too.

``python tests/certificates/changes.py 0 10000`` tries so many changed certificates, those of these seeds.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

import gossamer_check
from certificates.judge import NotComparableError, items_of, judged
from certificates.samples import sample
from gossamer.errors import ScheduleError
from gossamer.planning.certificates import certificate, certificate_text

Data = dict[str, Any]


def near(rng: random.Random, value: int) -> int:
    """A number near to another, or any small one."""
    return value + rng.choice([-1, 1]) if rng.random() < 0.6 else rng.randint(-1, 12)


def change_row(rng: random.Random, data: Data) -> None:
    """Change one number of a row, or two of them, or a row, or what it carries."""
    plan = data["schedule"]
    columns = ["slot", "link", "packet", "carries"]
    count = len(plan["slot"])
    if not count:
        return
    row, how = rng.randrange(count), rng.choice(["value"] * 4 + ["swap", "drop", "double", "carry", "carry"])
    if how == "value":
        name = rng.choice(columns[:3])
        plan[name][row] = near(rng, plan[name][row])
    elif how == "swap":
        name, other = rng.choice(columns), rng.randrange(count)
        plan[name][row], plan[name][other] = plan[name][other], plan[name][row]
    elif how == "drop":
        for name in columns:
            del plan[name][row]
    elif how == "double":
        for name in columns:
            plan[name].insert(row, copy.deepcopy(plan[name][row]))
    else:
        parts = list(plan["carries"][row])
        if parts and rng.random() < 0.4:
            parts[rng.randrange(len(parts))] = rng.randint(-1, row)
        elif not parts or rng.random() < 0.5:
            parts.append(rng.randint(-1, row))
        else:
            parts.pop(rng.randrange(len(parts)))
        plan["carries"][row] = parts
    if how in ("drop", "double") and rng.random() < 0.8:  # rows behind it have other numbers now
        shift = -1 if how == "drop" else 1

        def moved(k: int) -> int:
            return k + shift if k >= row + (how == "drop") else k

        plan["carries"] = [list(map(moved, c)) for c in plan["carries"]]


def change_network(rng: random.Random, data: Data) -> None:
    """Change a number of the network, or leave a link out of a port."""
    given = data["network"]
    name = rng.choice(["ranks", "nodes", "source", "target", "capacity", "occupancy", "latency", "shared"])
    if name == "shared" and given.get("shared"):
        port = rng.choice(given["shared"])
        what = rng.choice(["links", "capacity", "occupancy", "receiving"])
        if what == "links" and port["links"]:
            port["links"].pop(rng.randrange(len(port["links"])))
        elif what == "receiving":
            port["receiving"] = not port["receiving"]
        elif what != "links":
            port[what] = near(rng, port[what])
    elif name in ("ranks", "nodes"):
        given[name] = near(rng, given[name])
    elif name != "shared":
        if isinstance(given[name], int):
            given[name] = [given[name]] * len(given["source"])
        place = rng.randrange(len(given[name]))
        given[name][place] = near(rng, given[name][place])


def change_rules(rng: random.Random, data: Data) -> None:
    """Change a rule."""
    name = rng.choice(list(data["rules"]))
    value = data["rules"][name]
    if isinstance(value, bool):
        data["rules"][name] = not value
    elif name == "buffer_counts":
        data["rules"][name] = rng.choice(["all", "transit"])
    else:
        data["rules"][name] = rng.choice([None, 1, 1, 2])


def change_task(rng: random.Random, data: Data) -> None:
    """Change an item, leave one out, or ask for one twice."""
    if "name" in data["task"] and rng.random() < 0.4:
        name = rng.choice(["packets", *(["root"] if "root" in data["task"] else [])])
        data["task"][name] = near(rng, data["task"][name])
        return
    try:
        items, ranks = copy.deepcopy(items_of(data)), data["network"]["ranks"]
    except (LookupError, TypeError, ZeroDivisionError):  # what was changed before makes no sense
        return
    data["task"] = {"items": items}
    if not items:
        return
    item, how = rng.choice(items), rng.choice(["kind", "from", "to", "from", "to", "packets", "drop", "double"])
    if how == "kind":
        item["kind"] = "sum" if item["kind"] == "copy" else "copy"
    elif how == "packets":
        item["packets"] = near(rng, item["packets"])
    elif how == "drop":
        items.remove(item)
    elif how == "double":
        items.append(copy.deepcopy(item))
    else:
        if rng.random() < 0.5 and item[how]:
            item[how][rng.randrange(len(item[how]))] = rng.randrange(max(ranks, 1))
        elif rng.random() < 0.5 and item[how]:
            item[how].pop()
        else:
            item[how].append(rng.randrange(max(ranks, 1)))


def change_time(rng: random.Random, data: Data) -> None:
    """Change the length of slots, the claim, or how the schedule repeats."""
    plan, how = data["schedule"], rng.choice(["claim", "slot", "again"])
    if how == "claim":
        data["claim"]["time"] = str(abs(Fraction(data["claim"]["time"]) + rng.choice([Fraction(-1, 2), -1, 1])))
    elif how == "slot":
        data["time"]["slot"] = str(Fraction(data["time"]["slot"]) * rng.choice([Fraction(1, 2), 2]))
    else:
        name = rng.choice(["period", "generations"])
        plan[name] = near(rng, plan.get(name, 1))


def change_symmetry(rng: random.Random, data: Data) -> None:
    """Change a permutation."""
    given = data.get("symmetry")
    if given is None:
        return
    lists = given[rng.choice(["generators", "generators", "commuting"])]
    if not lists:
        return
    which, how = rng.randrange(len(lists)), rng.choice(["swap", "swap", "value", "drop", "product", "double"])
    p = lists[which]
    a, b = rng.randrange(len(p)), rng.randrange(len(p))
    if how == "swap":
        p[a], p[b] = p[b], p[a]
    elif how == "value":
        p[a] = near(rng, p[a])
    elif how == "drop":
        lists.pop(which)
    elif how == "product":
        lists[which] = [p[v % len(p)] for v in rng.choice(lists)]
    else:
        lists.append(list(p))


CHANGES = (change_row, change_row, change_row, change_network, change_rules, change_task, change_time, change_symmetry)


def changed(seed: int, data: Data) -> Data:
    """Return the certificate with one to three things changed; its claim is often made to fit again."""
    rng = random.Random(seed)
    data = json.loads(json.dumps(data))
    for _ in range(rng.choice([1, 1, 2, 3])):
        rng.choice(CHANGES)(rng, data)
    if rng.random() < 0.6:
        plan, net = data["schedule"], data["network"]
        takes = [[x] * len(net["source"]) if isinstance(x, int) else x for x in (net["occupancy"], net["latency"])]
        links = min(map(len, takes))
        for row, e in enumerate(plan["link"]):  # results are there when all of them is
            if e >= len(net["source"]):
                rows = [k for k in plan["carries"][row] if 0 <= k < row and 0 <= plan["link"][k] < links]
                plan["slot"][row] = max(
                    [plan["slot"][k] + sum(each[plan["link"][k]] for each in takes) for k in rows], default=0
                )
        ends = [
            t + sum(each[e] for each in takes)
            for t, e in zip(plan["slot"], plan["link"], strict=True)
            if 0 <= e < links
        ]
        last = max(ends, default=0) + ((plan.get("generations") or 1) - 1) * (plan.get("period") or 1)
        data["claim"]["time"] = str(max(last, 0) * Fraction(data["time"]["slot"]))
    return data


def verdict(data: Data) -> str:
    """Return "refused", "accepted" by both, "not comparable", or "wrong: " and why the other refuses."""
    try:
        gossamer_check.check(certificate_text(data))
    except gossamer_check.Refused:
        return "refused"
    try:
        reason = judged(data)
    except NotComparableError as error:
        return f"not comparable: {str(error)[:60]}"
    return "accepted" if reason is None else f"wrong: {reason}"


def tried(seeds: range, of_each: int = 20) -> Counter[str]:
    """Return the verdicts of changed certificates, a few of each schedule."""
    found: Counter[str] = Counter()
    data: Data = {}
    for seed in seeds:
        if seed % of_each == 0 or not data:
            try:
                data = certificate(sample(seed // of_each), [])
            except ScheduleError as error:
                found[f"no certificate: {error}"] += 1
                continue
        new = changed(seed, data)
        told = verdict(new)
        found[told] += 1
        if told.startswith("wrong") and __name__ == "__main__":
            print(seed, told)
    return found


if __name__ == "__main__":
    for line, count in tried(range(int(sys.argv[1]), int(sys.argv[2]))).most_common():
        print(f"{count:>7}  {line[:150]}")
