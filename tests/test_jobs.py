"""Jobs: what their files say and refuse, and the times of their collectives together and alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import gossamer
from gossamer.errors import FileFormatError, TaskError
from gossamer.planning.collective_jobs import plan_job
from gossamer.questions.tasks.job import read_job

STEP = Path(__file__).parents[1] / "examples" / "machines" / "training_step.toml"
RING = gossamer.network("ring:8")

TWO = """
[groups]
halves = "0-3;4-7"
ends = [[0, 7]]
[[collectives]]
name = "first"
task = "allgather"
bytes = "4kB"
groups = "halves"
[[collectives]]
task = "allreduce"
bytes = 2000
groups = "ends"
after = ["first"]
"""


def written(tmp_path, text: str) -> Path:
    path = tmp_path / "job.toml"
    path.write_text(text)
    return path


def test_what_a_job_says(tmp_path):
    job = read_job(written(tmp_path, TWO), RING)
    assert [c.name for c in job.collectives] == ["first", "allreduce"]
    assert job.packet_bytes == 250  # the longest message is 16 packets
    made = job.together
    assert made.waits == ((1, 0),)
    assert made.messages(RING).sizes.tolist() == [16] * 8 + [4] * 4


def test_times_together_are_after_what_a_collective_waits_for(tmp_path):
    found = plan_job(RING, read_job(written(tmp_path, TWO), RING), cost={"bandwidth": "1GB/s"})
    first, second = found.collectives
    assert first.begin == 0
    assert second.begin >= 1
    assert found.outcome.completion_time == max(first.end, second.end)
    for c in found.collectives:
        assert c.bound <= c.alone
    told = found.to_dict()["collectives"]
    assert told["first"]["alone_seconds"] == float(first.alone * found.clock.slot_seconds)


def test_the_example_step_on_two_servers():
    network = gossamer.network("dgx-a100:servers=2")
    found = plan_job(network, read_job(STEP, network), cost={"bandwidth": "300GB/s"})
    assert found.outcome.verification.ok
    assert found.outcome.completion_time >= found.outcome.bound > 0
    by_name = {c.name: c for c in found.collectives}
    assert by_name["experts"].begin >= by_name["activations"].begin
    assert set(by_name) == {"activations", "experts", "partial sums", "gradients"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one table"),
        ("x = 1", "'x' is unknown"),
        ("collectives = 3", "at least one table"),
        ("[[collectives]]\ntask = 'allgather'", "needs 'bytes'"),
        ("[[collectives]]\nbytes = 1", "needs 'task'"),
        ("[[collectives]]\ntask = 'allgater'\nbytes = 1", "did you mean 'allgather'"),
        ("[[collectives]]\ntask = 'allgather'\nbytes = 0", "bytes must be at least 1"),
        ("[[collectives]]\ntask = 'allgather'\nbytes = 'x'", "bytes must be a whole number of bytes"),
        ("[[collectives]]\ntask = 'allgather'\nbytes = 1\ngroup = 'a'", "'group' is unknown"),
        ("[[collectives]]\ntask = 'allgather'\nbytes = 1\ngroups = '0-9'", "node 9 is outside"),
        ("[[collectives]]\ntask = 'allgather'\nbytes = 1\ngroups = 3", "must be a text such as"),
        ("[[collectives]]\ntask = 'allgather'\nbytes = 1\nafter = 'b'", "waits for 'b', which there is not"),
        ("[[collectives]]\ntask = 'allgather'\nbytes = 1\nafter = 'allgather'", "wait for each other"),
        ("[[collectives]]\ntask = 'broadcast'\nbytes = 1\nroot = 9", "root node 9 is outside"),
        (2 * "[[collectives]]\ntask = 'allgather'\nbytes = 1\n", "two collectives are called 'allgather'"),
        ("packet = 0\n[[collectives]]\ntask = 'allgather'\nbytes = 1", "a packet has at least 1 byte"),
        ("packet = 1\n[[collectives]]\ntask = 'allgather'\nbytes = '1GiB'", "take longer ones"),
        ("[groups]\na = [[0, 0]]\n[[collectives]]\ntask = 'allgather'\nbytes = 1\ngroups = 'a'", "lists node 0 twice"),
        ("[groups]\na = 3\n[[collectives]]\ntask = 'allgather'\nbytes = 1", "groups 'a': must be a text"),
        ("[[collectives]]\ntask = 'allgather'\nbytes = 1\ntraffic = 'zipf'", "no field 'counts'"),
    ],
)
def test_jobs_that_are_refused(tmp_path, text, message):
    with pytest.raises(TaskError, match=message):
        read_job(written(tmp_path, text), RING)


def test_files_that_are_no_job(tmp_path):
    with pytest.raises(FileFormatError, match="cannot read"):
        read_job(written(tmp_path, "[[["), RING)
    with pytest.raises(FileFormatError, match="no such file"):
        read_job(tmp_path / "none.toml", RING)


@pytest.mark.parametrize("task", ["allreduce", "allgather", "broadcast"])
def test_a_collective_among_no_others_takes_as_long_as_alone(tmp_path, task):
    """With several packets a message, of which an allreduce has one for each rank: all by one clock."""
    text = f'collectives = [{{task = "{task}", bytes = 64}}]\npacket = 4\n'
    found = plan_job(RING, read_job(written(tmp_path, text), RING), cost={"bandwidth": "1GB/s", "latency": "1us"})
    (collective,) = found.collectives
    assert collective.bound <= collective.alone <= collective.end
    assert collective.end <= 1.1 * collective.alone


@pytest.mark.parametrize(
    ("spec", "collectives", "most"),
    [
        ("ring:4", (("reduce", "1GiB"), ("broadcast", "1GiB")), 1.02),  # each takes all links, none shares them
        ("complete:4", (("reduce-scatter", "1GiB"), ("allgather", "1GiB")), 1.01),
        ("torus:3x3", (("allgather", "1GiB"), ("alltoall", "64MiB")), 1.02),
    ],
)
def test_jobs_in_which_one_waits_are_cut_as_others_are(tmp_path, spec, collectives, most):
    (first, size), (second, other) = collectives
    rows = f'{{task = "{first}", bytes = "{size}"}}, {{task = "{second}", bytes = "{other}", after = "{first}"}}'
    network = gossamer.network(spec)
    job = read_job(written(tmp_path, f'packet = "{other}"\ncollectives = [{rows}]'), network)
    found = plan_job(network, job, cost={"bandwidth": "50GB/s", "latency": "1us"})
    assert found.outcome.verification.ok
    assert found.outcome.bound <= found.outcome.completion_time <= most * found.outcome.bound
