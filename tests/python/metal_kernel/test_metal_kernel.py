"""metalloid.fast.metal_kernel: the call model that users of mx.fast.metal_kernel know, on everybody's arrays."""

import concurrent.futures
import subprocess
import sys

import numpy
import pytest

import metalloid
from metalloid.fast import metal_kernel

try:
    import mlx.core as mx
except ImportError:
    mx = None
try:
    import torch
except ImportError:
    torch = None

needs_mlx = pytest.mark.skipif(mx is None, reason="mlx is not installed")
needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")

ONE = dict(grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)])


def elementwise(expression, **options):
    source = f"uint i = thread_position_in_grid.x; y[i] = {expression};"
    return metal_kernel("elementwise", ["x"], ["y"], source, **options)


def call(kernel, x, **options):
    options = dict(output_shapes=[x.shape], output_dtypes=[x.dtype]) | options
    size = int(numpy.prod(x.shape))
    return kernel(inputs=[x], grid=(size, 1, 1), threadgroup=(64, 1, 1), **options)[0]


# --- what MLX's documentation shows ------------------------------------------------------------------------------

EXP = metal_kernel(
    "exponential", ["inp"], ["out"],
    "uint elem = thread_position_in_grid.x;\nT value = inp[elem];\nout[elem] = metal::exp(value);",
)  # fmt: skip
EXP_STRIDED = metal_kernel(
    "exponential_strided", ["inp"], ["out"],
    """
    uint elem = thread_position_in_grid.x;
    uint place = elem_to_loc(elem, inp_shape, inp_strides, inp_ndim);
    out[elem] = metal::exp(T(inp[place]));
    """,
    ensure_row_contiguous=False,
)  # fmt: skip


@needs_mlx
@pytest.mark.parametrize("kernel", [EXP, EXP_STRIDED], ids=["contiguous", "strided"])
def test_exponential_of_mlx_arrays(kernel):
    a = mx.random.normal((8, 16)).astype(mx.float16)[::2].T
    out = call(kernel, a, template=[("T", mx.float32)])
    assert isinstance(out, mx.array) and out.dtype == mx.float16 and out.shape == (16, 4)
    expected = numpy.exp(numpy.array(a, dtype=numpy.float64))
    numpy.testing.assert_allclose(numpy.array(out), expected, rtol=1e-3)


@pytest.mark.parametrize("kernel", [EXP, EXP_STRIDED], ids=["contiguous", "strided"])
@pytest.mark.parametrize("view", [(slice(None, None, 2),), (slice(1, None), slice(None, None, 3)), (None, Ellipsis, 1)])
def test_exponential_of_numpy_views(kernel, view):
    a = numpy.random.default_rng(1).standard_normal((6, 5, 7)).astype(numpy.float32)[view].T
    out = call(kernel, a, template=[("T", numpy.float32)])
    assert type(out) is numpy.ndarray and out.dtype == numpy.float32
    numpy.testing.assert_allclose(out, numpy.exp(a.astype(numpy.float64)), rtol=1e-6)


# Bilinear sampling of images (N, H, W, C) at positions in [-1, 1]; nothing outside the image.
CORNERS = """
    uint c = thread_position_in_grid.x;
    int C = image_shape[3], H = image_shape[1], W = image_shape[2];
    uint sample = thread_position_in_grid.y;
    int base = sample / (places_shape[1] * places_shape[2]) * H * W * C;
    float px = ((float(places[2 * sample]) + 1) * W - 1) / 2;
    float py = ((float(places[2 * sample + 1]) + 1) * H - 1) / 2;
    int left = floor(px), top = floor(py);
    float fx = px - left, fy = py - top;
"""
SAMPLE = metal_kernel(
    "sample", ["image", "places"], ["out"],
    CORNERS + """
    float sum = 0;
    for (int corner = 0; corner < 4; ++corner) {
      int dx = corner & 1, dy = corner >> 1;
      int col = left + dx, row = top + dy;
      if (col >= 0 && col < W && row >= 0 && row < H) {
        sum += (dx ? fx : 1 - fx) * (dy ? fy : 1 - fy) * float(image[base + (row * W + col) * C + c]);
      }
    }
    out[sample * C + c] = static_cast<T>(sum);
    """,
)  # fmt: skip
SAMPLE_GRADIENT = metal_kernel(
    "sample_gradient", ["image", "places", "cotangent"], ["image_gradient", "places_gradient"],
    CORNERS + """
    bool is_channel = int(c) < C;  // the grid is padded to whole simdgroups
    float gradient = is_channel ? float(cotangent[sample * C + c]) : 0.0f;
    float gx = 0, gy = 0;
    for (int corner = 0; corner < 4 && is_channel; ++corner) {
      int dx = corner & 1, dy = corner >> 1;
      int col = left + dx, row = top + dy;
      if (col >= 0 && col < W && row >= 0 && row < H) {
        float wx = dx ? fx : 1 - fx, wy = dy ? fy : 1 - fy;
        int at = base + (row * W + col) * C + c;
        atomic_fetch_add_explicit(&image_gradient[at], wx * wy * gradient, memory_order_relaxed);
        gx += (dx ? wy : -wy) * float(image[at]) * gradient * W / 2;
        gy += (dy ? wx : -wx) * float(image[at]) * gradient * H / 2;
      }
    }
    gx = simd_sum(gx);
    gy = simd_sum(gy);
    if (thread_index_in_simdgroup == 0) {
      atomic_fetch_add_explicit(&places_gradient[2 * sample], gx, memory_order_relaxed);
      atomic_fetch_add_explicit(&places_gradient[2 * sample + 1], gy, memory_order_relaxed);
    }
    """,
    atomic_outputs=True,
)  # fmt: skip


