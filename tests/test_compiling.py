"""Kernels: carried out by Python while they are small, compiled otherwise, and kept where that is possible."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import subprocess
import sys
import threading
import time

import numba
import numpy as np
import pytest

import gossamer
from gossamer import jit
from gossamer.jit import njit, often, seldom, telling, uninterpreted

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")

CASES = [
    ("torus:4x4", "allgather", {}),
    ("torus:4x4", "alltoall", {}),
    ("torus:4x4", "broadcast", {"switching": "wormhole"}),
    ("kautz:2,2", "reduce", {}),
    ("kautz:2,2", "alltoall", {"algorithm": "congestion-priced-paths"}),
    ("kautz:2,3", "allgather", {"algorithm": "greedy-flooding"}),
    ("lift:abelian(9);0-1,0-1*1,0-1*3,0-0*2,1-1*4", "alltoall", {"algorithm": "orbit-paths"}),
]


def doubled(values, factor):
    total = 0
    for i in range(values.size):
        values[i] *= factor
        total += values[i]
    return total, values.size


def test_small_work_is_not_compiled_and_gives_numbers_of_python():
    kernel = njit(small=10, cache=False)(doubled)
    found = kernel(np.arange(4), 3)
    assert found == (18, 4)
    assert [type(x) for x in found] == [int, int]
    assert not kernel.signatures


def test_large_work_is_compiled():
    kernel = njit(small=10, cache=False)(doubled)
    with telling(lambda name, seconds: told.append((name, seconds))):
        told: list[tuple[str, float]] = []
        assert kernel(np.arange(11), 2) == (110, 11)
    assert len(kernel.signatures) == 1
    assert told[0][0] == "doubled"
    assert 0 < told[0][1] < 10


def test_the_time_of_compiling_is_counted_once_for_kernels_within_kernels():
    def inner(x):
        return x + 1.5

    called = njit(cache=False)(inner)

    def outer(x):
        return called(x) * 2

    before, began = jit.seconds_compiled(), time.monotonic()
    assert njit(cache=False)(outer)(1.0) == 5.0
    assert 0 < jit.seconds_compiled() - before <= time.monotonic() - began


def test_kernels_leave_the_settings_of_numba_alone():
    before = numba.config.CACHE_DIR
    assert njit()(doubled)(np.arange(3), 2) == (6, 3)
    assert before == numba.config.CACHE_DIR


def test_what_is_called_often_is_compiled_at_once():
    kernel = njit(small=10, cache=False)(doubled)
    often(kernel)
    assert kernel(np.arange(3), 2) == (6, 3)
    assert len(kernel.signatures) == 1
    often(doubled)  # nothing to say of a plain function


def test_python_does_what_is_known_to_be_little_work_the_first_time(tmp_path):
    (tmp_path / "module.py").write_text(
        "from gossamer.jit import njit\n"
        "@njit(small=10)\n"
        "def summed(values, times):\n"
        "    total = 0\n"
        "    for _ in range(times):\n"
        "        for i in range(values.size):\n"
        "            total += values[i]\n"
        "    return total\n"
    )
    code = (
        "import numpy as np, module\n"
        "from gossamer.jit import seldom\n"
        "from gossamer.jit.budgeted_interpreter import OPERATIONS\n"
        "often = module.summed.share / OPERATIONS\n"
        "module.summed(np.arange(9), 1)\n"
        "seldom(module.summed, 2 * often)\n"
        "while module.summed.spent <= module.summed.share and not module.summed.signatures:\n"
        "    module.summed(np.arange(9), 2000)\n"
        "module.summed(np.arange(9), 2000)\n"
        "print(len(module.summed.signatures))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    run = lambda: subprocess.run(  # noqa: E731
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    ).stdout.strip()
    assert run() == "0"
    assert len(list((tmp_path / "kept").rglob("*.worked"))) == 1
    assert run() == "1"  # Python may work no longer than for others
    assert run() == "1"


def test_the_same_work_is_counted_whatever_the_clock():
    """Operations of loops, before each round; what is left over in one call is left for the next."""
    once, twice = (njit(small=10, cache=False)(doubled) for _ in range(2))
    once(np.arange(4), 3)
    twice(np.arange(4), 3)
    twice(np.arange(4), 3)
    assert 0 < 2 * once.spent == twice.spent
    empty = njit(small=10, cache=False)(doubled)
    empty(np.arange(0), 3)
    assert empty.spent == 0


def test_loops_within_loops_and_in_other_kernels_are_counted():
    def inner(n):
        total = 0
        for i in range(n):
            total += i
        return total

    called = njit(small=1, cache=False)(inner)

    def outer(n, m):
        total = 0
        for _ in range(m):
            while n < 0:
                n += 1
            total += called(n)
        return total

    kernel = njit(small=1, cache=False)(outer)
    spent = []
    for n, m in ((1, 1), (1, 2), (2, 1), (-1, 1)):
        before = kernel.spent
        assert kernel(n, m) == outer(n, m)
        spent.append(kernel.spent - before)
    assert not kernel.signatures
    assert spent[1] == 2 * spent[0]
    assert spent[2] > spent[0] < 2 * spent[3]


@pytest.mark.parametrize("plain", ["0", "1"])
def test_with_plain_numba_plans_are_the_same(tmp_path, plain):
    code = (
        "import gossamer\n"
        "from gossamer.graphs import list_scheduling\n"
        "print(gossamer.plan('ring:5', 'alltoall').schedule.link.tolist())\n"
        "print(gossamer.jit.njit(small=10, cache=False)(lambda x: x + 1)(1))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "GOSSAMER_PLAIN_NUMBA": plain}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    links = gossamer.plan("ring:5", "alltoall").schedule.link.tolist()
    assert done.stdout.splitlines() == [str(links), "2"]


def test_what_is_more_work_than_compiling_is_not_left_to_python():
    kernel = njit(small=10, cache=False)(doubled)
    seldom(kernel, 100.0)
    assert kernel.allowed == 0
    seldom(doubled, 0.1)  # nothing to say of a plain function


def test_a_kernel_that_kernels_call_serves_python_too():
    def called(values):
        return values.sum()

    inner = njit(cache=False)(called)

    def calling(values):
        return 2 * inner(values)

    outer, later = njit(cache=False)(calling), njit(cache=False)(calling)
    numbers = np.arange(5)
    assert outer(numbers) == 20
    assert inner(numbers) == 10  # compiled once more, for Python
    assert later(numbers) == 20
    assert inner(numbers.astype(np.int32)) == 10
    assert len(inner.signatures) == 2


def test_only_what_python_called_is_kept(tmp_path):
    (tmp_path / "module.py").write_text(
        "from gossamer.jit import njit\n"
        "@njit()\ndef inner(x):\n    return x + 1\n"
        "@njit()\ndef outer(x):\n    return 2 * inner(x)\n"
    )
    script = (
        "import sys, module\n"
        "from gossamer.jit import telling\n"
        "with telling(lambda name, seconds: print(name)):\n"
        "    print([getattr(module, name)(3) for name in sys.argv[1:]])\n"
    )

    def run(*names):
        done = subprocess.run(
            [sys.executable, "-c", script, *names], cwd=tmp_path, capture_output=True, text=True, check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        return done.stdout.split("\n")[:-1]

    assert run("outer") == ["outer", "inner", "[8]"]
    assert run("outer", "inner", "outer") == ["inner", "[8, 4, 8]"]
    assert run("inner", "outer") == ["[4, 8]"]


def test_what_is_much_work_is_compiled_from_the_start_again():
    def slow(values):
        values[0] += 1
        for i in range(30_000_000):
            values[1] += i & 1
        return values[0]

    kernel = njit(small=10, cache=False)(slow)
    values = np.zeros(2, np.int64)
    assert kernel(values) == 1  # not 2: what Python had begun is undone
    assert values.tolist() == [1, 15_000_000]
    assert len(kernel.signatures) == 1


def test_python_and_compiled_code_find_the_same(tmp_path):
    """A process with nothing compiled beside this one, where every kernel is."""
    script = (
        "import json, sys, gossamer\n"
        "for network, task, options in json.load(sys.stdin):\n"
        "    s = gossamer.plan(network, task, **options).schedule\n"
        "    print(json.dumps(columns(s)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", inspect.getsource(columns) + script], input=json.dumps(CASES), capture_output=True,
        text=True, check=False, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with uninterpreted():
        for (network, task, options), line in zip(CASES, done.stdout.splitlines(), strict=True):
            assert json.loads(line) == columns(gossamer.plan(network, task, **options).schedule), (network, task)


def columns(schedule):
    names = ("source", "target", "step") if schedule.switching == "wormhole" else ("slot", "link", "packet")
    return [getattr(schedule, name).tolist() for name in names]


def powers(seed, base, exponent, drawn):
    np.random.seed(seed)
    for i in range(base.size):
        drawn[0, i] = np.random.random()
        drawn[1, i] = np.random.randint(0, i + 1)
        drawn[2, i] = np.random.randint(i + 1)
        drawn[3, i] = math.log(base[i])
        drawn[4, i] = math.exp(exponent[i])
        drawn[5, i] = math.pow(base[i], exponent[i])
        drawn[6, i] = base[i] ** exponent[i]


def test_chance_and_powers_are_those_of_compiled_code():
    kernel = njit(small=100_000, cache=False)(powers)
    base, exponent = np.random.default_rng(1).random((2, 2_000))
    found, expected = np.zeros((2, 7, base.size))
    for seed in (0, 1, 2**31 - 1):
        kernel(seed, base, 9 * exponent - 3, found)
        assert not kernel.signatures
        with uninterpreted():
            njit(cache=False)(powers)(seed, base, 9 * exponent - 3, expected)
        assert np.array_equal(found, expected)


def test_chance_of_kernels_leaves_that_of_the_program_and_of_other_threads_alone():
    def drawn(seed, values, wait):
        np.random.seed(seed)
        for i in range(values.size):
            values[i] = np.random.random()
            if wait[0]:
                turns.wait()

    turns = threading.Barrier(2)
    kernel = njit(small=100, cache=False)(drawn)
    alone, together = np.zeros((2, 5)), np.zeros((2, 5))
    np.random.seed(7)
    before = np.random.get_state()[1].tolist()
    for seed in (0, 1):
        kernel(seed, alone[seed], np.zeros(1))
    threads = [threading.Thread(target=kernel, args=(seed, together[seed], np.ones(1))) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(alone, together)
    assert np.random.get_state()[1].tolist() == before


KERNEL = """
from gossamer.jit import njit

