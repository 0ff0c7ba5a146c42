"""Processes that contenders live in, so that none meets another's threads, libraries or memory."""

import multiprocessing
import traceback
from collections.abc import Callable
from typing import Any

from measuring import seconds_of


def _serve(connection, make: Callable[..., Any], arguments: tuple) -> None:
    """Answers with (result, None) or (None, what went wrong)."""
    run = runtime = None
    while True:
        try:
            request, *values = connection.recv()
        except EOFError:
            return
        try:
            answer = None
            if request == "start":
                runtime = make(*arguments)
                answer = runtime.description, runtime.first_engine
            elif request == "prepare":
                run = None
                run = runtime.prepare(*values)
                answer = runtime.engine
            elif request == "time":
                answer = seconds_of(run, *values)
            elif request == "compile_seconds":
                answer = runtime.compile_seconds
            elif request == "results":
                answer = runtime.results()
            connection.send((answer, None))
        except Exception:
            connection.send((None, traceback.format_exc()))


class Worker:
    """A runtime in a process of its own.

    Args:
        make: makes the runtime there: an object with `description`, `first_engine` and `engine` (the engine that Metalloid's
            device asks first, and the one that took what was prepared last, or None), `prepare(case)`, which returns a
            function that runs it, and `results()` of the last run.
    """

    def __init__(self, name: str, make: Callable[..., Any], *arguments: Any) -> None:
        self.name = name
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, make, arguments), daemon=True)
        self._process.start()
        other.close()
        self.description: str
        self.first_engine: str | None
        self.description, self.first_engine = self._ask("start")

    @property
    def process(self) -> int:
        return self._process.pid

    def prepare(self, case: Any) -> str | None:
        """Returns the name of the engine that took the case."""
        return self._ask("prepare", case)

    def seconds(self, calls: int) -> float:
        return self._ask("time", calls)

    def compile_seconds(self) -> float:
        """What compiling took of the case that a Metalloid's device prepared last."""
        return self._ask("compile_seconds")

    def results(self) -> Any:
        return self._ask("results")

    def end(self) -> None:
        self._connection.close()
        self._process.join()

    def _ask(self, *request: Any) -> Any:
        self._connection.send(request)
        try:
            answer, error = self._connection.recv()
        except EOFError:
            raise RuntimeError(f"{self.name} ended at {request[:2]}") from None
        if error:
            raise RuntimeError(f"{self.name}: {error}")
        return answer
