"""`metalloid check`: what it says of a kernel and its arguments, to people and to programs."""

import json
import os
import pty

import pytest

source = """#include <metal_stdlib>
using namespace metal;
kernel void scale(device float* y, device const float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i < n) y[i] = 2 * x[i];
}
"""
fine = ("--threads", "64", "--group", "32", "--arg", "y=f32[64]=zeros", "--arg", "x=f32[64]=arange", "--arg", "n=64")
wide = (*fine[:-1], "n=u64:64")
apart = ("--threads", "4", "--arg", "x=f32[12]=arange", "--arg", "n=8", "--arg", "y=@x+16")


@pytest.fixture
def check(metalloid_cli, source_file, tmp_path):
    """Runs it in the folder of the source."""

    def run(*arguments, text=source, **keywords):
        file = source_file(text)
        return metalloid_cli("check", file.name, *arguments, cwd=tmp_path, **keywords)

    return run


def test_nothing_wrong(check):
    result = check(*fine)
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == "no findings in 1 dispatch (64 threads in threadgroups of 32)\n"
    assert "no findings in 3 dispatches" in check(*fine, "--repeat", "3").stderr


def test_findings_look_like_compilers_errors(check):
    result = check(*wide)
    assert result.returncode == 4
    assert result.stderr.startswith(
        "kernel.metal:3: warning: argument 'n' at index 2 has the type uint of 4 bytes; 8 bytes are given for it, and the "
        "kernel sees the first 4 of them [argument-width]\n    3 | kernel void scale("
    )
    assert "\n  fix: give a value of 4 bytes, uint32 in the host's language\n  in kernel 'scale'\n" in result.stderr
    assert result.stderr.endswith("\n1 finding: 1 argument-width\n")


def test_memory_that_overlaps(check):
    result = check(*apart)
    assert result.returncode == 4
    assert "arguments 'y' at index 0 and 'x' at index 1 are bound to memory that overlaps" in result.stderr
    assert result.stderr.endswith("\n1 finding: 1 overlapping-arguments\n")


def test_one_of_a_thing(check):
    """One byte, one thread and one threadgroup are told as one."""
    source = "kernel void one(device bool* x, constant bool& b) { x[0] = b; }"
    result = check("--threadgroups", "1", "--group", "1", "--arg", "x=bool[1]=undefined", "--arg", "b=u32:1", text=source)
    assert "argument 'b' at index 1 has the type bool of 1 byte; 4 bytes are given for it" in result.stderr
    behind = source.replace("x[0]", "x[1]")
    result = check("--threads", "1", "--group", "1", "--arg", "x=bool[1]=0", "--arg", "b=true", text=behind)
    assert "element 1 of 1 (1 byte at byte 1 of 1)" in result.stderr
    one = ("--group", "4", "--arg", "x=bool[1]=undefined", "--arg", "b=true")
    result = check("--threadgroups", "1", *one, text=source)
    assert result.stderr.endswith("(1 threadgroup of 4); 1 note\n")
    result = check("--threads", "1", *one, text=source)
    assert result.stderr == "no findings in 1 dispatch (1 thread in threadgroups of 4)\n"


def test_lines_of_metalloids_headers(check):
    """Kernels that a header of Metalloid's defines are shown with their lines, too."""
    source = """#include <c10/metal/indexing.h>
struct add_functor {
  template <typename T> inline T operator()(const T a, const T b) { return a + b; }
};
REGISTER_BINARY_OP(add, float, float);
"""
    arrays = ("output=f32[64]=zeros", "input=f32[65]=ones", "other=f32[65]=ones")
    arguments = [part for array in arrays for part in ("--arg", array)]
    result = check("--kernel", "add_dense_float_float", "--threads", "65", "--group", "65", *arguments, text=source)
    assert result.returncode == 4
    assert result.stderr.startswith("/metalloid/stdlib/metalloid/elementwise_binary_family.h:")
    assert " |   output[index] = METALLOID_COMBINE(input[index], other[index]);\n" in result.stderr


