"""metalloid.compile_shader on torch tensors: the call model, errors and limits of torch.mps.compile_shader."""

import subprocess
import sys

import numpy
import pytest

import metalloid

torch = pytest.importorskip("torch")

PRELUDE = "#include <metal_stdlib>\nusing namespace metal;\n"
FULL = "kernel void full(device float* x, constant float& value, uint i [[thread_position_in_grid]]) { x[i] = value; }"


class TestGrid:
    def test_default_is_the_first_tensors_size(self):
        lib = metalloid.compile_shader("kernel void fill(device half* x, uint i [[thread_position_in_grid]]) { x[i] = i; }")
        x = torch.empty(12, dtype=torch.float16)
        lib.fill(x)
        assert torch.equal(x, torch.arange(12, dtype=torch.float16))

    def test_tensor_without_dimensions_counts(self):
        lib = metalloid.compile_shader(
            "kernel void f(constant float& a, device float* x, uint i [[thread_position_in_grid]]) { x[i] = a; }"
        )
        x = torch.zeros(4)
        lib.f(torch.tensor(3.0), x)
        assert x.tolist() == [3, 0, 0, 0]

    @pytest.mark.parametrize("threads", [(1, 6), (1, 1, 6), [6, 1]])
    def test_dimensions(self, threads):
        lib = metalloid.compile_shader(
            "kernel void f(device uint* x, uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]])"
            "{ x[p.x + n.x * (p.y + n.y * p.z)] = 1 + p.x + p.y + p.z; }"
        )
        x = torch.zeros(6, dtype=torch.int32)
        lib.f(x, threads=threads, group_size=(2, 1, 1)[: len(threads)])
        assert x.tolist() == [1, 2, 3, 4, 5, 6]

    def test_last_threadgroup_is_cut(self):
        lib = metalloid.compile_shader(
            "kernel void f(device uint* x, uint i [[thread_position_in_grid]], uint n [[threads_per_threadgroup]])"
            "{ x[i] = n; }"
        )
        x = torch.zeros(8, dtype=torch.int32)
        lib.f(x, threads=6, group_size=4)
        assert x.tolist() == [4, 4, 4, 4, 2, 2, 0, 0]

    def test_no_tensor_and_no_threads(self):
        lib = metalloid.compile_shader("kernel void f(constant float& a) {}")
        with pytest.raises(RuntimeError, match="Number of threads is undefined or has wrong dimension"):
            lib.f(1.0)

    @pytest.mark.parametrize(("threads", "group"), [(2048, 2048), ((64, 64), (64, 64)), (4096, 1025)])
    def test_threadgroup_too_large(self, threads, group):
        lib = metalloid.compile_shader(FULL)
        with pytest.raises(ValueError, match="Threadgroup size exceeds 1024 limit"):
            lib.full(torch.zeros(8192), 1.0, threads=threads, group_size=group)

    def test_ranks_differ(self):
        with pytest.raises(RuntimeError, match="same number of dimensions"):
            metalloid.compile_shader(FULL).full(torch.zeros(8), 1.0, threads=(8, 1), group_size=4)

    def test_empty_tensor(self):
        metalloid.compile_shader(FULL).full(torch.zeros(0), 1.0)


class TestLibrary:
    def test_kernel_names(self):
        lib = metalloid.compile_shader("kernel void a() {} kernel void b() {}")
        assert set(dir(lib)) == {"a", "b"}

    def test_unknown_kernel(self):
        lib = metalloid.compile_shader("kernel void a() {}")
        with pytest.raises(RuntimeError, match="Failed to create function state object for: no_such"):
            _ = lib.no_such

    def test_syntax_error_is_the_compilers_log(self):
        with pytest.raises(SyntaxError) as failed:
            metalloid.compile_shader("What is this?")
        assert str(failed.value).startswith("program_source:1:1: error: unknown type name 'What'")

    def test_library_without_kernels(self):
        assert dir(metalloid.compile_shader("#include <c10/metal/special_math.h>")) == []

    def test_properties(self):
        lib = metalloid.compile_shader("kernel void foo() {}")
        assert lib.foo.max_threads_per_threadgroup == 1024
        assert lib.foo.thread_execution_width == 32
        assert lib.foo.static_thread_group_memory_length == 0


