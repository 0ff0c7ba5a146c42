"""Device cuda as far as a machine without a GPU can see it: tests/cuda/stand_in.cpp stands in for NVIDIA's driver."""

import json

import pytest
from conftest import build

kernel = "kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }\n"
launch = ("--kernel", "twice", "--threads", "4", "--arg", "x=f32[4]=ones", "--device", "cuda")


@pytest.fixture
def with_driver(metalloid_cli, source_file, monkeypatch):
    monkeypatch.setenv("METALLOID_CACHE", "0")
    monkeypatch.setenv("METALLOID_CUDA_DRIVER", str(build / "lib" / "libmetalloid_cuda_stand_in.so"))

    def run(*arguments, **variables):
        for name, value in variables.items():
            monkeypatch.setenv(f"STAND_IN_{name}", value)
        return metalloid_cli(*arguments)

    return run


def test_gpus_are_listed(with_driver):
    result = with_driver("devices", DEVICES="2")
    assert result.returncode == 0
    assert "cuda        a warp for each simdgroup, on Stand-in" in result.stdout
    assert "cuda" not in with_driver("devices", DEVICES="0").stdout


def test_code_is_ptx_of_the_device(with_driver, source_file):
    file = source_file(kernel)
    text = with_driver("compile", file, "--kernel", "twice", "--emit", "asm", "--device", "cuda").stdout
    assert ".target sm_90" in text and ".version 9.0" in text and ".entry metalloid_kernel" in text
    text = with_driver(
        "compile", file, "--kernel", "twice", "--emit", "asm", "--device", "cuda", CAPABILITY="80", VERSION="12020"
    ).stdout
    assert ".target sm_80" in text and ".version 8.2" in text


@pytest.mark.parametrize(
    "variables, message",
    [
        ({"VERSION": "11040"}, "NVIDIA's driver is of CUDA 11.4; 12.0 at least is needed"),
        ({"CAPABILITY": "75"}, "no GPU here has compute capability 8.0 or more"),
        ({"FAIL": "cuInit:999"}, "NVIDIA's driver says CUDA_ERROR: as the stand-in was told"),
        ({"FAIL": "cuDevicePrimaryCtxRetain:999"}, "a context on the GPU failed: CUDA_ERROR"),
        ({"FAIL": "cuMemAlloc_v2:2"}, "memory"),
        ({"FAIL": "cuModuleLoadDataEx:218"}, "NVIDIA's driver does not take the code of kernel 'twice'"),
        ({"FAIL": "cuLaunchKernel:1"}, "the launch of kernel 'twice' on the GPU failed"),
        (
            {"FAIL": "cuMemcpyDtoH_v2:700"},
            "a copy on the GPU failed: CUDA_ERROR: as the stand-in was told; this process cannot use it any more",
        ),
        (
            {"FAIL": "cuStreamWriteValue32_v2:801,cuEventQuery:700"},
            "the GPU failed: CUDA_ERROR: as the stand-in was told; this process cannot use it any more",
        ),
    ],
)
def test_what_fails_is_said(with_driver, source_file, variables, message):
    result = with_driver("run", source_file(kernel), *launch, **variables)
    assert result.returncode == 3
    assert message in result.stderr


def test_what_cannot_be_optimised_runs(with_driver, source_file):
    assert with_driver("run", source_file(kernel), *launch, MOST_OPTIMISATION="0").returncode == 0


def test_ends_are_events_where_the_driver_writes_no_words(with_driver, source_file):
    assert with_driver("run", source_file(kernel), *launch, FAIL="cuStreamWriteValue32_v2:801").returncode == 0


def test_a_kernel_that_cannot_be_stopped_is_left(with_driver, source_file):
    result = with_driver("run", source_file(kernel), *launch, "--timeout", "0.1", ENDLESS="1")
    assert result.returncode == 3
    assert "kernel 'twice' was told to end at its timeout of 0.1 s and did not within 10 s" in result.stderr
    assert "this process cannot use the GPU 'Stand-in' any more" in result.stderr


def test_without_a_driver_there_is_no_device(metalloid_cli, source_file, monkeypatch):
    monkeypatch.setenv("METALLOID_CUDA_DRIVER", "/nowhere/libcuda.so.1")
    result = metalloid_cli("run", source_file(kernel), *launch)
    assert result.returncode == 3
    assert "no device is named 'cuda'; there are: cpu, reference" in result.stderr
    assert result.stderr.strip().endswith("simd")


