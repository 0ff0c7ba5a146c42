"""Functions that keep small differences do so in every math mode: fast math must not take their arithmetic apart."""

import numpy
import pytest

import metalloid

modes = pytest.mark.parametrize("math_mode", ["safe", "relaxed", "fast"])

sizes = 10.0 ** numpy.linspace(-20, 1, 200)
x = numpy.concatenate([sizes, -sizes[sizes < 1]]).astype(numpy.float32)
exact = x.astype(numpy.float64)


@modes
def test_c10_metal(math_mode):
    source = """
        #include <c10/metal/expm1f.h>
        #include <c10/metal/utils.h>
        kernel void f(device float* y, device float* z, constant float* x, uint i [[thread_position_in_grid]]) {
          y[i] = c10::metal::log1p(x[i]);
          z[i] = c10::metal::expm1f(x[i]);
        }
    """
    y, z = numpy.zeros((2, x.size), numpy.float32)
    metalloid.compile_shader(source, math_mode=math_mode).f(y, z, x)
    numpy.testing.assert_allclose(y, numpy.log1p(exact), rtol=1e-6)
    numpy.testing.assert_allclose(z, numpy.expm1(exact), rtol=1e-6)


@modes
def test_mlx_helpers(math_mode):
    kernel = metalloid.fast.metal_kernel(
        name="log1p_of",
        input_names=["x"],
        output_names=["y"],
        source="uint i = thread_position_in_grid.x; y[i] = log1p(x[i]);",
        compile_options={"math_mode": math_mode},
    )
    (y,) = kernel(
        inputs=[x], grid=(x.size, 1, 1), threadgroup=(64, 1, 1), output_shapes=[x.shape], output_dtypes=[x.dtype]
    )
    numpy.testing.assert_allclose(y, numpy.log1p(exact), rtol=1e-6)
