"""The table of schemes: what the simulator, the command line, the docs and the tests go through."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gossamer.errors import NotApplicableError, nearest
from gossamer.simulation.random_arrivals.interval_broadcasts import IntervalBroadcasts, interval_reason, interval_scheme
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.scheme_evaluation import TreeBroadcasts
from gossamer.simulation.random_arrivals.schemes.balanced_tree_images import symmetric, symmetric_reason
from gossamer.simulation.random_arrivals.schemes.dimension_orders import flattened, redo, star, star_reason
from gossamer.simulation.random_arrivals.schemes.edge_disjoint_trees import (
    hypercube_reason,
    indirect_reason,
    mini_packets,
    mini_packets_reason,
    minis_reason,
    stamoulis_tsitsiklis_direct,
    stamoulis_tsitsiklis_indirect,
    star_minis,
    trees_reason,
    varvarigos_banerjee_direct,
    varvarigos_banerjee_indirect,
)
from gossamer.simulation.random_arrivals.schemes.mesh_interior_over_surface import arc, arc_reason

if TYPE_CHECKING:
    from gossamer.networks.network import Network
    from gossamer.simulation.random_arrivals.interval_broadcasts import IntervalScheme
    from gossamer.simulation.random_arrivals.scheme_evaluation import RandomBroadcasts

__all__ = ["SCHEMES", "SCHEME_ALIASES", "KnownScheme", "broadcasts", "covering", "options_of", "scheme"]


class KnownScheme(NamedTuple):
    """A scheme of the table.

    Attributes
    ----------
    builder : callable
        ``(network, **options)`` to the scheme on a network: a `Scheme` of trees, or an `IntervalScheme`.
    reason : callable
        ``(network) -> str | None``: why it does not cover a network, in a clause, or None when it does.
    summary, source : str
        For people.
    simulated : callable
        What the builder made to what a sweep asks for delays.
    """

    builder: Callable[..., Scheme | IntervalScheme]
    reason: Callable[[Network], str | None]
    summary: str
    source: str
    simulated: Callable[[Any], RandomBroadcasts] = TreeBroadcasts

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that the builder takes."""
        return tuple(inspect.signature(self.builder).parameters)[1:]


_YEH = "Yeh, Varvarigos and Lee 1998"


def _one_factor(network: Network) -> bool:
    return network.grid is None and sum(f.node_count > 1 for f in flattened(network)) == 1


def _balanced_reason(network: Network) -> str | None:
    return symmetric_reason(network) if _one_factor(network) else star_reason(network)


def _balanced(name: str, rule: str, network: Network) -> Scheme:
    """Return STAR on products, rotated trees on other networks, with a priority rule."""
    build = symmetric if _one_factor(network) else star
    return replace(build(network, priority=rule), name=name)


_RULED: tuple[tuple[str, str, str, str], ...] = (
    ("fifo", "fifo", "balanced trees (STAR, else rotated trees), first come, first served", f"{_YEH}, section 2.1"),
    ("priority", "two-class", "balanced trees, copies of the last dimension or for leaves last",
     f"{_YEH}, section 2.2"),
    ("optimal", "optimal", "balanced trees, copies with the most descendants first", f"{_YEH}, section 4"),
    ("three-class", "three-class", "balanced trees, as optimal in three classes, by thresholds of the descendants",
     f"{_YEH}, section 4"),
    ("critical-path", "critical-path", "balanced trees, copies with the longest way to go first",
     f"{_YEH}, section 4"),
    ("reversed", "reversed", "balanced trees, copies with the fewest descendants first; unstable, a control",
     "gossamer"),
)  # fmt: skip
"""Name, priority rule, summary and source of the schemes on balanced trees."""

SCHEMES: dict[str, KnownScheme] = {
    **{
        name: KnownScheme(partial(_balanced, name, rule), _balanced_reason, summary, source)
        for name, rule, summary, source in _RULED
    },
    "star": KnownScheme(
        star,
        star_reason,
        "dimension after dimension, the last one drawn so that traffic is even",
        f"{_YEH}, section 2.1",
    ),
    "redo": KnownScheme(
        redo,
        star_reason,
        "dimension after dimension in any order, drawn so that traffic is even",
        f"{_YEH}, section 2.1",
    ),
    "symmetric": KnownScheme(
        symmetric, symmetric_reason, "images of a shortest-path tree under automorphisms", f"{_YEH}, section 5"
    ),
    "arc": KnownScheme(
        arc, arc_reason, "among the inner nodes of a mesh: out to a face, over it, and back", f"{_YEH}, section 3"
    ),
    "arc-balanced": KnownScheme(
        partial(arc, side="balanced"),
        arc_reason,
        "as arc, out to the faces that make the busiest link carry least",
        f"after {_YEH}, section 3.1",
    ),
    "mini-packets": KnownScheme(
        mini_packets,
        mini_packets_reason,
        "p parts on p trees that share no link, p being the degree",
        f"{_YEH}, section 2",
    ),
    "star-minis": KnownScheme(
        star_minis, minis_reason, "d parts by STAR, one ending in each dimension", f"{_YEH}, section 2"
    ),
    "stamoulis-tsitsiklis-direct": KnownScheme(
        stamoulis_tsitsiklis_direct,
        hypercube_reason,
        "one of d completely unbalanced trees of a hypercube, first come, first served",
        "Stamoulis and Tsitsiklis 1993",
    ),
    "stamoulis-tsitsiklis-indirect": KnownScheme(
        stamoulis_tsitsiklis_indirect,
        indirect_reason,
        "up and down one of d edge-disjoint trees of a hypercube with a common root",
        "Stamoulis and Tsitsiklis 1993",
    ),
    "varvarigos-banerjee-direct": KnownScheme(
        varvarigos_banerjee_direct,
        trees_reason,
        "floods one of k edge-disjoint spanning trees of any network",
        "Varvarigos and Banerjee 1996",
    ),
    "varvarigos-banerjee-indirect": KnownScheme(
        varvarigos_banerjee_indirect,
        trees_reason,
        "up to the center of one of k edge-disjoint spanning trees, and down",
        "Varvarigos and Banerjee 1996",
    ),
    "varvarigos-bertsekas": KnownScheme(
        interval_scheme,
        interval_reason,
        "one partial multinode broadcast after the other, a packet of each node that has one, in d parts",
        "Varvarigos and Bertsekas 1994, section 5",
        IntervalBroadcasts,
    ),
}
"""Every scheme by name, in the order in which they are shown."""

