"""How a command ends: by Ctrl-C, with standard streams that are closed, and with one bar at a time."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout

import numba
import numpy as np
import pytest
import typer

from gossamer.cli import main
from gossamer.cli.console import print_error, progress
from gossamer.processes.work_items import WorkItem, attempt


@pytest.mark.parametrize("error", [KeyboardInterrupt(), typer.Abort(), typer.Exit(130)], ids=lambda e: type(e).__name__)
def test_ctrl_c_is_told_in_a_word_whatever_the_command_line_library_makes_of_it(capsys, monkeypatch, error):
    def raised():
        raise error

    monkeypatch.setattr("gossamer.cli.list._networks", raised)
    assert main(["list", "networks"]) == 130
    assert capsys.readouterr() == ("", "gossamer: interrupted\n")


def returned_while_interrupted():
    """Let a signal come while a compiled function runs that returns two objects: Numba makes another error of it."""

    def stop(number, frame):
        raise KeyboardInterrupt

    @numba.njit
    def spin(count):
        total = 0
        for i in range(count):
            total ^= i * total + 1
        return np.full(3, total), total

    spin(1)
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        spin(10**9)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_ctrl_c_in_a_compiled_function_is_told_in_a_word(capsys, monkeypatch):
    monkeypatch.setattr("gossamer.cli.list._networks", returned_while_interrupted)
    assert main(["list", "networks"]) == 130
    assert capsys.readouterr() == ("", "gossamer: interrupted\n")


def test_ctrl_c_in_a_compiled_function_is_no_failure_of_a_point():
    class Interrupted:
        def run(self, say):
            returned_while_interrupted()

    with pytest.raises(KeyboardInterrupt):
        attempt(WorkItem(0, Interrupted()), print)


COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what a shell has put in background
signal.signal(signal.SIGHUP, signal.{hangup})  # and this one by what nohup runs
signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # as SIGINT
import gossamer.cli.list
from gossamer.cli import main

def networks():
    {body}
    return [{{}}], []

gossamer.cli.list._networks = networks
sys.argv[1:] = ["list", "networks"]
sys.exit(main())
"""


def ended_by(folder, body, hangup="SIG_DFL"):
    """Return the status, and both streams, of a process whose command does `body`."""
    (folder / "ended.py").write_text(COMMAND.format(body=body, hangup=hangup))
    command = [sys.executable, "-m", "ended"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=folder)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("exec('signal.raise_signal(signal.SIGINT)')", (130, "", "gossamer: interrupted\n")),
        ("signal.raise_signal(signal.SIGTERM)", (143, "", "gossamer: ended by SIGTERM\n")),
        ("signal.raise_signal(signal.SIGHUP)", (129, "", "gossamer: ended by SIGHUP\n")),
        ("signal.raise_signal(signal.SIGQUIT)", (131, "", "gossamer: ended by SIGQUIT\n")),
        ("signal.raise_signal(signal.SIGUSR1)", (138, "", "gossamer: ended by SIGUSR1\n")),
        ("signal.raise_signal(signal.SIGXCPU)", (152, "", "gossamer: ended by SIGXCPU\n")),
        ("import atexit; atexit.register(signal.raise_signal, signal.SIGINT); print(1)", (0, "1\n", "")),
        ("import atexit; atexit.register(signal.raise_signal, signal.SIGTERM); print(1)", (0, "1\n", "")),
    ],
    ids=[
        "code of a text",
        "SIGTERM",
        "SIGHUP",
        "SIGQUIT",
        "SIGUSR1",
        "SIGXCPU",
        "SIGINT at the end",
        "SIGTERM at the end",
    ],
)
def test_a_signal_ends_a_command_by_a_status_and_never_by_itself(tmp_path, body, expected):
    assert ended_by(tmp_path, body) == expected


def test_a_command_that_nohup_runs_does_not_end_with_its_terminal(tmp_path):
    assert ended_by(tmp_path, "signal.raise_signal(signal.SIGHUP); print(1)", hangup="SIG_IGN") == (0, "1\n", "")


def test_a_signal_that_comes_where_nothing_can_be_raised_is_answered_a_moment_later(tmp_path):
    body = "import ctypes, time; ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))(); time.sleep(90)"
    assert ended_by(tmp_path, body) == (130, "", "gossamer: interrupted\n")
    body = body.replace("SIGINT", "SIGHUP")
    assert ended_by(tmp_path, body) == (129, "", "gossamer: ended by SIGHUP\n")


def test_an_interrupted_command_does_not_wait_for_one_who_does_not_read():
    command = [sys.executable, "-c", COMMAND.format(body="print('x' * 10**6)", hangup="SIG_DFL")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.read(1) == b"x"
        time.sleep(0.5)  # it waits for room in the pipe
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130


def test_what_is_refused_is_not_told_on_standard_output_where_standard_error_is_closed():
    command = f"{sys.executable} -m gossamer verify missing.parquet 2>&-"
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")


def test_no_option_for_failures_where_there_is_no_network(capsys):
    assert main(["reproduce", "han", "--without", "nodes:1"]) == 2
    assert "--without" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_one_bar_at_a_time_and_streams_stay_where_others_put_them(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    shown, out, err = Terminal(), io.StringIO(), io.StringIO()
    with redirect_stderr(shown), redirect_stdout(out):
        with progress(after=0) as stage, redirect_stdout(io.StringIO()), redirect_stderr(err):
            stage("outer stage")
            with progress(after=0) as inner:
                inner("inner stage")
        print("what came of it")
    assert out.getvalue() == "what came of it\n"
    assert err.getvalue() == ""
    assert "outer stage" in shown.getvalue()
    assert "inner stage" not in shown.getvalue()


def test_an_error_stands_above_the_bar(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    shown, ends = Terminal(), time.monotonic() + 30
    with redirect_stderr(shown), progress(after=0) as stage:
        stage("a stage")
        while "a stage" not in shown.getvalue() and time.monotonic() < ends:
            time.sleep(0.01)
        print_error("something is odd")
    before, found, after = shown.getvalue().partition("something is odd\n")
    assert "a stage" in before
    assert found
    assert "a stage" in after


@pytest.mark.parametrize("width", [60, 80])
def test_a_stage_of_a_long_name_leaves_room_for_the_bar_and_the_time(monkeypatch, width):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    shown, ends = Terminal(), time.monotonic() + 30
    with redirect_stderr(shown), progress(after=0) as stage:
        stage("3 of 4: " + "long " * 40)
        while "3 of 4" not in shown.getvalue() and time.monotonic() < ends:
            time.sleep(0.01)
    line = next(line for line in re.split(r"\x1b\[2K|\n", shown.getvalue()) if "3 of 4" in line)
    assert line.rstrip("\r").endswith("0:00:00")
    assert len(line.rstrip("\r")) <= width
