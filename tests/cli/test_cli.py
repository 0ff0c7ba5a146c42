"""The command line as its users see it: results on stdout, messages on stderr, exit codes."""

import json
import subprocess

import numpy
import pytest
from conftest import build, root

import metalloid

saxpy = """#include <metal_stdlib>
using namespace metal;
struct Params { float a; uint n; };
kernel void saxpy(device float* y, device const float* x, constant float& a, uint i [[thread_position_in_grid]]) {
  y[i] += a * x[i];
}
kernel void scale(device half4* v, constant Params& p, threadgroup float* scratch [[threadgroup(0)]],
                  uint i [[thread_position_in_grid]]) { v[i] *= half(p.a); }
"""


def run_saxpy(cli, file, *more, threads="8"):
    return cli("run", file, "--kernel", "saxpy", "--threads", threads, "--group", "4", *more)


def test_help_teaches(metalloid_cli):
    result = metalloid_cli("--help")
    assert result.returncode == 0
    for word in ("compile", "inspect", "run", "devices", "Exit codes"):
        assert word in result.stdout
    for command in ("compile", "inspect", "run"):
        assert "Examples:" in metalloid_cli(command, "--help").stdout


def test_version(metalloid_cli):
    assert metalloid_cli("--version").stdout.startswith("metalloid 0.")


def test_devices(metalloid_cli):
    result = metalloid_cli("devices")
    names = [line.split()[0] for line in result.stdout.splitlines()]
    assert "cpu" in names and "reference" in names
    assert names == [name for name, _ in metalloid.devices()]


def test_compile_lists_kernels(metalloid_cli, source_file):
    result = metalloid_cli("compile", source_file(saxpy))
    assert (result.returncode, result.stdout) == (0, "saxpy\nscale\n")


@pytest.mark.parametrize(
    "source, message, place",
    [
        ("kernel void f() {\n  int x = ;\n}\n", "expected expression", ":2:11: error:"),
        ("kernel void f(device float* y) {\n  y[0] = undeclared;\n}\n", "undeclared", ":2:10: error:"),
        ("struct A {};\nkernel void f(device float* y) {\n  y[0] = A();\n}\n", "A", ":3:"),
    ],
)
def test_compile_errors_have_file_line_and_caret(metalloid_cli, source_file, source, message, place):
    file = source_file(source)
    result = metalloid_cli("compile", file)
    assert result.returncode == 1
    assert result.stdout == ""
    assert file.name + place in result.stderr and message in result.stderr
    assert "^" in result.stderr
    assert metalloid_cli("run", file, "--kernel", "f", "--threads", "1", "--group", "1").returncode == 1


def test_compiler_flags_are_spelled_as_metals(metalloid_cli, source_file, tmp_path):
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "own.h").write_text("#define FROM_HEADER 1\n")
    file = source_file(
        '#include "own.h"\n#if __METAL_VERSION__ != 310 || !FROM_HEADER || N != 7 || !FLAG\n#error wrong\n#endif\n'
    )
    flags = ("-std=metal3.1", "-DN=7", "-D", "FLAG", f"-I{tmp_path / 'headers'}", "-fmetal-math-mode=safe")
    assert metalloid_cli("compile", file, *flags).returncode == 0
    assert metalloid_cli("compile", file, *flags[1:]).returncode == 1  # the newest version is not 3.1
    for wrong in ("-std=metal9.9", "-fmetal-math-mode=wild"):
        result = metalloid_cli("compile", file, wrong)
        assert result.returncode == 2 and wrong in result.stderr


