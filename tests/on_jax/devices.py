"""What 16 virtual devices do: every collective, equal to JAX's own, in jit and with gradients; see test_jax.py."""

from __future__ import annotations

import functools
import os

os.environ["XLA_FLAGS"] = (  # compiled in less time, not into faster code
    "--xla_force_host_platform_device_count=16 --xla_backend_optimization_level=0 "
    "--xla_llvm_disable_expensive_passes=true"
)
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, PartitionSpec

import gossamer
from gossamer.errors import NotApplicableError, TaskError
from gossamer.execution import jax as collectives
from gossamer.questions.tasks import PartialSumAllreduce, chunked

done = 0
rng = np.random.default_rng(1)


def sharded(mesh, work):
    """Return a function of arrays with a row for each device that runs `work` on each row."""
    spec = PartitionSpec(mesh.axis_names)

    def rows(*xs):
        return tuple(y[None] for y in work(*(x[0] for x in xs)))

    return jax.shard_map(rows, mesh=mesh, in_specs=spec, out_specs=spec)


def compare(mesh, cases):
    """Assert equal values of each (ours, JAX's own, input), and equal gradients where they are float32."""
    global done
    inputs = [x for _, _, x in cases]
    chosen = [k for k, x in enumerate(inputs) if x.dtype == jnp.float32]

    def both(k):
        function = sharded(mesh, lambda *xs: tuple(case[k](x) for case, x in zip(cases, xs, strict=True)))

        def run(*xs):
            outs, back = jax.vjp(function, *xs)
            seeds = tuple(jnp.cos(jnp.arange(y.size)).reshape(y.shape).astype(y.dtype) for y in outs)
            return outs, back(seeds) if chosen else ()

        return jax.jit(run if len(chosen) == len(cases) else lambda *xs: (function(*xs), ()))(*inputs)

    (got, slopes), (want, own_slopes) = both(0), both(1)
    for one, other in ((got, want), (slopes, own_slopes)):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
            done += 1


def normal(*shape, dtype=np.float32):
    return jnp.asarray(rng.standard_normal(shape), dtype)


def integers(*shape):
    return jnp.asarray(rng.integers(0, 100, shape), jnp.int32)


def every_collective(network, mesh, whole=True, tiled=False):
    name = mesh.axis_names if len(mesh.axis_names) > 1 else mesh.axis_names[0]
    n = mesh.size
    rules = gossamer.Rules(split=not whole)

    def ready(task):
        return collectives.prepare(gossamer.plan(network, task, rules=rules))

    gather, exchange = ready("allgather"), ready("alltoall")
    scatter, reduce = ready("reduce-scatter"), ready("allreduce")
    tree = collectives.prepare(gossamer.plan(network, gossamer.task("broadcast", root=2)))
    ours = collectives
    floating = [
        (lambda x: ours.all_gather(x, name, gather), lambda x: lax.all_gather(x, name), normal(n, 3, 2)),
        (
            lambda x: ours.all_to_all(x, name, exchange, 1, 1),
            lambda x: lax.all_to_all(x, name, 1, 1),
            normal(n, 2, n, 3),
        ),
        (lambda x: ours.reduce_scatter(x, name, scatter), lambda x: lax.psum_scatter(x, name), normal(n, n, 2)),
        (
            lambda x: ours.all_reduce(x, name, reduce),
            lambda x: lax.pcast(lax.psum(x, name), mesh.axis_names, to="varying"),
            normal(n, 5, 7),
        ),
        (lambda x: ours.broadcast(x, name, tree), lambda x: lax.all_gather(x, name)[2], normal(n, 4)),
    ]
    compare(mesh, floating)
    if not tiled:
        return
    whole_numbers = [
        (
            lambda x: ours.all_gather(x, name, gather, axis=1, tiled=True),
            lambda x: lax.all_gather(x, name, axis=1, tiled=True),
            integers(n, 2, 3),
        ),
        (
            lambda x: ours.all_gather(x, name, gather, axis=1),
            lambda x: lax.all_gather(x, name, axis=1),
            integers(n, 2, 3),
        ),
        (
            lambda x: ours.all_to_all(x, name, exchange, 1, 0),
            lambda x: lax.all_to_all(x, name, 1, 0),
            integers(n, 2, n),
        ),
        (
            lambda x: ours.all_to_all(x, name, exchange, 0, 1, tiled=True),
            lambda x: lax.all_to_all(x, name, 0, 1, tiled=True),
            integers(n, 2 * n, 3),
        ),
        (
            lambda x: ours.reduce_scatter(x, name, scatter, scatter_dimension=1, tiled=True),
            lambda x: lax.psum_scatter(x, name, scatter_dimension=1, tiled=True),
            integers(n, 3, 2 * n),
        ),
    ]
    compare(mesh, whole_numbers)


def line(n):
    return Mesh(np.array(jax.devices()[:n]), ("i",))


every_collective("torus:2x3", Mesh(np.array(jax.devices()[:6]).reshape(2, 3), ("x", "y")), tiled=True)
every_collective("hypercube:2", line(4), whole=False)
every_collective("star:3", line(6))
every_collective(gossamer.network(nx.gnm_random_graph(5, 7, seed=3)), line(5))