def sample_in_double(image, places):
    """The samples, and what they do to gradients."""
    image, places = image.astype(numpy.float64), places.astype(numpy.float64)
    n, h, w, c = image.shape
    out = numpy.zeros((n, *places.shape[1:3], c))

    def visit(action):
        for at in numpy.ndindex(places.shape[:3]):
            px, py = ((places[at] + 1) * (w, h) - 1) / 2
            left, top = int(numpy.floor(px)), int(numpy.floor(py))
            for dy in (0, 1):
                for dx in (0, 1):
                    wx, wy = abs(1 - dx - (px - left)), abs(1 - dy - (py - top))
                    if 0 <= left + dx < w and 0 <= top + dy < h:
                        action(at, (at[0], top + dy, left + dx), wx, wy, 2 * dx - 1, 2 * dy - 1)

    def add(at, pixel, wx, wy, *_):
        out[at] += wx * wy * image[pixel]

    visit(add)

    def gradients(cotangent):
        image_gradient, places_gradient = numpy.zeros_like(image), numpy.zeros_like(places)

        def spread(at, pixel, wx, wy, sx, sy):
            image_gradient[pixel] += wx * wy * cotangent[at]
            both = (image[pixel] * cotangent[at]).sum()
            places_gradient[at] += (sx * wy * both * w / 2, sy * wx * both * h / 2)

        visit(spread)
        return image_gradient, places_gradient

    return out, gradients