class TestTensors:
    def test_views_are_base_plus_offset(self):
        lib = metalloid.compile_shader(FULL)
        x = torch.zeros(10)
        lib.full(x[4:], 7.0, threads=2)
        assert x.tolist() == [0, 0, 0, 0, 7, 7, 0, 0, 0, 0]

    def test_strides_stay_with_the_host(self):
        lib = metalloid.compile_shader(
            "kernel void f(device float* y, constant float* x, uint i [[thread_position_in_grid]]) { y[i] = x[i]; }"
        )
        x, y = torch.arange(6.0).reshape(2, 3), torch.zeros(6)
        lib.f(y, x.T)
        assert y.tolist() == [0, 1, 2, 3, 4, 5]

    def test_any_dtype_is_handed_over(self):
        lib = metalloid.compile_shader(
            "kernel void f(device uint* y, constant uint* x, uint i [[thread_position_in_grid]]) { y[i] = x[i]; }"
        )
        y = torch.zeros(3, dtype=torch.int32)
        lib.f(y, torch.tensor([1.0, -2.0, 0.5]))
        assert torch.equal(y.view(torch.float32), torch.tensor([1.0, -2.0, 0.5]))

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.complex64, torch.bool, torch.uint8])
    def test_dtypes(self, dtype):
        kinds = {torch.bfloat16: "bfloat", torch.float16: "half", torch.complex64: "float2", torch.bool: "bool",
                 torch.uint8: "uchar"}  # fmt: skip
        lib = metalloid.compile_shader(
            f"kernel void f(device {kinds[dtype]}* y, constant {kinds[dtype]}* x, uint i [[thread_position_in_grid]])"
            "{ y[i] = x[i]; }"
        )
        x = torch.tensor([0, 1, 1, 0]).to(dtype)
        y = torch.zeros(4, dtype=dtype)
        lib.f(y, x)
        assert torch.equal(x, y)

    def test_parameters_and_inference_tensors(self):
        lib = metalloid.compile_shader(FULL)
        parameter = torch.nn.Parameter(torch.zeros(3))
        lib.full(parameter, 2.0)
        assert parameter.tolist() == [2, 2, 2]
        with torch.inference_mode():
            x = torch.zeros(3)
        lib.full(x, 1.0)
        assert x.tolist() == [1, 1, 1]

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_scalar_tensors(self, dtype):
        """Metal has no double: a float64 scalar arrives as float."""
        x = torch.zeros(2)
        metalloid.compile_shader(FULL).full(x, torch.tensor(3.14, dtype=dtype))
        assert torch.allclose(x, torch.full((2,), 3.14))

    def test_double_tensors_are_refused(self):
        with pytest.raises(TypeError, match="MPS framework doesn't support float64"):
            metalloid.compile_shader(FULL).full(torch.zeros(4, dtype=torch.float64), 1.0)

    def test_other_devices_are_refused(self):
        with pytest.raises(RuntimeError, match="META tensor"):
            metalloid.compile_shader(FULL).full(torch.zeros(4, device="meta"), 1.0)
        with pytest.raises(RuntimeError, match="strided"):
            metalloid.compile_shader(FULL).full(torch.zeros(4).to_sparse(), 1.0)

    def test_list_of_tensors_is_an_argument_buffer(self):
        lib = metalloid.compile_shader(
            PRELUDE + "struct Inputs { metal::array<device float*, 64> rows; };\n"
            "kernel void total(device float* y, constant Inputs& inputs, uint i [[thread_position_in_grid]])"
            "{ for (int k = 0; k < 64; ++k) y[i] += inputs.rows[k][i]; inputs.rows[3][i] = -1; }"
        )
        tensors = [torch.full((5,), float(k)) for k in range(64)]
        tensors[7] = torch.arange(10.0)[5:]  # an offset counts
        y = torch.zeros(5)
        lib.total(y, tensors)
        assert y.tolist() == [sum(range(64)) - 7 + 5 + i for i in range(5)]
        assert tensors[3].tolist() == [-1] * 5


