"""metalloid.tune: the call model, what is chosen from, and what is cached. No test depends on how long something takes."""

import pathlib
import re
import subprocess
import sys

import numpy
import pytest
from conftest import root

import metalloid

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void silu(device const float* x, device float* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i < n) out[i] = x[i] / (1 + exp(-x[i]));
}
kernel void add_one(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
kernel void row_sums(device const float* x, device float* sums, constant uint& columns,
                     uint row [[threadgroup_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                     uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[32];
  float sum = 0;
  for (uint i = t; i < columns; i += threads) sum += x[row * columns + i];
  sum = simd_sum(sum);
  if (lane == 0) parts[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t != 0) return;
  for (uint i = 1; i < (threads + 31) / 32; ++i) sum += parts[i];
  sums[row] = sum;
}
kernel void for_64(device float* x, uint group [[threadgroup_position_in_grid]],
                   uint t [[thread_index_in_threadgroup]]) { x[group * 64 + t] = group; }
kernel void copy_2d(device const half* x, device half* out, constant uint& width, uint2 at [[thread_position_in_grid]]) {
  out[at.y * width + at.x] = x[at.y * width + at.x];
}
kernel void dynamic(device float* out, threadgroup float* shared [[threadgroup(0)]],
                    uint t [[thread_index_in_threadgroup]]) { shared[t] = 1; out[0] = shared[0]; }
kernel void nearly(device float2* x, uint i [[thread_position_in_grid]], uint threads [[threads_per_threadgroup]]) {
  x[i] = float2(1 + threads * 1e-7f, 2);
}
struct Two { metal::array<device float*, 2> arrays; };
kernel void through_addresses(constant Two& two, uint i [[thread_position_in_grid]]) {
  two.arrays[1][i] += two.arrays[0][i];
}
"""


@pytest.fixture(scope="module")
def lib():
    return metalloid.compile_shader(SOURCE)


@pytest.fixture(autouse=True)
def nothing_is_remembered(own_cache):
    """Each test tunes anew."""


def test_a_thread_per_element(lib):
    x = numpy.linspace(-3, 3, 1000, dtype=numpy.float32)
    out = numpy.zeros_like(x)
    result = metalloid.tune(lib.silu, x, out, x.size, threads=x.size, rounds=1, force=True)
    assert not out.any(), "tuning works on copies"
    assert [trial.group_size for trial in result.trials] == [32, 64, 128, 256, 512, 1024]
    assert all(trial.outcome == "measured" and trial.runs == 1 for trial in result.trials)
    assert isinstance(result.best, int) and result.best in (32, 64, 128, 256, 512, 1024)
    assert result.launch == {"threads": (1000,), "group_size": (result.best,)}
    lib.silu(x, out, x.size, **result.launch)
    numpy.testing.assert_allclose(out, x / (1 + numpy.exp(-x)), rtol=1e-6)


def test_a_threadgroup_per_row(lib):
    x = numpy.random.default_rng(0).normal(size=(7, 300)).astype(numpy.float32)
    sums = numpy.zeros(7, numpy.float32)
    result = metalloid.tune(lib.row_sums, x, sums, 300, threadgroups=7, group_size=128, rounds=1, force=True)
    assert {trial.outcome for trial in result.trials} == {"measured"}
    assert result.launch == {"threads": (7 * result.best,), "group_size": (result.best,)}
    lib.row_sums(x, sums, 300, **result.launch)
    numpy.testing.assert_allclose(sums, x.sum(axis=1), rtol=1e-4, atol=1e-4)


def test_the_grid_defaults_to_the_first_array(lib):
    x = numpy.arange(100, dtype=numpy.float32)
    result = metalloid.tune(lib.add_one, x, rounds=1, force=True)
    assert result.launch["threads"] == (100,)
    assert (x == numpy.arange(100)).all()
    with pytest.raises(RuntimeError, match="Number of threads is undefined"):
        metalloid.tune(lib.add_one, 1.0)


def test_two_dimensions_and_given_sizes(lib):
    x = numpy.ones((40, 50), numpy.float16)
    result = metalloid.tune(lib.copy_2d, x, x.copy(), 50, threads=(50, 40), group_sizes=[(8, 8), (32, 4), (2000, 1)],
                            rounds=1, force=True)  # fmt: skip
    assert result.best in ((8, 8), (32, 4))
    assert result.launch["threads"] == (50, 40)
    assert [trial.outcome for trial in result.trials] == ["measured", "measured", "failed"]
    assert "1024" in result.trials[2].note
    by_default = metalloid.tune(lib.copy_2d, x, x.copy(), 50, threads=(50, 40), rounds=1, force=True)
    assert (16, 16) in [trial.group_size for trial in by_default.trials]


def test_a_size_with_other_results_is_never_chosen(lib):
    x = numpy.zeros(4 * 64, numpy.float32)
    result = metalloid.tune(lib.for_64, x, threadgroups=4, group_size=64, rounds=1, force=True)
    assert result.best == 64
    outcomes = {trial.group_size: trial.outcome for trial in result.trials}
    assert outcomes[32] == "different results" and outcomes[128] == "failed" and outcomes[64] == "measured"
    with pytest.raises(metalloid.Error, match="depend on the threadgroup size") as caught:
        metalloid.tune(lib.for_64, x, threadgroups=4, rounds=1, force=True)
    assert caught.value.code == "invalid_argument"
    anything = metalloid.tune(lib.for_64, x, threadgroups=4, group_sizes=[32, 64], compare=False, rounds=1, force=True)
    assert [trial.outcome for trial in anything.trials] == ["measured", "measured"]


def test_the_second_call_answers_from_the_cache(lib):
    x = numpy.zeros(96, numpy.float32)
    first = metalloid.tune(lib.silu, x, x.copy(), 96, threads=96, rounds=2, force=True)
    again = metalloid.tune(lib.silu, x, x.copy(), 96, threads=96)
    assert (first.from_cache, again.from_cache) == (False, True)
    assert again.best == first.best and str(again).replace(" (cached)", "") == str(first)
    assert [trial.seconds for trial in again.trials] == [trial.seconds for trial in first.trials]
    assert not metalloid.tune(lib.silu, x, x.copy(), 95, threads=96, rounds=1).from_cache, "another n"
    assert not metalloid.tune(lib.silu, x.reshape(8, 12), x.copy(), 96, threads=96, rounds=1).from_cache, "another shape"
    assert not metalloid.tune(lib.silu, x, x.copy(), 96, threads=96, rounds=1, force=True).from_cache


def test_the_table_shows_what_was_tried(lib):
    x = numpy.zeros(64, numpy.float32)
    result = metalloid.tune(lib.add_one, x, group_sizes=[64, 32, 4096], rounds=3, force=True)
    lines = str(result).splitlines()
    assert lines[0].startswith("add_one, 64 threads; ")
    assert lines[1].split() == ["group", "time", "spread", "of", "chosen", "note"]
    assert lines[2].split()[0] == "64" and "default" in lines[2]
    assert lines[4].split()[:2] == ["4096", "-"] and "limit of 1024" in lines[4]
    assert lines[5].startswith(f"add_one: {result.best} threads per threadgroup")
    assert str(result.best) in repr(result)


def test_threadgroup_memory_that_follows_the_size(lib):
    out = numpy.zeros(1, numpy.float32)
    result = metalloid.tune(lib.dynamic, out, threadgroups=1, threadgroup_memory_per_thread={0: 64}, rounds=1, force=True)
    assert result.trials[-1].outcome == "failed" and "65536 bytes" in result.trials[-1].note
    assert result.trials[-2].outcome == "measured"


def test_wrong_calls_are_explained(lib):
    x = numpy.zeros(64, numpy.float32)
    with pytest.raises(ValueError, match="not both"):
        metalloid.tune(lib.add_one, x, threads=64, threadgroups=1)
    with pytest.raises(TypeError, match="takes a kernel"):
        metalloid.tune(print, x)
    with pytest.raises(TypeError, match="elements are f32"):
        metalloid.tune(lib.add_one, x.astype(numpy.int16))
    with pytest.raises(metalloid.Error, match="ran with no threadgroup size: missing buffer binding at index 2"):
        metalloid.tune(lib.silu, x, x.copy(), threads=64)
    with pytest.raises(metalloid.Error, match="margin"):
        metalloid.tune(lib.add_one, x, margin=-1)
    with pytest.raises(TypeError, match="group_sizes is a sequence of threadgroup sizes, not 64"):
        metalloid.tune(lib.add_one, x, group_sizes=64)
    with pytest.raises(ValueError, match="fast"):
        metalloid.tune(lib.add_one, x, margin="fast")


def test_torch_tensors_and_lists_of_them(lib):
    torch = pytest.importorskip("torch")
    base = torch.arange(128, dtype=torch.float32)
    view = base[64:]
    result = metalloid.tune(lib.add_one, view, threads=64, rounds=1, force=True)
    assert {trial.outcome for trial in result.trials} == {"measured"}
    a, b = torch.ones(64), torch.zeros(64)
    result = metalloid.tune(lib.through_addresses, [a, b], threads=64, rounds=1, force=True)
    assert {trial.outcome for trial in result.trials} == {"measured"}
    assert not result.results_vary and torch.equal(b, torch.zeros(64)) and torch.equal(base, torch.arange(128.0))


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_complex_results_may_be_rounded_otherwise(lib, library):
    arrays = pytest.importorskip(library)
    x = arrays.zeros(256, dtype=arrays.complex64)
    result = metalloid.tune(lib.nearly, x, threads=256, group_sizes=[32, 64], rounds=1, force=True)
    assert [trial.outcome for trial in result.trials] == ["measured", "measured"]


def test_under_the_mps_runner(tmp_path):
    pytest.importorskip("torch")
    script = tmp_path / "script.py"
    script.write_text(
        "import metalloid, torch\n"
        f"lib = torch.mps.compile_shader('''{SOURCE}''')\n"
        "x = torch.randn(256, device='mps')\n"
        "out = torch.zeros_like(x)\n"
        "result = metalloid.tune(lib.silu, x, out, 256, threads=256, rounds=1)\n"
        "lib.silu(x, out, 256, threads=256, group_size=result.best)\n"
        "assert x.device.type == 'mps' and torch.allclose(out, torch.nn.functional.silu(x), atol=1e-6)\n"
        "print(result)\n"
    )
    done = subprocess.run([sys.executable, "-m", "metalloid.mps", script], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    assert "silu, 256 threads" in done.stdout


PAGE = root / "docs" / "tuning.md"


def test_the_page_on_tuning(tmp_path, monkeypatch, metalloid_cli):
    """Its source, its command lines and its Python, as they stand there; times and choice may differ."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    metal, console, python = ([text for language, text in blocks if language == name] for name in ("metal", "console", "python"))
    monkeypatch.chdir(tmp_path)
    pathlib.Path("rms_norm.metal").write_text(metal[0])
    tune, run = [line.removeprefix("$ metalloid ").split() for line in console[0].splitlines() if line.startswith("$ ")]
    shown = [line for line in console[0].splitlines() if not line.startswith("$ ")]
    printed = [line for line in metalloid_cli(*tune).stdout.splitlines() if not line.startswith("Times vary much")]
    shown = [line for line in shown if not line.startswith("Times vary much")]
    assert len(printed) == len(shown)
    assert printed[0].split(";")[0] == shown[0].split(";")[0] and printed[1].split() == shown[1].split()
    assert [line.split()[0] for line in printed] == [line.split()[0] for line in shown]
    ran = metalloid_cli(*run)
    assert ran.returncode == 0 and "(cached)" in ran.stderr
    names: dict = {"print": lambda *_: None}
    exec(compile("\n".join(python), PAGE, "exec"), names)
    x, out = names["x"], names["out"]
    numpy.testing.assert_array_equal(names["y"], 2 * x)
    numpy.testing.assert_allclose(out, x / numpy.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5), rtol=1e-5)


def test_metal_kernels_tune_themselves():
    kernel = metalloid.fast.metal_kernel(
        name="row_sums", input_names=["x"], output_names=["sums"],
        header="#include <metal_simdgroup>\n",
        source="""
            uint row = threadgroup_position_in_grid.x, t = thread_index_in_threadgroup;
            threadgroup T parts[32];
            T sum = 0;
            for (uint i = t; i < uint(x_shape[1]); i += threads_per_threadgroup.x) sum += x[row * x_shape[1] + i];
            sum = simd_sum(sum);
            if (thread_index_in_simdgroup == 0) parts[simdgroup_index_in_threadgroup] = sum;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (t != 0) return;
            for (uint i = 1; i < (threads_per_threadgroup.x + 31) / 32; ++i) sum += parts[i];
            sums[row] = sum;
        """,
    )  # fmt: skip
    x = numpy.random.default_rng(0).normal(size=(5, 200)).astype(numpy.float32)
    call = dict(inputs=[x], output_shapes=[(5,)], output_dtypes=["float32"], template=[("T", numpy.float32)])
    result = kernel.tune(**call, threadgroups=(5, 1, 1), rounds=1, force=True)
    assert {trial.outcome for trial in result.trials} == {"measured"} and len(result.best) == 3
    assert result.launch == {"grid": (5 * result.best[0], 1, 1), "threadgroup": result.best}
    (sums,) = kernel(**call, **result.launch)
    numpy.testing.assert_allclose(sums, x.sum(axis=1), rtol=1e-4, atol=1e-4)
    assert kernel.tune(**call, threadgroups=(5, 1, 1)).from_cache
    # Without a threadgroup per row, results depend on the size.
    with pytest.raises(ValueError, match="depend on the threadgroup size"):
        kernel.tune(**call, grid=(5 * 64, 1, 1), rounds=1)
    named = kernel.tune(**call, grid=(5 * 64, 1, 1), threadgroup=(64, 1, 1), rounds=1)
    assert named.best == (64, 1, 1)
    with pytest.raises(ValueError, match="not both"):
        kernel.tune(**call)
    with pytest.raises(TypeError, match="has a method tune"):
        metalloid.tune(kernel, x)


def test_metal_kernels_on_mlx_arrays():
    mx = pytest.importorskip("mlx.core")
    kernel = metalloid.fast.metal_kernel(
        name="twice", input_names=["x"], output_names=["y"], source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];"
    )
    x = mx.arange(64).astype(mx.bfloat16)
    call = dict(inputs=[x], output_shapes=[x.shape], output_dtypes=[x.dtype])
    result = kernel.tune(**call, grid=(64, 1, 1), rounds=1, force=True)
    assert {trial.outcome for trial in result.trials} == {"measured"}
    assert mx.array_equal(kernel(**call, **result.launch)[0], 2 * x)