@pytest.mark.parametrize("channels", [3, 40])
def test_grid_sample_and_its_gradient(channels):
    random = numpy.random.default_rng(7)
    image = random.standard_normal((2, 5, 6, channels)).astype(numpy.float32)
    places = random.uniform(-1.2, 1.2, (2, 4, 3, 2)).astype(numpy.float32)
    cotangent = random.standard_normal((2, 4, 3, channels)).astype(numpy.float32)
    expected, gradients = sample_in_double(image, places)

    (out,) = SAMPLE(
        inputs=[image, places], template=[("T", image.dtype)], grid=(channels, 24, 1), threadgroup=(256, 1, 1),
        output_shapes=[expected.shape], output_dtypes=[image.dtype],
    )  # fmt: skip
    numpy.testing.assert_allclose(out, expected, atol=1e-5)

    results = SAMPLE_GRADIENT(
        inputs=[image, places, cotangent], grid=(-(-channels // 32) * 32, 24, 1), threadgroup=(32, 4, 1),
        output_shapes=[image.shape, places.shape], output_dtypes=[numpy.float32] * 2, init_value=0,
    )  # fmt: skip
    for result, wanted in zip(results, gradients(cotangent), strict=True):
        numpy.testing.assert_allclose(result, wanted, atol=1e-3)


@needs_mlx
def test_gradient_through_custom_function():
    @mx.custom_function
    def sample(image, places):
        return SAMPLE(
            inputs=[image, places], template=[("T", image.dtype)], grid=(image.shape[3], places.size // 2, 1),
            threadgroup=(32, 1, 1), output_shapes=[(*places.shape[:3], image.shape[3])], output_dtypes=[image.dtype],
        )[0]  # fmt: skip

    @sample.vjp
    def sample_vjp(primals, cotangent, _):
        image, places = primals
        results = SAMPLE_GRADIENT(
            inputs=[image, places, cotangent], grid=(32, places.size // 2, 1), threadgroup=(32, 1, 1),
            output_shapes=[image.shape, places.shape], output_dtypes=[mx.float32] * 2, init_value=0,
        )  # fmt: skip
        return tuple(results)

    image = mx.random.normal((1, 4, 4, 8))
    places = mx.random.uniform(-0.9, 0.9, (1, 2, 3, 2))
    results = mx.grad(lambda a, b: (sample(a, b) * 2).sum(), argnums=(0, 1))(image, places)
    _, gradients = sample_in_double(numpy.array(image), numpy.array(places))
    for result, wanted in zip(results, gradients(numpy.full((1, 2, 3, 8), 2.0)), strict=True):
        numpy.testing.assert_allclose(numpy.array(result), wanted, atol=1e-3)


@needs_mlx
def test_mlx_refuses_what_it_cannot_differentiate():
    square = elementwise("x[i] * x[i]")
    with pytest.raises(ValueError, match=r"\[Primitive::vjp\] Not implemented for CustomKernel"):
        mx.grad(lambda x: call(square, x).sum())(mx.array([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"\[Primitive::jvp\] Not implemented for CustomKernel"):
        mx.jvp(lambda x: call(square, x), [mx.array([1.0])], [mx.array([1.0])])
    with pytest.raises(ValueError, match=r"\[Primitive::vmap\] Not implemented for CustomKernel"):
        mx.vmap(lambda x: call(square, x))(mx.array([[1.0], [2.0]]))


# --- arrays ------------------------------------------------------------------------------------------------------

NUMPY_DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
NUMPY_DTYPES += ["float16", "float32", "complex64"]
COPY = elementwise("x[i]")


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_every_numpy_dtype(dtype):
    x = numpy.random.default_rng(3).integers(0, 2 if dtype == "bool" else 100, 33).astype(dtype)
    y = call(COPY, x)
    assert y.dtype == x.dtype
    numpy.testing.assert_array_equal(y, x)


@needs_mlx
@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, "bfloat16"])
def test_every_mlx_dtype(dtype):
    x = (mx.arange(33) % 2).astype(getattr(mx, "bool_" if dtype == "bool" else dtype))
    y = call(COPY, x)
    assert isinstance(y, mx.array) and y.dtype == x.dtype and mx.array_equal(x, y)


@needs_torch
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32"])
def test_every_torch_dtype(dtype):
    x = (torch.arange(33) % 2).to(getattr(torch, dtype))
    y = call(COPY, x)
    assert isinstance(y, torch.Tensor) and y.dtype == x.dtype and torch.equal(x, y)


@needs_torch
def test_torch_views_and_gradients():
    x = torch.randn(4, 6, requires_grad=True)
    torch.testing.assert_close(call(COPY, x.T), x.T.detach())
    torch.testing.assert_close(call(EXP_STRIDED, x.T, template=[("T", torch.float32)]), x.T.detach().exp())


def test_numbers_are_arrays_without_dimensions():
    kernel = metal_kernel("numbers", ["a", "b", "c", "d"], ["y"], "y[0] = a ? b + c + float(d >> 32) : 0;")
    y = kernel(inputs=[True, 2, 0.5, 3 << 32], output_dtypes=["float32"], **ONE)[0]
    assert type(y) is numpy.ndarray and y[0] == 5.5


def test_shape_strides_ndim_of_a_view():
    kernel = metal_kernel(
        "describe", ["x"], ["y"],
        "for (int d = 0; d < x_ndim; ++d) { y[d] = x_shape[d]; y[x_ndim + d] = x_strides[d]; }",
        ensure_row_contiguous=False,
    )  # fmt: skip
    x = numpy.zeros((6, 8, 10), numpy.int16)[::-2, :, ::5]
    y = kernel(inputs=[x], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(6,)], output_dtypes=[int])[0]
    assert y.tolist() == [3, 8, 2, -160, 10, 5]


def test_negative_strides_are_read_backwards():
    kernel = metal_kernel(
        "backwards", ["x"], ["y"], "uint i = thread_position_in_grid.x; y[i] = x[int64_t(i) * x_strides[0]];",
        ensure_row_contiguous=False,
    )  # fmt: skip
    x = numpy.arange(20, dtype=numpy.float32)[::-2]
    numpy.testing.assert_array_equal(call(kernel, x), x)
    numpy.testing.assert_array_equal(call(COPY, x), x)


def test_read_only_inputs_and_memory_without_numpy():
    x = numpy.arange(9, dtype=numpy.float32)
    x.flags.writeable = False
    numpy.testing.assert_array_equal(call(COPY, x), x)
    y = COPY(inputs=[bytes(range(9))], grid=(9, 1, 1), threadgroup=(9, 1, 1), output_shapes=[(9,)], output_dtypes=["uint8"])
    assert y[0].tolist() == list(range(9))


def test_arrays_without_elements():
    kernel = metal_kernel("count", ["x"], ["y"], "y[0] = x_shape[0] + 1;")
    y = kernel(inputs=[numpy.zeros((0, 3), numpy.float32)], output_dtypes=[numpy.int32], **ONE)[0]
    assert y[0] == 1
    assert call(COPY, numpy.zeros((0,), numpy.float32)).shape == (0,)


@pytest.mark.parametrize("value, dtype, expected", [
    (2.5, "float16", 2.5), (2.5, "int32", 2), (-1, "int8", -1), (1e9, "float16", numpy.inf), (1, "bool", True),
    (0.1, "float16", numpy.float16(0.1)), (3e-8, "float16", numpy.float16(3e-8)), (7, "complex64", 7), (300, "uint8", 255),
])  # fmt: skip
def test_init_value(value, dtype, expected):
    y = metal_kernel("leave", [], ["y"], "")(inputs=[], output_dtypes=[dtype], init_value=value, **ONE)[0]
    assert y.dtype == dtype and y[0] == expected


# --- kernels -----------------------------------------------------------------------------------------------------


def test_template_arguments():
    kernel = metal_kernel(
        "generic", ["x"], ["y"], "y[0] = twice ? T(x) * n : T(x); static_assert(is_same_v<T, half>, \"\");"
    )
    y = kernel(inputs=[1.5], output_dtypes=["float16"], template=[("T", numpy.float16), ("n", -3), ("twice", True)], **ONE)
    assert y[0][0] == -4.5


def test_header():
    kernel = elementwise("twice(x[i])", header="template <typename T> T twice(T x) { return 2 * x; }")
    numpy.testing.assert_array_equal(call(kernel, numpy.arange(5, dtype=numpy.int16)), numpy.arange(5) * 2)


def test_threadgroups_are_cut_to_the_grid():
    kernel = metal_kernel(
        "extents", [], ["y"],
        """
        if (thread_position_in_grid.x == 6) {
          y[0] = threads_per_threadgroup.x; y[1] = threads_per_grid.x; y[2] = threadgroups_per_grid.x;
          y[3] = threads_per_threadgroup.y; y[4] = threads_per_simdgroup;
        }
        """,
    )  # fmt: skip
    options = dict(inputs=[], output_shapes=[(5,)], output_dtypes=["uint32"])
    assert kernel(grid=(7, 2, 1), threadgroup=(4, 8, 1), **options)[0].tolist()[1:] == [7, 2, 2, 32]
    assert kernel(grid=(7, 2, 1), threadgroup=(64, 8, 1), **options)[0].tolist() == [7, 7, 1, 2, 32]


def test_math_mode():
    source = "y[0] = __FAST_MATH__;\n#ifndef __FAST_MATH__\n#error\n#endif"
    fast = metal_kernel("mode", [], ["y"], source, compile_options={"math_mode": "fast"})
    assert fast(inputs=[], output_dtypes=["int32"], **ONE)[0][0] == 1
    infinity = call(elementwise("exp(x[i])"), numpy.array([-numpy.inf], numpy.float32))
    assert infinity[0] == 0


def test_same_name_different_sources_and_dtypes():
    first, second = elementwise("x[i] + 1"), elementwise("x[i] + 2")
    x = numpy.zeros(4, numpy.float32)
    half = x.astype(numpy.float16)
    assert [call(first, x)[0], call(second, x)[0], call(first, half)[0], call(first, x)[0]] == [1, 2, 1, 1]


def test_threads_share_a_kernel():
    kernel = elementwise("x[i] * 2 + n", header="constant int n = 1;")

    def work(dtype):
        x = numpy.arange(300).astype(dtype)
        return all(numpy.array_equal(call(kernel, x), x * 2 + 1) for _ in range(20))

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, ["float32", "float16", "int32", "int16", "float32", "uint32"]))


def test_helpers_of_the_preamble():
    source = """
    LoopedElemToLoc<2, int> walker(x_ndim);
    for (int n = 0; n < 24; ++n) {
      y[n] = walker.location();
      y[24 + n] = elem_to_loc(uint(n), x_shape, x_strides, x_ndim);
      n % 2 ? walker.next(x_shape, x_strides) : walker.next(1, x_shape, x_strides);
    }
    LoopedElemToLoc<3, int> leaper(x_ndim);
    leaper.next(17, x_shape, x_strides);
    y[48] = leaper.location();
    y[49] = elem_to_loc<int>(uint3(1, 2, 1), x_shape, x_strides, x_ndim);
    y[50] = elem_to_loc_2_nd<int>(uint3(1, 2, 1), x_shape, x_strides, x_strides, x_ndim).y;
    y[51] = ceildiv(7, 2) + WorkPerThread<half>::n + cast_to<bool>(-0.0f) + Limits<short>::max;
    """
    kernel = metal_kernel("walk", ["x"], ["y"], source, ensure_row_contiguous=False)
    x = numpy.zeros((4, 5, 6, 7), numpy.int8)[1:3, ::3, :3, ::5].transpose(1, 0, 2, 3)
    y = kernel(inputs=[x], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(52,)], output_dtypes=["int32"])[0]
    places = [numpy.dot(at, x.strides) for at in numpy.ndindex(x.shape)]
    assert y[:24].tolist() == places and y[24:48].tolist() == places
    third = numpy.dot((0, 1, 2, 1), x.strides)
    assert y[48:].tolist() == [places[17], third, third, 4 + 4 + 0 + 32767]


