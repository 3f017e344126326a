"""Every sample of every format, damaged: cut, emptied, numbers replaced; each ends in a network or in one line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gossamer
from gossamer.errors import GossamerError
from gossamer.networks import read_network
from gossamer.networks.network import Network
from gossamer.networks.routing_tables import read_routing_table

DATA = Path(__file__).parents[2] / "data"
NETWORKS = sorted((DATA / "networks").iterdir())
NUMBER = re.compile(r"\d+(?:\.\d+)?")
OTHERS = ("-1", "0", "99999999999999999999", "1e400", "nan", "x", "")
"""What numbers are replaced by."""


def damaged(text: str, seed: int):
    """Yield the empty text, cut ones, ones without a line or with one twice, and ones with another number."""
    rng = np.random.default_rng(seed)
    yield ""
    for cut in rng.integers(1, len(text), 4).tolist():
        yield text[:cut]
    lines = text.splitlines(keepends=True)
    for k in rng.integers(0, len(lines), 4).tolist():
        yield "".join(lines[:k] + lines[k + 1 :])
        yield "".join([*lines[: k + 1], *lines[k:]])
    places = list(NUMBER.finditer(text))
    for each in (places[k] for k in rng.integers(0, len(places), 12).tolist()):
        for other in OTHERS:
            yield text[: each.start()] + other + text[each.end() :]


def ends_well(read, path: Path, text: str):
    """Return what is read of a text, or the line that refuses it."""
    path.write_text(text, encoding="utf-8")
    try:
        return read(path)
    except GossamerError as refused:
        told = str(refused)
        assert told
        assert "\n" not in told
        assert len(told) < 600
        assert path.name in told or "unknown network family" in told, told
        return told


@pytest.mark.parametrize("sample", NETWORKS, ids=lambda path: path.name)
def test_damaged_networks_end_in_a_network_or_a_line(tmp_path, sample) -> None:
    found = [ends_well(read_network, tmp_path / sample.name, text) for text in damaged(sample.read_text(), 1)]
    refused = [each for each in found if isinstance(each, str)]
    assert all(isinstance(each, Network) for each in found if not isinstance(each, str))
    assert len(set(refused)) >= 10


@pytest.mark.parametrize("kind", ["lft", "paths", "sl2vl"])
def test_damaged_routing_tables_end_in_a_table_or_a_line(tmp_path, kind) -> None:
    network = gossamer.network("torus:3x5")
    files = {each: DATA / "fabrics" / f"torus_3x5_2qos.{each}" for each in ("lft", "paths", "sl2vl")}

    def read(path):
        now = {**files, kind: path}
        return read_routing_table(now["lft"], network, now["paths"], now["sl2vl"])

    found = [ends_well(read, tmp_path / f"damaged.{kind}", text) for text in damaged(files[kind].read_text(), 2)]
    assert len({each for each in found if isinstance(each, str)}) >= 10
