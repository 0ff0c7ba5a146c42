"""Processes that compare operators' samples (operator_samples.py): one that crashes or hangs is replaced."""

from __future__ import annotations

import concurrent.futures
import io
import json
import os
import pathlib
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

START = 900.0  # seconds: the device may have to be compiled
SPARE = 60.0  # that a job may take longer than it is told to

Result = dict[str, Any]


class Worker:
    """One process. Jobs and results are dictionaries; see operator_samples.py.

    Args:
        environment: more variables of the process.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self.about: Result = {}

    def start(self) -> Result:
        """Names of operators with their types, of Metalloid's registrations, and torch's version."""
        command = [sys.executable, str(pathlib.Path(__file__).with_name("operator_samples.py"))]
        self._buffer = b""
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._environment
        )
        line = self._line(START)
        if line is None:
            self.stop()
            raise RuntimeError(f"{' '.join(command)} does not start")
        self.about = json.loads(line)
        return self.about

    def run(self, job: Result) -> Result:
        """Its result; if there is none, a problem of the test "process"."""
        if self._process is None:
            self.start()
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()
        line = self._line(job["seconds"] + SPARE)
        if line is not None:
            return json.loads(line)
        code = self._process.poll()
        said = f"the process ended with {code}" if code is not None else f"no result in {job['seconds'] + SPARE:.0f} seconds"
        self.stop()
        return {"op": job["op"], "dtype": job["dtype"], "compared": {"process": 1}, "right": {}, "problems": {"process": [said]}}

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _line(self, seconds: float) -> bytes | None:
        assert self._process is not None and isinstance(self._process.stdout, io.BufferedReader)
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(max(0.0, until - time.monotonic())):
                    return None
                if not (part := self._process.stdout.read1(1 << 16)):
                    self._process.wait()
                    return None
                self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


def run_all(jobs: Iterator[Result], count: int, tell: Callable[[Result], None]) -> None:
    """Runs jobs on so many processes.

    Args:
        tell: gets results, one at a time.
    """
    lock = threading.Lock()

    def work() -> None:
        worker = Worker()
        try:
            while True:
                with lock:
                    job = next(jobs, None)
                if job is None:
                    return
                result = worker.run(job)
                with lock:
                    tell(result)
        finally:
            worker.stop()

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(work) for _ in range(count)]:
            done.result()
