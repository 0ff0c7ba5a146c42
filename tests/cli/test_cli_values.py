"""Numbers, values and names on the command line that are odd, huge or wrong."""

import numpy
import pytest

scale = "kernel void scale(device float* x, constant float& factor, uint i [[thread_position_in_grid]]) { x[i] *= factor; }"
copies = {
    "f32": "float", "f16": "half", "bf16": "bfloat", "i8": "char", "u8": "uchar", "i64": "long", "u64": "ulong",
    "bool": "bool",
}  # fmt: skip


def run_scale(cli, file, *more):
    return cli("run", file, "--threads", "2", "--arg", "x=f32[2]=ones", "--arg", "factor=2", *more)


@pytest.mark.parametrize("option", ["--repeat", "--seed", "--timeout", "--threadgroup-memory"])
@pytest.mark.parametrize("value", ["-1", "1e400", "99999999999999999999", "nan", "inf", " 2", "2 ", "0x2", "2,", "x" * 5000])
def test_numbers_of_options(metalloid_cli, source_file, option, value):
    result = run_scale(metalloid_cli, source_file(scale), f"{option}={value}")
    assert result.returncode == 2 and option in result.stderr, result
    assert len(result.stderr) < 500


@pytest.mark.parametrize("value, is_number", [("soon", False), ("-1", False), ("nan", False), ("5 s", False),
                                              ("inf", True), ("1e400", True), ("0", True), ("", True)])  # fmt: skip
def test_the_timeout_of_the_environment(metalloid_cli, source_file, monkeypatch, value, is_number):
    monkeypatch.setenv("METALLOID_TIMEOUT", value)
    result = run_scale(metalloid_cli, source_file(scale))
    if is_number:
        assert result.returncode == 0, result.stderr
    else:
        assert result.returncode != 0 and f"METALLOID_TIMEOUT is '{value}': it must be a number of seconds" in result.stderr


# Not even a millisecond is no "never".
def test_the_shortest_timeout_is_one(metalloid_cli, source_file, monkeypatch):
    monkeypatch.setenv("METALLOID_TIMEOUT", "1e-9")
    endless = "kernel void f(device volatile int* x) { while (*x == 0) {} }"
    result = metalloid_cli("run", source_file(endless), "--threads", "1", "--arg", "x=i32[1]=zeros", timeout=1200)
    assert result.returncode != 0 and "timeout" in result.stderr


@pytest.mark.parametrize("option", ["--threads", "--threadgroups", "--group"])
@pytest.mark.parametrize("value", ["-1", "1e3", "4294967296", "99999999999999999999", "1,2,3,4", " 5", "5,", ",", "1.5", "5,5x5"])
def test_extents(metalloid_cli, source_file, option, value):
    grid = [] if option != "--group" else ["--threads", "1"]
    result = metalloid_cli("run", source_file(scale), *grid, f"{option}={value}", "--arg", "f32[1]=ones", "--arg", "2")
    assert result.returncode == 2 and option in result.stderr, result


@pytest.mark.parametrize("standard", ["", "metal", "metal2.5", "metal3.9", "metal4.1", "metala.b", "metal3.1x", "c++17"])
def test_language_versions_that_do_not_exist(metalloid_cli, source_file, standard):
    result = metalloid_cli("compile", source_file(scale), f"-std={standard}")
    assert result.returncode == 2 and "-std" in result.stderr


@pytest.mark.parametrize(
    "kind, value, expected",
    [
        ("f32", "1e39", None), ("f32", "-1e400", None), ("f32", "1e-400", 0), ("f32", "-inf", -numpy.inf),
        ("f16", "65519", 65504), ("f16", "65520", None), ("bf16", "3.4e38", None), ("f32", "+-1", None),
        ("f32", "--1", None), ("f32", "1e5x", None), ("f32", "0x10", None), ("f32", "1_000", None),
        ("i64", "-9223372036854775808", -(2**63)), ("i64", "-0x8000000000000000", -(2**63)),
        ("i64", "-9223372036854775809", None), ("i64", "9223372036854775808", None),
        ("u64", "18446744073709551615", 2**64 - 1), ("u64", "18446744073709551616", None), ("u64", "-1", None),
        ("i8", "-128", -128), ("i8", "128", None), ("u8", "256", None), ("u8", "1.0", None), ("u8", "0x", None),
        ("bool", "2", None), ("bool", "true", True),
    ],
)  # fmt: skip
def test_values_are_held_or_refused(metalloid_cli, source_file, tmp_path, kind, value, expected):
    file = source_file(f"kernel void copy(device {copies[kind]}* x) {{ x[1] = x[0]; }}")
    save = tmp_path / "x.npy"
    result = metalloid_cli("run", file, "--threads", "1", "--arg", f"{kind}[2]={value}", "--save", f"x={save}")
    if expected is None:
        assert result.returncode == 2 and kind in result.stderr and not save.exists(), result
    else:
        assert result.returncode == 0, result.stderr
        assert numpy.load(save).tolist() == [expected] * 2