def test_complex_numbers():
    kernel = metal_kernel(
        "divide", ["a", "b"], ["y"],
        "uint i = thread_position_in_grid.x; y[i] = a[i] / b[i] + 2.0f * a[i] * b[i] - 1; if (a[i] < b[i]) y[i] += a[i];",
    )  # fmt: skip
    random = numpy.random.default_rng(5)
    a, b = (random.standard_normal((2, 50)) + 1j * random.standard_normal((2, 50))).astype(numpy.complex64)
    y = kernel(inputs=[a, b], grid=(50, 1, 1), threadgroup=(50, 1, 1), output_shapes=[(50,)], output_dtypes=[a.dtype])[0]
    expected = a / b + 2 * a * b - 1 + numpy.where(a.real < b.real, a, 0)
    numpy.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


# --- errors ------------------------------------------------------------------------------------------------------


def test_compile_errors_show_the_line_that_verbose_prints(capsys):
    kernel = elementwise("x[i] +")
    with pytest.raises(RuntimeError, match=r"^\[metal::Device\] Unable to build metal library from source\n") as error:
        call(kernel, numpy.zeros(9, numpy.float32), verbose=True)
    lines = capsys.readouterr().out.split("```\n")[1].splitlines()
    number = next(i for i, line in enumerate(lines, 1) if "x[i] +;" in line)
    assert f"program_source:{number}:" in str(error.value)
    call(COPY, numpy.zeros(9, numpy.float32))  # and nothing is lost


