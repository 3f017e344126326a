"""Invariant schedules under any free group of symmetries: of networks that are no Cayley networks."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.errors import FileFormatError, NetworkError, ScheduleError
from gossamer.graphs.retiming import retimed
from gossamer.networks import Network, SharedPorts, from_networkx
from gossamer.schedules import Schedule, Symmetry
from gossamer.verification import buffer_peak, link_load, verify
from schedules.free_strategies import lifts
from schedules.strategies import build, mutated, mutations

pytestmark = pytest.mark.uncompiled

TASKS = ("multinode-broadcast", "total-exchange", "reduce-scatter", "allreduce")
PETERSEN = from_networkx(nx.petersen_graph())
TURN = [1, 2, 3, 4, 0, 6, 7, 8, 9, 5]


def petersen() -> Symmetry:
    return Symmetry(PETERSEN, permutations=[TURN])


def times_ring(spec: str, n: int) -> Symmetry:
    """A product of any network with a ring, which turns."""
    network = gossamer.network(f"product:({spec})x(ring:{n})")
    place = np.arange(network.node_count)
    return Symmetry(network, permutations=[np.where(place % n < n - 1, place + 1, place - n + 1)])


def dragonfly() -> Symmetry:
    """Groups of routers in a circle: each takes the place of the next."""
    network = gossamer.network("dragonfly:2,2,1")
    nodes = range(network.node_count)
    graph = nx.DiGraph(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    for found in nx.algorithms.isomorphism.DiGraphMatcher(graph, graph).isomorphisms_iter():
        image = [found[u] for u in nodes]
        if all(image[u] != u for u in nodes) and max(image[: network.terminal_count]) < network.terminal_count:
            try:
                return Symmetry(network, permutations=[image])
            except NetworkError:
                continue
    raise AssertionError


NAMED = (petersen, lambda: times_ring("array:3", 4), lambda: times_ring("array:2x3", 3), dragonfly)


@pytest.mark.parametrize("case", NAMED, ids=["petersen", "array x ring", "grid x ring", "dragonfly"])
@pytest.mark.parametrize("name", TASKS)
def test_known_networks_have_invariant_schedules(case, name):
    symmetry = case()
    network = symmetry.network
    assert symmetry.order > 1
    assert symmetry.order * symmetry.orbit_count == network.node_count
    base = build(7, network, gossamer.task(name), symmetry=symmetry)
    assert base.packets.count * symmetry.order == base.packet_count
    assert verify(base).ok, str(verify(base))
    explicit = base.expand()
    assert explicit.stored_hops == base.stored_hops * symmetry.order
    assert verify(explicit).ok
    assert link_load(base).tolist() == link_load(explicit).tolist()


def test_a_slim_fly_is_shifted():
    """Nodes (s, x, y) of the graphs of McKay, Miller and Siran: y and y + 1 look the same, for both s."""
    network = gossamer.network("slim-fly:5")
    nodes = np.arange(50)
    symmetry = Symmetry(network, permutations=[nodes // 5 * 5 + (nodes + 1) % 5])
    base = build(1, network, gossamer.task("allgather"), symmetry=symmetry)
    assert (symmetry.order, symmetry.orbit_count, base.packets.count) == (5, 10, 10)
    assert verify(base).ok
    assert verify(base.expand()).ok


def test_petersen_has_two_orbits():
    found = petersen()
    assert found.orbit.tolist() == [0] * 5 + [1] * 5
    assert (found.order, found.link_orbit_count, found.representatives.tolist()) == (5, 6, [0, 5])
    assert found.taking([3, 7], [0, 8]).tolist() == [2, 1]
    assert repr(found) == "<Symmetry of petersen: 5 translations, 2 orbits>" or found.network.spec in repr(found)


@settings(max_examples=60)
@given(lifts())
def test_orbits_are_those_of_the_permutations(lift):
    network, permutations = lift
    symmetry = Symmetry(network, permutations=permutations)
    assert symmetry.order * symmetry.orbit_count == network.node_count
    nodes, links = np.arange(network.node_count), np.arange(network.link_count)
    ends = list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    images = {h: symmetry.translate(h, nodes) for h in symmetry.elements.tolist()}
    for p in permutations:
        assert images[p[0]].tolist() == list(p)
    of = symmetry.link_orbit(links)
    assert np.bincount(of).tolist() == [symmetry.order] * symmetry.link_orbit_count
    for h, image in images.items():
        moved = symmetry.translate_links(h, links)
        assert [ends[e] for e in moved] == [(image[u], image[v]) for u, v in ends]
        assert (of[moved] == of).all()
        assert (network.link_capacity[moved] == network.link_capacity).all()
        assert (symmetry.taking(nodes, image) == h).all()


@settings(max_examples=50)
@given(lifts(timed=True), st.sampled_from(TASKS), st.sampled_from(["all", "one"]), st.integers(0, 2**32), mutations)
def test_with_times_verdict_and_measures_are_those_of_the_expansion(lift, name, ports, seed, changes):
    network, permutations = lift
    plain = Network(
        "plain", network.node_count, network.link_source, network.link_target, network.link_capacity,
        terminal_count=network.terminal_count, links_only=True,
    )  # fmt: skip
    start = build(seed, plain, gossamer.task(name), ports=ports, symmetry=Symmetry(plain, permutations=permutations))
    base = retimed(start, network)
    assert base.symmetry == Symmetry(network, permutations=permutations)
    assert verify(base).ok, str(verify(base))
    assert verify(base.expand()).ok
    assert buffer_peak(base).packets == buffer_peak(base.expand()).packets
    changed = mutated(base, changes)
    counts = verify(changed).counts
    for kind in counts:
        event(kind)
    try:
        explicit = changed.expand()
    except ScheduleError:
        assert "wrong payload" in counts
        return
    order = base.symmetry.order
    once = ("splitting", "slot length")
    assert verify(explicit).counts == {kind: n if kind in once else n * order for kind, n in counts.items()}


@pytest.mark.parametrize("suffix", ["parquet", "txt"])
@settings(max_examples=10)
@given(lifts(), st.sampled_from(TASKS), st.integers(0, 2**32))
def test_files_keep_symmetries(tmp_path_factory, suffix, lift, name, seed):
    symmetry = Symmetry(lift[0], permutations=lift[1])
    base = build(seed, lift[0], gossamer.task(name), symmetry=symmetry)
    path = tmp_path_factory.mktemp("free") / f"plan.{suffix}"
    base.save(path)
    back = gossamer.load(path)
    assert back == base
    assert back.symmetry == symmetry
    assert verify(back).ok


def test_a_file_with_a_damaged_symmetry_is_refused(tmp_path):
    path = tmp_path / "plan.txt"
    build(1, PETERSEN, gossamer.task("allgather"), symmetry=petersen()).save(path)
    text = path.read_text()
    told = str(TURN)
    for new, reason in (
        (str([1, 0, *range(2, 10)]), "leaves node"),
        (str([*range(9), 11]), "permutation 0 must list each of the 10 nodes"),
        ("7", "permutation 0 must list each of the 10 nodes"),
        (str([4, *range(4), *range(5, 10)]), "leaves node"),
    ):
        path.write_text(text.replace(told, new))
        assert path.read_text() != text
        with pytest.raises(FileFormatError) as error:
            gossamer.load(path)
        assert reason in str(error.value)
        assert "\n" not in str(error.value)


def test_a_translation_group_given_as_permutations_is_the_same():
    ring = gossamer.network("ring:6")
    by_permutation = Symmetry(ring, permutations=[[2, 3, 4, 5, 0, 1]])
    assert by_permutation == Symmetry(ring, [2])
    assert by_permutation != Symmetry(ring, [3])
    assert by_permutation == Symmetry(ring, permutations=[[4, 5, 0, 1, 2, 3]])
    turned, mirrored = [2, 3, 4, 5, 0, 1], [1, 0, 5, 4, 3, 2]
    assert Symmetry(ring, permutations=[turned, mirrored]) != Symmetry(ring)  # the group of the triangle, not the cycle


@pytest.mark.parametrize("name", TASKS)
def test_programs_of_ranks_are_those_of_the_expansion(name):
    base = build(3, PETERSEN, gossamer.task(name), symmetry=petersen())
    folded, whole = gossamer.lower(base), gossamer.lower(base.expand())
    columns = ("slot", "kind", "peer")
    for mine, other in zip(folded, whole, strict=True):
        rows = [sorted(zip(*(getattr(p, c).tolist() for c in columns), strict=True)) for p in (mine, other)]
        assert rows[0] == rows[1]


ARRAY = gossamer.network("array:4")


@pytest.mark.parametrize(
    ("network", "permutations", "message"),
    [
        (ARRAY, [[0, 1, 2]], "permutation 0 must list each of the 4 nodes of array:4 once"),
        (ARRAY, [[0, 1, 2, 2]], "permutation 0 must list each of the 4 nodes of array:4 once"),
        (ARRAY, [[3, 2, 1, 0], "abcd"], "permutation 1 must list each of the 4 nodes of array:4 once"),
        (ARRAY, [[[0], [1, 2], 3]], "permutation 0 must list each of the 4 nodes of array:4 once"),
        (
            ARRAY,
            [[1, 0, 3, 2]],
            "no symmetry of array:4 takes node 1 to node 0 as the permutations do: their links differ",
        ),
        (
            ARRAY,
            [[2, 3, 0, 1]],
            "no symmetry of array:4 takes node 1 to node 3 as the permutations do: their links differ",
        ),
        (
            gossamer.network("array:3"),
            [[2, 1, 0]],
            "a symmetry of the group leaves node 1 where it is and moves node 0",
        ),
        (
            gossamer.network("ring:4"),
            [[1, 2, 3, 0], [1, 0, 3, 2]],
            "a symmetry of the group leaves node 1 where it is and moves node 2",
        ),
        (
            Network("uneven", 4, ARRAY.link_source, ARRAY.link_target, [1, 1, 1, 1, 1, 2]),
            [[3, 2, 1, 0]],
            "no symmetry of uneven takes node 0 to node 3 as the permutations do: their links differ",
        ),
        (
            Network("pair", 4, [0, 1, 2, 3], [1, 0, 3, 2], terminal_count=2, links_only=True),
            [[2, 3, 0, 1]],
            "permutation 0 takes terminal 0 of pair to switch 2",
        ),
    ],
)
def test_permutations_that_are_no_free_group_are_refused(network, permutations, message):
    with pytest.raises(NetworkError) as error:
        Symmetry(network, permutations=permutations)
    assert str(error.value) == message


def test_elements_and_permutations_together_are_refused():
    with pytest.raises(ScheduleError, match="not of both"):
        Symmetry(gossamer.network("ring:4"), [2], permutations=[[2, 3, 0, 1]])
    port = SharedPorts([0] * 6, [-1] * 6, [1])
    with pytest.raises(ScheduleError, match="share ports"):
        Symmetry(ARRAY.with_ports(port), permutations=[[3, 2, 1, 0]])


def test_one_round_of_an_orbit_too_many_is_caught():
    symmetry = petersen()
    good = build(5, PETERSEN, gossamer.task("allgather"), symmetry=symmetry)
    for h in range(good.stored_hops):
        kept = np.arange(good.stored_hops) != h
        lost = good.replace(slot=good.slot[kept], link=good.link[kept], packet=good.packet[kept])
        assert not verify(lost).ok
        of = symmetry.link_orbit(good.link[h])
        other = int(np.flatnonzero((symmetry.link_orbit(np.arange(30)) == of) & (np.arange(30) != good.link[h]))[0])
        rows = (
            np.insert(c, h, v)
            for c, v in zip((good.slot, good.link, good.packet), (good.slot[h], other, 0), strict=True)
        )
        twice = Schedule(PETERSEN, good.task, good.rules, *rows, symmetry=symmetry)
        assert verify(twice).counts["link capacity"] == 1
