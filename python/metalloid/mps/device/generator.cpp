// at::MPSGeneratorImpl, which torch's headers declare and its library for Linux lacks. Its state is seed and offset of
// a Philox generator (c10/metal/random.h): a kernel that draws n numbers takes the offsets from get_offset() on and
// moves it.
//
// Layout of state_data(), 7 words: 1, offset (low, high), 0, 0, seed (low, high).
#include <ATen/Utils.h>
#include <ATen/mps/MPSGeneratorImpl.h>
#include <c10/core/TensorImpl.h>

#include <cstring>
#include <random>

namespace at {

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
  data_.state = {1, 0, 0, 0, 0, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  engine_.reset_state(seed);
}

uint64_t MPSGeneratorImpl::current_seed() const { return data_.seed; }

uint64_t MPSGeneratorImpl::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return data_.seed;
}

void MPSGeneratorImpl::set_offset(uint64_t offset) {
  data_.state[1] = static_cast<uint32_t>(offset);
  data_.state[2] = static_cast<uint32_t>(offset >> 32);
  engine_.set_offset(offset);
}

uint64_t MPSGeneratorImpl::get_offset() const { return data_.state[1] | uint64_t{data_.state[2]} << 32; }

void MPSGeneratorImpl::update_philox_counters() { set_offset(get_offset() + 1); }

// As bytes on the CPU: the words, then the seed. 36 bytes, as on a Mac.
c10::intrusive_ptr<c10::TensorImpl> MPSGeneratorImpl::get_state() const {
  constexpr auto words = sizeof(data_.state), all = words + sizeof(data_.seed);
  auto state = at::detail::empty_cpu({static_cast<int64_t>(all)}, ScalarType::Byte, {}, {}, {}, {});
  auto* bytes = static_cast<char*>(state.mutable_data_ptr());
  std::memcpy(bytes, data_.state.data(), words);
  std::memcpy(bytes + words, &data_.seed, sizeof data_.seed);
  return state.getIntrusivePtr();
}

void MPSGeneratorImpl::set_state(const c10::TensorImpl& state) {
  constexpr auto words = sizeof(data_.state), all = words + sizeof(data_.seed);
  at::detail::check_rng_state(state);
  TORCH_CHECK(state.numel() == static_cast<int64_t>(all), "RNG state is wrong size");
  const auto* bytes = static_cast<const char*>(state.data());
  mps::detail::rng_data_pod data;
  std::memcpy(data.state.data(), bytes, words);
  std::memcpy(&data.seed, bytes + words, sizeof data.seed);
  set_current_seed(data.seed);
  data_.state = data.state;
  engine_.set_offset(get_offset());
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
