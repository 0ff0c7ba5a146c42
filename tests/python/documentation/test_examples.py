"""The programs in examples/python: each runs and finds its kernels right, and finds them wrong when they are broken."""

import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch_processes
from conftest import root

examples = root / "examples"
programs = sorted(path.stem for path in (examples / "python").glob("*.py") if path.stem != "common")

# How a program is started, where it is not by Python alone, options that make it faster, and what it imports.
mps, mlx = ["-m", "metalloid.mps"], ["-m", "metalloid.mlx"]
runners = {"softmax_mps": mps, "model_mps": mps, "rope_mlx": mlx}
options = {"elementwise_tuned": ["--seconds", "0.02"]}
needs = {"softmax_mps": "torch", "model_mps": "torch", "layer_norm": "torch", "rope_mlx": "mlx.core"}


def run(name, *arguments, folder=examples):
    pytest.importorskip(needs.get(name, "numpy"))
    program = [str(folder / "python" / f"{name}.py"), *options.get(name, [])]
    command = [*runners.get(name, []), *program, *arguments]
    if needs.get(name) == "torch":
        return torch_processes.run(command)
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=1200)


def rows_of(output):
    """The table's rows, each with its verdict: a case, a shape, an error, a tolerance, and ok or what is wrong."""
    number = r"\d\.\de[+-]\d\d"
    return re.findall(rf"^(\S.* +\S.* +(?:{number}|inf) +{number}  (ok|WRONG.*))$", output, re.MULTILINE)


def wrong_rows(output):
    return [line for line, verdict in rows_of(output) if verdict != "ok"]


def right_rows(output):
    return [line for line, verdict in rows_of(output) if verdict == "ok"]


@pytest.mark.parametrize("name", programs)
def test_program(name):
    result = run(name)
    assert result.returncode == 0, result.stdout + result.stderr
    count = len(right_rows(result.stdout))
    assert count >= 10 and not wrong_rows(result.stdout)
    assert f"{count} of {count} right" in result.stdout
    assert result.stderr == ""


# Program, file, what it says, what it says when broken, and cases that are wrong and right then.
broken = {
    "saxpy without y": ("first_kernel", "kernels/saxpy.metal", "fma(a, x[i], y[i])", "a * x[i]", "saxpy", "fill"),
    "silu that overflows": (
        "elementwise_tuned", "kernels/activations.metal", "exp(-abs(x))", "exp(abs(x))", "bfloat, threadgroups",
        "every size",
    ),
    "rms_norm of one simdgroup": (
        "rms_norm", "kernels/rms_norm.metal", "lane < simdgroups ? partial_sums[lane] : 0.0f",
        "lane == 0 ? partial_sums[0] : 0.0f", "threadgroups of 1024", "threadgroups of 32 ",
    ),
    "softmax of two simdgroups": (
        "softmax_mps", "kernels/softmax.metal", "i = 1; i < simdgroups", "i = 1; i < min(simdgroups, 2u)",
        "threadgroups of 1000", "one simdgroup",
    ),
    "a model with another epsilon": (
        "model_mps", "python/model_mps.py", "else original.eps", "else 1e-3", "output", "loss goes down",
    ),
    "attention that is never causal": (
        "attention", "kernels/attention.metal", "causal ? place + 1 : int(key_length)", "int(key_length)",
        "causal, several blocks", "all keys, several blocks",
    ),
    "attention without its online part": (
        "attention", "kernels/attention.metal", "elements[i] * rescale", "elements[i]", "all keys, several blocks",
        "all keys  ",
    ),
    "attention with the wrong key head": (
        "attention", "kernels/attention.metal", "head / (query_heads / key_heads)", "head % key_heads",
        "grouped-query", "multi-query",
    ),
    "rope with the wrong derivative": (
        "rope_mlx", "python/rope_mlx.py", "backwards ? -metal", "backwards ? metal", "gradient", "interleaved  ",
    ),
    "weights of the wrong bits": (
        "dequant_matvec", "python/dequant_matvec.py", "packed >>= 4;", "packed >>= 3;", "groups of 64", "the format",
    ),
    "a lane's second column": (
        "simdgroup_matrices", "kernels/simdgroup_fragments.metal", "bias[column + first + 1]", "bias[column + first]",
        "linear_relu", "simdgroup_matmul",
    ),
    "a load that does not transpose": (
        "simdgroup_matrices", "kernels/simdgroup_fragments.metal",
        "ulong2(8 * block.x, 8 * block.y), true);\n  simdgroup_store(matrix, out, rows",
        "ulong2(8 * block.x, 8 * block.y), false);\n  simdgroup_store(matrix, out, rows",
        "transpose_on_load", "transpose_on_store",
    ),
    "an edge of the product": (
        "simdgroup_matrices", "kernels/simdgroup_matmul.metal", "= c_tile[i];", "= c_tile[0];", "33 x 17 x 65",
        "32 x 16 x 32",
    ),
    "an operator without its scale": (
        "pytorch_operators", "kernels/pytorch_operators.metal", "c10::metal::mul(alpha, b)", "b", "add_scaled",
        "logaddexp",
    ),
    "a sort that is not stable": (
        "sort_pipeline", "kernels/radix_sort.metal", "place += simdgroup_counts[s][digit];",
        "place += simdgroup_counts[simdgroup - 1 - s][digit] * 0;", "scatter alone", "histogram alone",
    ),
}  # fmt: skip