def test_texts_of_any_length(metalloid_cli, source_file):
    file = source_file(scale)
    long = "1," * 50_000
    for arguments in (
        ["--arg", f"x=f32[{long}1]=1"],
        ["--arg", f"x=f32[{long.replace(',', 'x')}1]=1"],
        ["--arg", f"x=f32[2]={long}"],
        ["--arg", "factor=" + "{" * 100_000],
        ["--arg", "factor=" + "{" * 50_000 + "}" * 50_000],
        ["--arg", "x" * 100_000],
        ["--arg", "x" * 100_000 + "=1"],
        ["--kernel", "x" * 100_000],
        ["--constant", "x" * 100_000],
        ["--constant", "x" * 100_000 + "=1"],
        ["--constant", "x=" + "1," * 50_000],
        ["--" + "x" * 100_000],
        ["--device", "x" * 100_000],
        ["--threads", "1x" * 50_000],
        ["--print", "x" * 100_000],
        ["x" * 100_000],
    ):
        base = [] if "--threads" in arguments else ["--threads", "2"]
        result = metalloid_cli("run", file, *base, *arguments)
        assert result.returncode in (2, 3), result
        assert 0 < len(result.stderr) < 10_000
    many = [word for _ in range(3000) for word in ("--arg", "f32[1]=1")]
    result = metalloid_cli("run", file, "--threads", "1", *many)
    assert result.returncode == 3 and "no buffer argument '2'" in result.stderr


constants = """
constant ulong big [[function_constant(0)]];
constant int n [[function_constant(1)]];
constant bool3 flags [[function_constant(2)]];
constant float2 weights [[function_constant(3)]];
constant int derived = n * 2;
kernel void k(device ulong* x) { x[0] = big; x[1] = n; x[2] = flags.z; x[3] = ulong(weights.y); }
kernel void d(device ulong* x) { x[0] = derived; }
kernel void none(device ulong* x) { x[0] = 1; }
"""
given = {"big": "1", "n": "2", "flags": "0,0,1", "weights": "1,4"}


@pytest.mark.parametrize(
    "constant, value, expected",
    [
        ("big", "9223372036854775808", [2**63, 2, 1, 4]),
        ("big", "18446744073709551615", [2**64 - 1, 2, 1, 4]),
        ("big", "0xffffffffffffffff", [2**64 - 1, 2, 1, 4]),
        ("big", "18446744073709551616", None),
        ("big", "1e19", None),
        ("big", "-1", None),
        ("n", "1e3", [1, 1000, 1, 4]),
        ("n", "true", None),
        ("n", "2147483648", None),
        ("n", "0x10", [1, 16, 1, 4]),
        ("n", "9223372036854775808", None),
        ("n", "1.5", None),
        ("n", "nan", None),
        ("n", "", None),
        ("n", "1,2", None),
        ("flags", "false,true,true", [1, 2, 1, 4]),
        ("flags", "true", None),
        ("weights", "1,1e400", None),
        ("weights", "1", None),
        ("weights", "1,2,3", None),
        ("weights", "{1,0x10}", None),
        ("weights", "{1,5}", [1, 2, 1, 5]),
        ("nothing", "1", None),
        ("4294967297", "1", None),
    ],
)
def test_function_constants(metalloid_cli, source_file, tmp_path, constant, value, expected):
    save = tmp_path / "x.npy"
    words = [word for name, text in {**given, constant: value}.items() for word in ("--constant", f"{name}={text}")]
    result = metalloid_cli("run", source_file(constants), "--kernel", "k", "--threads", "1", "--arg", "u64[4]=0", *words,
                           "--save", f"x={save}")  # fmt: skip
    if expected is None:
        assert result.returncode in (2, 3) and constant in result.stderr, result
    else:
        assert result.returncode == 0, result.stderr
        assert numpy.load(save).tolist() == expected


def test_a_constant_is_given_once(metalloid_cli, source_file):
    result = metalloid_cli("run", source_file(constants), "--kernel", "none", "--threads", "1", "--arg", "u64[1]=0",
                           "--constant", "n=1", "--constant", "n=2")  # fmt: skip
    assert result.returncode == 2 and "--constant n=2" in result.stderr


def test_inspect_lists_the_constants_of_each_kernel(metalloid_cli, source_file):
    text = metalloid_cli("inspect", source_file(constants)).stdout
    kernels = {block.split()[1]: block for block in text.split("\n\n")}
    assert "function constants: big, n, flags, weights" in kernels["k"]
    assert "function constants: n\n" in kernels["d"] + "\n"
    assert "function constants" not in kernels["none"]
