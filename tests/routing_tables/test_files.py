"""Dumps of forwarding tables: written and read back, read as other tools print them, and refused with the line."""

from __future__ import annotations

from pathlib import Path

import pytest

import gossamer
from gossamer.cli import main
from gossamer.errors import FileFormatError
from gossamer.networks import read_ibnetdiscover
from gossamer.networks.routing_tables import CablePorts, RoutingTable, read_routing_table, write_routing_table

FABRIC = Path(__file__).parent.parent / "data" / "networks" / "fabric.ibnet"
IBROUTE = """\
Unicast lids [0x0-0xd] of switch Lid 1 guid 0x0002c90300a00000 (leaf0):
  Lid  Out   Destination
       Port     Info
0x0001 000 : (Switch portguid 0x0002c90300a00000: 'leaf0')
0x0002 031 : (Switch portguid 0x0002c90300b00000: 'leaf1')
0x000b 001 : (Channel Adapter portguid 0x0002c90300001001: 'node0 mlx5_0')
0x000c 002 : (Channel Adapter portguid 0x0002c90300002001: 'node1 mlx5_0')
0x000d 032 : (Channel Adapter portguid 0x0002c90300003001: 'node2 mlx5_0')
5 valid lids dumped
Unicast lids [0x0-0xd] of switch DR path slid 0; dlid 0; 0,1,31 guid 0x0002c90300b00000 (leaf1):
  Lid  Out   Destination
       Port     Info
0x0001 003 : (Switch portguid 0x0002c90300a00000: 'leaf0')
0x000b 003 : (Channel Adapter portguid 0x0002c90300001001: 'node0 mlx5_0')
0x000c 003 : (Channel Adapter portguid 0x0002c90300002001: 'node1 mlx5_0')
0x000d 004 : (Channel Adapter portguid 0x0002c90300003001: 'node2 mlx5_0')
4 valid lids dumped
"""
LEVELS = """\
Channel Adapter 0x0002c90300001001, base LID 11, "node0 mlx5_0", port 1
# LID  : SL : MTU : RATE
0x000C : 0  : 5   : 16
0x000D : 3  : 5   : 16
"""


def run(capsys, *words):
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, out, err


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_ports_guids_and_lids_of_a_fabric_are_kept() -> None:
    fabric = read_ibnetdiscover(FABRIC)
    ports = fabric.find(CablePorts)
    assert ports is not None
    assert ports.lid.tolist() == [11, 12, 13, 1, 2]
    assert [hex(guid) for guid in ports.port_guid] == [
        "0x2c90300001001", "0x2c90300002001", "0x2c90300003001", "0x2c90300a00000", "0x2c90300b00000",
    ]  # fmt: skip
    cables = gossamer.routes(fabric).tables.cables
    ends = {(fabric.node_name(int(u)), int(p)): fabric.node_name(int(v))
            for u, v, p in zip(cables.source, cables.target, ports.port, strict=True)}  # fmt: skip
    assert ends["leaf0", 33] == "leaf1"
    assert ends["leaf1", 4] == "node2 mlx5_0"
    assert len(ends) == cables.source.size


def test_a_dump_of_ibroute_is_judged_on_its_fabric(tmp_path) -> None:
    fabric = read_ibnetdiscover(FABRIC)
    found = gossamer.routes(fabric, written(tmp_path, "fabric.lft", IBROUTE), levels=written(tmp_path, "a.sl", LEVELS))
    assert found.sound
    assert found.tables.layer[0].tolist() == [0, 0, 3]
    slow = {fabric.link_name(int(found.tables.cables.link[c])): int(found.judged.load[c])
            for c in range(found.judged.load.size) if found.tables.cables.time[c] == 2}  # fmt: skip
    assert slow["leaf1->leaf0"] == 2  # both through port 3, which is EDR: twice as long as on HDR
    assert found.judged.congestion == 4
    assert found.ratio > 1


@pytest.mark.parametrize("spec", ["torus:4x4", "fat-tree:k=2,h=3", "dragonfly:a=2,h=1,p=2", "array:3x3,capacity=2"])
def test_what_is_written_is_read_back(tmp_path, spec) -> None:
    table = gossamer.routes(spec).tables
    for suffix in (".lft", ".sl", ".sl2vl"):
        write_routing_table(table, tmp_path / f"tables{suffix}")
    again = read_routing_table(tmp_path / "tables.lft", table.network, tmp_path / "tables.sl")
    assert (again.cable == table.cable).all()
    assert (again.layer == table.layer).all()