def break_copy(folder, file, right, wrong):
    copy = folder / "examples"
    shutil.copytree(examples, copy, ignore=shutil.ignore_patterns("__pycache__"))
    path = copy / file
    text = path.read_text()
    assert text.count(right) == 1, f"{file} has no longer one {right!r}"
    path.write_text(text.replace(right, wrong))
    return copy


@pytest.mark.parametrize("what", broken)
def test_broken_kernel_is_found(what, tmp_path):
    name, file, right, wrong, wrong_case, right_case = broken[what]
    result = run(name, folder=break_copy(tmp_path, file, right, wrong))
    assert result.returncode == 1, result.stdout + result.stderr
    assert any(wrong_case in row for row in wrong_rows(result.stdout)), result.stdout
    assert any(right_case in row for row in right_rows(result.stdout)), result.stdout


def test_silu_without_its_guard_writes_nothing_outside(tmp_path):
    copy = break_copy(tmp_path, "kernels/activations.metal", "if (i >= length)", "if (i >= length + 8)")
    result = run("elementwise_tuned", folder=copy)
    assert result.returncode == 1
    assert "kernel 'silu_float'" in result.stderr and "outside of argument" in result.stderr
    assert not wrong_rows(result.stdout)


def test_broken_layer_norm_is_found_by_verification(tmp_path):
    copy = break_copy(tmp_path, "kernels/layer_norm.h", "- rounded_mean - correction)", "- rounded_mean)")
    result = run("layer_norm", folder=copy)
    assert result.returncode == 1
    assert "VerificationError" in result.stderr and not wrong_rows(result.stdout)
    assert any("bfloat16" in row for row in right_rows(result.stdout))


@pytest.mark.parametrize("stage", ["histogram", "prefix_sum", "scatter"])
def test_pipeline_names_the_wrong_stage(stage):
    result = run("sort_pipeline", "--bug", stage)
    assert result.returncode == 1
    wrong = wrong_rows(result.stdout)
    assert len(wrong) == 2 and "whole sort" in wrong[0] and f"{stage} alone" in wrong[1]
    assert len(right_rows(result.stdout)) == 2
    assert "first difference at (" in result.stdout