def test_emit(metalloid_cli, source_file, tmp_path):
    file = source_file(saxpy)
    ir = metalloid_cli("compile", file, "--emit", "ir")
    assert ir.returncode == 0 and "define" in ir.stdout and "addrspace(1)" in ir.stdout
    assembly = metalloid_cli("compile", file, "--emit", "asm", "--kernel", "saxpy")
    assert assembly.returncode == 0 and "\tret" in assembly.stdout
    ambiguous = metalloid_cli("compile", file, "--emit", "obj")
    assert ambiguous.returncode == 2 and "--kernel" in ambiguous.stderr
    output = tmp_path / "saxpy.o"
    assert metalloid_cli("compile", file, "--kernel", "saxpy", "-o", output).returncode == 0
    assert output.stat().st_size > 100


def test_inspect_text_and_json(metalloid_cli, source_file):
    file = source_file(saxpy)
    text = metalloid_cli("inspect", file).stdout
    assert "kernel saxpy" in text and "buffer(1)" in text and "thread_position_in_grid" in text
    described = json.loads(metalloid_cli("inspect", file, "--json").stdout)
    kernels = {kernel["name"]: kernel for kernel in described["kernels"]}
    y, x, a, position = kernels["saxpy"]["arguments"]
    assert (y["name"], y["index"], y["access"], y["type"]["scalar"]) == ("y", 0, "read_write", "f32")
    assert (x["index"], x["access"], x["address_space"]) == (1, "read", "device")
    assert (a["index"], a["address_space"], a["reference"]) == (2, "constant", True)
    assert position["attribute"] == "thread_position_in_grid"
    v, p, scratch, _ = kernels["scale"]["arguments"]
    assert v["type"]["rows"] == 4 and v["type"]["size"] == 8
    assert [(m["name"], m["offset"]) for m in p["type"]["members"]] == [("a", 0), ("n", 4)]
    assert scratch["kind"] == "threadgroup"


def test_run_prints_results_to_stdout_only(metalloid_cli, source_file):
    result = run_saxpy(metalloid_cli, source_file(saxpy), "--arg", "f32[8]=ones", "--arg", "f32[8]=arange",
                       "--arg", "f32:0.5")  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout == "y: f32[8]\n[  1 1.5   2 2.5   3 3.5   4 4.5]\n"
    assert "saxpy" in result.stderr


def test_run_reads_and_writes_npy(metalloid_cli, source_file, tmp_path):
    x = numpy.random.default_rng(0).normal(size=(2, 500)).astype(numpy.float32)
    numpy.save(tmp_path / "x.npy", x)
    result = run_saxpy(
        metalloid_cli, source_file(saxpy), "--arg", "a=f32:2", "--arg", f"x={tmp_path / 'x.npy'}",
        "--arg", "0=f32[2,500]=zeros", "--save", f"y={tmp_path / 'y.npy'}", threads="1000",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    y = numpy.load(tmp_path / "y.npy")
    assert y.dtype == numpy.float32 and y.shape == (2, 500)
    numpy.testing.assert_array_equal(y, 2 * x)


def test_structs_take_their_bytes_and_vectors_their_elements(metalloid_cli, source_file, tmp_path):
    params = numpy.array([(0.5, 3)], dtype=[("a", "f4"), ("n", "u4")])
    numpy.save(tmp_path / "p.npy", params.view(numpy.uint8))
    result = metalloid_cli(
        "run", source_file(saxpy), "--kernel", "scale", "--threads", "2", "--group", "2",
        "--arg", "v=f16[2,4]=arange", "--arg", f"p={tmp_path / 'p.npy'}", "--threadgroup-memory", "0=64",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "[[  0 0.5   1 1.5]\n [  2 2.5   3 3.5]]" in result.stdout


def test_values_take_their_type_from_the_argument(metalloid_cli, source_file):
    file = source_file(saxpy)
    result = run_saxpy(metalloid_cli, file, "--arg", "f32[8]=ones", "--arg", "f32[8]=arange", "--arg", "0.5")
    assert "[  1 1.5   2 2.5   3 3.5   4 4.5]" in result.stdout, result.stderr
    arguments = ("run", file, "--kernel", "scale", "--threads", "1", "--arg", "v=f16[4]=ones", "--threadgroup-memory", "0=64")
    for value in ("p={0.5, 3}", "p={n=3,a=0.5}"):
        assert "[0.5 0.5 0.5 0.5]" in metalloid_cli(*arguments, "--arg", value).stdout
    wrong = metalloid_cli(*arguments, "--arg", "p={b=1}")
    assert wrong.returncode == 2 and "Params has no member 'b': {a=...,n=...}" in wrong.stderr


def test_pointers_to_bytes_take_any_array(metalloid_cli, source_file, tmp_path):
    file = source_file(
        "struct Block { half scale; uchar quants[2]; };\n"
        "kernel void twice(device const char* in, device uchar* out, device const void* more,\n"
        "                  uint i [[thread_position_in_grid]]) {\n"
        "  ((device float*)out)[i] = 2 * ((device const float*)in)[i] + ((device const Block*)more)[i].quants[1];\n"
        "}\n"
    )
    numpy.save(tmp_path / "x.npy", numpy.array([1, 2], numpy.float32))
    blocks = numpy.array([(1, [2, 3]), (4, [5, 6])], dtype=[("scale", "f2"), ("quants", "u1", 2)])
    numpy.save(tmp_path / "blocks.npy", blocks)
    arguments = ("run", file, "--threads", "2", "--arg", f"more={tmp_path / 'blocks.npy'}", "--save", f"out={tmp_path / 'o.npy'}")
    result = metalloid_cli(*arguments, "--arg", f"in={tmp_path / 'x.npy'}", "--arg", "out=u8[8]=zeros")
    assert result.returncode == 0, result.stderr
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "o.npy").view(numpy.float32), [5, 10])
    printed = metalloid_cli(*arguments[:6], "--arg", f"in={tmp_path / 'x.npy'}", "--arg", "out=f32[2]=zeros")
    assert "out: f32[2]\n[ 5 10]" in printed.stdout, printed.stderr