def test_notes_do_not_count(check):
    result = check(*fine[:4], "--arg", "x=f32[64]=arange", "--arg", "y=@x", "--arg", "n=64")
    assert result.returncode == 0
    assert "kernel.metal:3: note: arguments 'y' at index 0 and 'x' at index 1" in result.stderr
    assert result.stderr.endswith("no findings in 1 dispatch (64 threads in threadgroups of 32); 1 note\n")


def test_findings_come_before_the_error_of_the_dispatch(check):
    result = check(*fine[:-1], "n=u16:64")
    assert result.returncode == 4
    finding, error = "[argument-width]", "metalloid: kernel 'scale': argument 'n' at index 2 needs 4 bytes"
    assert 0 <= result.stderr.index(finding) < result.stderr.index(error)
    assert result.stderr.endswith("1 finding: 1 argument-width\n")


def test_errors_without_findings_stay_errors(check):
    result = check("--threads", "64", "--group", "2048", *fine[4:])
    assert result.returncode == 3
    assert "finding" not in result.stderr
    assert check(*fine, text="kernel void f( {}").returncode == 1
    assert check("--threads", "64").returncode == 3


def test_elements_of_another_type_are_findings_here_alone(check, metalloid_cli, tmp_path):
    arguments = [argument.replace("x=f32", "x=i32") for argument in fine]
    result = check(*arguments, "--print", "y")
    assert result.returncode == 4
    assert "'x=i32[64]=arange' has i32 elements, but its elements are f32 [argument-width]" in result.stderr
    assert result.stdout.startswith("y: f32[64]")
    assert metalloid_cli("run", tmp_path / "kernel.metal", *arguments).returncode == 3
    assert "'n=i32:64' has i32 elements, but its elements are u32" in check(*fine[:-1], "n=i32:64").stderr


def test_classes_are_chosen(check):
    assert check(*wide, "--skip", "argument-width").returncode == 0
    assert check(*wide, "--only", "race", "--only", "out-of-bounds,misaligned").returncode == 0
    assert check(*wide, "--only", "race", "--also", "argument-width").returncode == 4
    assert check(*wide, "--skip", "all", "--also", "argument-width").returncode == 0
    for option in ("--only", "--also", "--skip"):
        result = check(*wide, option, "race,argument-with")
        assert result.returncode == 2
        assert f"{option} race,argument-with: no class of findings is named 'argument-with'" in result.stderr
        assert "did you mean 'argument-width'" in result.stderr
        assert check(*wide, option, "").returncode == 2


def test_findings_are_suppressed(check, tmp_path):
    for pattern in ("argument-width", "*:kernel.metal", "all:*.metal:3"):
        assert check(*wide, "--suppress", pattern).returncode == 0, pattern
    result = check(*wide, "--suppress", "argument-width:kernel.metal")
    assert result.stderr == "no findings in 1 dispatch (64 threads in threadgroups of 32); 1 suppressed\n"
    assert check(*wide, "--suppress", "race", "--suppress", "argument-width:kernel.metal:4").returncode == 4
    assert check(*wide, "--suppress", "misspelt").returncode == 2

    file = tmp_path / "suppressions"
    file.write_text("# known\nargument-width:kernel.metal  # soon\n")
    assert check(*wide, "--suppressions", file).returncode == 0
    file.write_text("race\nmisspelt\n")
    result = check(*wide, "--suppressions", file)
    assert result.returncode == 2 and ":2: no class of findings is named 'misspelt'" in result.stderr
    assert check(*wide, "--suppressions", tmp_path / "none").returncode == 2
    assert check(*wide, "--suppressions", tmp_path).returncode == 2


def test_comments_suppress(check):
    above = source.replace("kernel void", "// metalloid: allow argument-width\nkernel void")
    assert check(*wide, text=above).returncode == 0
    assert check(*wide, text=above.replace("argument-width", "race")).returncode == 4
    assert check(*wide, text=source.replace("{\n", "{  // metalloid: allow race, all\n", 1)).returncode == 0


