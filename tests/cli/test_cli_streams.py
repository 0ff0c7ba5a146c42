"""Standard streams that are full, closed or read by nobody; what the command line prints cannot steer a terminal."""

import json
import os
import signal
import subprocess
import time

import pytest
from conftest import build

metalloid = build / "bin" / "metalloid"
scale = "kernel void scale(device float* x, constant float& factor, uint i [[thread_position_in_grid]]) { x[i] *= factor; }"
commands = [
    ["--help"],
    ["--version"],
    ["devices"],
    ["run", "--help"],
    ["compile", "FILE"],
    ["compile", "FILE", "--emit", "ir"],
    ["inspect", "FILE"],
    ["inspect", "FILE", "--json"],
    ["run", "FILE", "--threads", "2", "--arg", "f32[2]=ones", "--arg", "2"],
    ["tune", "FILE", "--threads", "2", "--groups", "1,2", "--seconds", "0", "--arg", "f32[2]=ones", "--arg", "2"],
    ["tune", "--list", "--json"],
    ["bench", "FILE", "--threads", "2", "--rounds", "1", "--arg", "f32[2]=ones", "--arg", "2"],
]


def command_line(command, source_file):
    file = source_file(scale)
    return [str(metalloid), *(str(file) if word == "FILE" else word for word in command)]


@pytest.mark.parametrize("command", commands, ids=" ".join)
def test_results_that_cannot_be_written_are_errors(source_file, command):
    arguments = command_line(command, source_file)
    with open("/dev/full", "w") as full:
        result = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, timeout=1200)
    assert result.returncode == 3
    assert result.stderr.endswith("metalloid: stdout cannot be written: No space left on device\n")
    closed = ["bash", "-c", 'exec "$0" "$@" >&-', *arguments]
    result = subprocess.run(closed, stderr=subprocess.PIPE, text=True, timeout=1200)
    assert result.returncode == 3 and "stdout cannot be written" in result.stderr


@pytest.mark.parametrize("command", commands, ids=" ".join)
@pytest.mark.parametrize("streams", ["2>&-", "<&- 2>&-", "2>/dev/full", "<&-"])
def test_messages_that_nobody_can_read_are_no_errors(source_file, command, streams):
    words = ["bash", "-c", f'exec "$0" "$@" {streams}', *command_line(command, source_file)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=1200)
    assert result.returncode == 0 and result.stdout != ""


def test_exit_codes_do_not_depend_on_stderr(source_file):
    broken = source_file("kernel void f(device float* x) { x[0] = y; }")
    for arguments, code in [(["compile", broken], 1), (["compile", "none.metal"], 2), (["run", broken, "--nothing"], 2)]:
        for streams in ("2>&-", "2>/dev/full", "2> >(exec true)"):
            words = ["bash", "-c", f'"$0" "$@" {streams}', metalloid, *arguments]
            assert subprocess.run(words, capture_output=True, timeout=1200).returncode == code


def test_nothing_of_the_tool_lands_in_files_it_opens(source_file, tmp_path):
    """With stdout closed the next file that is opened would get its number."""
    save = tmp_path / "x.npy"
    arguments = [*command_line(commands[8], source_file), "--save", f"x={save}", "--print", "x"]
    result = subprocess.run(["bash", "-c", 'exec "$0" "$@" <&- >&- 2>&-', *arguments], timeout=1200)
    assert result.returncode == 3
    assert not save.exists() or save.read_bytes().startswith(b"\x93NUMPY")


def test_a_pipe_that_nobody_reads(source_file):
    arguments = command_line(["compile", "FILE", "--emit", "ir"], source_file)

    def run(**keywords):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            return subprocess.run(arguments, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=1200, **keywords)
        finally:
            os.close(writer)

    assert run().returncode == -signal.SIGPIPE
    ignored = run(preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN), restore_signals=False)
    assert ignored.returncode == 3 and "Broken pipe" in ignored.stderr


def test_names_cannot_steer_the_terminal(metalloid_cli, source_file, tmp_path):
    hostile = "\\033]0;title\\007\\033[31mred\\r\\nkernel other\\xc2\\x9b;31m\\u202e"
    file = source_file(
        "template <typename T> kernel void f(device T* x) { x[0] = 1; }\n"
        f'template [[host_name("{hostile}")]] kernel void f<half>(device half*);\n'
    )
    named = source_file(scale, "a\x1b[31mb\nc.metal")
    outputs = [
        metalloid_cli("compile", file),
        metalloid_cli("inspect", file),
        metalloid_cli("inspect", file, "--json"),
        metalloid_cli("run", file, "--threads", "1"),
        metalloid_cli("run", file, "--threads", "1", "--arg", "f16[1]=zeros"),
        metalloid_cli("run", file, "--threads", "1", "--kernel", "\x1b[31m"),
        metalloid_cli("compile", named),
        metalloid_cli("compile", source_file('#line 7 "\x1b[31mred.metal"\nint x = y;\n', "line.metal")),
        metalloid_cli("compile", source_file("", "empty\x1b[31m.metal")),
        metalloid_cli("compile", tmp_path / "none\x1b[31m.metal"),
        metalloid_cli("run", named, "--threads", "1", "--arg", "\x1b[31m.npy"),
        metalloid_cli("run", named, "--threads", "\x1b[31m"),
        metalloid_cli("run", named, "--\x1b[31m"),
        metalloid_cli("\x1b[31m"),
    ]
    for output in outputs:
        for text in (output.stdout, output.stderr):
            assert not any(c in text for c in "\x1b\x07\r\x9b\u202e"), output
    # A name is one line, and programs get it as it is.
    assert len(outputs[0].stdout.splitlines()) == 1
    assert json.loads(outputs[2].stdout)["kernels"][0]["name"].startswith("\x1b]0;title\x07")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_and_leave_nothing(source_file, tmp_path, number):
    file = source_file("kernel void spin(device volatile uint* x) { while (x[0] == 0) x[1] += 1; }")
    folder = tmp_path / "output"
    folder.mkdir()
    arguments = [metalloid, "run", file, "--threads", "64", "--arg", "u32[2]=zeros", "--save", f"x={folder / 'x.npy'}"]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)  # any moment is a good one; this one is likely inside of the kernel
    process.send_signal(number)
    assert process.wait(timeout=1200) == -number
    assert list(folder.iterdir()) == []