def test_complex_files_are_pairs(metalloid_cli, source_file, tmp_path):
    file = source_file(
        "kernel void conjugate(device float2* x, uint i [[thread_position_in_grid]]) { x[i].y = -x[i].y; }"
    )
    numpy.save(tmp_path / "x.npy", numpy.array([1 + 2j, 3 - 4j], numpy.complex64))
    result = metalloid_cli("run", file, "--threads", "2", "--arg", tmp_path / "x.npy")
    assert "x: f32[2,2]\n[[ 1 -2]\n [ 3  4]]" in result.stdout, result.stderr


def test_what_can_be_left_out(metalloid_cli, source_file):
    one = source_file("kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }", "one.metal")
    result = metalloid_cli("run", one, "--threads", "5", "--arg", "f32[5]=arange")
    assert "[0 2 4 6 8]" in result.stdout and "threadgroups of 5;" in result.stderr
    several = metalloid_cli("run", source_file(saxpy), "--threads", "5")
    assert several.returncode == 2 and "--kernel is missing; the file has saxpy, scale" in several.stderr
    group = metalloid_cli("run", one, "--threadgroups", "5", "--arg", "f32[5]=arange")
    assert group.returncode == 2 and "--group is missing" in group.stderr


def test_what_is_missing_is_shown_as_it_is_typed(metalloid_cli, source_file):
    result = metalloid_cli("run", source_file(saxpy), "--kernel", "saxpy", "--threads", "5", "--arg", "f32[5]=ones")
    assert result.returncode == 3
    assert "missing buffer binding at index 1 for argument 'x'; add --arg 'x=f32[...]=...' --arg a=VALUE" in result.stderr
    struct = metalloid_cli("run", source_file(saxpy), "--kernel", "scale", "--threads", "5", "--arg", "f16[20]=ones")
    assert "add --arg p='{a=...,n=...}'" in struct.stderr