# groups of devices: what JAX's own collectives give on a mesh of the members of each
COLLECTIVES, ROOT = (
    ("allgather", "alltoall", "reduce-scatter", "allreduce", "broadcast", "reduce", "gather", "scatter"),
    1,
)


@functools.cache
def own_of_members(n):
    """Return what gives what each of n members must have, a row a message, of each of the collectives, by JAX's own."""

    def all_of(one):
        total, everyone = lax.psum(one, "i"), lax.all_gather(one[0], "i")
        at_root = lax.axis_index("i") == ROOT
        exchanged = lax.all_to_all(one, "i", 0, 0)
        return (
            everyone, exchanged, lax.psum_scatter(one, "i")[None], lax.pcast(total, "i", to="varying"),
            everyone[ROOT][None], jnp.where(at_root, total[:1], 0), jnp.where(at_root, everyone, 0),
            exchanged[ROOT][None],
        )  # fmt: skip

    return jax.jit(sharded(Mesh(np.array(jax.devices()[:n]), ("i",)), all_of))


def brought(task, n, me):
    """Return how many messages a member brings."""
    many = n if task in ("alltoall", "reduce-scatter", "allreduce", "scatter") else 1
    return 0 if task in ("broadcast", "scatter") and me != ROOT else many


for name, groups in {
    "equal": ((0, 1, 2), (5, 4, 3)),
    "unequal": ((1, 0), (5, 4, 3, 2)),
    "idle": ((0, 4), (5, 2)),
    "overlapping": ((0, 1, 2, 3), (5, 2, 3), (4, 0)),
}.items():
    cases = []
    for k, task in enumerate(COLLECTIVES):
        asked = gossamer.task(task, groups=groups, **({"root": ROOT} if k > 3 else {}))
        ready = collectives.prepare(gossamer.plan("ring:6", asked))
        given = np.zeros((6, ready.input_blocks // ready.parts, 3), np.int32)
        want = np.zeros((6, ready.output_blocks // ready.parts, 3), np.int32)
        used, filled = [0] * 6, [0] * 6
        for group in groups:
            x = rng.integers(0, 100, (len(group), len(group), 3)).astype(np.int32)
            got = np.asarray(own_of_members(len(group))(jnp.asarray(x))[k])
            for r, v in enumerate(group):
                many = brought(task, len(group), r)
                given[v, used[v] : used[v] + many] = x[r, :many]
                rows = 0 if task in ("reduce", "gather") and r != ROOT else len(got[r])
                want[v, filled[v] : filled[v] + rows] = got[r, :rows]
                used[v], filled[v] = used[v] + many, filled[v] + rows
        cases.append((ready, given, want))
    plans = tuple(ready for ready, _, _ in cases)
    mine = sharded(line(6), lambda *xs, p=plans: tuple(collectives.run(x, "i", s) for s, x in zip(p, xs, strict=True)))
    for (ready, _, want), got in zip(cases, jax.jit(mine)(*(jnp.asarray(c[1]) for c in cases)), strict=True):
        np.testing.assert_array_equal(got, want, f"{ready.schedule.task.describe()}, {name}")
        done += 1

    if name == "overlapping":  # gradients go back the ways that the messages came
        ready, x = cases[1][0], jnp.asarray(cases[1][1], jnp.float32)
        exchange = sharded(line(6), lambda x, s=ready: (collectives.run(x, "i", s),))

        def both_ways(x, other, seed, f=exchange):
            return (seed * f(other)[0]).sum(), (jax.vjp(f, x)[1]((seed,))[0] * other).sum()

        other, seed = (jnp.asarray(rng.integers(0, 9, case.shape), jnp.float32) for case in cases[1][1:])
        there, back = jax.jit(both_ways)(x, other, seed)
        assert float(there) == float(back) > 0
        done += 1

# by name, with gradients: rows of a torus as JAX's own groups are, and vectors in groups of several sizes
rows = [[0, 1, 2], [3, 4, 5]]
by_rows = {
    t: collectives.prepare(gossamer.plan("torus:2x3", gossamer.task(t, groups=rows)))
    for t in ("allgather", "alltoall", "reduce-scatter", "allreduce")
}
compare(line(6), [
    (lambda x: collectives.all_gather(x, "i", by_rows["allgather"]),
     lambda x: lax.all_gather(x, "i", axis_index_groups=rows), normal(6, 4)),
    (lambda x: collectives.all_to_all(x, "i", by_rows["alltoall"]),
     lambda x: lax.all_to_all(x, "i", 0, 0, axis_index_groups=rows), normal(6, 3, 4)),
    (lambda x: collectives.reduce_scatter(x, "i", by_rows["reduce-scatter"]),
     lambda x: lax.psum_scatter(x, "i", axis_index_groups=rows), normal(6, 3, 4)),
    (lambda x: collectives.all_reduce(x, "i", by_rows["allreduce"]),
     lambda x: lax.all_gather(x, "i", axis_index_groups=rows).sum(0), normal(6, 5)),
])  # fmt: skip
uneven = collectives.prepare(gossamer.plan("ring:6", gossamer.task("allreduce", groups=((0, 3), (1, 2, 4)))))
x = normal(6, 5)
(got,) = jax.jit(sharded(line(6), lambda x: (collectives.all_reduce(x, "i", uneven),)))(x)
for v, group in enumerate(((0, 3), (1, 2, 4), (1, 2, 4), (0, 3), (1, 2, 4), ())):
    np.testing.assert_allclose(got[v], sum((x[u] for u in group), np.zeros(5)), rtol=1e-5)
done += 1
both = collectives.prepare(gossamer.plan("ring:3", gossamer.task("allgather", groups=((0, 1), (1, 2)))))
with pytest.raises(TaskError, match="groups that share a device have the messages of each one after the other"):
    sharded(line(3), lambda x: (collectives.all_gather(x, "i", both),))(normal(3, 2))
with pytest.raises(TaskError, match="x has 1 rows; an input of this schedule has 2 messages"):
    sharded(line(3), lambda x: (collectives.run(x, "i", both),))(normal(3, 1, 2))
# partial sums: exchanged in halves along every dimension, and one that is replaced while it is sent
mesh = line(8)
halves = [(2 * t, v, v ^ 1 << t, 0) for t in range(3) for v in range(8)]
halves += [(2 * t + 1, v, v ^ 4 >> t, 1) for t in range(3) for v in range(8)]
overtaken = [(0, 0, 1), (0, 1, 0), (0, 2, 3), (0, 3, 2), (1, 0, 3), *((1, v, 3) for v in range(4, 8))]
overtaken += [(2, 0, 1), (2, 3, 0), (2, 3, 2), *((2, 3, v) for v in range(4, 8)), (3, 0, 1)]
cases = []
for rows, packets in ((halves, 2), ([(*row, 0) for row in overtaken], 1)):
    slot, source, target, packet = np.array(sorted(rows)).T
    complete = gossamer.network("complete:8")
    link = complete.links_between(source, target)
    sums = gossamer.Schedule(complete, chunked(PartialSumAllreduce(), packets), gossamer.Rules(), slot, link, packet)
    everywhere = collectives.prepare(sums)
    for shape in ((8, 5, 7), (8, 1)):
        ours = functools.partial(collectives.all_reduce, axis_name="i", schedule=everywhere)
        cases.append((ours, lambda x: lax.pcast(lax.psum(x, "i"), ("i",), to="varying"), normal(*shape)))
compare(mesh, cases)

# other dtypes
everyone = collectives.prepare(gossamer.plan("hypercube:4", "allgather"))
kinds = (jnp.bfloat16, jnp.int8, jnp.bool_, jnp.complex64)
pair = (lambda x: collectives.all_gather(x, "i", everyone), lambda x: lax.all_gather(x, "i"))
compare(line(16), [(*pair, jnp.asarray(rng.integers(0, 2, (16, 3)), dtype)) for dtype in kinds])

# as many permutations in the compiled program as a node has links, however many slots there are
exchange = collectives.prepare(gossamer.plan("torus:4x4", "alltoall"))
function = sharded(line(16), lambda x: (collectives.all_to_all(x, "i", exchange),))
text = jax.jit(function).lower(normal(16, 16, 2)).as_text()
assert text.count("collective_permute") == 4 < exchange.schedule.slot_count, text.count("collective_permute")
done += 1

# several times in a loop, and an input that is the same on all devices
mesh = line(16)
total = collectives.prepare(gossamer.plan("hypercube:4", "allreduce"))
twice = jax.shard_map(
    lambda x: lax.fori_loop(0, 3, lambda i, x: collectives.all_reduce(x, "i", total) / 16, x[0])[None],
    mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec("i"),
)  # fmt: skip
np.testing.assert_allclose(jax.jit(twice)(jnp.ones((16, 5))), np.ones((16, 5)))
same = jax.shard_map(
    lambda x: collectives.all_reduce(x, "i", total)[None],
    mesh=mesh,
    in_specs=PartitionSpec(),
    out_specs=PartitionSpec("i"),
)
np.testing.assert_allclose(jax.jit(same)(jnp.ones(3)), np.full((16, 3), 16.0))
done += 2

# what does not fit is refused when the function is traced
with pytest.raises(TaskError, match="a schedule of total-exchange is wanted, got one of multinode-broadcast"):
    sharded(mesh, lambda x: (collectives.all_to_all(x, "i", everyone),))(normal(16, 16))
with pytest.raises(TaskError, match="axis 'i' has 8 devices; hypercube:4 has 16 nodes"):
    sharded(line(8), lambda x: (collectives.all_gather(x, "i", everyone),))(normal(8, 16))
with pytest.raises(TaskError, match="axis 0 of x has 17 entries for 16 devices"):
    sharded(mesh, lambda x: (collectives.all_to_all(x, "i", exchange),))(normal(16, 17))
with pytest.raises(NotApplicableError, match="a switch runs no rank"):
    collectives.prepare(gossamer.plan("fat-tree:k=2,h=2,capacity=constant", "allgather"))
print(f"{done} checks passed")