SCHEME_ALIASES: dict[str, str] = {"two-class": "priority", "intervals": "varvarigos-bertsekas"}
"""Other names."""


def covering(network: Network) -> list[str]:
    """Return the names of the schemes that cover a network.

    >>> import gossamer
    >>> covering(gossamer.network("array:4x4"))[-3:]
    ['varvarigos-banerjee-direct', 'varvarigos-banerjee-indirect', 'varvarigos-bertsekas']
    """
    return [name for name, known in SCHEMES.items() if known.reason(network) is None]


def scheme(name: str, network: Network, **options: Any) -> Scheme:
    """Return the trees of a scheme by name.

    Parameters
    ----------
    name : str
        A key of `SCHEMES` or `SCHEME_ALIASES`; case and underscores do not matter.
    network : Network
        Where the broadcasts are.
    **options
        Those of the builder: ``priority`` of the schemes that are named for their trees, ``coin``, ``target``,
        ``trees``, ``side``, ``count``, ``seed``.

    Raises
    ------
    NotApplicableError
        If the name or an option is unknown, the scheme has no trees, or it does not cover the network; the line says
        what would work.

    Examples
    --------
    >>> import gossamer
    >>> scheme("priority", gossamer.network("hypercube:4")).class_count
    2
    >>> scheme("arc", gossamer.network("torus:4x4"))
    Traceback (most recent call last):
    gossamer.errors.NotApplicableError: scheme 'arc' does not cover torus:4x4: it needs an array (mesh); fifo, \
priority, optimal, three-class, critical-path, reversed, star, redo, symmetric, mini-packets, star-minis, \
varvarigos-banerjee-direct, varvarigos-banerjee-indirect, varvarigos-bertsekas do
    """
    key, known = _known(name, network, options)
    made = known.builder(network, **options)
    if not isinstance(made, Scheme):
        raise NotApplicableError(f"scheme {key!r} has no trees; broadcasts({key!r}, ...) simulates it all the same")
    return made


def broadcasts(name: str, network: Network, **options: Any) -> RandomBroadcasts:
    """Return a scheme by name, ready to be asked for delays; parameters and errors as for `scheme`.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals import Settings
    >>> for name in ("priority", "varvarigos-bertsekas"):
    ...     print(name, broadcasts(name, gossamer.network("torus:8x8")).limit(Settings()))
    priority its links are saturated at load 1
    varvarigos-bertsekas it is not stable from load 0.6
    """
    _, known = _known(name, network, options)
    return known.simulated(known.builder(network, **options))


def options_of(name: str) -> tuple[str, ...]:
    """Return the options that the builder of a scheme takes; none where there is no such scheme.

    >>> options_of("varvarigos-bertsekas"), options_of("fifo")
    (('segmented', 'control_time', 'split'), ())
    """
    known = SCHEMES.get(_key(name))
    return known.options if known is not None else ()


def _key(name: object) -> str:
    """Return the key of a scheme, whatever way its name is written."""
    key = str(name).strip().lower().replace("_", "-")
    return SCHEME_ALIASES.get(key, key)


def _known(name: str, network: Network, options: dict[str, Any]) -> tuple[str, KnownScheme]:
    """Return the entry of the table, if it covers the network and takes the options."""
    key = _key(name)
    if key not in SCHEMES:
        hint = nearest(key, [*SCHEMES, *SCHEME_ALIASES]) or f"; known schemes: {', '.join(SCHEMES)}"
        raise NotApplicableError(f"unknown scheme {name!r}{hint}")
    known = SCHEMES[key]
    reason = known.reason(network)
    if reason is not None:
        others = ", ".join(covering(network))
        hint = f"; {others} do" if others else ""
        raise NotApplicableError(f"scheme {key!r} does not cover {network.spec}: it {reason}{hint}")
    for option in options:
        if option not in known.options:
            allowed = f"it takes {', '.join(known.options)}" if known.options else "it takes none"
            raise NotApplicableError(
                f"scheme {key!r} has no option {option!r}{nearest(option, known.options)}; {allowed}"
            )
    return key, known
