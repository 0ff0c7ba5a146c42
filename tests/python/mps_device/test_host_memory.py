"""IMPSAllocator, MPSEvent and copies as C++ operators and PyTorch's own host files use them."""

from __future__ import annotations

import gc
import pathlib

import opinfo_first  # noqa: F401
import pytest
import torch
import torch_processes

from metalloid import _cpp_files
from metalloid.mps import _plugin
from metalloid.mps._plugin.compile import Unit, build

SOURCE = pathlib.Path(__file__).parent / "host_library" / "memory.cpp"


@pytest.fixture(scope="module")
def host():
    _plugin.device()
    unit = Unit(SOURCE, (_cpp_files.torch_mps_folder() / "host", _cpp_files.sdk_include_folder()))
    _plugin.load_library("libmetalloid_memory_test.so", build("libmetalloid_memory_test.so", [unit]))
    return torch.ops.metalloid_host_memory


def test_the_allocator_knows_its_memory(host):
    tensor = torch.arange(6.0, device="mps")
    assert host.known(tensor) == (24, True, True)
    assert host.known(tensor[2:]) == (24, True, True)
    assert host.known(torch.empty(0, device="mps")) == (-1, False, False)
    assert host.known(torch.arange(6.0)) == (-1, False, False)
    assert host.have_one_id(tensor, tensor[1:]) and not host.have_one_id(tensor, tensor.clone())
    assert host.shape_that_was_set(tensor.view(2, 3)) == [2, 3]
    assert host.scalar(2.5) == 2.5
    assert host.allocators_are_one()


def test_large_blocks_stay_until_the_cache_is_emptied():
    gc.collect()
    torch.mps.empty_cache()
    before = torch.mps.driver_allocated_memory()
    tensor = torch.ones(5, 1 << 20, device="mps")
    place = tensor.data_ptr()
    del tensor
    gc.collect()
    assert torch.mps.driver_allocated_memory() == before + (20 << 20)
    almost_as_large = torch.zeros(5, (1 << 20) - 100, device="mps")
    assert almost_as_large.data_ptr() == place and almost_as_large.sum().item() == 0
    del almost_as_large
    gc.collect()
    torch.mps.empty_cache()
    assert torch.mps.driver_allocated_memory() == before


def test_memory_of_the_host_keeps_the_tensors(host):
    tensor = torch.arange(6.0, device="mps").view(2, 3)
    alias = host.on_host(tensor.t())
    tensor.mul_(2)
    del tensor
    gc.collect()
    assert alias.device.type == "cpu" and alias.tolist() == [[0, 6], [2, 8], [4, 10]]
    with pytest.raises(RuntimeError, match="only memory of the MPS allocator"):
        host.on_host(torch.arange(6.0))


def test_events(host):
    before, after, elapsed, again = host.events()
    assert not before and after and elapsed >= 0 and again
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        host.time_between_events_without_time()
    with pytest.raises(RuntimeError, match="Invalid Event ID: 123456"):
        host.release_event(123456)


def test_copies(host):
    source = torch.arange(6.0).view(2, 3)
    there = torch.zeros(3, 2, dtype=torch.float16, device="mps").t()
    host.copy(there, source)
    assert there.cpu().tolist() == source.tolist()
    rows = torch.zeros(2, 5, device="mps")
    host.scatter(rows, source.to("mps"), 12, 20, 4)
    assert rows.cpu().tolist() == [[0, 0, 1, 2, 0], [0, 3, 4, 5, 0]]


@pytest.fixture
def fraction():
    """Sets the fraction of the recommended memory so that so many bytes more than now may be allocated."""

    def allow(bytes_more: int) -> None:
        limit = torch.mps.current_allocated_memory() + bytes_more
        torch.mps.set_per_process_memory_fraction(limit / torch.mps.recommended_max_memory())

    gc.collect()
    yield allow
    torch.mps.set_per_process_memory_fraction(1.7)


def test_a_fraction_of_the_memory_is_a_limit(fraction):
    fraction(3 << 20)
    first = torch.zeros(1 << 19, device="mps")
    with pytest.raises(torch.OutOfMemoryError, match=(
        r"MPS backend out of memory \(MPS allocated: .* MiB, other allocations: 0 bytes, max allowed: .* MiB\)\. "
        r"Tried to allocate 2\.00 MiB on shared pool\. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0\.0 to disable upper limit"
    )):  # fmt: skip
        torch.zeros(1 << 19, device="mps")
    with pytest.raises(torch.OutOfMemoryError, match="MPS backend out of memory"):
        torch.zeros(1 << 19).pin_memory()
    del first
    assert torch.zeros(1 << 19, device="mps").sum().item() == 0
    torch.mps.set_per_process_memory_fraction(0.0)
    assert torch.zeros(1 << 20, device="mps").sum().item() == 0
    with pytest.raises(ValueError, match="Allowed range: 0~2"):
        torch.mps.set_per_process_memory_fraction(2.5)


def test_callbacks_are_asked_for_memory_before_an_allocation_fails(host, fraction):
    before = host.failed_allocations()
    host.keep_until_memory_is_short(torch.zeros(1 << 19, device="mps"))
    fraction(1 << 20)
    assert torch.ones(1 << 19, device="mps").sum().item() == 1 << 19, "the callback freed as much"
    assert host.failed_allocations() == before + 1
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 22, device="mps")
    assert host.failed_allocations() == before + 2
    low, high, left = host.watermarks()
    assert low == int(1.4 * torch.mps.recommended_max_memory()) > high > 0 and left > 0


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"PYTORCH_MPS_HIGH_WATERMARK_RATIO": "0.0000001", "PYTORCH_MPS_LOW_WATERMARK_RATIO": "0"}, "OutOfMemoryError"),
        ({"PYTORCH_MPS_HIGH_WATERMARK_RATIO": "3"}, "invalid high watermark ratio 3"),
        ({"PYTORCH_MPS_HIGH_WATERMARK_RATIO": "1"}, "invalid low watermark ratio 1.4"),
        ({"PYTORCH_MPS_HIGH_WATERMARK_RATIO": "0"}, "made"),
    ],
)
def test_the_environment_sets_the_watermarks(variables, said, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    command = "import torch; torch.ones(1 << 16, device='mps'); print('made')"
    run = torch_processes.run(["-m", "metalloid.mps", "-c", command], timeout=1200)
    assert said in run.stdout + run.stderr
