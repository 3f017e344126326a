"""MSCCL++ execution plans move real blocks within the limits of their executor."""

from __future__ import annotations

import copy
import json

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.errors import FileFormatError, NotApplicableError
from gossamer.interchange import export, import_schedule
from interchange.mscclpp_loader import MOST, Machine, load
from programs.oracle import inputs_of, wanted

CASES = [
    ("torus:4x4", "allgather"),
    ("torus:4x4", "alltoall"),
    ("hypercube:3", "allreduce"),
    ("star:4", "reduce-scatter"),
    ("array:2x4", "reduce"),
    ("array:2x4", "scatter"),
    ("ring:5", "gather"),
    ("ring:7", "allreduce"),
    ("array:8", "alltoall"),
    ("array:2x3", gossamer.task("allgatherv", counts=(3, 0, 1, 4, 0, 2))),
    (nx.petersen_graph(), "allreduce"),
]


def carried_out(tmp_path, schedule):
    """Export a schedule, and check that two calls in a row give every rank what it must have; return the plan."""
    export(schedule, tmp_path / "x.json", "mscclpp")
    plan = load(tmp_path / "x.json")
    program, machine = gossamer.lower(schedule), Machine(plan)
    for seed in range(2):
        inputs = inputs_of(program, seed)
        for got, want in zip(machine.run(inputs, seed), wanted(program, inputs), strict=True):
            np.testing.assert_array_equal(got[: want.size], want)
    return plan


@pytest.mark.parametrize(("network", "task"), CASES)
@pytest.mark.parametrize("split", [False, True])
def test_an_executor_moves_every_block_to_its_place(tmp_path, network, task, split):
    network = gossamer.network(network)
    plan = carried_out(tmp_path, gossamer.plan(network, task, rules=gossamer.Rules(split=split)).schedule)
    names = {"allgather": "allgather", "alltoall": "alltoall", "reduce-scatter": "reducescatter"}
    assert plan["collective"] == names.get(task, plan["collective"])
    assert not plan["inplace"]


def test_a_link_with_many_blocks_gets_more_threadblocks_and_channels(tmp_path):
    plan = carried_out(tmp_path, gossamer.plan("array:18", "alltoall").schedule)
    middle = plan["gpus"][8]
    assert max(len(tb["ops"]) for tb in middle["threadblocks"]) <= MOST["ops"]
    assert middle["channels"][0]["connected_to"].count(9) > 2


def test_what_is_only_passed_on_lies_in_scratch_and_what_stays_is_put_where_it_stays(tmp_path):
    plan = carried_out(tmp_path, gossamer.plan("array:4", "allgather").schedule)
    assert [gpu["scratch_chunks"] for gpu in plan["gpus"]] == [0] * 4
    plan = carried_out(tmp_path, gossamer.plan("array:4", "gather").schedule)
    assert [gpu["scratch_chunks"] for gpu in plan["gpus"]] == [0, 2, 1, 0]


def test_offsets_fit_32_bits(tmp_path):
    plan = carried_out(tmp_path, gossamer.plan("ring:6", "alltoall").schedule)
    largest = max(gpu[f"{b}_chunks"] for gpu in plan["gpus"] for b in ("input", "output", "scratch"))
    chunk = plan["max_message_size"] // 6
    assert chunk * largest < 2**32 <= (chunk + 16) * largest


@pytest.mark.parametrize(
    ("network", "task", "limit"),
    [
        ("complete:64", "alltoall", "rank 0 would have 127 threadblocks, which wait for each other; a GPU of 108"),
        ("fat-tree:k=2,h=2", "broadcast", r"a switch channel is over the switches .*; fat-tree:k=2,h=2,.* has others"),
    ],
)
def test_a_limit_that_is_broken_is_named(tmp_path, network, task, limit):
    schedule = gossamer.plan(gossamer.network(network), task).schedule
    with pytest.raises(NotApplicableError, match=limit):
        export(schedule, tmp_path / "x.json", "mscclpp")
    assert not list(tmp_path.iterdir())