@pytest.mark.parametrize("change, kind, message", [
    (dict(inputs=["text"]), TypeError, "str"),
    (dict(inputs=[None]), TypeError, "NoneType"),
    (dict(inputs=[numpy.zeros(3, ">f4")]), ValueError, "byte order"),
    (dict(inputs=[numpy.zeros(3)]), ValueError, "float64 is not supported on the GPU"),
    (dict(inputs=[numpy.zeros(3, "f4,i4")]), TypeError, "format"),
    (dict(output_dtypes=["quaternion"]), TypeError, "quaternion"),
    (dict(output_dtypes=["float16"], output_shapes=[(-1,)]), ValueError, "negative"),
    (dict(threadgroup=(1025, 1, 1)), ValueError, r"Thread group size \(1025\) is greater than  the maximum allowed"),
    (dict(grid=(0, 1, 1)), ValueError, "empty"),
    (dict(grid=(-1, 1, 1)), ValueError, "negative"),
    (dict(threadgroup=(0, 1, 1)), ValueError, "empty"),
    (dict(grid=(1, 1)), TypeError, "grid must be three integers"),
    (dict(grid=(1.0, 1, 1)), TypeError, "grid must be three integers"),
    (dict(grid=(1 << 40, 1, 1)), ValueError, "does not fit 32 bits"),
    (dict(grid=(1 << 22, 1 << 21, 1 << 21)), RuntimeError, "is too large"),
    (dict(threadgroup=(1 << 22, 1 << 21, 1 << 21)), ValueError, "Thread group size .* is greater than"),
    (dict(output_shapes=(1,)), TypeError, "output_shapes must be a list with the shape of each output"),
    (dict(output_shapes=[(1 << 30, 1 << 30)]), ValueError, "too large"),
    (dict(output_dtypes=numpy.float32), TypeError, "takes a list for `output_dtypes`"),
    (dict(inputs=numpy.zeros(1)), TypeError, "takes a list for `inputs`, not ndarray"),
    (dict(template=["T"]), TypeError, "template must be a list of pairs of a name and a value; 'T' is none"),
    (dict(template=[("T", 1, 2)]), TypeError, "pairs"),
    (dict(template=[(1, 2)]), TypeError, "pairs"),
    (dict(init_value="1"), TypeError, "init_value must be a float, not '1'"),
    (dict(init_value=1j), TypeError, "init_value must be a float"),
    (dict(init_value=10**400), TypeError, "init_value must be a float"),
])  # fmt: skip
def test_bad_calls(change, kind, message):
    arguments = dict(inputs=[numpy.zeros(9, numpy.float32)], output_dtypes=[numpy.float32]) | ONE | change
    with pytest.raises(kind, match=message):
        COPY(**arguments)