def test_json(check, tmp_path):
    result = check(*wide, "--json", "-")
    assert result.returncode == 4 and "1 finding" in result.stderr
    document = json.loads(result.stdout)
    assert document["version"] == 1
    (finding,) = document["findings"]
    assert (finding["class"], finding["severity"], finding["kernel"]) == ("argument-width", "warning", "scale")
    assert (finding["memory"], finding["index"]) == ("n", 2)
    (step,) = finding["steps"]
    assert (step["place"]["file"], step["place"]["line"]) == ("kernel.metal", 3)
    assert step["place"]["text"].startswith("kernel void scale(")

    assert check(*fine, "--json", "report.json").returncode == 0
    assert json.loads((tmp_path / "report.json").read_text()) == {"version": 1, "findings": []}


def test_sarif(check, tmp_path):
    assert check(*wide, "--sarif", "report.sarif", "--json", "report.json").returncode == 4
    (run,) = json.loads((tmp_path / "report.sarif").read_text())["runs"]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("argument-width", "warning")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "argument-width"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "kernel.metal"
    assert place["region"]["startLine"] == 3
    assert len(json.loads((tmp_path / "report.json").read_text())["findings"]) == 1


def test_reports_have_places_of_their_own(check, tmp_path):
    assert check(*wide, "--json", "-", "--sarif", "-").returncode == 2
    assert check(*wide, "--json", "a", "--sarif", "./a").returncode == 2
    assert check(*wide, "--json", "-", "--print", "y").returncode == 2
    assert check(*wide, "--json", "no/such/folder").returncode == 3
    assert not (tmp_path / "a").exists()


def test_at_most_so_many(check):
    arguments = (*apart[:4], "--arg", "n=u64:8", *apart[6:])
    assert check(*arguments).stderr.endswith("2 findings: 1 argument-width, 1 overlapping-arguments\n")
    result = check(*arguments, "--max-reports", "1")
    assert result.returncode == 4
    assert result.stderr.endswith("1 finding: 1 argument-width; 1 more than --max-reports\n")


