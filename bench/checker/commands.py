"""`metalloid` and `oclgrind-kernel` as processes: what they take, and what they report."""

import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Sequence

from work import Work

# Runs a command and prints the most memory that it had. A process of its own, because a process that begins as a copy
# of a large one counts as large.
PEAK = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclasses.dataclass(frozen=True)
class Ended:
    """A process."""

    seconds: float
    core_seconds: float  # of it and of those that it started
    code: int
    output: str  # stderr


@dataclasses.dataclass(frozen=True)
class Report:
    """Something that a tool says is wrong."""

    kind: str
    lines: tuple[int, ...]


def run(
    command: Sequence[str], folder: pathlib.Path | None = None, cores: Collection[int] = (), **environment: str
) -> Ended:
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
    )  # fmt: skip
    seconds, after = time.perf_counter() - start, os.times()
    core_seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return Ended(seconds, core_seconds, done.returncode, done.stderr)


def fine(command: Sequence[str], **more) -> Ended:
    """Ends this program if the command fails."""
    ended = run(command, **more)
    if ended.code != 0:
        sys.exit(f"{shlex.join(command)}: {ended.output}")
    return ended


class Refusal(Exception):
    """With the signal that ended a process, or with what it said."""


class Metalloid:
    """
    Args:
        command: the program.
        temporary: a folder for caches and traces.
    """

    def __init__(self, command: str, temporary: pathlib.Path) -> None:
        self._command, self._temporary = command, temporary
        self._cache = {"METALLOID_CACHE_DIR": str(temporary / "cache")}

    def version(self) -> str:
        done = subprocess.run([self._command, "--version"], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def dispatches(self, words: Sequence[str], work: Work, repeat: int, cores: Collection[int] = ()) -> list[float]:
        """Seconds that each of a process's dispatches took, but the first, for which things may have to be made."""
        trace = self._temporary / "trace.json"
        command = [self._command, *words, *work.for_metalloid(), "--repeat", str(repeat + 1)]
        fine(command, cores=cores, METALLOID_TRACE=str(trace), **self._cache)
        events = json.loads(trace.read_text())
        trace.unlink()
        seconds = [event["dur"] * 1e-6 for event in events if event.get("cat") == "dispatch"]
        if len(seconds) != repeat + 1:
            sys.exit(f"{shlex.join(command)}: traced {len(seconds)} dispatches")
        return seconds[1:]

    def whole(self, words: Sequence[str], work: Work) -> Ended:
        """A process that compiles everything, as Oclgrind's do."""
        return fine([self._command, *words, *work.for_metalloid()], METALLOID_CACHE="0")

    def peak(self, words: Sequence[str], work: Work) -> int:
        """The most bytes of memory that a process had."""
        command = [sys.executable, "-I", "-S", "-c", PEAK, self._command, *words, *work.for_metalloid()]
        environment = {**os.environ, **self._cache}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(command[5:])}: {done.stderr}")
        return int(done.stdout)

    def results(self, words: Sequence[str], work: Work, argument: int = 0) -> bytes:
        """A .npy file with what an argument holds after a run."""
        file = self._temporary / "result.npy"
        fine([self._command, *words, *work.for_metalloid(), "--save", f"{argument}={file}"], **self._cache)
        return file.read_bytes()

    def reports(self, work: Work) -> list[Report]:
        """Errors and warnings."""
        file = self._temporary / "findings.json"
        command = [self._command, "check", *work.for_metalloid(), "--json", str(file)]
        ended = run(command, **self._cache)
        if ended.code not in (0, 4):  # nothing, findings
            sys.exit(f"{shlex.join(command)}: {ended.output}")
        return [
            Report(finding["class"], tuple(step["place"]["line"] for step in finding["steps"] if step["place"]))
            for finding in json.loads(file.read_text())["findings"]
            if finding["severity"] != "note"
        ]


class Oclgrind:
    """With races, bounds and memory that is not initialised looked for (bounds always are), on all cores."""

    options = ("--data-races", "--uninitialized")

    def __init__(self, temporary: pathlib.Path) -> None:
        self._temporary = temporary

    def version(self) -> str:
        done = subprocess.run(["oclgrind-kernel", "--version"], check=True, stdout=subprocess.PIPE, text=True)
        return re.search(r"Oclgrind \S+", done.stdout).group()

    def whole(self, work: Work) -> Ended:
        file = self._temporary / f"{work.kernel}.sim"
        file.write_text(work.for_oclgrind())
        command = ["oclgrind-kernel", *self.options, str(file)]
        ended = run(command, folder=work.folder)
        if ended.code < 0:
            raise Refusal(f"it crashed: {signal.Signals(-ended.code).name}")
        if ended.code != 0:
            said = [line for line in ended.output.splitlines() if line and "ERROR" not in line]
            raise Refusal(f"it cannot: {said[0] if said else ended.code}")
        return ended

    def reports(self, work: Work) -> list[Report]:
        return oclgrind_reports(self.whole(work).output)


def oclgrind_reports(output: str) -> list[Report]:
    """Each begins with a line at the margin that says what it is."""
    reports: list[Report] = []
    for line in output.splitlines():
        if line and not line[0].isspace():
            reports.append(Report(re.split(r" (?:at|of size|to|[-]) |:", line)[0], ()))
        elif reports and (place := re.match(r"\s+At line (\d+)", line)):
            reports[-1] = dataclasses.replace(reports[-1], lines=(*reports[-1].lines, int(place.group(1))))
    return reports
