"""Files that are none, that are too large, that cannot be read or written: clear words, nothing half done."""

import os
import resource
import signal
import subprocess

import numpy
import pytest
from conftest import build

metalloid = build / "bin" / "metalloid"
scale = "kernel void scale(device float* x, constant float& factor, uint i [[thread_position_in_grid]]) { x[i] *= factor; }"


def run_scale(cli, file, *more, x="f32[2]=ones"):
    return cli("run", file, "--threads", "2", "--arg", f"x={x}", "--arg", "factor=2", *more)


@pytest.mark.parametrize("command", ["compile", "inspect", "run", "tune"])
def test_what_is_no_source_file(metalloid_cli, tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 1 << 40)
    cases = {
        tmp_path: "it is a folder, not a file",
        tmp_path / "pipe": "it is a pipe, not a file",
        tmp_path / "none": "No such file or directory",
        tmp_path / "huge": "more than the 256 of the largest source",
        tmp_path / "huge" / "below": "Not a directory",
        "/dev/zero": "it is a device, not a file",
        "x" * 300: "File name too long",
        "": "name is empty",
    }
    for file, reason in cases.items():
        result = metalloid_cli(command, file, "--threads" if command in ("run", "tune") else "--std=metal3.1",
                               *(["1"] if command in ("run", "tune") else []))  # fmt: skip
        assert result.returncode == 2 and result.stdout == "", result
        assert "FILE is missing" in result.stderr if command == "tune" and file == "" else reason in result.stderr


def test_files_that_are_no_plain_text(metalloid_cli, tmp_path):
    source = "kernel void f(device float* x) {\n  x[0] = 1;\n}\n"
    for name, data in {"bom": b"\xef\xbb\xbf" + source.encode(), "crlf": source.replace("\n", "\r\n").encode()}.items():
        (tmp_path / name).write_bytes(data)
        result = metalloid_cli("compile", tmp_path / name)
        assert (result.returncode, result.stdout, result.stderr) == (0, "f\n", "")
    for encoding in ("utf-16", "utf-16-be", "utf-32"):
        (tmp_path / "wide").write_bytes(source.encode(encoding))
        result = metalloid_cli("compile", tmp_path / "wide")
        assert result.returncode == 2 and "UTF-16 or UTF-32 text; a source is UTF-8" in result.stderr
    (tmp_path / "library").write_bytes(b"MTLB\x01\x80\x02\x00")
    result = metalloid_cli("compile", tmp_path / "library")
    assert result.returncode == 2 and "it is a compiled library" in result.stderr


def test_source_from_a_pipe(source_file):
    result = subprocess.run([metalloid, "compile", "/dev/stdin"], input=scale, capture_output=True, text=True, timeout=1200)
    assert (result.returncode, result.stdout) == (0, "scale\n")


def test_files_without_kernels(metalloid_cli, source_file):
    for text in ("", "template <typename T> kernel void f(device T* x) { x[0] = 1; }\n"):
        file = source_file(text)
        result = metalloid_cli("run", file, "--threads", "1")
        assert result.returncode == 2 and "the file has no kernels" in result.stderr
        assert "named ''" not in result.stderr
        assert "no kernels" in metalloid_cli("inspect", file).stderr
    result = metalloid_cli("run", source_file("vertex float4 v() { return 0; }\n"), "--threads", "1")
    assert result.returncode == 2 and "'v' is not supported" in result.stderr


def test_include_folders_that_are_none(metalloid_cli, source_file):
    file = source_file(scale)
    for folder in ("/nonexistent/folder", str(file), ""):
        result = metalloid_cli("compile", file, "-I", folder)
        assert result.returncode == 0 and f"-I '{folder}' is no folder" in result.stderr


@pytest.mark.parametrize("definition", ["", "=3", "1N", "a b=3", "N=3\n#error x", "N\n", "f(x=2", "-DN"])
def test_macros_that_are_none(metalloid_cli, source_file, definition):
    result = metalloid_cli("compile", source_file(scale), "-D", definition)
    assert result.returncode == 2 and "-D" in result.stderr


def test_arrays_from_what_is_no_array(metalloid_cli, source_file, tmp_path):
    file = source_file(scale)
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "empty.npy").touch()
    numpy.save(tmp_path / "objects.npy", numpy.array([{}, []], dtype=object), allow_pickle=True)
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (100000000000,), }".ljust(117) + "\n"
    sparse = tmp_path / "sparse.npy"
    sparse.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    os.truncate(sparse, 128 + 400_000_000_000)
    os.symlink("loop.npy", tmp_path / "loop.npy")
    cases = {
        "pipe": "it is a pipe", "folder": "it is a folder", "empty": "is not a .npy file", "objects": "Python objects",
        "sparse": "larger than half of this machine's memory", "loop": "Too many levels", "none": "No such file",
    }  # fmt: skip
    for name, reason in cases.items():
        result = run_scale(metalloid_cli, file, x=tmp_path / f"{name}.npy")
        assert result.returncode == 3 and reason in result.stderr and f"{name}.npy" in result.stderr


