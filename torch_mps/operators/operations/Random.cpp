// uniform_, normal_, random_, bernoulli_, exponential_, cauchy_, geometric_, log_normal_, multinomial, randperm,
// dropout.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/Utils.h>
#include <ATen/core/Tensor.h>
#include <ATen/mps/MPSGeneratorImpl.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_dropout_backward_native.h>
#include <ATen/ops/native_dropout_native.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randperm_native.h>

#include <cmath>
#include <mutex>

#include <ATen/native/mps/Random_metallib.h>

namespace at::native {
namespace mps {

#ifndef PYTORCH_JIT_COMPILE_SHADERS
static auto& lib = MetalShaderLibrary::getBundledLibrary();
#else
#endif

std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type);

// Takes `count` numbers: seed and the offset of the first.
static std::array<int64_t, 2> take_numbers(const std::optional<Generator>& generator, int64_t count) {
  auto* state = get_generator_or_default<MPSGeneratorImpl>(generator, at::mps::detail::getDefaultMPSGenerator());
  const std::lock_guard lock(state->mutex_);
  const uint64_t offset = state->get_offset();
  state->set_offset(offset + static_cast<uint64_t>(count));
  return {static_cast<int64_t>(state->current_seed()), static_cast<int64_t>(offset)};
}

// Fills the tensor by a kernel whose threads take a number of the generator each and make so many elements of it. The
// kernel takes the result first and the state at `state_index`; `set` sets its other arguments.
template <typename Set>
static void fill(const std::string& kernel, const TensorBase& tensor, const std::optional<Generator>& generator,
                 int64_t elements_of_thread, unsigned state_index, Set set) {
  const std::string whole = kernel + "_" + scalarToMetalTypeString(tensor.scalar_type());
  TORCH_CHECK_TYPE(lib.hasFunction(whole), kernel, "_kernel_mps not implemented for '", tensor.scalar_type(), "'");
  if (tensor.numel() == 0) return;
  TORCH_CHECK(tensor.numel() <= std::numeric_limits<uint32_t>::max(), "too many elements for random numbers on MPS");
  const Tensor result(tensor);
  const Tensor dense = result.is_contiguous() ? result : at::empty(result.sizes(), result.options());
  const int64_t threads = (dense.numel() + elements_of_thread - 1) / elements_of_thread;
  const auto state = take_numbers(generator, threads);
  auto function = lib.getKernelFunction(whole);
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, dense);
    set(*function);
    function->setArg(state_index, state);
    function->dispatch(static_cast<uint64_t>(threads));
  });
  if (!dense.is_same(result)) result.copy_(dense);
}

static void distribution(const char* kernel, const TensorBase& tensor, double a, double b,
                         const std::optional<Generator>& generator) {
  const std::array<float, 2> parameters = {static_cast<float>(a), static_cast<float>(b)};
  fill(kernel, tensor, generator, 4, 2, [&](MetalKernelFunction& function) {
    function.setArg(1, parameters);
    function.setArg(3, static_cast<uint32_t>(tensor.numel()));
  });
}

// `count` numbers from `base` on; 0: all of 64 bits.
static void integers(const TensorBase& tensor, uint64_t count, int64_t base,
                     const std::optional<Generator>& generator) {
  const std::array<int64_t, 2> bounds = {base, static_cast<int64_t>(count)};
  const bool is_wide = tensor.element_size() == 8 || count == 0 || count > uint64_t{1} << 32;
  const std::array<uint32_t, 2> sizes = {static_cast<uint32_t>(tensor.numel()), is_wide ? 2u : 4u};
  fill("random", tensor, generator, sizes[1], 2, [&](MetalKernelFunction& function) {
    function.setArg(1, bounds);
    function.setArg(3, sizes);
  });
}

}  // namespace mps

