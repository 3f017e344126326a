"""What 16 virtual devices do: every collective, equal to JAX's own, in jit and with gradients; see test_jax.py."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"
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


every_collective("torus:4x4", Mesh(np.array(jax.devices()).reshape(4, 4), ("x", "y")), tiled=True)
every_collective("hypercube:3", line(8), whole=False)
every_collective("star:3", line(6))
every_collective(gossamer.network(nx.gnm_random_graph(7, 11, seed=3)), line(7))

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
with pytest.raises(NotApplicableError, match="a switch is no device"):
    collectives.prepare(gossamer.plan("fat-tree:k=2,h=2,capacity=constant", "allgather"))
print(f"{done} checks passed")
