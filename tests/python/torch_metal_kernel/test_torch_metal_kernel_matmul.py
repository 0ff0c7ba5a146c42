"""matmul2d inside a TorchMetalKernel: the tensors of the call are its operands, in tiles that do not divide them."""

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


FLASH_ATTENTION = """
    constexpr auto scores_of = matmul2d_descriptor(16, 32, dynamic_length_v<int>, false, true);
    constexpr auto values_of = matmul2d_descriptor(16, 32, 32, false, false, false,
                                                   matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<scores_of, execution_simdgroup> score;
    matmul2d<values_of, execution_simdgroup> combine;
    const int keys = K.get_extent(1);
    const float scale = 1.44269504f * rsqrt(float(Q.get_extent(0)));
    auto queries = Q.slice(0, group.x * 16);
    auto no_keys = K.slice(0, 0);
    auto highest =
        score.get_row_reduction_destination_cooperative_tensor<decltype(queries), decltype(no_keys), float>();
    auto total = highest, factor = highest;
    auto result = combine.get_destination_cooperative_tensor<decltype(queries), decltype(no_keys), float>();
    for (uint16_t i = 0; i < highest.get_capacity(); ++i) highest[i] = -INFINITY;
    for (int first = 0; first < keys; first += 32) {
      auto part = K.slice(0, first);
      auto weights = score.get_destination_cooperative_tensor<decltype(queries), decltype(part), float>();
      score.run(queries, part, weights);
      for (uint16_t i = 0; i < weights.get_capacity(); ++i) {
        weights[i] = first + weights.get_multidimensional_index(i)[0] < keys ? weights[i] * scale : -INFINITY;
      }
      auto best = highest, sum = highest;
      reduce_rows(weights, best, reduction_operation::max, -INFINITY);
      for (uint16_t i = 0; i < best.get_capacity(); ++i) {
        best[i] = max(best[i], highest[i]);
        factor[i] = exp2(highest[i] - best[i]);
        highest[i] = best[i];
      }
      for (auto weight = weights.begin(); weight != weights.end(); ++weight) {
        *weight = exp2(*weight - *highest.map_iterator(weight));
      }
      reduce_rows(weights, sum, reduction_operation::sum, 0.0f);
      for (uint16_t i = 0; i < total.get_capacity(); ++i) total[i] = total[i] * factor[i] + sum[i];
      for (auto element = result.begin(); element != result.end(); ++element) *element *= *factor.map_iterator(element);
      if (!combine.is_compatible_as_left_input<float, float, float>(weights)) return;
      auto left = combine.get_left_input_cooperative_tensor<float, float, float>(weights);
      combine.run(left, V.slice(0, first), result);
    }
    for (auto element = result.begin(); element != result.end(); ++element) *element /= *total.map_iterator(element);
    result.store(O.slice(0, group.x * 16));
"""


def test_flash_attention():
    """Scores stay in registers: rows are reduced there, and the weights are the next product's left operand."""

    def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    kernel = TorchMetalKernel(
        name="flash_attention", input_names=["Q", "K", "V"], result_names=["O"], src=FLASH_ATTENTION,
        torch_defn=attention, metal_params=[MetalParameter("group", "uint2", "threadgroup_position_in_grid")],
        verify=True,
    )
    torch.manual_seed(0)
    q, k, v = torch.randn(37, 24), torch.randn(75, 24), torch.randn(75, 32)
    kernel(q, k, v, threads_per_grid=(3 * 32, 1, 1), threads_per_thread_group=(32, 1, 1), result_shapes=[[37, 32]])