namespace {

using namespace mps;
using OptionalGenerator = std::optional<Generator>;

void uniform_kernel(TensorIteratorBase& iter, const double from, const double to, OptionalGenerator generator) {
  distribution("uniform", iter.tensor_base(0), from, to, generator);
}
void normal_kernel(const TensorBase& self, const double mean, const double std, OptionalGenerator generator) {
  distribution("normal", self, mean, std, generator);
}
void log_normal_kernel(TensorIteratorBase& iter, const double mean, const double std, OptionalGenerator generator) {
  distribution("log_normal", iter.tensor_base(0), mean, std, generator);
}
void exponential_kernel(TensorIteratorBase& iter, const double lambda, OptionalGenerator generator) {
  distribution("exponential", iter.tensor_base(0), lambda, 0, generator);
}
void cauchy_kernel(TensorIteratorBase& iter, const double median, const double sigma, OptionalGenerator generator) {
  distribution("cauchy", iter.tensor_base(0), median, sigma, generator);
}
void geometric_kernel(TensorIteratorBase& iter, const double p, OptionalGenerator generator) {
  distribution("geometric", iter.tensor_base(0), p, std::log1p(-p), generator);
}
void bernoulli_scalar_kernel(const TensorBase& self, const double p, OptionalGenerator generator) {
  distribution("bernoulli", self, p, 0, generator);
}
void bernoulli_tensor_kernel(const TensorBase& self, const TensorBase& p, OptionalGenerator generator) {
  const Tensor probabilities = Tensor(p).expand(self.sizes()).contiguous();
  // The kernel's name ends with the type of the probabilities.
  if (self.numel() == 0) return;
  const Tensor result(self);
  const Tensor dense = result.is_contiguous() ? result : at::empty(result.sizes(), result.options());
  const auto state = take_numbers(generator, dense.numel());
  auto function = lib.getKernelFunction("bernoulli_" + scalarToMetalTypeString(dense.scalar_type()) + "_" +
                                        scalarToMetalTypeString(probabilities.scalar_type()));
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, dense);
    function->setArg(1, probabilities);
    function->setArg(2, state);
    function->dispatch(static_cast<uint64_t>(dense.numel()));
  });
  if (!dense.is_same(result)) result.copy_(dense);
}

void random_from_to_kernel(TensorIteratorBase& iter, const uint64_t range, const int64_t base,
                           OptionalGenerator generator) {
  integers(iter.tensor_base(0), range, base, generator);
}
void random_full_64_bits_range_kernel(TensorIteratorBase& iter, OptionalGenerator generator) {
  integers(iter.tensor_base(0), 0, 0, generator);
}
// All numbers from 0 on that the type has exactly.
void random_kernel(TensorIteratorBase& iter, OptionalGenerator generator) {
  const auto& self = iter.tensor_base(0);
  const auto type = self.scalar_type();
  const auto bits = 8 * self.element_size();
  const bool is_unsigned = type == kByte || type == kUInt16 || type == kUInt32 || type == kUInt64;
  const uint64_t count = type == kFloat      ? (uint64_t{1} << 24) + 1
                         : type == kHalf     ? (uint64_t{1} << 11) + 1
                         : type == kBFloat16 ? (uint64_t{1} << 8) + 1
                         : type == kBool     ? 2
                         : type == kUInt64   ? 0
                         : is_unsigned       ? uint64_t{1} << bits
                                             : uint64_t{1} << (bits - 1);
  integers(self, count, 0, generator);
}

void multinomial_with_replacement_kernel(Tensor& result, const Tensor& self, const int64_t samples,
                                         OptionalGenerator generator) {
  const Tensor cumulated = self.to(kFloat).cumsum(-1).contiguous();
  TORCH_CHECK(cumulated.select(-1, -1).gt(0).all().item<bool>(),
              "invalid multinomial distribution (sum of probabilities <= 0)");
  const Tensor dense = result.is_contiguous() ? result : at::empty(result.sizes(), result.options());
  const std::array<uint32_t, 2> sizes = {static_cast<uint32_t>(self.size(-1)), static_cast<uint32_t>(samples)};
  if (dense.numel() == 0) return;
  const auto state = take_numbers(generator, dense.numel());
  auto function = lib.getKernelFunction("sample_categories");
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, dense);
    function->setArg(1, cumulated);
    function->setArg(2, sizes);
    function->setArg(3, state);
    function->dispatch(static_cast<uint64_t>(dense.numel()));
  });
  if (!dense.is_same(result)) result.copy_(dense);
}

}  // namespace

