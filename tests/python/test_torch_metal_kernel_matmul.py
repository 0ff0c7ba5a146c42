"""matmul2d inside a TorchMetalKernel: the tensors of the call are its operands, in tiles that do not divide the shapes."""

import pytest

torch = pytest.importorskip("torch")

from metalloid import MetalParameter, TorchMetalKernel, VerificationError  # noqa: E402

TILED = """
    constexpr auto descriptor = matmul2d_descriptor(64, 32, dynamic_length_v<int>);
    matmul2d<descriptor, SCOPE> operation;
    auto rows = A.slice(0, group.y * 64);
    auto columns = B.slice(group.x * WIDTH, 0);
    auto tile = C.slice(group.x * 32, group.y * 64);
    auto result = operation.template get_destination_cooperative_tensor<decltype(rows), decltype(columns), float>();
    operation.run(rows, columns, result);
    result.store(tile);
"""


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b


def tiled(name, scope, width="32"):
    return TorchMetalKernel(
        name=name, input_names=["A", "B"], result_names=["C"], torch_defn=product, verify=True,
        src=TILED.replace("SCOPE", scope).replace("WIDTH", width),
        metal_params=[MetalParameter("group", "uint2", "threadgroup_position_in_grid")],
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("scope, threads", [("execution_simdgroup", 32), ("execution_simdgroups<4>", 128)])
def test_tiles(dtype, scope, threads):
    kernel = tiled(f"tiled_{threads}_{str(dtype)[6:]}", scope)
    torch.manual_seed(0)
    a, b = torch.randn(70, 37).to(dtype), torch.randn(37, 41).to(dtype)
    c = kernel(a, b, threads_per_grid=(2 * threads, 2, 1), threads_per_thread_group=(threads, 1, 1),
                 result_shapes=[[70, 41]])
    assert c.dtype == dtype
    epsilon = torch.finfo(dtype).eps
    exact = a.double() @ b.double()
    torch.testing.assert_close(c.double(), exact, rtol=2 * epsilon, atol=64 * torch.finfo(torch.float32).eps)


def test_a_wrong_tile_is_found():
    kernel = tiled("tiled_wrong", "execution_simdgroup", width="31")
    with pytest.raises(VerificationError):
        kernel(torch.randn(70, 37), torch.randn(37, 41), threads_per_grid=(64, 2, 1),
               threads_per_thread_group=(32, 1, 1), result_shapes=[[70, 41]])
