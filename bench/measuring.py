"""Measuring what several contenders take for the same work, by turns in one run, so that whatever disturbs the machine
for a while disturbs all of them."""

import dataclasses
import os
import pathlib
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import numpy

PAGE = 4096  # bytes
QUIET = 0.02  # seconds, in which threads of the contender before stop waiting for more work: libgomp's, which PyTorch
# computes with, spin for 300,000 turns, 5 to 10 ms, on cores that the next contender wants
SHORT = 0.05  # seconds; what takes less runs before it is timed, as memory and clock are warm in a loop
WARM = 0.02  # seconds of that, in which threads that wake up on one core come to cores of their own
LEAST_SAMPLE = 0.001  # seconds; what takes less is called several times for one sample


def seconds_of(run: Callable[[], object], calls: int) -> float:
    """Per call of what returns when its work is done."""
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


@dataclasses.dataclass(frozen=True)
class Spread:
    """A median, and half of the interquartile range as a part of it."""

    median: float
    spread: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ± {self.spread * 100:.0f} %"


def spread(values: list[float]) -> Spread:
    median = statistics.median(values)
    if len(values) < 2:
        return Spread(median, 0.0)
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, (high - low) / 2 / median)


def ratio(over: list[float], under: list[float]) -> Spread:
    """Of two contenders, round by round."""
    return spread([a / b for a, b in zip(over, under, strict=True)])


def geometric_mean(values: list[float]) -> float:
    return statistics.geometric_mean(values)


def measure(
    contenders: Mapping[str, Callable[[int], float]], seconds: float = 2.0, most_rounds: int = 50
) -> dict[str, list[float]]:
    """Seconds per call of each contender, one sample per round: as many rounds as fit into `seconds`, at least five.

    Args:
        contenders: functions that make so many calls and return the seconds that one took, by name.
    """
    first = {name: run(1) for name, run in contenders.items()}  # compiles, touches memory
    took = {name: run(1) if first[name] < 1 else first[name] for name, run in contenders.items()}
    calls = {name: max(1, min(1000, int(LEAST_SAMPLE / max(took[name], 1e-9)))) for name in took}
    warms = {name: took[name] < SHORT for name in took}
    round_seconds = sum(took[name] * calls[name] + warms[name] * WARM + QUIET for name in took)
    rounds = int(max(5, min(most_rounds, seconds / round_seconds)))
    times: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders.items())
    for turn in range(rounds):
        for place in range(len(order)):
            name, run = order[(place + turn) % len(order)]
            time.sleep(QUIET)
            until = time.perf_counter() + (WARM if warms[name] else 0)
            while time.perf_counter() < until:
                run(calls[name])
            times[name].append(run(calls[name]))
    return times


class OtherLoad:
    """What part of the machine's processor time other processes took in a `with` block, from 0 to 1.

    Args:
        processes: the ids of those that belong to the measurement besides this one.
    """

    def __init__(self, processes: Sequence[int] = ()) -> None:
        self._processes = [os.getpid(), *processes]

    def __enter__(self) -> "OtherLoad":
        self._start = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        wall, busy, own = (end - start for start, end in zip(self._start, self._now(), strict=True))
        self.part = max(0.0, (busy - own) / max(wall * (os.cpu_count() or 1), 1e-9))

    def _now(self) -> tuple[float, float, float]:
        ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().partition("\n")[0].split()[1:9]]
        busy = sum(ticks) - ticks[3] - ticks[4]  # without idle and iowait
        own = 0
        for process in self._processes:
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            own += sum(int(ticks) for ticks in fields[11:15])  # also of processes that it started and that have ended
        tick = os.sysconf("SC_CLK_TCK")
        return time.monotonic(), busy / tick, own / tick


def pages(shape: int | tuple[int, ...], dtype: type) -> numpy.ndarray:
    """A zeroed array that begins with a page and has its last one to itself, as devices' own buffers do."""
    count = int(numpy.prod(shape))
    size = count * numpy.dtype(dtype).itemsize
    memory = numpy.zeros(size + 2 * PAGE, numpy.uint8)
    start = -memory.ctypes.data % PAGE
    return memory[start : start + size].view(dtype).reshape(shape)


def filled(values: numpy.ndarray) -> numpy.ndarray:
    """A copy of an array in memory as pages() gives."""
    result = pages(values.shape, values.dtype.type)
    result[...] = values
    return result
