"""An invariant schedule means its expansion: the checker and the measures say the same of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import ScheduleError
from gossamer.networks import AbelianGroup, CayleyGroup, Network, SharedPorts
from gossamer.schedules import Schedule, Symmetry
from gossamer.verification import buffer_peak, link_load, link_utilization, verify
from schedules import twin
from schedules.free_strategies import lifts
from schedules.strategies import build, mutated, mutations, phased

pytestmark = pytest.mark.uncompiled

# network, elements that generate the subgroup (None: the whole group)
CASES = (
    ("ring:5", None), ("ring:5", ()), ("ring:6", None), ("ring:6", (2,)), ("ring:6", (3,)), ("torus:3x3", None),
    ("torus:4x4", (2, 8)), ("torus:2x4", (2,)), ("hypercube:3", (1, 6)), ("star:3", None), ("star:3", (3,)),
    ("star:4", None), ("star:4", (16,)), ("ccc:3", None), ("circulant:9,1,2", (3,)), ("complete:4", None),
    ("product:(ring:3)x(complete:3)", None), ("product:(star:3)x(ring:3)", (1,)),
)  # fmt: skip
TASKS = ("multinode-broadcast", "total-exchange", "reduce-scatter", "allreduce")
ONCE = ("splitting", "slot length")


symmetries = st.sampled_from(CASES).map(lambda case: Symmetry(gossamer.network(case[0]), case[1])) | lifts().map(
    lambda lift: Symmetry(lift[0], permutations=lift[1])
)


@st.composite
def invariant_schedules(draw) -> Schedule:
    symmetry = draw(symmetries)
    network = symmetry.network
    task = gossamer.task(draw(st.sampled_from(TASKS)))
    ports = draw(st.sampled_from(["all", "one", "one-send"]))
    parts = draw(st.sampled_from([1, 1, 2]))
    seed = draw(st.integers(0, 2**32))
    base = build(seed, network, task, ports=ports, parts=parts, symmetry=symmetry)
    return draw(phased(base))


def scaled(schedule: Schedule, counts: dict[str, int]) -> dict[str, int]:
    """Violations of the expansion: one for each translation, except those of a whole phase or schedule."""
    return {kind: n if kind in ONCE else n * schedule.symmetry.order for kind, n in counts.items()}


@settings(max_examples=60)
@given(invariant_schedules())
def test_random_legal_invariant_schedules_are_valid(base):
    assert verify(base).ok, str(verify(base))
    assert verify(base.expand()).ok


@settings(max_examples=150)
@given(invariant_schedules(), mutations)
def test_verdict_and_counts_are_those_of_the_expansion(base, changes):
    changed = mutated(base, changes)
    counts = verify(changed).counts
    for kind in counts:
        event(kind)
    try:
        explicit = changed.expand()
    except ScheduleError:
        assert "wrong payload" in counts
        return
    assert verify(explicit).counts == scaled(changed, counts)
    if explicit.stored_hops < 600:
        assert dict(twin.violations(explicit)) == scaled(changed, counts)


@settings(max_examples=60)
@given(invariant_schedules())
def test_expansion_translates_every_packet_and_hop(base):
    explicit = base.expand()
    assert explicit == twin.expanded(base)
    assert explicit.symmetry is None
    assert explicit.expand() is explicit
    assert explicit.packets.count == base.packet_count == explicit.packet_count
    assert explicit.stored_hops == base.hop_count == explicit.hop_count


@settings(max_examples=80)
@given(invariant_schedules(), st.sampled_from(["transit", "all"]), st.integers(-1, 0))
def test_measures_are_those_of_the_expansion(base, counts, slack):
    explicit = base.expand()
    assert link_load(base).tolist() == link_load(explicit).tolist()
    assert link_utilization(base) == link_utilization(explicit)
    assert base.completion_time == explicit.completion_time
    peak = buffer_peak(base, counts)
    assert peak.packets == buffer_peak(explicit, counts).packets
    limit = max(peak.packets + slack, 1)
    limited = base.replace(rules=replace(base.rules, buffer=limit, buffer_counts=counts))
    result = verify(limited)
    assert result.ok == (peak.packets <= limit)
    assert verify(limited.expand()).counts == scaled(limited, result.counts)


@settings(max_examples=60)
@given(invariant_schedules())
def test_reversal_and_expansion_commute_in_verdict_and_time(base):
    assume(base.task.name != "allreduce")
    assume(base.network.two_way and base.network.terminal_count == base.network.node_count)
    back = base.reverse()
    assert back.symmetry == base.symmetry
    assert verify(back).ok, str(verify(back))
    assert verify(back.expand()).ok
    assert link_load(back).tolist() == link_load(base.expand().reverse()).tolist()


@pytest.mark.parametrize(("spec", "generated_by"), CASES)
def test_orbits_of_nodes_and_links_are_those_of_the_translations(spec, generated_by):
    network = gossamer.network(spec)
    symmetry = Symmetry(network, generated_by)
    elements = symmetry.elements.tolist()
    assert elements[0] == 0
    assert set(symmetry.translate(elements, np.array(elements)[:, None]).reshape(-1).tolist()) == set(elements)
    assert symmetry.order * symmetry.orbit_count == network.node_count
    for x in range(network.node_count):
        orbit = {int(symmetry.translate(h, x)) for h in elements}
        assert min(orbit) == symmetry.representatives[symmetry.orbit[x]]
        assert len(orbit) == symmetry.order
    links = {(u, v): e for e, (u, v) in enumerate(zip(network.link_source, network.link_target, strict=True))}
    of = symmetry.link_orbit(np.arange(network.link_count)).tolist()
    for (u, v), e in links.items():
        images = {links[int(symmetry.translate(h, u)), int(symmetry.translate(h, v))] for h in elements}
        assert {of[i] for i in images} == {of[e]}
        assert of.count(of[e]) == len(images) == symmetry.order


def test_two_translates_of_a_link_in_one_slot_are_too_many():
    network = gossamer.network("ring:5")
    forward = [int(e) for e in np.flatnonzero((network.link_source + 1) % 5 == network.link_target)]
    columns = ([0, 1, 1], [forward[0], forward[1], forward[4]], [0, 0, 0])
    base = Schedule(network, gossamer.task("allgather"), gossamer.Rules(), *columns, symmetry=Symmetry(network))
    result = verify(base)
    assert result.counts["link capacity"] == 1
    assert str(result.violations[0]) == "link capacity: slot 1: (4)->(0) carries packets 0, 0, capacity 1"


def test_equal_subgroups_are_equal_however_generated():
    ring = gossamer.network("ring:12")
    assert Symmetry(ring, [2]) == Symmetry(ring, [4, 10])
    assert Symmetry(ring, [1]) == Symmetry(ring)
    assert hash(Symmetry(ring, [1])) == hash(Symmetry(ring))
    assert Symmetry(ring, [2]) != Symmetry(ring)
    assert Symmetry(ring) != Symmetry(gossamer.network("complete:12"))
    assert Symmetry(ring) != "the ring"
    assert repr(Symmetry(ring, [3])) == "<Symmetry of ring:12: 4 translations, 3 orbits>"


def twisted(**changes) -> Network:
    """A ring of four given by its links, with its group."""
    ring = gossamer.network("ring:4")
    fields = {"structures": [CayleyGroup(AbelianGroup((4,)))], "links_only": True, **changes}
    return Network("my ring", 4, ring.link_source, ring.link_target, **fields)


@pytest.mark.parametrize(
    ("network", "generated_by", "message"),
    [
        (gossamer.network("array:3"), None, "array:3 is not a Cayley network, so it has no translations"),
        (gossamer.network("ring:6"), [6], "element 6 is outside 0..5 of the group of ring:6"),
        (gossamer.network("ring:6"), [-1], "element -1 is outside 0..5 of the group of ring:6"),
        (
            twisted(link_capacity=[1, 2, 1, 2, 1, 2, 1, 2]),
            None,
            "my ring has links of several capacities, so it has no translations",
        ),
        (
            twisted().with_ports(SharedPorts(np.zeros(8, int), np.full(8, -1))),
            None,
            "my ring has links that share ports, so it has no translations",
        ),
        (twisted(terminal_count=3), None, "my ring has nodes that are no terminals, so it has no translations"),
    ],
)
def test_networks_without_translations_are_refused(network, generated_by, message):
    with pytest.raises(ScheduleError) as error:
        Symmetry(network, generated_by)
    assert str(error.value) == message


@pytest.mark.parametrize("name", ["broadcast", "scatter", "permutation"])
def test_only_tasks_that_look_the_same_from_every_node_have_invariant_schedules(name):
    ring = gossamer.network("ring:3")
    task = gossamer.task(name, **({"destination": [1, 2, 0]} if name == "permutation" else {}))
    with pytest.raises(ScheduleError) as error:
        Schedule(ring, task, gossamer.Rules(), [], [], [], symmetry=Symmetry(ring))
    assert str(error.value) == f"task {name} is not the same at every node, so no schedule of it is invariant"


def test_symmetry_must_be_of_the_network():
    with pytest.raises(ScheduleError) as error:
        Schedule(
            gossamer.network("ring:4"),
            gossamer.task("allgather"),
            gossamer.Rules(),
            *([], [], []),
            symmetry=Symmetry(gossamer.network("ring:5")),
        )
    assert str(error.value) == "the symmetry is of ring:5, not of ring:4"
