// at::MPSGeneratorImpl, which torch's headers declare and its library for Linux lacks: a Philox engine with seed and
// offset. Kernels that make n Philox numbers (c10/metal/random.h) take the offsets from get_offset() on and move it.
//
// Layout of state_data(), 7 words: 1, four numbers (update_philox_counters), seed (low, high).
#include <ATen/Utils.h>
#include <ATen/mps/MPSGeneratorImpl.h>
#include <c10/core/TensorImpl.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace at {

namespace {
constexpr int64_t word_bytes = sizeof(mps::detail::rng_data_pod::state),
                  state_bytes = word_bytes + 2 * sizeof(uint64_t);
}  // namespace

namespace mps::detail {

const Generator& getDefaultMPSGenerator() {
  static auto& generator = *new Generator(createMPSGenerator(c10::detail::getNonDeterministicRandom()));
  return generator;
}

Generator createMPSGenerator(uint64_t seed) {
  auto generator = make_generator<MPSGeneratorImpl>(seed);
  generator.set_current_seed(seed);
  return generator;
}

}  // namespace mps::detail

MPSGeneratorImpl::MPSGeneratorImpl(uint64_t seed)
    : GeneratorImpl(Device(DeviceType::MPS, 0), DispatchKeySet(DispatchKey::MPS)), engine_(seed, 0, 0) {
  MPSGeneratorImpl::set_current_seed(seed);
}

void MPSGeneratorImpl::set_current_seed(uint64_t seed) {
  data_.seed = seed;
  data_.state = {1, 1, 1, 1, 1, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  engine_.reset_state(seed);
}

uint64_t MPSGeneratorImpl::current_seed() const { return data_.seed; }

uint64_t MPSGeneratorImpl::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return data_.seed;
}

void MPSGeneratorImpl::set_offset(uint64_t offset) { engine_.set_offset(offset); }

uint64_t MPSGeneratorImpl::get_offset() const { return engine_.get_offset(); }

void MPSGeneratorImpl::update_philox_counters() {
  std::generate_n(data_.state.begin() + 1, 4, [&] { return engine_(); });
}

// As bytes on the CPU: the words, the seed and the offset. 44 bytes, as on a Mac.
c10::intrusive_ptr<c10::TensorImpl> MPSGeneratorImpl::get_state() const {
  const uint64_t offset = get_offset();
  auto state = at::detail::empty_cpu({state_bytes}, ScalarType::Byte, {}, {}, {}, {});
  auto* bytes = static_cast<char*>(state.mutable_data_ptr());
  std::memcpy(bytes, data_.state.data(), word_bytes);
  std::memcpy(bytes + word_bytes, &data_.seed, sizeof data_.seed);
  std::memcpy(bytes + word_bytes + sizeof data_.seed, &offset, sizeof offset);
  return state.getIntrusivePtr();
}

void MPSGeneratorImpl::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  TORCH_CHECK(state.numel() == state_bytes, "RNG state is wrong size");
  const auto* bytes = static_cast<const char*>(state.data());
  uint64_t seed = 0, offset = 0;
  std::memcpy(&seed, bytes + word_bytes, sizeof seed);
  std::memcpy(&offset, bytes + word_bytes + sizeof seed, sizeof offset);
  set_current_seed(seed);
  set_offset(offset);
  std::memcpy(data_.state.data(), bytes, word_bytes);
}

std::shared_ptr<MPSGeneratorImpl> MPSGeneratorImpl::clone() const {
  return std::shared_ptr<MPSGeneratorImpl>(clone_impl());
}

MPSGeneratorImpl* MPSGeneratorImpl::clone_impl() const {
  auto* copy = new MPSGeneratorImpl(data_.seed);
  copy->data_ = data_;
  copy->engine_ = engine_;
  return copy;
}

}  // namespace at
