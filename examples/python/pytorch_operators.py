"""PyTorch's own operators in Metal: functors and the macros around them, tried out before they are part of PyTorch.

An operator of PyTorch's Metal back end is a functor, a structure with an operator(), and a line that registers it for
an element type: `REGISTER_UNARY_OP(softplus, float, float)`. The macro makes several kernels from it, which PyTorch's
TensorIterator chooses from:

  softplus_dense_scalar_float_float(out, x)       contiguous memory, one element per thread
  softplus_dense_float_float(out, x, count)       contiguous memory, four elements per thread
  softplus_strided_float_float(out, x, sizes, strides of x, strides of out, dimensions)
                                                  any layout; dimension 0 is the innermost one, strides are in bytes

Here they are called one by one, from the file kernels/pytorch_operators.metal that would go into PyTorch. Its
`#include <c10/metal/...>` come with Metalloid; `compile_shader(source, torch_headers=True)` takes PyTorch's.

The last kernel reports errors: `TORCH_REPORT_ERROR` writes a message into a buffer, and `metalloid.synchronize()`
raises it, as `torch.mps.synchronize()` does. `error_buf_idx` says which argument the buffer is.

Arithmetic: log(1 + exp(x)) in the obvious form is infinite from x = 89 on, and loses all digits for x < -16. Written as
max(x, 0) + log1p(exp(-|x|)) it does neither: the relative errors in the table are small for large and small x alike.
"""

import sys

import metalloid
import numpy as np
from common import Report, empty_result, from_bfloat, kernel_source, rounding, to_bfloat

lib = metalloid.compile_shader(kernel_source("pytorch_operators.metal"))


def softplus(x):
    return np.logaddexp(0, x.astype(np.float64))


def check_unary(report: Report, random: np.random.Generator) -> None:
    for count in (1, 30, 257):
        x = random.uniform(-80, 80, count).astype(np.float32)
        out = empty_result(count)
        lib.softplus_dense_scalar_float_float(out, x)
        # Small results count like large ones: divided by what is expected, all should be 1.
        report.check("softplus, an element per thread", (count,), out / softplus(x), np.ones(count), 1e-6)
        out = empty_result(count)
        elements = np.array([count], np.uint32)
        lib.softplus_dense_float_float(out, x, elements, threads=-(-count // 4))
        report.check("softplus, four per thread", (count,), out / softplus(x), np.ones(count), 1e-6)

    # A matrix of 5 x 6, read as its transpose, 6 x 5: sizes and strides begin with the innermost dimension.
    x = random.standard_normal((5, 6)).astype(np.float32)
    out = empty_result((6, 5))
    sizes = np.array([5, 6])
    strides_of_x, strides_of_out = np.array([6 * 4, 4]), np.array([4, 5 * 4])
    dimensions = np.array([2], np.uint32)
    lib.softplus_strided_float_float(out, x, sizes, strides_of_x, strides_of_out, dimensions, threads=(5, 6))
    report.check("softplus, strided", (6, 5), out, softplus(x.T), 1e-6)

    x = random.standard_normal(100)
    half, bits = x.astype(np.float16), to_bfloat(x)
    out = empty_result(100, np.float16)
    lib.softplus_dense_scalar_half_half(out, half)
    report.check("softplus, half", (100,), out, softplus(half), rounding["float16"] + 1e-6)
    out = empty_result(100, np.uint16)
    lib.softplus_dense_scalar_bfloat_bfloat(out, bits)
    report.check("softplus, bfloat", (100,), from_bfloat(out), softplus(from_bfloat(bits)), rounding["bfloat16"] + 1e-6)
    integers = np.arange(-20, 20, dtype=np.int32)
    out = empty_result(40)
    lib.softplus_dense_scalar_float_int(out, integers)
    report.check("softplus, int to float", (40,), out, softplus(integers), 1e-6)


def check_binary(report: Report, random: np.random.Generator) -> None:
    a, b = random.uniform(-100, 100, (2, 257)).astype(np.float32)
    expected = np.logaddexp(a.astype(np.float64), b)
    out = empty_result(257)
    lib.logaddexp_dense_float_float(out, a, b)
    report.check("logaddexp", (257,), out, expected, 1e-6)
    # The second operand is one element for all.
    out = empty_result(257)
    lib.logaddexp_dense_scalar_float_float(out, a, b)
    report.check("logaddexp with a scalar", (257,), out, np.logaddexp(a.astype(np.float64), b[0]), 1e-6)
    out = empty_result(257)
    lib.add_scaled_dense_float_float_float(out, a, b, -0.5)
    report.check("add_scaled", (257,), out, a - 0.5 * b.astype(np.float64), 1e-6)


def check_errors(report: Report) -> None:
    indices = np.array([3, 12, 0, 7, -1])
    values = np.arange(1, 6, dtype=np.float32)
    array = np.zeros(8, np.float32)
    lib.index_set(array, values, indices, array.size, threads=5, group_size=1, error_buf_idx=4)
    report.check("index_set skips what is outside", (8,), array, [3, 0, 0, 1, 0, 0, 0, 4], 0)
    try:
        metalloid.synchronize()
        message = "nothing was reported"
    except RuntimeError as error:  # torch.AcceleratorError, where torch is in use
        message = str(error)
    right = message in [f"index {i} is out of bounds for size 8" for i in (12, -1)]  # the order is not defined
    report.check("and reports it", message[:24], not right, 0, 0)
    metalloid.synchronize()  # has been raised and forgotten


def main() -> int:
    random = np.random.default_rng(9)
    report = Report("PyTorch operators")
    check_unary(report, random)
    check_binary(report, random)
    check_errors(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