def test_names_that_do_not_exist(metalloid_cli, source_file):
    assert "did you mean 'compile'?" in metalloid_cli("compil", "x.metal").stderr
    result = metalloid_cli("run", source_file(saxpy), "--thread", "5")
    assert result.returncode == 2 and "no option --thread; did you mean '--threads'" in result.stderr
    assert metalloid_cli("run").stderr.startswith("metalloid run: FILE is required (see metalloid run --help)")
    empty = metalloid_cli("compile", source_file("\n", "empty.metal"))
    assert empty.returncode == 0 and empty.stdout == "" and "has no kernels" in empty.stderr


def test_repeat_starts_from_the_same_input(metalloid_cli, source_file):
    arguments = ("--arg", "f32[8]=ones", "--arg", "f32[8]=ones", "--arg", "f32:1", "--repeat", "5")
    result = run_saxpy(metalloid_cli, source_file(saxpy), *arguments)
    assert "[2 2 2 2 2 2 2 2]" in result.stdout
    assert "5 times" in result.stderr


def test_function_constants(metalloid_cli, examples):
    arguments = ("run", examples / "function_constants.metal", "--kernel", "epilogue", "--threads", "4", "--group", "4",
                 "--arg", "out=f32[4]=zeros", "--arg", "in=f32[4]=-1,0,1,2", "--constant", "activation=1")  # fmt: skip
    without_bias = metalloid_cli(*arguments, "--constant", "has_bias=false")
    assert without_bias.returncode == 0, without_bias.stderr
    assert "[0 0 1 2]" in without_bias.stdout
    with_bias = metalloid_cli(*arguments, "--constant", "0=true", "--constant", "scale=0.5", "--arg", "bias=f32[4]=ones")
    assert with_bias.returncode == 0, with_bias.stderr
    assert "[0.5   1 1.5   2]" in with_bias.stdout
    assert metalloid_cli(*arguments, "--constant", "has_bias=true").returncode == 3  # the bias is missing


FILL = ("--arg", "f32[8]=ones", "--arg", "f32[8]=ones")


@pytest.mark.parametrize(
    "more, code, message",
    [
        (FILL, 3, "a"),  # buffer 2 is missing
        ((*FILL, "--arg", "f32:1", "--arg", "f32:1"), 3, "no buffer argument '3'"),
        ((*FILL, "--arg", "u32:1"), 3, "its elements are f32"),
        (("--arg", "f32[8]=ones", "--arg", "f32[2]=ones", "--arg", "f32[0]=ones"), 3, "a"),
        ((*FILL, "--arg", "b=f32:1"), 3, "no buffer argument 'b'"),
        ((*FILL, "--arg", "f32:1", "--arg", "0=f32[8]=ones"), 3, "no buffer argument '3'"),
        (("--arg", "nonsense"), 2, "not understood"),
        (("--arg", "missing.npy"), 3, "missing.npy: cannot be read"),
        ((*FILL, "--arg", "f32:1", "--print", "z"), 2, "no argument 'z'"),
        ((*FILL, "--arg", "f32:1", "--device", "abacus"), 3, "abacus"),
        ((*FILL, "--arg", "f32:1", "--timeout", "-1"), 2, "--timeout"),
        ((*FILL, "--arg", "f32:1", "--constant", "q=1"), 3, "q"),
        (("--unknown",), 2, "--unknown"),
    ],
)
def test_wrong_arguments_are_explained(metalloid_cli, source_file, more, code, message):
    result = run_saxpy(metalloid_cli, source_file(saxpy), *more)
    assert result.returncode == code, result.stderr
    assert message in result.stderr
    assert result.stdout == ""


def test_unknown_kernel_names_the_nearest(metalloid_cli, source_file):
    result = metalloid_cli("run", source_file(saxpy), "--kernel", "saxpi", "--threads", "1", "--group", "1")
    assert result.returncode == 3
    assert "saxpi" in result.stderr and "saxpy" in result.stderr