def test_lanes_are_those_of_the_levels(tmp_path) -> None:
    table = gossamer.routes("ring:5").tables
    write_routing_table(table, tmp_path / "lanes.sl2vl")
    rows = [line for line in (tmp_path / "lanes.sl2vl").read_text().splitlines() if line[:1].isdigit()]
    assert table.layers == 2
    assert (
        len(rows) == 5 * 3 * 4 + 5
    )  # two cables and an adapter out of each switch; into it these, and port 0; adapters
    for row in rows:
        assert [int(lane) for lane in row.partition(":")[2].split()][:2] == [0, 1]


HEAD = IBROUTE.splitlines()[0]
SLIPS = [
    ("", "there is no line 'Unicast lids"),
    ("hello\n", "line 1: neither a switch nor an entry"),
    ("0x000b 001 : (x)\n", "line 1: an entry stands before the first line"),
    (HEAD.replace("a00000", "c00000"), "line 1: .*has no switch with GUID 0x0002c90300c00000"),
    (f"{HEAD}\n0x000b 017\n", "line 2: port 17 of leaf0 has no cable"),
    (f"{HEAD}\n0x000b 001\n0x000b 002\n", "line 3: LID 11 is there twice"),
    (f"{HEAD}\n{HEAD}\n", "line 2: the table of leaf0 is there twice"),
    (f"{HEAD}\n0x00000b 001\n", "line 2: neither"),
    (f"{HEAD}\n0x000b one\n", "line 2: neither"),
    (f"{HEAD}\n-11 1\n", "line 2: neither"),
]


@pytest.mark.parametrize(("text", "told"), SLIPS)
def test_slips_are_refused_with_their_line(tmp_path, text, told) -> None:
    with pytest.raises(FileFormatError, match=told):
        read_routing_table(written(tmp_path, "slip.lft", text), read_ibnetdiscover(FABRIC))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there is no source"),
        ("0x000B : 1\n", "line 1: a path stands before its source"),
        (LEVELS + "0x000B : 16\n", "line 5: a service level is 0..15, got 16"),
        (LEVELS + "0x000B 1\n", "line 5: neither a source nor a path"),
    ],
)
def test_slips_in_service_levels_are_refused_with_their_line(tmp_path, text, told) -> None:
    table = written(tmp_path, "fabric.lft", IBROUTE)
    with pytest.raises(FileFormatError, match=told):
        read_routing_table(table, read_ibnetdiscover(FABRIC), written(tmp_path, "slip.sl", text))


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"PAR1" * 9, b"\x00" * 40])
def test_no_text_is_refused(tmp_path, data) -> None:
    path = tmp_path / "bytes.lft"
    path.write_bytes(data)
    with pytest.raises(FileFormatError):
        read_routing_table(path, gossamer.network("ring:4"))
    with pytest.raises(FileFormatError):
        read_routing_table(tmp_path, gossamer.network("ring:4"))


def test_a_fabric_that_tells_no_lids_is_refused_and_so_are_other_suffixes_and_too_many_layers(tmp_path) -> None:
    text = FABRIC.read_text(encoding="utf-8").replace(" lid 13", "")
    fabric = read_ibnetdiscover(written(tmp_path, "silent.ibnet", text))
    with pytest.raises(FileFormatError, match="does not tell the LID of node2"):
        read_routing_table(written(tmp_path, "fabric.lft", IBROUTE), fabric)
    table = gossamer.routes("ring:5").tables
    with pytest.raises(FileFormatError, match=r"one of .lft, .sl, .sl2vl"):
        write_routing_table(table, tmp_path / "tables.txt")
    many = RoutingTable(table.network, table.cable, table.layer * 16, "many")
    with pytest.raises(FileFormatError, match="17 layers"):
        write_routing_table(many, tmp_path / "tables.sl")


def test_the_command_makes_judges_and_ends_with_status_1_where_tables_are_faulty(tmp_path, capsys) -> None:
    tables, loads = tmp_path / "tables.lft", tmp_path / "loads.csv"
    status, out, _ = run(capsys, "routes", "torus:4x4", "-o", tables, "-o", loads)
    assert status == 0
    assert "240 of 240 paths arrive" in out
    assert "8 messages on the busiest cable" in out
    assert len(loads.read_text().splitlines()) == 65
    torn = tables.read_text().replace("0x0003 002", "0x0003 255", 1)
    status, out, _ = run(capsys, "routes", "torus:4x4", written(tmp_path, "torn.lft", torn))
    assert status == 1
    assert "do not arrive" in out
    status, _, err = run(capsys, "routes", "torus:4x4", "-o", tmp_path / "x.txt")
    assert (status, ".lft, .sl, .sl2vl" in err) == (2, True)
