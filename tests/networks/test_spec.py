"""The spec parser: round trips, friendly variants, and one clear line for everything else."""

from __future__ import annotations

import re
import subprocess
import sys
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import GossamerError, NetworkError
from gossamer.networks import FAMILIES, parse
from gossamer.networks.spec import network_size

numbers = st.integers(1, 5)
sides = st.lists(numbers, min_size=1, max_size=3).map(lambda s: "x".join(map(str, s)))
reaches = st.integers(2, 9).flatmap(lambda n: st.integers(1, n // 2).map(lambda rho: f"{n},{rho}"))
jumps = st.integers(4, 12).flatmap(
    lambda n: st.lists(st.integers(2, n // 2), max_size=2, unique=True).map(
        lambda s: ",".join(map(str, [n, 1, *sorted(s)]))
    )
)


@st.composite
def trees(draw):
    k, h = draw(st.integers(2, 3)), draw(st.integers(0, 3))
    words = st.sampled_from(["constant", "exponential"])
    lists = st.lists(st.integers(2, 9), min_size=h, max_size=h).map(lambda c: ",".join(map(str, sorted(c))))
    return f"fat-tree:k={k},h={h},capacity={draw(st.one_of(words, lists) if h else words)}"


simple = st.one_of(
    st.tuples(st.sampled_from(["array", "torus", "generalized-hypercube"]), sides),
    st.tuples(st.sampled_from(["ring", "complete", "hypercube", "star", "pancake", "bubble-sort"]), numbers.map(str)),
    st.tuples(st.sampled_from(["ccc", "butterfly"]), st.integers(1, 4).map(str)),
    st.tuples(st.just("extended-ring"), reaches),
    st.tuples(st.just("circulant"), jumps),
    st.tuples(st.just("hypercycle"), st.lists(reaches, min_size=1, max_size=2).map("x".join)),
).map(":".join)
products = st.recursive(
    simple,
    lambda inner: st.lists(inner, min_size=1, max_size=2).map(lambda f: "product:" + "x".join(f"({s})" for s in f)),
    max_leaves=3,
)
specs = st.one_of(simple, trees(), products)
ONE_SIDE = {"torus": "ring", "generalized-hypercube": "complete", "hypercycle": "extended-ring"}


def canonical(spec: str) -> str:
    """Return what the docstrings call the canonical form of a well-formed spec, computed by itself."""
    for many, single in ONE_SIDE.items():
        spec = re.sub(rf"(?<![a-z-]){many}:([0-9,]+)(?![0-9,x])", rf"{single}:\1", spec)
    spec = re.sub(r"h=0,capacity=\w+", "h=0,capacity=constant", spec)
    return re.sub(r"h=1,capacity=exponential", "h=1,capacity=constant", spec)


@given(specs)
@settings(deadline=None, max_examples=60)
def test_specs_are_canonical_or_become_so_and_parse_back(spec):
    net = parse(spec)
    assert net.spec == canonical(spec)
    again = parse(net.spec)
    assert again == net
    assert again.spec == net.spec


@given(specs, st.randoms())
@settings(deadline=None, max_examples=40)
def test_upper_case_and_spaces_make_no_difference(spec, random):
    spaced = re.sub(
        r"(?<=[0-9)])x|[,=:()]", lambda m: random.choice(["", " "]) + m[0] + random.choice(["", "  "]), spec
    )
    assert parse(f" {spaced.upper()} ").spec == parse(spec).spec


@pytest.mark.parametrize(
    ("variant", "spec"),
    [
        ("torus:8,8", "torus:8x8"),
        ("Torus: 8 X 8", "torus:8x8"),
        ("torus:8×8", "torus:8x8"),
        ("torus:8*8", "torus:8x8"),
        ("mesh:3x4", "array:3x4"),
        ("linear-array:5", "array:5"),
        ("extended_ring:14,2", "extended-ring:14,2"),
        ("Extended Ring: 14, 2", "extended-ring:14,2"),
        ("cube-connected-cycles:4", "ccc:4"),
        ("wrapped butterfly:3", "butterfly:3"),
        ("hypercycle:5,2 x 7,3", "hypercycle:5,2x7,3"),
        ("fat-tree:h=3,k=2", "fat-tree:k=2,h=3,capacity=constant"),
        ("fat-tree:capacity=1,2,4,h=3,k=2", "fat-tree:k=2,h=3,capacity=exponential"),
        ("fat-tree:2,4", "fat-tree:k=2,h=4,capacity=constant"),
        ("fat-tree:k=2,4,h=2", "fat-tree:k=2,4,capacity=constant"),
        ("fat-tree:capacity=1,2,k=2,4", "fat-tree:k=2,4,capacity=exponential"),
        ("product: ( ring:5 ) X ( Complete:4 )", "product:(ring:5)x(complete:4)"),
        ("circulant:13,8,12", "circulant:13,1,5"),
        ("ring:012", "ring:12"),
    ],
)
def test_friendly_variants(variant, spec):
    assert parse(variant).spec == spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "unknown network family ''; a spec is family:parameters"),
        (":8", "unknown network family ':8'"),
        ("tours:8x8", r"unknown network family 'tours' \(did you mean 'torus'\?\); a spec is family:parameters"),
        ("klein-bottle:8", "unknown network family 'klein-bottle'; a spec"),
        ("torus8x8", r"unknown network family 'torus8x8' \(did you mean 'torus'\?\)"),
        ("torus", r"torus: parameters are missing; the form is torus:AxBx\.\.\."),
        ("torus:", "torus: parameters are missing"),
        ("torus:  ", "torus: parameters are missing"),
        ("torus:8x", "torus: expected an integer, got an empty parameter"),
        ("torus:8xx8", "torus: expected an integer, got an empty parameter"),
        ("torus:0x8", "torus: a side must be a whole number of at least 1, got 0"),
        ("torus:8x-8", "torus: a side must be a whole number of at least 1, got -8"),
        ("torus:8.5x8", "torus: expected an integer, got '8.5'; the form is torus:AxBx"),
        ("torus:8;8", "torus: expected an integer, got '8;8'"),
        ("torus:٣x٣", "torus: expected an integer, got '٣'"),
        ("torus:10000x10000x10000", "torus: the network would have 6000000000000 links; at most 400000000 are allowed"),
        ("torus:" + "9" * 5000, "torus: expected an integer, got '9999"),
        ("array:" + "9" * 3000, "array: a side must be at most 400000000, got 9999"),
        ("ring:3x3", "ring: expected an integer, got '3x3'; the form is ring:n"),
        ("ring:3,3", "ring: 2 parameters given in '3,3'; the form is ring:n"),
        ("ring:-1", "ring: n must be a whole number of at least 1, got -1"),
        ("hypercube:99999999", "hypercube: the network would have more than 10"),
        ("extended-ring:14", "extended-ring: 1 parameter given in '14'; the form is extended-ring:n,rho"),
        ("extended-ring:14,8", r"extended-ring: rho must be in 1\.\.7 for n=14, got 8 \(nearest: 7\)"),
        ("extended-ring:14,0", "extended-ring: rho must be a whole number of at least 1, got 0"),
        ("circulant:13", "circulant: 1 parameter given in '13'; the form is circulant:n,jump"),
        ("circulant:13,13", r"circulant: a jump must be a whole number in 1\.\.12, got 13"),
        ("circulant:12,4,6", "circulant: not connected"),
        ("hypercycle:5x7", "hypercycle: each extended ring is n,rho, got '5'"),
        ("hypercycle:5,2x7,3,1", "hypercycle: each extended ring is n,rho, got '7,3,1'"),
        ("star:0", "star: m must be a whole number of at least 1, got 0"),
        ("star:99", "star: the network would have more than 10"),
        ("ccc:60", "ccc: the network would have more than 10"),
        ("fat-tree:k=2", "fat-tree: the height h is missing; it is needed where all levels have one arity k"),
        ("fat-tree:h=2", r"fat-tree: k is missing; the form is fat-tree:k=K,h=H\|k=k_1,...,k_h,capacity="),
        ("fat-tree:k=2,4,h=3", "fat-tree: height 3 needs 3 arities k_1,...,k_3, or one for all, got 2"),
        ("fat-tree:k=2,h=3,k=3", "fat-tree: parameter k is given twice"),
        ("fat-tree:k=2,h=3,capacty=constant", r"fat-tree: unknown parameter 'capacty' \(did you mean 'capacity'\?\)"),
        ("fat-tree:k=2,h=3,capacity=linear", "fat-tree: capacity must be constant, exponential or 3 integers"),
        ("fat-tree:k=2,h=3,capacity=", "fat-tree: expected an integer, got an empty parameter"),
        ("fat-tree:k=2,h=3,capacity=4,2,1", "fat-tree: capacities must not decrease towards the root"),
        ("fat-tree:k=2,h=3,capacity=constant,2,1", "fat-tree: expected an integer, got 'constant'"),
        ("fat-tree:k=1,h=3", "fat-tree: k must be a whole number of at least 2, got 1"),
        ("product:ring:5", r"product: expected \(SPEC\)x\(SPEC\)\.\.\., got 'ring:5'"),
        ("product:(ring:5)(ring:4)", r"product: expected \(SPEC\)x\(SPEC\)"),
        ("product:(ring:5)x", r"product: expected \(SPEC\)x\(SPEC\)"),
        ("product:x(ring:5)", r"product: expected \(SPEC\)x\(SPEC\)"),
        ("product:(ring:5)x(complete:4", r"product: unbalanced parentheses in '\(ring:5\)x\(complete:4'"),
        ("product:(ring:5))x(complete:4)", "product: unbalanced parentheses"),
        ("product:()x(ring:5)", "unknown network family ''"),
        ("product:(ring:5)x(tours:4)", "unknown network family 'tours'"),
        ("product:(fat-tree:k=2,h=2)x(ring:3)", "factor 'fat-tree:k=2,h=2,capacity=constant' of a product must"),
        ("product:(complete:2000)x(complete:2000)", "product: the network would have 15992000000 links"),
        ("product:(" * 30 + "ring:5" + ")" * 30, "product: products may be nested at most 20 deep"),
        ("ring:\n5\nx", "ring: expected an integer, got"),
        (8, "a network spec is text such as 'torus:8x8', got 8"),
        (None, "a network spec is text such as 'torus:8x8', got None"),
    ],
)
def test_everything_else_is_one_clear_line(spec, message):
    with pytest.raises(NetworkError, match=f"^{message}") as caught:
        parse(spec)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


names = st.sampled_from([f.name for f in FAMILIES if f.small])


@given(
    st.one_of(
        st.text(max_size=30), st.builds("{}:{}".format, names, st.text("0123x,=()kh:- ringcapacity", max_size=12))
    )
)
@settings(deadline=None, max_examples=120)
def test_no_text_makes_the_parser_fail_in_any_other_way(text):
    message = ""
    try:
        with mock.patch("gossamer.networks.family.MAX_LINKS", 10_000):
            net = parse(text)
            assert parse(net.spec) == net
            assert net.link_count <= 10_000
    except GossamerError as error:
        message = str(error)
    assert "\n" not in message


def test_importing_networks_and_parsing_leaves_heavy_packages_alone():
    code = (
        "import sys, gossamer.networks as n; n.parse('torus:4x4').reverse_link; n.parse('star:4'); "
        "print([m for m in ('numba', 'scipy', 'networkx', 'matplotlib', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_size_of_a_network_in_a_file_is_that_of_the_network(tmp_path):
    (tmp_path / "x.edges").write_text("a b\nb c\n")
    assert tuple(network_size(f"edges:{tmp_path / 'x.edges'}")) == (3, 4)