class TestNumbers:
    def run(self, kind, value, expression="*v", **keywords):
        lib = metalloid.compile_shader(
            PRELUDE + f"kernel void f(device float* y, constant {kind}* v) {{ y[0] = float({expression}); }}"
        )
        y = torch.zeros(1)
        lib.f(y, value, **keywords)
        return y.item()

    def test_integers_are_64_bits(self):
        assert self.run("long", -(2**40), "*v / (1l << 38)") == -4
        assert self.run("int", 10) == 10
        assert self.run("bool", True) == 1
        assert self.run("long", [1, 2, 3], "v[2]") == 3

    def test_floats_are_32_bits(self):
        assert self.run("float", 0.5) == 0.5
        assert self.run("float", 1e300) == float("inf")
        assert self.run("float2", [1.0, 2.0], "v->y") == 2
        assert self.run("float3", (1.0, 2.0, 3.0), "v->z") == 3

    @pytest.mark.parametrize(
        ("kind", "cast", "value"),
        [("half", "fp16", 1.5), ("bfloat", "bf16", 1.5), ("int", "int32", -7), ("short", "int16", -7), ("char", "int8", -7),
         ("uchar", "uint8", 200)],
    )  # fmt: skip
    def test_casts(self, kind, cast, value):
        assert self.run(kind, value, arg_casts=cast) == value
        assert self.run(kind, [0, value] if isinstance(value, int) else [0.0, value], "v[1]", arg_casts=cast) == value
        assert self.run(kind, value, arg_casts={1: cast}) == value

    def test_casts_that_do_not_exist(self):
        with pytest.raises(RuntimeError, match="Unsupported cast instruction int128"):
            self.run("int", 1, arg_casts="int128")
        with pytest.raises(RuntimeError, match="Unexpected caster arg type list"):
            self.run("int", 1, arg_casts=["int32"])

    @pytest.mark.parametrize("value", [None, "text", 1j, {}, object()])
    def test_what_is_no_argument(self, value):
        with pytest.raises(RuntimeError, match="Unsupported argument type"):
            self.run("float", value)

    def test_lists_that_are_no_arguments(self):
        with pytest.raises(RuntimeError, match="Empty list/tuple can not be an argument to metal kernel"):
            self.run("float", [])
        with pytest.raises(RuntimeError, match="Unexpected argument types"):
            self.run("float", ["a"])
        with pytest.raises(RuntimeError, match="must hold ints, not float"):
            self.run("long", [1, 2.5])
        with pytest.raises(RuntimeError, match="int64"):
            self.run("long", 2**64)


REPORT = """
#include <c10/metal/error.h>
kernel void check(device float* x, constant long* at, device c10::metal::ErrorMessages* errors,
                  uint i [[thread_position_in_grid]]) {
  if (at[i] >= 4 || at[i] < 0) {
    TORCH_REPORT_ERROR(errors, "Index ", at[i], " exceeds limit ", 4u);
    return;
  }
  x[at[i]] = 1;
}
"""


