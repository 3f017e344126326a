"""The rotating slice of slow tests, and the settings of the property tests."""

from __future__ import annotations

import datetime
import os
import zlib

import hypothesis

SLICES = 10

hypothesis.settings.register_profile("gossamer", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("gossamer")


def pytest_addoption(parser):
    parser.addoption(
        "--slow", choices=("all", "none", "slice"), default="slice",
        help=f"which of the tests marked slow to run; slice (default): one in {SLICES}, another every day",
    )  # fmt: skip


def mark_exhaustive(items):
    """Mark the cases of exhaustive tests as slow, all but the given number of each, drawn once and for all by name."""
    cases = {}
    for item in items:
        if item.get_closest_marker("exhaustive"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for found in cases.values():
        always = found[0].get_closest_marker("exhaustive").kwargs["always"]
        for item in sorted(found, key=lambda item: zlib.crc32(item.name.encode()))[always:]:
            item.add_marker("slow")


def pytest_collection_modifyitems(config, items):
    mark_exhaustive(items)
    which = config.getoption("--slow")
    if which == "all":
        return
    today = datetime.date.today().toordinal() % SLICES

    def kept(item):
        if "slow" not in item.keywords:
            return True
        return which == "slice" and zlib.crc32(item.nodeid.encode()) % SLICES == today

    dropped = [item for item in items if not kept(item)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if kept(item)]
