"""OpenSM on fabrics that ibsim simulates, where both are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRELOADED = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"), None)
_TOOLS = ("ibsim", "opensm", "ibnetdiscover", "dump_lfts", "saquery", "smpquery")
INSTALLED = PRELOADED is not None and all(shutil.which(x) or Path("/usr/sbin", x).exists() for x in _TOOLS)
SECONDS = 30


class Fabric:
    """A simulated fabric whose subnet manager has set up its tables; files of the manager are in `folder`."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder, self._env = folder, env

    def printed(self, *words: str) -> str:
        """Return what a tool of InfiniBand prints."""
        return subprocess.run(
            words, env=self._env, capture_output=True, text=True, timeout=SECONDS, check=True, cwd=self.folder
        ).stdout

    def saved(self, name: str, *words: str) -> Path:
        """Return a file of what a tool prints."""
        path = self.folder / name
        path.write_text(self.printed(*words), encoding="utf-8")
        return path

    def path_records(self, count: int) -> Path:
        """Return a file of the path records from each of so many first LIDs to each other one."""
        pairs = [(s, d) for s in range(1, count + 1) for d in range(1, count + 1) if s != d]
        path = self.folder / "paths.sl"
        path.write_text("".join(self.printed("saquery", "--src-to-dst", f"{s}:{d}") for s, d in pairs))
        return path


@contextmanager
def managed(fabric: Path, folder: Path, engine: str, *words: str) -> Iterator[Fabric]:
    """Simulate a fabric, let OpenSM set up its tables by a routing engine, and keep both running meanwhile."""
    folder.mkdir()
    path = os.environ.get("PATH", "") + ":/usr/sbin"
    env = {**os.environ, "PATH": path, "IBSIM_SOCKNAME": f"gossamer-{os.getpid()}-{folder.name}"}
    env |= {"OSM_TMP_DIR": str(folder), "OSM_CACHE_DIR": str(folder)}
    client = {**env, "LD_PRELOAD": str(PRELOADED)}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = []
    try:
        running.append(subprocess.Popen(["ibsim", "-s", "-n", str(fabric)], env=env, cwd=folder, **quiet))
        time.sleep(0.3)
        manager = ["opensm", "-s", "0", "-e", "-f", str(folder / "log"), "--dump_files_dir", str(folder)]
        manager += ["-R", f"{engine},no_fallback", "-D", "0x43", *words]
        running.append(subprocess.Popen(manager, env=client, cwd=folder, **quiet))
        end = time.monotonic() + SECONDS
        while not (folder / "opensm-subnet.lst").exists():  # which is written last
            if time.monotonic() > end or running[-1].poll() is not None:
                log = (folder / "log").read_text(errors="replace")[-2000:] if (folder / "log").exists() else ""
                raise AssertionError(f"OpenSM has not set up the fabric with {engine}: {log}")
            time.sleep(0.05)
        time.sleep(0.2)
        yield Fabric(folder, client)
    finally:
        for process in running[::-1]:
            process.kill()
            process.wait()
