"""python -m metalloid.mps: PyTorch's rules about devices, and the errors of those who break them."""

import pytest

pytest.importorskip("torch")

from test_mps_scripts import lines


def test_generators_belong_to_a_device():
    assert lines(
        """
there, here = torch.Generator("mps"), torch.Generator()
attempts = (
    lambda: torch.rand(2, device="mps", generator=here),
    lambda: torch.rand(2, generator=there),
    lambda: torch.ones(2, device="mps").normal_(generator=here),
    lambda: torch.multinomial(torch.ones(2), 1, generator=there),
)
for attempt in attempts:
    try: attempt()
    except RuntimeError as error: print(error)
print(torch.ones(2, device="mps").uniform_(generator=there).device, torch.randperm(3, generator=here).device)
"""
    ) == [
        "Expected a 'mps' device type for generator but found 'cpu'",
        "Expected a 'cpu' device type for generator but found 'mps'",
        "Expected a 'mps' device type for generator but found 'cpu'",
        "Expected a 'cpu' device type for generator but found 'mps'",
        "mps:0 cpu",
    ]


def test_devices_given_by_tensors_types_and_numbers():
    assert lines(
        """
x = torch.ones(2, device="mps")
print(torch.nn.Linear(2, 2).to(x).weight.device, torch.zeros(2, dtype=torch.int8).type_as(x).device)
print(x.type("torch.FloatTensor").device, x.type(torch.half).device)
print(torch.ones(1, device=0).device, torch.ones(1).to(0).device, torch.nn.Linear(2, 2).to(0).weight.device)
try: torch.ones(1, device=1)
except RuntimeError as error: print(error)
"""
    ) == [
        "mps:0 mps:0",
        "cpu mps:0",
        "mps:0 mps:0 mps:0",
        "device 'mps:1' is out of range: there is one MPS device, mps:0",
    ]


def test_indices():
    assert lines(
        """
x, host = torch.ones(2, device="mps"), torch.ones(2)
print(x[torch.tensor([0])].device, x[torch.tensor([True, False])].device, host[torch.tensor(0, device="mps")].device)
try: host[torch.tensor([0], device="mps")]
except RuntimeError as error: print(error)
host[torch.tensor([0])] = x[:1]
print(host.device)
"""
    ) == ["mps:0 mps:0 cpu", "indices should be either on cpu or on the same device as the indexed tensor (cpu)", "cpu"]


def test_ways_to_other_libraries():
    assert lines(
        """
x = torch.ones(2, device="mps")
forced = x.numpy(force=True)
forced[0] = 5
print(x.tolist(), x.__dlpack_device__()[0].name)
"""
    ) == ["[1.0, 1.0] kDLMetal"]


def test_pinned_memory():
    assert lines(
        """
print(torch.ones(2).pin_memory().to("mps", non_blocking=True).device, torch.empty(2, pin_memory=True).device)
try: torch.ones(2, device="mps").pin_memory()
except RuntimeError as error: print(error)
"""
    ) == ["mps:0 cpu", "cannot pin 'MPSFloatType' only dense CPU tensors can be pinned"]
