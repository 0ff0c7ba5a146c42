"""IMPSAllocator, MPSEvent and copies as C++ operators and PyTorch's own host files use them."""

from __future__ import annotations

import gc
import pathlib

import pytest
import torch

import opinfo_first  # noqa: E402, F401
from metalloid.mps import _plugin
from metalloid.mps._plugin.compile import Unit, build

SOURCE = pathlib.Path(__file__).parent / "host_library" / "memory.cpp"


@pytest.fixture(scope="module")
def host():
    _plugin.device()
    unit = Unit(SOURCE, (pathlib.Path(_plugin.__file__).parent.parent / "host",))
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
