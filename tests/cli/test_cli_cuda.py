"""Device cuda as far as a machine without a GPU can see it: tests/cuda/stand_in.cpp stands in for NVIDIA's driver."""

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
    text = with_driver("compile", file, "--kernel", "twice", "--emit", "asm", "--device", "cuda", CAPABILITY="80", VERSION="12020").stdout
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
        ({"FAIL": "cuLaunchKernel:700"}, "the launch of kernel 'twice' on the GPU failed"),
        ({"FAIL": "cuEventQuery:700"}, "the GPU failed: CUDA_ERROR: as the stand-in was told; this process cannot use it any more"),
    ],
)
def test_what_fails_is_said(with_driver, source_file, variables, message):
    result = with_driver("run", source_file(kernel), *launch, **variables)
    assert result.returncode == 3
    assert message in result.stderr


def test_what_cannot_be_optimised_runs(with_driver, source_file):
    assert with_driver("run", source_file(kernel), *launch, MOST_OPTIMISATION="0").returncode == 0


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
        return modules.read_text().split()

    assert loaded() == ["link", "cubin"]
    assert loaded() == ["cubin"]
    # Another driver's is not asked for, and one that the driver does not take is made anew.
    assert loaded(VERSION="12080") == ["link", "cubin"]
    assert loaded(CUBINS="other") == ["link", "cubin"]
    assert loaded() == ["cubin"]
    assert loaded(FAIL="cuLinkComplete:1", VERSION="12040") == ["PTX"]
    assert loaded(FAIL="", VERSION="12040", MOST_OPTIMISATION="0") == ["link", "cubin"]
    for entry in (own_cache / "assembled").iterdir():
        entry.write_bytes(b"damaged")
    assert loaded() == ["link", "cubin"]
    monkeypatch.setenv("METALLOID_CACHE", "0")
    assert loaded(MOST_OPTIMISATION="4") == ["PTX"]
