// _scaled_dot_product_attention_math_for_mps: softmax of the products, row by row, without the matrix of them.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/_scaled_dot_product_attention_math_for_mps_native.h>
#include <ATen/ops/empty.h>

#include <cmath>

#include <ATen/native/mps/Attention_metallib.h>

#include "kernels.h"

namespace at::native {

namespace {

struct AttentionParams {
  std::int64_t query[3], key[3], value[3], mask[4], result[3];
  int heads, query_length, key_length, features, value_features;
  int heads_per_key, heads_per_value;
  float scale;
  int is_causal;
  int mask_kind;
};

// (batch, head, position, feature)
Tensor four_dimensional(Tensor tensor) {
  while (tensor.dim() < 4) tensor = tensor.unsqueeze(0);
  return tensor;
}

template <std::size_t count>
void set_strides(std::int64_t (&strides)[count], const Tensor& tensor) {
  std::copy_n(tensor.strides().begin(), count, strides);
}

// With its features side by side.
Tensor with_rows(const Tensor& tensor) {
  return tensor.stride(3) == 1 || tensor.size(3) == 1 ? tensor : tensor.contiguous();
}

constexpr std::int64_t most_features = 512;  // that the kernel's threads have room for

bool fits(const Tensor& query, const Tensor& key, const Tensor& value, double dropout) {
  const auto type = query.scalar_type();
  return dropout == 0 && (type == kFloat || type == kHalf || type == kBFloat16) && query.dim() >= 2 &&
         query.dim() <= 4 && query.dim() == key.dim() && query.dim() == value.dim() && key.scalar_type() == type &&
         value.scalar_type() == type && query.size(-1) <= most_features && value.size(-1) <= most_features &&
         query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2) && !query.is_nested() && !key.is_nested() &&
         !value.is_nested();
}

// Whether the heads of keys or values serve those of the queries.
bool heads_fit(const Tensor& query, const Tensor& other, bool in_groups) {
  if (other.size(0) != query.size(0)) return false;
  return other.size(1) == query.size(1) || (in_groups && other.size(1) != 0 && query.size(1) % other.size(1) == 0);
}

}  // namespace

std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math_mps(const Tensor& query_, const Tensor& key_,
                                                                  const Tensor& value_,
                                                                  const std::optional<Tensor>& attn_mask,
                                                                  double dropout_p, bool is_causal,
                                                                  const std::optional<Tensor>& dropout_mask,
                                                                  std::optional<double> scale, bool enable_gqa) {
  const auto composed = [&] {
    return at::_scaled_dot_product_attention_math(query_, key_, value_, attn_mask, dropout_p, is_causal, dropout_mask,
                                                  scale, enable_gqa);
  };
  if (!fits(query_, key_, value_, dropout_p) || (is_causal && attn_mask && attn_mask->defined())) return composed();
  const Tensor query = with_rows(four_dimensional(query_)), key = with_rows(four_dimensional(key_)),
               value = with_rows(four_dimensional(value_));
  if (!heads_fit(query, key, enable_gqa) || !heads_fit(query, value, enable_gqa)) return composed();

  AttentionParams params{};
  params.heads = static_cast<int>(query.size(1));
  params.query_length = static_cast<int>(query.size(2));
  params.key_length = static_cast<int>(key.size(2));
  params.features = static_cast<int>(query.size(3));
  params.value_features = static_cast<int>(value.size(3));
  DimVector sizes(query_.sizes().begin(), query_.sizes().end());
  sizes.back() = params.value_features;
  const Tensor result = at::empty(sizes, query_.options()), view = four_dimensional(result);
  const Tensor weights = at::empty({0}, query_.options());  // they are never whole
  if (result.numel() == 0) return {result, weights};
  params.heads_per_key = static_cast<int>(query.size(1) / key.size(1));
  params.heads_per_value = static_cast<int>(query.size(1) / value.size(1));
  params.scale = static_cast<float>(scale.value_or(1.0 / std::sqrt(static_cast<double>(params.features))));
  params.is_causal = is_causal;
  Tensor mask = query;
  if (attn_mask && attn_mask->defined()) {
    params.mask_kind = attn_mask->scalar_type() == kBool ? 1 : 2;
    mask = params.mask_kind == 1 ? *attn_mask : attn_mask->to(query.scalar_type());
    mask = mask.expand({query.size(0), query.size(1), query.size(2), key.size(2)});
    set_strides(params.mask, mask);
  }
  set_strides(params.query, query);
  set_strides(params.key, key);
  set_strides(params.value, value);
  set_strides(params.result, view);
  const auto type = metalloid::operators::metal_type(query.scalar_type(), "scaled_dot_product_attention_mps");
  const auto rows = static_cast<std::uint64_t>(params.query_length);
  metalloid::operators::run(lib, std::string("attention_") + type,
                            {(rows + 31) / 32 * 32, static_cast<std::uint64_t>(query.size(0) * query.size(1)), 1},
                            {32, 1, 1}, result, query, key, value, mask, params);
  return {result, weights};
}

}  // namespace at::native