@njit()
def twice(x):
    return 2 * x

print(twice(21))
"""


@pytest.mark.parametrize("state", ["damaged", "unwritable", "a file"])
def test_kept_code_that_is_no_use_is_no_error(tmp_path, state):
    place = tmp_path / "kept"
    if state == "a file":
        place.write_text("")
    (tmp_path / "kernels.py").write_text(KERNEL)
    command = [sys.executable, str(tmp_path / "kernels.py")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(place)}
    if state == "damaged":
        subprocess.run(command, env=environment, check=True, capture_output=True)
        kept = [path for path in place.rglob("*") if path.is_file()]
        assert kept
        for path in kept:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] + b"\x80\x04broken")
    elif state == "unwritable":
        place.mkdir()
        place.chmod(0o500)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("42\n", "", 0)


def test_a_number_that_runs_over_is_left_to_compiled_code():
    """NumPy's numbers of 32 bits stay that narrow, compiled ones do not."""

    def product(values):
        values[0] += 1
        return values[1] * values[2]

    kernel = njit(small=10, cache=False)(product)
    values = np.array([0, 2**20, 2**20], np.int32)
    assert kernel(values) == 2**40
    assert values[0] == 1  # not 2: what Python had begun is undone
    assert len(kernel.signatures) == 1


def test_what_python_began_is_undone_in_arrays_of_tuples_too():
    def product(pair, values):
        pair[0][0] += 1
        pair[1][1][0] += 1
        return values[0] * values[1]

    kernel = njit(small=10, cache=False)(product)
    pair = np.zeros(1, np.int64), (0, np.zeros(1, np.int64))
    assert kernel(pair, np.array([2**20, 2**20], np.int32)) == 2**40
    assert (pair[0][0], pair[1][1][0]) == (1, 1)  # not 2


