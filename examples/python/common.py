"""What the example programs share: where kernels are, arrays for results, and the table that says what is right.

A result counts as right if its largest error, |got - expected| / max(1, |expected|) over all elements, is within the
tolerance. `expected` is computed by the programs in double precision, from the same inputs.
"""

import pathlib

import numpy as np

kernels = pathlib.Path(__file__).resolve().parent.parent / "kernels"

#: Half of the largest relative step between neighbouring numbers: what rounding a result to the type costs.
rounding = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}

_margin = 64  # elements on each side of a result


def kernel_source(name: str) -> str:
    """The text of a file in examples/kernels."""
    return (kernels / name).read_text()


def empty_result(shape, dtype=np.float32) -> np.ndarray:
    """An array for a kernel to fill.

    It holds NaN (integers: bits that are unlikely), so that an element which the kernel never writes is an error in the
    table. So is a write next to the array: it lies in a larger one, whose margins `Report.check` looks at.
    """
    count = int(np.prod(shape, dtype=np.int64))
    whole = np.full(count + 2 * _margin, _unwritten(dtype), dtype)
    return whole[_margin : _margin + count].reshape(shape)


def _unwritten(dtype):
    dtype = np.dtype(dtype)
    return np.nan if dtype.kind == "f" else np.frombuffer(b"\xa5" * dtype.itemsize, dtype)[0]


def _margins_are_written(result: np.ndarray) -> bool:
    whole = result
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    if whole.ndim != 1 or whole.size != result.size + 2 * _margin:
        return False  # not from empty_result
    margins = np.concatenate([whole[:_margin], whole[-_margin:]])
    untouched = np.full_like(margins, _unwritten(margins.dtype))
    return margins.tobytes() != untouched.tobytes()


def to_bfloat(values: np.ndarray) -> np.ndarray:
    """float32 to bfloat16, as uint16: NumPy does not have the type. Rounds to nearest, ties to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bfloat(values: np.ndarray) -> np.ndarray:
    return (values.astype(np.uint32) << 16).view(np.float32)


def largest_error(got, expected) -> float:
    got, expected = (np.atleast_1d(np.asarray(values, np.float64)) for values in (got, expected))
    if got.shape != expected.shape:
        raise ValueError(f"the result has shape {got.shape}, expected is {expected.shape}")
    with np.errstate(invalid="ignore"):
        errors = np.abs(got - expected) / np.maximum(1, np.abs(expected))
    errors[(got == expected) | (np.isnan(got) & np.isnan(expected))] = 0
    return float(np.nan_to_num(errors, nan=np.inf, posinf=np.inf).max(initial=0))


class Report:
    """Prints one row per case; `exit_code` is 1 if any was wrong."""

    def __init__(self, title: str, case_width: int = 34) -> None:
        self._row = f"{{:<{case_width}}} {{:<24}} {{:>9}} {{:>9}}  {{}}"
        self._count = self._wrong = 0
        print(title)
        print(self._row.format("case", "shape", "error", "tolerance", "ok").rstrip(), flush=True)

    def check(self, case: str, shape, got, expected, tolerance: float) -> bool:
        """Adds a row. `got` is the kernel's result, best an array from `empty_result`."""
        error = largest_error(got, expected)
        verdict = "ok" if error <= tolerance else "WRONG"
        if isinstance(got, np.ndarray) and _margins_are_written(got):
            verdict = "WRONG: writes outside of the result"
        self._count += 1
        self._wrong += verdict != "ok"
        shape = shape if isinstance(shape, str) else " x ".join(map(str, shape))
        print(self._row.format(case, shape, f"{error:.1e}", f"{tolerance:.1e}", verdict), flush=True)
        return verdict == "ok"

    def finish(self) -> int:
        """Prints the sum and returns the program's exit code."""
        print(f"{self._count - self._wrong} of {self._count} right", flush=True)
        return 1 if self._wrong else 0
