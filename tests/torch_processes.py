"""Python processes that have imported torch when they start: copies of one that did it once, which takes seconds.

run() is for tests whose point is not how a process starts: there is no sitecustomize, and torch is there before metalloid.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping, Sequence

_connection: socket.socket | None = None  # to the process that is copied; its owner is _owner
_owner = 0


def run(
    arguments: Sequence[object], cwd: object = None, env: Mapping[str, str] | None = None, input: str = "", timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """What ``subprocess.run`` returns for Python with these arguments: ``-c``, ``-m`` or a script, and what follows it."""
    words = [*map(str, arguments)]
    job = {"arguments": words, "folder": str(cwd or os.getcwd()), "environment": dict(os.environ if env is None else env)}
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        given.write(input)
        given.seek(0)
        connection = _connect()
        socket.send_fds(connection, [json.dumps(job).encode() + b"\n"], [each.fileno() for each in (given, output, errors)])
        process = json.loads(_line(connection))
        connection.settimeout(timeout)
        try:
            code = json.loads(_line(connection))
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            connection.settimeout(None)
            _line(connection)
            raise subprocess.TimeoutExpired(words, timeout) from None
        finally:
            connection.settimeout(None)
        # The process has moved the place in the files, which this one shares.
        for each in (output, errors):
            each.seek(0)
        return subprocess.CompletedProcess([sys.executable, *words], code, output.read(), errors.read())


def _connect() -> socket.socket:
    global _connection, _owner
    if _connection is None or _owner != os.getpid():
        _connection, theirs = socket.socketpair()
        _owner = os.getpid()
        subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
            cwd="/",
        )  # fmt: skip
        theirs.close()
        atexit.register(_connection.close)  # with which it ends
    return _connection


def _line(connection: socket.socket) -> bytes:
    text = b""
    while not text.endswith(b"\n"):
        if not (part := connection.recv(1)):
            raise RuntimeError("the process with torch has ended")
        text += part
    return text


def _serve(connection: socket.socket) -> dict:
    """Copies itself for each job. Returns in the copies alone, with their job."""
    while True:
        text, files = b"", []
        while not text.endswith(b"\n"):
            part, received, _, _ = socket.recv_fds(connection, 1 << 16, 3)
            if not part:
                os._exit(0)
            text += part
            files.extend(received)
        child = os.fork()
        if child == 0:
            connection.close()
            for number, file in enumerate(files):
                os.dup2(file, number)
                os.close(file)
            return json.loads(text)
        for file in files:
            os.close(file)
        connection.sendall(f"{child}\n".encode())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(f"{code}\n".encode())


def _begin(job: dict, path: list[str]) -> None:
    """Makes this process one that was started with the job's folder and environment."""
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    sys.path[:] = ["", *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *path]


def _run(words: list[str]) -> None:
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        exec(compile(words[1], "<string>", "exec"), main.__dict__)
    elif words[0] == "-m":
        sys.argv = ["-m", *words[2:]]
        sys.path[0] = os.getcwd()
        runpy._run_module_as_main(words[1])  # what python -m does
    else:
        sys.argv = words
        sys.path[0] = os.path.dirname(os.path.realpath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    of_environment = {*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))}
    search = [entry for entry in sys.path[1:] if entry not in of_environment]
    import torch  # noqa: F401

    gc.freeze()
    work = _serve(socket.socket(fileno=int(sys.argv[1])))
    _begin(work, search)
    _run(work["arguments"])