def test_arrays_of_tuples_count_as_work():
    def first(pair):
        return pair[0][0]

    kernel = njit(small=10, cache=False)(first)
    kernel((np.zeros(6), np.zeros(6)))
    assert len(kernel.signatures) == 1


def kernels_of_python():
    """Yield each kernel that Python may carry out, with every kernel that it calls."""
    import importlib
    import pkgutil

    def called(kernel, seen):
        for name in kernel.py_func.__code__.co_names:
            other = kernel.py_func.__globals__.get(name)
            if isinstance(other, jit.Kernel) and other not in seen:
                seen.append(other)
                called(other, seen)
        return seen

    for module in pkgutil.walk_packages(gossamer.__path__, "gossamer."):
        if module.name.endswith(".__main__"):
            continue
        for kernel in vars(importlib.import_module(module.name)).values():
            if isinstance(kernel, jit.Kernel) and kernel.small and kernel.__module__ == module.name:
                yield kernel, called(kernel, [kernel])


def test_what_python_may_carry_out_leaves_nothing_to_the_last_digit_or_to_chance():
    """Exponentials, logarithms, sums of many and unstable sorts may differ from those of compiled code."""
    found = list(kernels_of_python())
    assert len(found) > 50
    for kernel, inside in found:
        for part in inside:
            code = inspect.getsource(part.py_func)
            odd = re.search(r"np\.(exp|log|sqrt|sin|cos|power|sum|mean|dot)\b|\.sum\(|\.mean\(", code)
            assert odd is None, f"{kernel.__module__}.{kernel.__name__}: {odd}"
            drawn = set(re.findall(r"np\.random\.(\w+)", code))
            assert drawn <= {"seed", "random", "randint"}, f"{kernel.__module__}.{kernel.__name__}: {drawn}"
            assert not drawn or "np.random.seed(seed)" in inspect.getsource(kernel.py_func), kernel.__name__
            sorts = re.findall(r"np\.(?:arg)?sort\(.*|\.sort\(.*", code)
            assert all('kind="mergesort"' in line for line in sorts), f"{kernel.__module__}.{kernel.__name__}: {sorts}"