def on_terminal(command, cwd, environment):
    """What a command writes to a terminal that is its standard error."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], command, {**os.environ, **environment})
    text = b""
    try:
        while part := os.read(terminal, 65536):
            text += part
    except OSError:  # the other end is closed
        pass
    os.waitpid(pid, 0)
    os.close(terminal)
    return text.decode()


def test_colours(check, tmp_path):
    from conftest import build

    assert "\x1b" not in check(*wide).stderr
    assert "\x1b[1;35mwarning:" in check(*wide, "--color", "always").stderr
    assert check(*wide, "--color", "blue").returncode == 2
    command = [str(build / "bin" / "metalloid"), "check", "kernel.metal", *wide]
    usual = {"TERM": "xterm", "NO_COLOR": ""}
    assert "\x1b[1;35m" in on_terminal(command, tmp_path, usual)
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        text = on_terminal(command, tmp_path, {**usual, **environment})
        assert "1 finding" in text and "\x1b" not in text
    assert "\x1b" not in on_terminal([*command, "--color=never"], tmp_path, usual)


def test_sources_do_not_steer_the_terminal(check):
    hostile = '#line 7 "\x1b]0;x\x07.metal"\n' + source.replace("uint i [[", "/* \x1b[31m\u202e */ uint i [[")
    result = check(*wide, text=hostile)
    assert result.returncode == 4
    assert "\x1b" not in result.stderr and "\u202e" not in result.stderr
    assert "\\x1B" in result.stderr


def test_help_names_the_classes(metalloid_cli):
    text = metalloid_cli("check", "--help").stdout
    for word in ("threadgroup-race", "out-of-bounds", "undefined", "@x+16", "metalloid: allow", "Examples:"):
        assert word in text
    assert "4 'metalloid check' found something" in metalloid_cli("--help").stdout


# SPECs that `metalloid run` takes, too.


def test_arguments_share_memory(metalloid_cli, source_file, tmp_path):
    file = source_file(
        "kernel void k(device int* a, device int* b, device int4* c, uint i [[thread_position_in_grid]]) {\n"
        "  b[0] = 7; c[0].y = 8;\n}\n"
    )

    def run(*specs):
        return metalloid_cli("run", file, "--threads", "1", *[word for spec in specs for word in ("--arg", spec)])

    result = run("a=i32[8]=arange", "b=@a+8", "c=@0+16")
    assert result.returncode == 0
    assert "a: i32[8]\n[0 1 7 3 4 8 6 7]" in result.stdout
    assert "b: i32[6]\n[7 3 4 8 6 7]" in result.stdout
    assert "c: i32[4]\n[4 8 6 7]" in result.stdout
    assert run("i32[8]=arange", "@a", "@a").stdout.count("[7 8 2 3 4 5 6 7]") == 3
    saved = tmp_path / "b.npy"
    command = ("--arg", "c=i32[4]=zeros", "--arg", "b=@c", "--arg", "a=i32[1]=0", "--save", f"b={saved}")
    assert metalloid_cli("run", file, "--threads", "1", *command).returncode == 0
    assert saved.exists()


@pytest.mark.parametrize(
    "spec, message",
    [
        ("b=@x", "no argument 'x' is bound (bound: "),
        ("b=@", "stands behind '@'"),
        ("b=@a+", "'' is no number of bytes"),
        ("b=@a+-1", "'-1' is no number of bytes"),
        ("b=@a+99999999999999999999", "is no number of bytes"),
        ("b=@a+33", "'a' has 32 bytes"),
        ("b=@b", "'b' has no memory of its own"),
        ("b=@n", "'n' has no memory of its own"),
    ],
)
def test_memory_that_is_not_there(metalloid_cli, source_file, spec, message):
    file = source_file("kernel void k(device int* a, device int* b, constant int& n) { b[0] = n; }\n")
    result = metalloid_cli("run", file, "--threads", "1", "--arg", "a=i32[8]=0", "--arg", "n=1", "--arg", spec)
    assert result.returncode == 2
    assert message in result.stderr


def test_shared_memory_is_large_enough(metalloid_cli, source_file):
    file = source_file("kernel void k(device int* a, device int4* b) { b[0] = 1; }\n")
    result = metalloid_cli("run", file, "--threads", "1", "--arg", "a=i32[4]=0", "--arg", "b=@a+4")
    assert result.returncode == 3
    assert "needs 16 bytes" in result.stderr


def test_undefined_memory_is_no_number(metalloid_cli, source_file):
    file = source_file("kernel void k(device float* a, device half* b) { a[0] = 1; }\n")
    arguments = ("--threads", "1", "--arg", "f32[3]=undefined", "--arg", "f16[3]=undefined")
    result = metalloid_cli("run", file, *arguments)
    assert result.returncode == 0
    assert "[  1 nan nan]" in result.stdout and "[nan nan nan]" in result.stdout
    assert metalloid_cli("run", file, *arguments[:2], "--arg", "f32:undefined").returncode == 2


def test_a_race_shows_both_threads(check):
    text = """kernel void reversed(device float* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[i] = x[i];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = t[63 - i];
}
"""
    arguments = ("--threads", "64", "--group", "64", "--arg", "x=f32[64]=arange", "--only", "race")
    result = check(*arguments, "--json", "-", text="#include <metal_stdlib>\nusing namespace metal;\n" + text)
    assert result.returncode == 4
    (finding,) = json.loads(result.stdout)["findings"]
    assert finding["class"] == "threadgroup-race" and finding["memory"] == "t" and finding["count"] > 1
    assert sorted(step["place"]["line"] for step in finding["steps"]) == [5, 7]
    threads = [step["thread"]["position_in_threadgroup"][0] for step in finding["steps"]]
    assert sum(threads) == 63
    assert result.stderr.count("^") == 2
    assert "kernel.metal:7:10: error: " in result.stderr or "kernel.metal:5:8: error: " in result.stderr
    suppressed = text.replace("t[i] = x[i];", "t[i] = x[i];  // metalloid: allow race")
    assert check(*arguments, text="#include <metal_stdlib>\nusing namespace metal;\n" + suppressed).returncode == 0