def test_the_loader_sees_a_plan_that_is_wrong(tmp_path):
    export(gossamer.plan("array:3", "gather").schedule, tmp_path / "x.json", "mscclpp")
    text = (tmp_path / "x.json").read_text()
    for old, new in (
        (',{"name":"sem_acquire","semaphore_ids":[0]},{"name":"nop"}', ""),
        ('"name":"pwsf"', '"name":"put"'),
        (',{"name":"nop"},{"name":"sem_release","semaphore_ids":[0]}', ""),
    ):
        assert old in text
        (tmp_path / "wrong.json").write_text(text.replace(old, new, 1))
        with pytest.raises(AssertionError):
            many_times(tmp_path / "wrong.json")


def many_times(path):
    machine = Machine(load(path))
    for seed in range(20):
        machine.run([np.arange(1)] * 3, seed)


# Plans are read back, and plans of others.


def one_threadblock_a_link(plan):
    return all(
        group["connected_to"].count(peer) <= 2
        for gpu in plan["gpus"]
        for group in gpu["channels"]
        for peer in group["connected_to"]
    )


@pytest.mark.parametrize("seed", range(12))
def test_what_is_written_is_read_as_msccl_xml_is(tmp_path, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    network = gossamer.network(nx.connected_watts_strogatz_graph(n, 4 if n > 4 else 2, 0.5, seed=seed))
    tasks = ("allgather", "alltoall", "allreduce", "reduce-scatter", "broadcast", "reduce", "gather", "scatter")
    task, rules = tasks[seed % 8], gossamer.Rules(segmented=bool(seed % 2))
    schedule = gossamer.plan(network, task, rules=rules).schedule
    found = []
    for to, suffix in (("mscclpp", "json"), ("msccl-xml", "xml")):
        export(schedule, tmp_path / f"x.{suffix}", to, limits=False)
        found.append(import_schedule(tmp_path / f"x.{suffix}", network))
        assert gossamer.verify(found[-1])
    assert found[0].hop_count == found[1].hop_count == schedule.hop_count
    if one_threadblock_a_link(json.loads((tmp_path / "x.json").read_text())):
        assert found[0].completion_time == found[1].completion_time
    with pytest.raises(FileFormatError, match=rf"has {n} GPUs; complete:{n + 1} has {n + 1} terminals"):
        import_schedule(tmp_path / "x.json", f"complete:{n + 1}")


def exported(tmp_path, network="ring:4", task="allreduce"):
    export(gossamer.plan(network, task).schedule, tmp_path / "x.json", "mscclpp")
    return json.loads((tmp_path / "x.json").read_text())


def read(tmp_path, plan, network="ring:4", bytes=None):
    (tmp_path / "y.json").write_text(json.dumps(plan))
    return import_schedule(tmp_path / "y.json", network, bytes=bytes)


def places(plan, *names):
    """Return where operations of some names stand: rank, threadblock and number."""
    return [
        (v, b, i)
        for v, gpu in enumerate(plan["gpus"])
        for b, tb in enumerate(gpu["threadblocks"])
        for i, op in enumerate(tb["ops"])
        if op["name"] in names
    ]


LATE = r"race|nothing is yet|waits for ever|does not belong|another chunk|twice"


def test_a_wait_that_is_left_out_or_late_is_refused(tmp_path):
    plan = exported(tmp_path)
    tried = 0
    for v, b, i in places(plan, "wait", "sem_acquire"):
        ops = plan["gpus"][v]["threadblocks"][b]["ops"]
        wrong = copy.deepcopy(plan)
        del wrong["gpus"][v]["threadblocks"][b]["ops"][i]
        with pytest.raises(FileFormatError):
            read(tmp_path, wrong)
        used = next((j for j in range(i, len(ops)) if ops[j]["name"] in ("re", "pws", "pwsf")), None)
        if used is None:
            continue
        wrong = copy.deepcopy(plan)  # behind what needs it
        late = wrong["gpus"][v]["threadblocks"][b]["ops"]
        late.insert(used, late.pop(i))
        with pytest.raises(FileFormatError, match=LATE):
            read(tmp_path, wrong)
        tried += 1
    assert tried > 10


def mutated(plan, rng):
    """Return a plan with an operation left out, moved, or at another place, channel or semaphore."""
    wrong = copy.deepcopy(plan)
    blocks = wrong["gpus"][int(rng.integers(len(wrong["gpus"])))]["threadblocks"]
    ops = blocks[int(rng.integers(len(blocks)))]["ops"]
    i = int(rng.integers(len(ops)))
    kind = int(rng.integers(4))
    if kind == 0:
        ops.pop(i)
    elif kind == 1:
        ops.insert(int(rng.integers(len(ops))), ops.pop(i))
    elif kind == 2 and "semaphore_ids" in ops[i]:
        ops[i]["semaphore_ids"][0] += int(rng.choice([-1, 1]))
    elif "src_buff" in ops[i]:
        place = ops[i][str(rng.choice(["src_buff", "dst_buff"]))][0]
        place["index"] += int(rng.choice([-1, 1]))
    return wrong


@pytest.mark.parametrize(
    ("network", "task"), [("ring:3", "allreduce"), ("array:4", "gather"), ("array:2x2", "alltoall")]
)
def test_what_is_accepted_goes_well_in_every_execution(tmp_path, network, task):
    """Plans with a slip at random: what the reader takes, an executor of real blocks carries out in any turns."""
    plan = exported(tmp_path, network, task)
    program = gossamer.lower(gossamer.plan(network, task).schedule)
    rng, taken, refused = np.random.default_rng(5), 0, 0
    for _ in range(150):
        wrong = mutated(plan, rng)
        try:
            read(tmp_path, wrong, network)
        except FileFormatError:
            refused += 1
            continue
        taken += 1
        for seed in range(8):
            inputs = inputs_of(program, seed)
            for got, want in zip(Machine(wrong).run(inputs, seed), wanted(program, inputs), strict=True):
                np.testing.assert_array_equal(got[: want.size], want)
    assert min(taken, refused) > 10


def test_a_wrong_offset_is_refused(tmp_path):
    plan = exported(tmp_path)
    for v, b, i in places(plan, "pws", "pwsf", "re"):
        for end in ("src_buff", "dst_buff"):
            wrong = copy.deepcopy(plan)
            place = wrong["gpus"][v]["threadblocks"][b]["ops"][i][end][0]
            place["index"] = (place["index"] + 1) % 4
            with pytest.raises(FileFormatError):
                read(tmp_path, wrong)


def test_a_ready_signal_is_needed_where_a_place_is_used_twice(tmp_path):
    """What is put while the other rank may still read the old chunk is a race across ranks."""
    for waits in (True, False):
        plan = two_ranks(ready=waits)
        if waits:
            assert gossamer.verify(read(tmp_path, plan, "array:2"))
        else:
            with pytest.raises(
                FileFormatError, match=r"race in slot 1: .*which puts into rank 1, overwrites chunk 0 of buffer 's'"
            ):
                read(tmp_path, plan, "array:2")


def op(name, **fields):
    return {"name": name, **fields}


def signal(name):
    return op(name, channel_ids=[0], channel_type="memory")


def put(index, to):
    return op(
        "put", src_buff=[{"type": "i", "index": index, "size": 1}], channel_ids=[0], channel_type="memory",
        dst_buff=[{"buffer_id": 0, "index": to, "size": 1}],
    )  # fmt: skip


def moved(name, *places, to=("o", 0), **fields):
    given = [{"type": b, "index": i, "size": 1} for b, i in places]
    return op(name, src_buff=given, dst_buff=[{"type": to[0], "index": to[1], "size": 1}], **fields)


NOP = op("nop")


def rank(number, blocks, chunks, remote):
    peer = 1 - number
    return {
        "id": number, **dict(zip(("input_chunks", "output_chunks", "scratch_chunks"), chunks, strict=True)),
        "threadblocks": [
            {"id": i, "ops": ops, "channels": [{"channel_type": "memory", "channel_ids": [0]}],
             "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}]}
            for i, ops in enumerate(blocks)
        ],
        "channels": [{"channel_type": "memory", "connected_to": [peer]}],
        "remote_buffers": [{"rank": peer, "type": remote, "access_channel_types": ["memory"]}],
        "semaphores": [{"init_value": 0}],
    }  # fmt: skip


def whole_plan(collective, ranks, inplace=False):
    return {"name": "by hand", "collective": collective, "protocol": "Simple", "inplace": inplace, "gpus": ranks}


def two_ranks(ready):
    """Return a broadcast of two chunks through one place, read by rank 1 before the second is put there."""
    again = [signal("wait"), NOP] if ready else []
    there = [signal("signal")] if ready else []
    given = [put(0, 0), NOP, signal("signal"), *again, put(1, 0), NOP, signal("signal")]
    got = [signal("wait"), NOP, moved("copy", ("s", 0), to=("o", 0)), NOP, *there, signal("wait"), NOP]
    got.append(moved("copy", ("s", 0), to=("o", 1)))
    copies = [moved("copy", ("i", i), to=("o", i)) for i in range(2)]
    ranks = [rank(0, [given + copies], (2, 2, 1), "s"), rank(1, [got], (2, 2, 1), "s")]
    return whole_plan("broadcast", ranks)


@pytest.mark.parametrize("form", ["put", "get", "read", "read and put", "barrier"])
def test_plans_by_hand_over_memory_channels(tmp_path, form):
    """Two ranks add up what both have: by puts, by reads, by one that reads and puts, with a barrier between blocks."""
    remote = {"buffer_id": 0, "index": 0, "size": 1}
    both = {"channel_ids": [0], "channel_type": "memory"}
    total = moved("re", ("i", 0), ("s", 0))
    ranks = []
    for v in range(2):
        buffer, blocks = "s", [[put(0, 0), NOP, signal("signal"), signal("wait"), NOP, total]]
        if form == "get":
            got = {"type": "s", "index": 0, "size": 1}
            buffer, blocks = "i", [[op("get", src_buff=[remote], dst_buff=[got], **both), NOP, total]]
        elif form == "read":
            read_too = moved("rre", ("i", 0), **both)
            read_too["src_buff"].append(remote)
            buffer, blocks = "i", [[read_too]]
        elif form == "read and put":
            buffer, blocks = "o", [[signal("wait")]]
            if v == 0:
                sent = moved("res", ("i", 0), ("s", 0), **both)
                sent["dst_buff"].append(remote)
                blocks = [[signal("wait"), NOP, sent, NOP, signal("signal")]]
            else:
                blocks, buffer = [[put(0, 0), NOP, signal("signal"), signal("wait")]], "s"
        elif form == "barrier":
            meet = op("barrier", barrier_id=0, num_threadblocks=2)
            blocks = [[put(0, 0), NOP, signal("signal"), signal("wait"), meet], [meet, total]]
        ranks.append(rank(v, blocks, (1, 1, 1), buffer))
    plan = whole_plan("allreduce", ranks)
    found = read(tmp_path, plan, "array:2")
    assert gossamer.verify(found)
    assert (found.hop_count, found.completion_time) == (2, 2 if form == "read and put" else 1)
    machine_like = "barrier" if form == "barrier" else "wait"
    for v, b, i in places(plan, machine_like)[:1]:
        wrong = copy.deepcopy(plan)
        del wrong["gpus"][v]["threadblocks"][b]["ops"][i]
        with pytest.raises(FileFormatError):
            read(tmp_path, wrong, "array:2")


def test_semaphores_that_begin_above_zero_are_acquired_at_once(tmp_path):
    plan = two_ranks(ready=True)
    first = plan["gpus"][0]["threadblocks"][0]["ops"]
    first[:0] = [op("sem_acquire", semaphore_ids=[0]), NOP]
    with pytest.raises(FileFormatError, match="acquires semaphore 0 of rank 0 1 times, which is released 0 times"):
        read(tmp_path, plan, "array:2")
    plan["gpus"][0]["semaphores"][0]["init_value"] = 1
    assert gossamer.verify(read(tmp_path, plan, "array:2"))


SLIPS = [
    ("protocol", "LL", r"is of protocol 'LL', whose packets carry flags; only 'Simple' is read"),
    ("collective", "allsum", r"is of collective 'allsum', which has no task here"),
    ("gpus/0/id", 1, r"has 4 GPUs; ring:4 has 4 terminals"),
    ("gpus/0/channels/0/channel_type", "nvls", r"has a nvls channel at rank 0; port, memory and switch channels are"),
    ("gpus/0/channels/0/connected_to/0", 9, r"connects rank 0 to 9; ranks are 0\.\.3"),
    ("gpus/1/threadblocks/0/id", 7, r"has threadblock 7 of rank 1 in the place of 0"),
    (
        "gpus/0/threadblocks/0/ops/2/name",
        "putt",
        r"rank 0, threadblock 0, operation 2 \(putt\): this operation is not read.*put",
    ),
    ("gpus/0/threadblocks/0/ops/2/channel_ids/0", 5, r"operation 2 \(pws\): there is no port channel 5 in this"),
    ("gpus/0/threadblocks/0/ops/2/src_buff/0/index", 99, r"chunks 99\.\.99 of buffer 'i' of rank 0, which has 4"),
    ("gpus/0/threadblocks/0/ops/2/src_buff/0/type", "x", r"there is no buffer 'x'; there are i, o and s"),
    ("gpus/0/threadblocks/0/ops/2/dst_buff/0/buffer_id", 9, r"there is no remote buffer 9 in this threadblock"),
    ("gpus/0/threadblocks/0/ops/2/src_buff/0/size", 2, r"2 chunks go to a place of 1"),
    ("gpus/0/threadblocks/0/ops/2/tbg_info", {"tb_id": 0, "tbg_size": 2}, r"several threadblocks share what it moves"),
    ("gpus/0/remote_buffers/0/rank", 2, r"the channel leads to rank 1, the buffer is of rank 2"),
    ("gpus/0/semaphores", [], r"uses semaphore \d+ of rank 0, which has 0"),
    ("gpus/0/threadblocks/0/ops", None, r"is no MSCCL\+\+ execution plan"),
    ("gpus/2/threadblocks/0/ops/0/channel_type", None, r"channel_type"),
]


@pytest.mark.parametrize(("path", "value", "said"), SLIPS)
def test_slips_are_refused_in_a_line_with_their_place(tmp_path, path, value, said):
    plan = exported(tmp_path)
    *way, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    at = plan
    for key in way:
        at = at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    with pytest.raises(FileFormatError, match=said) as caught:
        read(tmp_path, plan)
    assert "\n" not in str(caught.value)


def test_a_missing_nop_is_refused(tmp_path):
    plan = exported(tmp_path)
    refused = 0
    for v, b, i in places(plan, "nop"):
        wrong = copy.deepcopy(plan)
        del wrong["gpus"][v]["threadblocks"][b]["ops"][i]
        with pytest.raises(FileFormatError, match="a nop is missing"):
            read(tmp_path, wrong)
        refused += 1
    assert refused > 10


def test_of_a_plan_that_repeats_as_many_generations_are_written_as_fit(tmp_path):
    """All 2,048 would take more threadblocks than a GPU has; fewer and larger chunks take a little longer."""
    cost = gossamer.TimeCost("1GiB")
    plan = gossamer.plan("dgx-a100:2,gpus=4", "allreduce", cost=cost).schedule
    export(plan, tmp_path / "x.json", "mscclpp")
    assert max(len(gpu["threadblocks"]) for gpu in json.loads((tmp_path / "x.json").read_text())["gpus"]) <= 108
    found = import_schedule(tmp_path / "x.json", "dgx-a100:2,gpus=4", bytes="1GiB")
    assert gossamer.verify(found)
    ratio = found.cost.seconds(found.completion_time) / plan.cost.seconds(plan.completion_time)
    assert 1 <= ratio < 1.15


# Switches that copy and add.


def of_switches(tmp_path, task, spec="dgx-h100:1,gpus=4"):
    """Return the network and the plan of four GPUs around switches that copy and add."""
    network = gossamer.network(spec)
    rules = gossamer.Rules(reduction=True)
    schedule = gossamer.plan(network, task, rules=rules, cost=gossamer.TimeCost("64KiB")).schedule
    export(schedule, tmp_path / "x.json", "mscclpp")
    return network, json.loads((tmp_path / "x.json").read_text())


@pytest.mark.parametrize("task", ["allreduce", "allgather", "broadcast"])
def test_switch_channels_are_written_read_back_and_judged(tmp_path, task):
    network, plan = of_switches(tmp_path, task)
    name = "glres" if task == "allreduce" else "gstore"
    stores = places(plan, name)
    assert len(stores) == 16 * (1 if task == "broadcast" else 4)
    for gpu in plan["gpus"]:
        kinds = [c.get("buffer_type") for c in gpu["channels"] if c["channel_type"] == "switch"]
        assert kinds == (["i", "o"] if task == "allreduce" else ["o"])
        for tb in gpu["threadblocks"]:
            assert max(len(op.get("channel_ids", ())) for op in tb["ops"]) <= MOST["channels of an operation"]
    found = read(tmp_path, plan, network, "64KiB")
    assert gossamer.verify(found)
    hops = 3 + 1 + 1 + 3 if task == "allreduce" else 1 + 3  # of a chunk: each link is crossed once
    assert found.hop_count == hops * len(stores)
    assert found.rules.replication
    assert found.rules.reduction == (task == "allreduce")
    v, b, i = stores[0]
    for change, said in (
        (lambda op: op["dst_buff"][0].update(index=10**6), "which has"),
        (lambda op: op["dst_buff"][0].update(switch_channel_id=7), "there is no switch channel 7"),
        (lambda op: op["dst_buff"][0].update(size=2), "chunks"),
        (lambda op: op["src_buff"][0].update(index=1), "another chunk"),
        (lambda op: op.update(reduce_op="max"), "reduces by 'max'"),
        (lambda op: op.update(name="nop"), "leaves nothing"),
    ):
        wrong = copy.deepcopy(plan)
        change(wrong["gpus"][v]["threadblocks"][b]["ops"][i])
        with pytest.raises(FileFormatError, match=said) as caught:
            read(tmp_path, wrong, network, "64KiB")
        assert "\n" not in str(caught.value)
    wrong = copy.deepcopy(plan)
    wrong["gpus"][2]["channels"] = [c for c in plan["gpus"][2]["channels"] if c["channel_type"] != "switch"]
    with pytest.raises(
        FileFormatError, match=r"switch channel 0 at rank 0 of ranks \[0, 1, 2, 3\], which rank 2 has not"
    ):
        read(tmp_path, wrong, network, "64KiB")


def test_a_switch_channel_uses_all_switches_to_which_all_ranks_are_joined(tmp_path):
    network, plan = of_switches(tmp_path, "allreduce", "nvl72:1,gpus=4,chips=2")
    found = read(tmp_path, plan, network, "64MiB")
    assert gossamer.verify(found)
    sent = np.bincount(found.link, minlength=network.link_count)
    chips = [sent[network.link_target == chip].sum() for chip in (4, 5)]
    assert chips[0] == chips[1] > 0


def test_what_the_executor_cannot_do_in_switches_is_said(tmp_path):
    with pytest.raises(NotApplicableError, match="no operation in which a switch copies or adds for reduce-scatter"):
        of_switches(tmp_path, "reduce-scatter")