@pytest.mark.parametrize("change", [dict(ensure_row_contiguous=0), dict(atomic_outputs="no")], ids=repr)
def test_flags_are_bools(change):
    with pytest.raises(TypeError, match="must be bool, not"):
        metal_kernel("flags", ["x"], ["y"], "", **change)


def test_outputs_are_of_mlx_where_an_input_or_a_dtype_is():
    add = metal_kernel("add", ["x", "y"], ["z"], "uint i = thread_position_in_grid.x; z[i] = x[i] + y[i];")
    launch = dict(grid=(9, 1, 1), threadgroup=(9, 1, 1), output_shapes=[(9,)])
    numbers = numpy.arange(9, dtype=numpy.float32)
    for inputs, dtype in (([numbers, mx.array(numbers)], numpy.float32), ([numbers, numbers], mx.float32)):
        (z,) = add(inputs=inputs, output_dtypes=[dtype], stream=mx.gpu, **launch)
        assert isinstance(z, mx.array) and z.tolist() == (2 * numbers).tolist()
    assert isinstance(add(inputs=[numbers, numbers], output_dtypes=["float32"], **launch)[0], numpy.ndarray)


def test_a_crash_is_an_error():
    kernel = metal_kernel("far", ["x"], ["y"], "y[0] = x[1l << 44];")
    with pytest.raises(metalloid.Error, match="custom_kernel_far") as error:
        kernel(inputs=[numpy.zeros(9, numpy.float32)], output_dtypes=[numpy.float32], **ONE)
    assert error.value.code == "out_of_bounds"


def test_importing_metalloid_changes_nothing_in_mlx():
    script = "import metalloid, sys; assert 'mlx' not in sys.modules and 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


@needs_mlx
def test_export_describes_the_kernel(tmp_path):
    """mx.export_function runs nothing; the file is for a Mac."""
    def scaled(x):
        return call(EXP, x, template=[("T", mx.float32)]) * 2

    path = str(tmp_path / "scaled.mlxfn")
    mx.export_function(path, scaled, mx.zeros((4,)))
    assert b"custom_kernel_exponential" in (tmp_path / "scaled.mlxfn").read_bytes()
    assert mx.allclose(scaled(mx.zeros((4,))), mx.full((4,), 2.0))


@pytest.mark.parametrize(
    "source, message",
    [
        ("y[i] = x[i - 1];", r"reads outside of argument 'x' \(buffer 0\): element -1 of 4 \(bytes -4 to -1 of 16\)"),
        ("y[i] = x[i + 1];", r"reads outside of argument 'x' \(buffer 0\): element 4 of 4 \(bytes 16 to 19 of 16\)"),
        ("y[i + 1] = x[i];", r"writes outside of argument 'y' \(buffer 1\): element 4 of 4 \(bytes 16 to 19 of 16\)"),
    ],
)
def test_accesses_outside_are_errors(source, message):
    kernel = metal_kernel("outside", ["x"], ["y"], f"int i = thread_position_in_grid.x; {source}")
    x = numpy.ones(4, numpy.float32)
    with pytest.raises(metalloid.Error, match=message) as caught:
        kernel(
            inputs=[x], grid=(4, 1, 1), threadgroup=(4, 1, 1), output_shapes=[(4,)], output_dtypes=[numpy.float32]
        )
    assert caught.value.code == "out_of_bounds"
