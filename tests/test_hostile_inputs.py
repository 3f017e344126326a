"""Hostile files and numbers: each is refused in one line, with status 2, before it costs time or memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gossamer
from gossamer.cli import main
from gossamer.questions.costs import LinearCost

DATA = Path(__file__).parent / "data" / "hostile"
PARTIAL = ("plan", "torus:4x4", "partial-multinode-broadcast")
WORMHOLE = ("plan", "torus:4x4", "allgather", "--switching", "wormhole")
DYNAMIC = ("simulate", "arrivals", "torus:4x4")
HUGE = "9" * 5000

FILES = [
    ("no_final_newline.mtx", "could not convert string '2x'"),
    ("array.mtx", "could not convert string '4x'"),
    ("hermitian.mtx", "could not convert string '2x'"),
    ("value.mtx.gz", "could not convert string '2x'"),
    ("blank_lines.mtx.gz", "it is compressed beyond measure"),
    ("entries.mtx", "4,000,000,000,000,000,000 entries of 3 numbers are announced, 1 of 3 follow"),
    ("sizes.mtx", "entries of 1 numbers are announced, 1 of 1 follow"),
    ("digits.mtx", "a size must be a whole number in 0..4611686018427387904"),
    ("unclosed.npy", "a header that is damaged"),
    ("type_error.npy", "a header that is damaged"),
    ("unhashable.npy", "a header that is damaged"),
    ("short.npy", "a header that is damaged"),
    ("nested.npy", "a header that is damaged"),
    ("claims_gigabytes.npy", "is cut short: its header says (4000000000,), 8 bytes follow"),
    ("negative.npy", "is cut short: its header says (-4, -2), 64 bytes follow"),
    ("objects.npy", "must hold an array of numbers, got 'object'"),
    ("version.npy", "a .npy file of version 3.0"),
    ("digits.txt", "line 1: '9999"),
    ("escape.txt", r"line 1: '\x1b[31m2'"),
]

WORDS = [
    ((*WORMHOLE, "--startup", "1e-999999999"), "startup must have at most 50 digits, got '1e-999999999'"),
    ((*WORMHOLE, "--startup", "1e5000"), "startup must have at most 50 digits"),
    ((*WORMHOLE, "--per-byte", "1e999999999"), "per_byte must have at most 50 digits"),
    ((*WORMHOLE, "--hop-time", f"1/{HUGE}"), "hop_time must have at most 50 digits"),
    ((*WORMHOLE, "--message-bytes", "9223372036854775808"), "message_bytes must be a whole number of bytes"),
    (("plan", "torus:4x4", "allgather", "--control-time", "1e-999999999"), "must have at most 50 digits"),
    (("plan", "torus:4x4", "allgather", "--buffer", "9223372036854775808"), "buffer must be None or a number"),
    (("plan", "torus:4x4", "allgather", "--seed", "18446744073709551616"), "must be a whole number in 0..922337203"),
    (("plan", "torus:4x4", "permutation", "--pattern", "random", "--seed", "-1"), "must be a whole number in 0.."),
    (("plan", "torus:4x4", "one-to-many-routing", "--pattern", f"random:{HUGE}"), "must be a whole number in 0..16"),
    (("plan", f"torus:{HUGE}", "allgather"), "torus"),
    (("plan", "torus:\x1b[31m", "allgather"), r"\x1b[31m"),
    ((*PARTIAL, "--active", f"random:{HUGE}"), "M of random:M must be a whole number in 1..16"),
    ((*PARTIAL, "--active", "random:3", "--seed", "18446744073709551616"), "must be a whole number in 0.."),
    ((*DYNAMIC, "--load", "0.1:0.9:1e-9"), "loads must"),
    ((*DYNAMIC, "--load", "1e-300"), "loads must have at most 50 digits"),
    ((*DYNAMIC, "--load", "1e-9"), "loads must be numbers of at least 1e-06"),
    ((*DYNAMIC, "--load", "0.5", "--seed", "18446744073709551616"), "seed must be"),
    ((*DYNAMIC, "--load", "0.5", "--arrivals", "on-off", "--burst", "1e-5:1e-5"), "at least 0.1 steps"),
    ((*DYNAMIC, "--load", "0.5", "--arrivals", "on-off", "--burst", "1e-300:1e300"), "in 1e-06..1000000000"),
    ((*DYNAMIC, "--load", "0.5", "--replications", "1000000000"), "replications must be a whole number in 1..10000"),
    ((*DYNAMIC, "--load", "0.5", "--steps", "1000000000000"), "transmissions would be simulated, of at most 1e+12"),
    (("simulate", "traffic", "torus:4x4", "--load", "1e-308", "--measured", "100"), "loads must"),
    (("plan", "hypercube:23", "partial-multinode-broadcast", "--unit", "1"), "takes no --unit"),
    (("network", "complete:4", "-o", "/dev/full", "--json", "--without", "terminals:0"), "of no known kind"),
    (("plan", "hypercube:23", "allgather", "--root", "0"), "takes no --root"),
    (("plan", "ring:100000", "alltoall", "--memory", "8GB"), "needs about 180 GB of memory"),
    (("plan", "array:64x64", "alltoall", "--memory", "1GB"), "needs about 18.2 GB of memory"),
    (("simulate", "traffic", "torus:4x4", "--load", "0.1", "--seed", "18446744073709551616"), "seed must be"),
]


def refusal(capsys, *words) -> str:
    """Return the one line in which the command line refuses some words."""
    assert main([str(w) for w in words]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("gossamer: ")
    assert err.count("\n") == 1
    assert err[:-1].isprintable()
    assert len(err) < 500
    return err


@pytest.mark.parametrize(("name", "told"), FILES)
def test_hostile_sets_of_nodes(capsys, name, told):
    assert told in refusal(capsys, *PARTIAL, "--active", DATA / name)


@pytest.mark.parametrize("name", sorted(p.name for p in DATA.iterdir() if p.suffix in (".npy", ".csv", ".txt")))
def test_hostile_traces(capsys, name):
    assert name in refusal(capsys, *DYNAMIC, "--trace", DATA / name)


@pytest.mark.parametrize("name", [name for name, _ in FILES if not name.endswith((".mtx", ".gz"))])
def test_hostile_destinations(capsys, name):
    assert name in refusal(capsys, "plan", "torus:4x4", "permutation", "--destinations", DATA / name)


@pytest.mark.parametrize(("words", "told"), WORDS, ids=range(len(WORDS)))
def test_hostile_numbers(capsys, words, told):
    assert told in refusal(capsys, *words)


def test_a_job_takes_no_cost_of_wormhole_messages(capsys, tmp_path):
    (tmp_path / "job.toml").write_text('[[collectives]]\ntask = "allgather"\nbytes = 8\n')
    told = refusal(capsys, "plan", "ring:4", tmp_path / "job.toml", "--message-bytes", "3", "--startup", "1")
    assert "leave out --message-bytes, --startup" in told or "leave out --startup, --message-bytes" in told


def test_nodes_that_are_far_apart_in_number_are_named_nodes(capsys):
    assert main(["network", str(DATA / "far_nodes.edges")]) == 0
    assert main(["list", "schemes", str(DATA / "far_nodes.edges")]) == 0
    assert "2 nodes" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("list", "schemes", "torus:100x100x100"),
        pytest.param(("list", "algorithms", "torus:100x100x100"), marks=pytest.mark.slow),
    ],
    ids=["schemes", "algorithms"],
)
def test_a_million_nodes_are_no_reason_to_search_for_long(capsys, words):
    began = time.process_time()
    assert main(list(words)) == 0
    assert time.process_time() - began < 25
    assert capsys.readouterr().out


def test_messages_of_gigabytes_are_cut_into_thousands_of_pieces_at_once():
    def held(size):
        tracemalloc.start()
        plan = gossamer.plan("torus:4x4", "allgather", switching="wormhole", cost=LinearCost(message_bytes=size))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert plan.verification.ok
        return most

    held(4096)  # what is looked up once
    assert held(2**31 - 1) < 150_000_000


@pytest.mark.parametrize("limit", ["9223372036854775807", "10000000000", HUGE[:400]])
def test_any_number_of_violations_may_be_asked_for(capsys, tmp_path, limit):
    assert main(["plan", "ring:4", "broadcast", "-o", str(tmp_path / "s.parquet")]) == 0
    assert main(["verify", str(tmp_path / "s.parquet"), "--limit", limit]) == 0
    assert "valid" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--active", "--trace", "--destinations"])
def test_a_pipe_is_not_waited_for(capsys, tmp_path, option):
    os.mkfifo(tmp_path / "pipe")
    words = {"--active": PARTIAL, "--trace": DYNAMIC, "--destinations": ("plan", "torus:4x4", "permutation")}[option]
    assert "it is no regular file" in refusal(capsys, *words, option, tmp_path / "pipe")


@pytest.mark.parametrize("name", ["x.csv", "x.svg"])
def test_a_folder_as_output_is_refused_before_the_simulation(capsys, tmp_path, monkeypatch, name):
    monkeypatch.setattr("gossamer.simulation.random_arrivals.simulator.simulate", None)
    (tmp_path / name).mkdir()
    assert "is a folder" in refusal(capsys, *DYNAMIC, "--load", "0.5", "-o", tmp_path / name)


TINY_PIECES = {
    "x.json": ('{"nodes":[', '{"":0},', '{}],"edges":[]}'), "x.graphml": ("<graphml>", "<a/>", "</graphml>"),
    "x.xml": ("<system>", '<a b=""/>', "</system>"), "table.json": ('{"demands":[', "[],", "[]]}"),
}  # fmt: skip
"""Files of which each byte takes fifty in memory: their heads, what they repeat, and their tails."""


@pytest.mark.parametrize("name", TINY_PIECES)
def test_a_file_of_tiny_pieces_is_refused_by_counting_them(capsys, tmp_path, name):
    head, piece, tail = TINY_PIECES[name]
    (tmp_path / name).write_text(head + piece * (26_000_000 // len(piece)) + tail)
    words = ["demands", "torus:4x4", "demands", "--demands"] if name.startswith("table") else ["network"]
    assert "it is made of tiny pieces" in refusal(capsys, *words, tmp_path / name)


def test_a_graph_in_an_encoding_that_nobody_knows_is_refused(capsys):
    assert "its encoding is unknown" in refusal(capsys, "network", DATA / "encoding.graphml")


def test_a_network_without_links_is_described(capsys):
    assert main(["network", str(DATA / "no_edges.json")]) == 0
    assert "not connected" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["surrogate_name.json", "control_name.json"])
def test_names_of_nodes_that_no_file_and_no_picture_holds_are_refused(capsys, name):
    assert "must be of characters that can be written" in refusal(capsys, "network", DATA / name)


@pytest.mark.parametrize(
    ("title", "told"), [("\udcff", "can be written"), ("\x01", "can be written"), ("x" * 1001, "at most 1,000")]
)
def test_titles_that_no_picture_holds_are_refused(capsys, tmp_path, title, told):
    assert told in refusal(capsys, "network", "ring:3", "-o", tmp_path / "x.svg", "--title", title)


@pytest.mark.parametrize("word", [[], {}, None, 3])
def test_a_switching_that_is_no_word_is_refused(capsys, tmp_path, word):
    header = json.dumps({"version": 1, "switching": word}).encode()
    table = pa.table({"slot": pa.array([], pa.int32())})
    pq.write_table(table.replace_schema_metadata({b"gossamer": header}), tmp_path / "x.parquet")
    assert "switching, which is unknown here" in refusal(capsys, "verify", tmp_path / "x.parquet")


@pytest.mark.parametrize("command", ["verify", "draw", "explain", "export", "network"])
def test_no_command_waits_for_a_pipe_or_a_device(capsys, tmp_path, command):
    for name in ("x.parquet", "x.txt", "x.json"):
        os.mkfifo(tmp_path / name)
        more = {"draw": ["-o", tmp_path / "x.svg"], "export": ["--to", "csv", "-o", tmp_path / "x.csv"]}.get(
            command, []
        )
        assert refusal(capsys, command, tmp_path / name, *more)


def test_a_fault_of_gossamer_itself_is_a_line_and_a_file(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("gossamer.cli.list._networks", lambda: 1 // 0)
    told = refusal(capsys, "list", "networks")
    assert "a fault of gossamer itself" in told
    assert "ZeroDivisionError" in told
    (report,) = tmp_path.iterdir()
    assert str(report) in told
    assert "Traceback" in report.read_text()
    assert report.stat().st_mode & 0o077 == 0


def test_a_library_that_cannot_be_loaded_is_no_matter_of_standard_output(capsys, monkeypatch):
    def unloaded():
        raise OSError("cannot load libx.so: it is not there")

    monkeypatch.setattr("gossamer.cli.list._networks", unloaded)
    assert refusal(capsys, "list", "networks") == "gossamer: cannot load libx.so: it is not there\n"


def test_a_long_word_is_not_repeated_whole(capsys):
    assert len(refusal(capsys, "plan", "ring:4", "broadcast", "--seed", HUGE)) < 400


# what only a process of its own can show


def started(*words, **options):
    command = [sys.executable, "-m", "gossamer", *map(str, words)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize("name", ["no_final_newline.mtx", "array.mtx", "hermitian.mtx"])
def test_a_damaged_matrix_does_not_end_the_process(name):
    process = started(*PARTIAL, "--active", DATA / name)
    assert process.communicate(timeout=60)[1].count("\n") == 1
    assert process.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_standard_output_is_one_line():
    with Path("/dev/full").open("w") as full:
        process = started("list", "networks", stdout=full)
        told = process.communicate(timeout=60)[1]
    assert told == "gossamer: cannot write to standard output: No space left on device\n"
    assert process.returncode == 2


def test_nobody_who_reads_is_no_invalid_schedule():
    read, write = os.pipe()
    os.close(read)
    process = started("list", "networks", stdout=write)
    os.close(write)
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 128 + signal.SIGPIPE


@pytest.mark.parametrize("words", [("list", "networks"), ("plan", "ring:4", "broadcast", "--json")])
def test_a_standard_output_that_is_missing_is_no_fault(words):
    command = f"{sys.executable} -m gossamer {' '.join(words)} >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_that_knows_ascii_alone_shows_what_it_can():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    process = started(*DYNAMIC, "--load", "0.5", "--steps", "200", stdout=subprocess.PIPE, env=environment)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert r"\xb1" in out


def test_a_home_where_nothing_can_be_kept_is_not_told(tmp_path):
    (tmp_path / "home").touch()
    words = ["network", "ring:3", "-o", tmp_path / "x.svg"]
    process = started(*words, stdout=subprocess.PIPE, env={**os.environ, "HOME": str(tmp_path / "home")})
    assert process.communicate(timeout=120)[1] == ""
    assert process.returncode == 0


def test_a_command_that_draws_nothing_does_not_load_what_draws(tmp_path):
    script = "import sys; from gossamer.cli import main; main(sys.argv[1:]); sys.exit('matplotlib' in sys.modules)"
    words = ["plan", "ring:3", "broadcast", "-o", str(tmp_path / "x.parquet")]
    assert subprocess.run([sys.executable, "-c", script, *words], check=False, timeout=120).returncode == 0


def test_a_name_that_is_not_utf8_is_written_and_told(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.parquet"
    process = started("plan", "ring:4", "broadcast", "-o", os.fsdecode(name), stdout=subprocess.PIPE)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert r"\udcff.parquet" in out
    assert [os.fsencode(path.name) for path in tmp_path.iterdir()] == [b"\xff.parquet"]


def test_a_terminated_process_leaves_no_temporary_file(tmp_path):
    script = (
        "import sys, time; from gossamer.cli import app, main; from gossamer.atomic_files import whole_file\n"
        "@app.app.command()\n"
        "def wait(path: str) -> None:\n"
        "    with whole_file(path):\n"
        "        print('writing', flush=True); time.sleep(60)\n"
        "sys.exit(main(['wait', sys.argv[1]]))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "x")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "writing\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.terminate()
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_details_that_cannot_be_written_are_refused_before_anything_is(tmp_path, capsys):
    table = tmp_path / "new.csv"
    words = ["simulate", "traffic", "ring:4", "--load", "0.1", "-o", str(table), "--details", str(tmp_path)]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "is a folder" in err
    assert not table.exists()


def test_a_large_network_is_refused_before_it_is_built(capsys, monkeypatch):
    monkeypatch.setattr("gossamer.processes.memory.free_memory", lambda: 1_000_000_000)
    monkeypatch.setattr("gossamer.networks.network.Network.__init__", lambda *_, **__: pytest.fail("it is built"))
    told = refusal(capsys, "plan", "hypercube:23", "broadcast")
    assert "broadcast on hypercube:23 needs at least 15.8 GB of memory for its 192,937,984 links, and 1 GB are" in told
    told = refusal(capsys, "plan", "hypercube:23", "alltoall")
    assert "alltoall on hypercube:23 needs at least 6.78 GB of memory for its 192,937,984 links, and 1 GB are" in told
    told = refusal(capsys, "plan", "complete:12000", "alltoall", "--memory", "0.5GB")
    assert "at least 3.89 GB of memory for its 143,988,000 links, and 500 MB are allowed (--memory): about" in told
    told = refusal(capsys, "network", "hypercube:23")
    assert "hypercube:23: its 192,937,984 links need about 3.09 GB of memory, and 1 GB are free" in told


@pytest.mark.parametrize("words", [("network",), ("demands", "alltoall")])
def test_a_network_without_something_is_not_written_over_its_own_file(capsys, tmp_path, words):
    path = tmp_path / "net.edges"
    path.write_text("a b\nb c\nc a\n")
    assert "is the file that is read" in refusal(
        capsys, words[0], path, *words[1:], "--without", "links:a-b", "-o", path
    )
    assert path.read_text() == "a b\nb c\nc a\n"