def test_machine_code_is_kept(with_driver, source_file, monkeypatch, own_cache, tmp_path):
    monkeypatch.setenv("METALLOID_CACHE", "1")
    modules = tmp_path / "modules"
    file = source_file(kernel)

    def loaded(**variables):
        modules.write_text("")
        result = with_driver("run", file, *launch, MODULES=str(modules), **variables)
        assert result.returncode == 0, result.stderr
        return sorted(modules.read_text().split())

    # While a kernel is compiled the driver's assembler is made ready, with a module that nobody loads.
    assert loaded() == ["cubin", "link", "link"]
    assert loaded() == ["cubin"]
    # Another driver's is not asked for, and one that the driver does not take is made anew.
    assert loaded(VERSION="12080") == ["cubin", "link", "link"]
    assert loaded(CUBINS="other") == ["cubin", "link"]
    assert loaded() == ["cubin"]
    assert loaded(FAIL="cuLinkComplete:1", VERSION="12040") == ["PTX"]
    assert loaded(FAIL="", VERSION="12040", MOST_OPTIMISATION="0") == ["cubin", "link"]
    for entry in (own_cache / "assembled").iterdir():
        entry.write_bytes(b"damaged")
    assert loaded() == ["cubin", "link"]
    monkeypatch.setenv("METALLOID_CACHE", "0")
    assert loaded(MOST_OPTIMISATION="4") == ["PTX", "link"]


def test_machine_code_and_what_it_takes(with_driver, source_file, tmp_path):
    file = source_file(kernel)
    text = with_driver("compile", file, "--emit", "asm", "--device", "cuda").stdout
    assert with_driver("compile", file, "--emit", "ptx", "--device", "cuda").stdout == text
    result = with_driver("compile", file, "-o", tmp_path / "twice.cubin", "--device", "cuda")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "twice.cubin").read_text().rstrip("\0") == "cubin of the stand-in\n" + text
    text = with_driver("inspect", file, "--engine", "--device", "cuda").stdout
    assert "registers: 40 a thread" in text and "spilled: 30 bytes a thread" in text
    assert "occupancy: 4 blocks of 256 threads on a multiprocessor, 50 % of its 2048 threads" in text
    result = with_driver("compile", file, "--emit", "cubin")
    assert result.returncode == 2 and "--emit cubin is for devices 'cuda', not 'cpu'" in result.stderr
    result = with_driver("compile", file, "--emit", "cubin", "--device", "cuda", FAIL="cuLinkAddData_v2:218")
    assert (
        result.returncode == 3 and "the driver of device 'cuda' makes no machine code of this kernel" in result.stderr
    )
    result = with_driver("compile", file, "--emit", "cubin", "--device", "cuda", DEVICES="0")
    assert result.returncode != 0 and "cuda" in result.stderr


def test_measurements_are_of_the_gpus_memory_and_clock(with_driver, source_file, monkeypatch, tmp_path):
    log = tmp_path / "launches"
    monkeypatch.setenv("STAND_IN_LOG", str(log))
    file = source_file(kernel)
    arguments = ("--kernel", "twice", "--threads", "1024", "--arg", "x=f32[1024]=ones", "--device", "cuda")
    report = json.loads(with_driver("bench", file, *arguments, "--rounds", "3", "--json").stdout)
    (run,) = report["runs"]
    # The stand-in's kernels take 2 ms, its memory moves 8 bytes at both edges of 0.5 GHz, ten processors run at 1 GHz.
    assert run["fastest"] * run["calls_per_sample"] == pytest.approx(2e-3)
    assert run["bandwidth"]["copy_bytes_per_second"] == 8e9 and run["peak_flops_per_second"] == 2560e9
    assert "machine" not in report
    addresses = {line.split()[4][144:160] for line in log.read_text().splitlines()}
    assert len(addresses) == 1  # nothing was copied
    assert (
        "10 multiprocessors, 2560 GFLOP/s and 8 GB/s by their clocks" in with_driver("bench", "--device", "cuda").stdout
    )
    result = with_driver("tune", file, *arguments)
    assert result.returncode == 0 and "2.00 ms" in result.stdout, result.stdout + result.stderr