def test_an_array_without_elements_is_printed_at_once(metalloid_cli, source_file):
    file = source_file("kernel void f(device float* x, device float* y) { y[0] = 1; }")
    result = metalloid_cli("run", file, "--threads", "1", "--arg", "f32[1000000000,0]=zeros", "--arg", "f32[1]=zeros")
    if result.returncode == 0:
        assert "x: f32[1000000000,0]\n[]\n" in result.stdout
    else:
        assert "'x'" in result.stderr  # an argument without memory may be refused


def test_outputs_that_cannot_be_written(metalloid_cli, source_file, tmp_path):
    file = source_file(scale)
    folder = tmp_path / "folder"
    folder.mkdir()
    for target, reason in [(folder, "Is a directory"), (folder / "none" / "x.npy", "No such file"), (file / "x.npy", "Not a directory"),
                           ("/dev/full", "No space left"), (folder / ("x" * 300), "File name too long")]:  # fmt: skip
        saved = run_scale(metalloid_cli, file, "--save", f"x={target}")
        emitted = metalloid_cli("compile", file, "--emit", "ir", "-o", target)
        for result in (saved, emitted):
            assert result.returncode == 3 and result.stdout == "", result
            assert f"cannot be written: {reason}" in result.stderr
    assert list(folder.iterdir()) == []


def test_save_names_a_file_of_its_own(metalloid_cli, source_file, tmp_path):
    file = source_file(scale)
    target = tmp_path / "x.npy"
    twice = run_scale(metalloid_cli, file, "--save", f"x={target}", "--save", f"factor={tmp_path}/./x.npy")
    assert twice.returncode == 2 and "'x' is saved to this file" in twice.stderr
    assert not target.exists()
    for text in ("x", "x=", "=x.npy"):
        assert run_scale(metalloid_cli, file, "--save", text).returncode == 2


def test_results_replace_files_only_when_they_are_complete(metalloid_cli, source_file, tmp_path):
    file = source_file(scale)
    target, link = tmp_path / "x.npy", tmp_path / "link.npy"
    target.write_text("old")
    link.symlink_to(target)

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    result = run_scale(lambda *a: metalloid_cli(*a, preexec_fn=limited), file, "--save", f"x={target}")
    assert result.returncode == 3 and "File too large" in result.stderr
    assert target.read_text() == "old"
    assert run_scale(metalloid_cli, file, "--save", f"x={link}").returncode == 0
    assert link.is_symlink()
    numpy.testing.assert_array_equal(numpy.load(target), [2, 2])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernel.metal", "link.npy", "x.npy"]


def test_outputs_that_are_no_files(metalloid_cli, source_file, tmp_path):
    file = source_file(scale)
    assert run_scale(metalloid_cli, file, "--save", "x=/dev/null").returncode == 0
    result = subprocess.run([metalloid, "run", file, "--threads", "2", "--arg", "f32[2]=ones", "--arg", "2", "--save",
                             "x=/dev/stdout"], capture_output=True, timeout=1200)  # fmt: skip
    assert result.returncode == 0 and result.stdout.startswith(b"\x93NUMPY")


@pytest.mark.parametrize("kind", ["file", "read-only", "full", "unset", "missing"])
def test_places_for_caches_that_are_none(metalloid_cli, source_file, tmp_path, kind):
    file = source_file(scale)
    place = tmp_path / "cache"
    if kind == "file":
        place.write_text("no folder")
    elif kind == "read-only":
        place.mkdir(mode=0o500)
    environment = {name: value for name, value in os.environ.items() if name not in ("METALLOID_CACHE_DIR", "HOME")}
    if kind == "unset":
        environment.pop("XDG_CACHE_HOME", None)
    elif kind == "missing":
        environment["HOME"] = str(file / "home")
    else:
        environment["METALLOID_CACHE_DIR"] = str({"full": "/dev/full"}.get(kind, place))
    result = run_scale(lambda *a: metalloid_cli(*a, env=environment, cwd=tmp_path), file)
    assert result.returncode == 0 and "[2 2]" in result.stdout, result.stderr


def test_a_cache_that_is_full(metalloid_cli, source_file, tmp_path):
    """Entries that do not fit are left out, whole."""
    place = tmp_path / "cache"

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    environment = {**os.environ, "METALLOID_CACHE_DIR": str(place)}
    file = source_file(scale)
    for keywords in ({"preexec_fn": limited}, {}):
        result = run_scale(lambda *a, k=keywords: metalloid_cli(*a, env=environment, **k), file)
        assert result.returncode == 0 and "[2 2]" in result.stdout, result.stderr
    assert not list(place.rglob("*.tmp"))
