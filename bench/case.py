"""A kernel with its arguments and what it should compute, and Metalloid's devices, which run it (see workers.py)."""

import dataclasses
import pathlib
import time
from collections.abc import Callable

import numpy


@dataclasses.dataclass(frozen=True)
class Case:
    file: pathlib.Path
    kernel: str
    arguments: list  # arrays and NumPy scalars, in the order of the buffers
    grid: tuple[int, ...]  # threads
    group: tuple[int, ...]
    expected: Callable[[], list[numpy.ndarray]] | None = None  # the contents of the first arguments after a run
    results: int = 1  # how many of the arguments are results
    tolerance: float = 1e-4  # of the element or the root mean square of all, whichever is larger
    differing: float = 0.0  # part of the elements that may differ by more, where rounding decides about a loop's end
    language: str = "metal3.2"
    compared: Callable[[list[numpy.ndarray]], list[numpy.ndarray]] = list  # what of the results is compared


def difference(case: Case, result: numpy.ndarray, expected: numpy.ndarray) -> str | None:
    """How a result differs from what is expected; None if it does not."""
    if result.dtype.kind == "u":
        wrong = result != expected
    else:
        expected = expected.astype(numpy.float64)
        size = numpy.maximum(abs(expected), numpy.sqrt(numpy.mean(expected**2)))
        wrong = ~(abs(result - expected) <= case.tolerance * size)
    if wrong.mean() <= case.differing:
        return None
    first = int(numpy.argmax(wrong))
    return f"{wrong.sum()} of {wrong.size} elements; [{first}] is {result[first]}, not {expected[first]}"


class MetalDevice:
    """
    Args:
        make_case: a function of a module, which gives the case of a name.
    """

    def __init__(self, device: str, make_case: Callable[[str], Case]) -> None:
        import metalloid

        self._metalloid = metalloid
        self._device = device
        self._make_case = make_case
        self.description = dict(metalloid.devices())[device]
        # Any engine takes this one, so the device's first has it.
        self.first_engine = metalloid.compile_shader("kernel void nothing() {}", device=device).nothing.engine

    def prepare(self, name: str) -> Callable[[], None]:
        case = self._case = self._make_case(name)
        start = time.perf_counter()
        # "fast" is the default of Metal's compiler.
        library = self._metalloid.compile_shader(
            case.file.read_text(), device=self._device, language=case.language, math_mode="fast",
            source_name=case.file.name, source_file=case.file,
        )  # fmt: skip
        kernel = library.get_kernel(case.kernel)
        self.engine = kernel.engine
        self.compile_seconds = time.perf_counter() - start
        return lambda: kernel(*case.arguments, threads=case.grid, group_size=case.group)

    def results(self) -> list[numpy.ndarray]:
        return self._case.compared(self._case.arguments[: self._case.results])