def test_kept_code_is_of_no_use_when_the_file_of_what_it_calls_has_changed(tmp_path):
    (tmp_path / "inner.py").write_text("from gossamer.jit import njit\n@njit()\ndef added(n):\n    return n + 1\n")
    (tmp_path / "middle.py").write_text(
        "from gossamer.jit import njit\nfrom inner import added\n@njit()\ndef doubled(n):\n    return 2 * added(n)\n"
    )
    (tmp_path / "outer.py").write_text(
        "from gossamer.jit import njit, telling\nfrom middle import doubled\n"
        "@njit()\ndef found(n):\n    return doubled(n)\n"
        "with telling(lambda name, seconds: print(name)):\n    print(found(3))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}

    def run():
        command = [sys.executable, "-B", str(tmp_path / "outer.py")]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert run()[-1] == "8"
    assert run() == ["8"]  # kept
    (tmp_path / "inner.py").write_text("from gossamer.jit import njit\n@njit()\ndef added(n):\n    return n + 100\n")
    assert run()[-1] == "206"
    assert run() == ["206"]


def test_where_nobodys_home_is_known_kernels_are_not_kept_beside_it(monkeypatch):
    def homeless(cls=None):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pathlib.Path.home", homeless)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr("pathlib.Path.mkdir", lambda *args, **words: (_ for _ in ()).throw(OSError()))
    monkeypatch.setattr("pathlib.Path.is_dir", lambda path: False)
    kernel = njit(small=10)(doubled)
    assert kernel.folder is None
    assert kernel(np.arange(3), 2) == (6, 3)