REGISTER_MPS_DISPATCH(uniform_stub, &uniform_kernel)
REGISTER_MPS_DISPATCH(normal_stub, &normal_kernel)
REGISTER_MPS_DISPATCH(log_normal_stub, &log_normal_kernel)
REGISTER_MPS_DISPATCH(exponential_stub, &exponential_kernel)
REGISTER_MPS_DISPATCH(cauchy_stub, &cauchy_kernel)
REGISTER_MPS_DISPATCH(geometric_stub, &geometric_kernel)
REGISTER_MPS_DISPATCH(bernoulli_scalar_stub, &bernoulli_scalar_kernel)
REGISTER_MPS_DISPATCH(bernoulli_tensor_stub, &bernoulli_tensor_kernel)
REGISTER_MPS_DISPATCH(random_from_to_stub, &random_from_to_kernel)
REGISTER_MPS_DISPATCH(random_full_64_bits_range_stub, &random_full_64_bits_range_kernel)
REGISTER_MPS_DISPATCH(random_stub, &random_kernel)
REGISTER_MPS_DISPATCH(multinomial_with_replacement_stub, &multinomial_with_replacement_kernel)

Tensor& randperm_out_mps(int64_t n, std::optional<Generator> generator, Tensor& result) {
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  TORCH_CHECK(!generator.has_value() || result.device() == generator->device(), "Expected a '", result.device(),
              "' generator device but found '", generator->device(), "'");
  const auto type = result.scalar_type();
  const int64_t exact = type == kHalf                           ? 2049
                        : type == kBFloat16                     ? 257
                        : type == kFloat                        ? 16777217
                        : isFloatingType(type) || type == kLong ? INT64_MAX
                        : type == kByte                         ? 256
                                                                : int64_t{1} << (8 * result.element_size() - 1);
  TORCH_CHECK(n <= exact, "n is too large for result tensor type: '", result.toString(), "'");
  result.resize_({n});
  if (n == 0) return result;
  const Tensor keys = at::empty({n}, result.options().dtype(kLong));
  integers(keys, 0, 0, generator);
  result.copy_(keys.argsort(/*stable=*/true));
  return result;
}

std::tuple<Tensor, Tensor> native_dropout_mps(const Tensor& input, double p, std::optional<bool> train) {
  if (input.numel() == 0) return {input, at::empty_like(input, input.options())};
  if (train.has_value() && !*train) return {input.clone(), at::ones_like(input, input.options().dtype(kBool))};
  const double kept = 1 - p;
  const std::array<float, 2> kept_and_scale = {static_cast<float>(kept), static_cast<float>(kept == 0 ? 0 : 1 / kept)};
  const Tensor dense = input.contiguous();
  Tensor result = at::empty(input.sizes(), input.options()),
         mask = at::empty(input.sizes(), input.options().dtype(kBool));
  fill("dropout", result, std::nullopt, 1, 4, [&](MetalKernelFunction& function) {
    function.setArg(1, mask);
    function.setArg(2, dense);
    function.setArg(3, kept_and_scale);
  });
  return {result, mask};
}

Tensor native_dropout_backward_mps(const Tensor& grad, const Tensor& mask, double scale) {
  // As a product with a number.
  const ScalarType type = isIntegralType(grad.scalar_type(), /*includeBool=*/true) ? kFloat : grad.scalar_type();
  Tensor result = at::empty(grad.sizes(), grad.options().dtype(type));
  if (grad.numel() == 0) return result;
  const Tensor dense = grad.to(type).contiguous(), dense_mask = mask.to(kBool).contiguous();
  auto function = lib.getKernelFunction("dropout_backward_" + scalarToMetalTypeString(type));
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, result);
    function->setArg(1, dense);
    function->setArg(2, dense_mask);
    function->setArg(3, static_cast<float>(scale));
    function->dispatch(static_cast<uint64_t>(grad.numel()));
  });
  return result;
}

}  // namespace at::native