class TestErrorReports:
    @pytest.mark.parametrize("torch_headers", [False, True])
    def test_raised_at_synchronize(self, torch_headers):
        lib = metalloid.compile_shader(REPORT, torch_headers=torch_headers)
        x = torch.zeros(4)
        lib.check(x, torch.tensor([0, 7, 2]), threads=3, error_buf_idx=2)
        with pytest.raises(RuntimeError) as reported:
            metalloid.synchronize()
        assert x.tolist() == [1, 0, 1, 0]
        assert str(reported.value) == "Index 7 exceeds limit 4"
        assert type(reported.value) is torch.AcceleratorError
        assert any("reported by check at program_source:6" in note for note in reported.value.__notes__)
        metalloid.synchronize()  # once only

    def test_nothing_to_report(self):
        metalloid.compile_shader(REPORT).check(torch.zeros(4), torch.tensor([0]), threads=1, error_buf_idx=2)
        metalloid.synchronize()

    def test_more_messages_than_there_is_room_for(self):
        lib = metalloid.compile_shader(REPORT)
        lib.check(torch.zeros(4), torch.full((500,), -3), threads=500, error_buf_idx=2)
        with pytest.raises(RuntimeError, match="Index -3 exceeds limit 4") as reported:
            metalloid.synchronize()
        assert any("the first of 500" in note for note in reported.value.__notes__)
        metalloid.synchronize()

    @pytest.mark.parametrize("torch_headers", [False, True])
    def test_long_messages_are_cut(self, torch_headers):
        lib = metalloid.compile_shader(
            "#include <c10/metal/error.h>\n"
            "kernel void f(device c10::metal::ErrorMessages* errors, constant char* text) {"
            'TORCH_REPORT_ERROR(errors, text, 12345, "tail", -9223372036854775807l - 1); }',
            torch_headers=torch_headers,
        )
        lib.f(torch.zeros(1), torch.tensor(list(b"a" * 240) + [0], dtype=torch.uint8), threads=1, error_buf_idx=0)
        with pytest.raises(RuntimeError) as reported:
            metalloid.synchronize()
        assert str(reported.value) == "a" * 240 + "12345tail"  # the last number would not fit

    def test_own_class_without_torch(self):
        """In a process that never imports torch."""
        program = (
            "import sys, numpy, metalloid\n"
            f"lib = metalloid.compile_shader({REPORT!r})\n"
            "lib.check(numpy.zeros(4, numpy.float32), numpy.array([9]), threads=1, error_buf_idx=2)\n"
            "try: metalloid.synchronize()\n"
            "except metalloid.AcceleratorError as error: print(error)\n"
            "assert 'torch' not in sys.modules\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1200)
        assert done.stdout == "Index 9 exceeds limit 4\n", done.stderr


class TestAsTorchTestsIt:
    """What the tests of torch.mps.compile_shader exercise, on kernels of our own."""

    def test_partial_simdgroup(self):
        lib = metalloid.compile_shader(
            "#include <c10/metal/reduction_utils.h>\n"
            "kernel void f(device float* y, device int* at, constant float* x, uint i [[thread_position_in_grid]]) {"
            "y[0] = c10::metal::simd_sum(x[i]); auto best = c10::metal::simd_argmax(x[i]);"
            "y[1] = best.first; at[0] = best.second; }"
        )
        x = torch.arange(28.0)
        y, at = torch.zeros(2), torch.zeros(1, dtype=torch.int32)
        lib.f(y, at, x, threads=28)
        assert y.tolist() == [x.sum(), 27] and at.item() == 27
        x[25] = float("nan")
        lib.f(y, at, x, threads=28)
        assert y[1].isnan() and at.item() == 25

    def test_lambda(self):
        lib = metalloid.compile_shader(
            "kernel void f(device float* x, uint i [[thread_position_in_grid]])"
            "{ auto square = [](float a) { return a * a; }; x[i] = square(x[i]); }"
        )
        x = torch.arange(4.0)
        lib.f(x)
        assert x.tolist() == [0, 1, 4, 9]

    def test_division_chains(self):
        lib = metalloid.compile_shader(
            "#include <c10/metal/utils.h>\nkernel void f(device long* x, uint i [[thread_position_in_grid]])"
            "{ x[i] = c10::metal::safe_mod(x[i] / 65536, 6); }"
        )
        x = torch.arange(0, 65536 * 20, 65536)
        expected = x // 65536 % 6
        lib.f(x)
        assert torch.equal(x, expected)

    def test_numpy_and_torch_in_one_call(self):
        lib = metalloid.compile_shader(
            "kernel void f(device float* y, constant float* x, uint i [[thread_position_in_grid]]) { y[i] = x[i]; }"
        )
        y = numpy.zeros(3, numpy.float32)
        lib.f(y, torch.arange(3.0))
        assert y.tolist() == [0, 1, 2]