@pytest.mark.parametrize(
    "grid, message",
    [
        (("--threads", "0", "--group", "4"), "0"),
        (("--threads", "8", "--group", "1025"), "1024"),
        (("--threads", "8,8", "--group", "33,32"), "1024"),
        (("--threadgroups", "8", "--group", "0"), "0"),
    ],
)
def test_grids_outside_the_limits(metalloid_cli, source_file, grid, message):
    result = metalloid_cli("run", source_file(saxpy), "--kernel", "saxpy", *grid, *FILL, "--arg", "f32:1")
    assert result.returncode == 3, result.stderr
    assert message in result.stderr


def test_grid_is_required_once(metalloid_cli, source_file):
    file = source_file(saxpy)
    assert metalloid_cli("run", file, "--kernel", "saxpy", "--group", "4").returncode == 2
    both = metalloid_cli("run", file, "--kernel", "saxpy", "--group", "4", "--threads", "1", "--threadgroups", "1")
    assert both.returncode == 2


def test_missing_file_is_a_usage_error(metalloid_cli):
    result = metalloid_cli("compile", "does-not-exist.metal")
    assert result.returncode == 2 and "does-not-exist.metal" in result.stderr


def test_unreadable_npy(metalloid_cli, source_file, tmp_path):
    (tmp_path / "bad.npy").write_text("no array")
    numpy.save(tmp_path / "f64.npy", numpy.ones(8))
    numpy.save(tmp_path / "fortran.npy", numpy.asfortranarray(numpy.ones((2, 4), numpy.float32)))
    numpy.save(tmp_path / "big.npy", numpy.ones(8, ">f4"))
    for name, message in [("bad", "not a .npy"), ("f64", "64-bit"), ("fortran", "Fortran"), ("big", "big-endian")]:
        result = run_saxpy(metalloid_cli, source_file(saxpy), "--arg", tmp_path / f"{name}.npy")
        assert result.returncode == 3 and message in result.stderr


def test_threadgroup_memory_over_the_limit(metalloid_cli, source_file):
    file = source_file(saxpy)
    arguments = ("--kernel", "scale", "--threads", "1", "--group", "1", "--arg", "f16[4]=ones", "--arg", "u8[8]=zeros")
    result = metalloid_cli("run", file, *arguments, "--threadgroup-memory", "0=32769")
    assert result.returncode == 3 and "32" in result.stderr
    static = source_file("kernel void f(device float* x) { threadgroup float t[8193]; t[0] = x[0]; x[1] = t[0]; }", "t.metal")
    result = metalloid_cli("run", static, "--kernel", "f", "--threads", "1", "--group", "1", "--arg", "f32[8]=ones")
    assert result.returncode != 0 and "32" in result.stderr


def test_graphics_functions_and_textures_are_named_as_not_supported(metalloid_cli, source_file):
    file = source_file(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "vertex float4 corner(uint i [[vertex_id]]) { return float4(i); }\n"
        "kernel void fine(device float* x) { x[0] = 1; }\n"
    )
    run = metalloid_cli("run", file, "--kernel", "corner", "--threads", "1", "--group", "1")
    assert run.returncode == 3 and "corner" in run.stderr and "not supported" in run.stderr
    fine = metalloid_cli("run", file, "--kernel", "fine", "--threads", "1", "--group", "1", "--arg", "f32[1]=zeros")
    assert fine.returncode == 0, fine.stderr
    texture = source_file(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void blur(texture2d<float> image [[texture(0)]], device float* x) { x[0] = 1; }\n", "t.metal"
    )  # fmt: skip
    result = metalloid_cli("run", texture, "--kernel", "blur", "--threads", "1", "--group", "1", "--arg", "f32[1]=zeros")
    assert result.returncode in (1, 3) and "texture" in result.stderr and "support" in result.stderr