@pytest.fixture
def common():
    spec = importlib.util.spec_from_file_location("common", examples / "python" / "common.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_report_sees_what_is_wrong(common, capsys):
    report = common.Report("title")
    result = common.empty_result((2, 3))
    assert not report.check("never written", (2, 3), result, np.zeros((2, 3)), 1)
    result[:] = 1
    assert report.check("within", (2, 3), result, np.full((2, 3), 1.0625), 0.0625)
    assert not report.check("too far", (2, 3), result, np.full((2, 3), 1.25), 0.0625)
    assert report.check("relative", (1,), np.array([1000.0]), np.array([1001.0]), 1e-3)
    result.base[64 + 6] = 5  # right behind the last element
    assert not report.check("outside", (2, 3), result, result.copy(), 0)
    assert report.finish() == 1
    assert "2 of 5 right" in capsys.readouterr().out
    with pytest.raises(ValueError, match="shape"):
        common.largest_error(np.zeros(3), np.zeros((3, 1)))
    assert common.largest_error([np.nan, 1], [1, 1]) == np.inf
    assert common.largest_error([np.inf, 1], [np.inf, 1]) == 0
    assert common.largest_error([], []) == 0


def test_bfloat(common):
    torch = pytest.importorskip("torch")
    values = np.array([0, 1, -1.00390625, 3.1415927, 1e-30, 65535, 1.001953125, -1.005859375], np.float32)
    bits = common.to_bfloat(values)
    expected = torch.from_numpy(values).bfloat16()
    assert np.array_equal(bits, expected.view(torch.int16).numpy().view(np.uint16))
    assert np.array_equal(common.from_bfloat(bits), expected.float().numpy())


def commands_in_comments():
    for path in sorted((examples / "kernels").glob("*.metal")):
        comment = "\n".join(line for line in path.read_text().splitlines() if line.startswith("//"))
        for text in re.findall(r"^//   metalloid (.+(?:\n//       .+)*)", comment, re.MULTILINE):
            yield pytest.param(text.replace("\n//", ""), id=path.stem)


@pytest.mark.parametrize("command", [*commands_in_comments()])
def test_command_in_comment(command, metalloid_cli):
    """What the head of a kernel file says how to run it."""
    result = metalloid_cli(*shlex.split(command), cwd=examples.parent)
    assert result.returncode == 0 and result.stdout, result.stderr


def test_tuned_program_remembers(tmp_path, monkeypatch):
    monkeypatch.setenv("METALLOID_CACHE_DIR", str(tmp_path))
    first, second = run("elementwise_tuned", "--show"), run("elementwise_tuned", "--show")
    assert first.returncode == second.returncode == 0
    assert first.stdout.count("threads per threadgroup") == 5
    tables = [result.stdout.partition("right")[2].replace("from the cache", "") for result in (first, second)]
    assert len(tables[0].splitlines()) > 20
    # Times measured twice would differ somewhere.
    numbers = [re.findall(r"\d+\.\d+ [mu]s", table) for table in tables]
    assert numbers[0] == numbers[1] and len(numbers[0]) > 15


def test_commands_in_readme(metalloid_cli, tmp_path):
    (block,) = re.findall(r"^```sh\n(.*?)^```", (examples / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    (tmp_path / "kernels").symlink_to(examples / "kernels")
    for command in block.replace("\\\n", " ").splitlines():
        program, *arguments = shlex.split(command)
        assert program == "metalloid"
        result = metalloid_cli(*arguments, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
    keys = np.load(tmp_path / "keys.npy")
    order = np.argsort(keys & 15, kind="stable")
    assert np.array_equal(np.load(tmp_path / "sorted_keys.npy"), keys[order])
    assert np.array_equal(np.load(tmp_path / "sorted_values.npy"), order)


def test_readme_names_everything():
    text = (examples / "README.md").read_text()
    files = [*(examples / "kernels").iterdir(), *(examples / "python").glob("*.py")]
    assert [path.name for path in files if path.name not in text] == []
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (examples / link).exists(), link


def run_demo(*arguments):
    build = pathlib.Path(os.environ.get("METALLOID_BUILD", examples.parent / "build"))
    command = [str(build / "bin" / "metalloid_demo"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200)


def test_demo():
    result = run_demo()
    count = re.search(r"^(\d+) of (\d+) kernels within tolerance\.$", result.stdout, re.MULTILINE)
    assert result.returncode == 0 and count and count[1] == count[2], result.stdout + result.stderr


def test_demo_finds_a_broken_kernel(tmp_path):
    copy = break_copy(tmp_path, "kernels/radix_sort.metal", "carried += totals[s];", "")
    result = run_demo(str(copy / "kernels"))
    assert result.returncode == 1
    before, _, _ = result.stdout.partition("  ^ over its tolerance")
    assert before.splitlines()[-1].startswith("prefix_sum")
    assert result.stdout.count("over its tolerance") == 1