def test_endless_kernel_is_stopped(metalloid_cli, source_file):
    file = source_file("kernel void spin(device volatile uint* x) { while (x[0] == 0) x[1] += 1; }")
    result = metalloid_cli("run", file, "--kernel", "spin", "--threads", "64", "--group", "32",
                           "--arg", "u32[2]=zeros", "--timeout", "0.5", timeout=1200)  # fmt: skip
    assert result.returncode == 3
    assert "spin" in result.stderr and "0.5" in result.stderr or "500" in result.stderr


def test_crash_names_the_kernel(metalloid_cli, source_file):
    file = source_file("kernel void wild(device uint* x) { x[1ul << 40] = 1; }")
    result = metalloid_cli("run", file, "--kernel", "wild", "--threads", "1", "--group", "1", "--arg", "u32[1]=zeros")
    assert result.returncode == 3 and "wild" in result.stderr


def test_writes_outside_an_array_are_errors(metalloid_cli, source_file):
    file = source_file("kernel void fill(device float* x, device float* y, uint i [[thread_position_in_grid]]) { y[i] = 1; }")
    arguments = ("run", file, "--arg", "f32[5]=zeros", "--arg", "f32[5]=zeros")
    assert metalloid_cli(*arguments, "--threads", "5").stdout.endswith("y: f32[5]\n[1 1 1 1 1]\n")
    for threads in ("6", "1000000"):
        outside = metalloid_cli(*arguments, "--threads", threads)
        assert outside.returncode == 3 and outside.stdout == ""
        assert "kernel 'fill' writes outside of argument 'y' (buffer 1): element" in outside.stderr
        assert "of 5 (bytes" in outside.stderr and "thread (" in outside.stderr


def test_arrays_that_do_not_fit_into_memory(metalloid_cli, source_file):
    file = source_file("kernel void fill(device float* x) { x[0] = 1; }")
    result = metalloid_cli("run", file, "--threads", "1", "--arg", "f32[1000000,1000000]=zeros")
    assert result.returncode == 2 and "larger than half of this machine's memory" in result.stderr
    limited = ["bash", "-c", 'ulimit -v 1500000; exec "$0" "$@"', build / "bin" / "metalloid"]
    arguments = ["run", file, "--threads", "1", "--arg", "f32[400000000]=zeros"]
    result = subprocess.run([*limited, *arguments], capture_output=True, text=True, timeout=1200)
    assert result.returncode == 3 and "not enough memory" in result.stderr


def test_inspect_engine(metalloid_cli, source_file):
    file = source_file((root / "tests/kernels/engines.metal").read_text())
    text = metalloid_cli("inspect", file, "--engine").stdout
    assert "kernel taken\n" in text and "  engine: simd\n" in text
    line = next(n for n, line in enumerate(open(file), 1) if "table[(i * 7)" in line)
    assert f":{line}: 8 bits from anywhere in memory, by one lane after the other\n" in text
    assert "  engine: reference, not simd\n" in text
    kernels = {k["name"]: k for k in json.loads(metalloid_cli("inspect", file, "--engine", "--json").stdout)["kernels"]}
    some = metalloid_cli("inspect", file, "--engine", "--json", "--kernel", "left", "--kernel", "taken").stdout
    assert json.loads(some)["kernels"] == [kernels["left"], kernels["taken"]]
    unknown = metalloid_cli("inspect", file, "--kernel", "leftt")
    assert unknown.returncode == 3 and "no kernel is named 'leftt'; did you mean 'left'" in unknown.stderr
    assert kernels["taken"]["remarks"] == [] and kernels["left"]["engine"] == "reference"
    (remark,) = kernels["left"]["remarks"]
    assert remark["engine"] == "simd" and "threadgroup barriers" in remark["reason"] and remark["line"] > 0
    ran = metalloid_cli("run", file, "--kernel", "left", "--threads", "32", "--arg", "x=u32[32]=zeros")
    assert "left on cpu, engine reference (simd: " in ran.stderr
    ran = metalloid_cli("run", file, "--kernel", "taken", "--threads", "32", "--arg", "x=f32[32]=zeros")
    assert "taken on cpu: " in ran.stderr
