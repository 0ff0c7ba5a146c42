// Buffers that kernels reach by addresses in other buffers: in place, and where a device works on copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "metalloid/check.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace argument_buffers_test {

using testing::ElementsAre;
using testing::HasSubstr;

// Before anything asks for the list of engines.
[[maybe_unused]] const int registered = ::setenv("METALLOID_TRIAL_ENGINE", "1", 1);

constexpr const char* source = R"(
#include <metal_stdlib>
using namespace metal;
struct Layer { uint count; device const float* weights; };
struct Model { Layer layers[2]; device float* sums[2]; };
kernel void add_up(constant Model& model [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint j = 0; j < model.layers[i].count; ++j) sum += model.layers[i].weights[j];
  model.sums[i][0] = sum;
}
struct Node { float value; device Node* next; };
kernel void follow(constant Node& node [[buffer(0)]], device float* y [[buffer(1)]]) {
  y[0] = node.value + (node.next ? node.next->value : 0);
}
struct Pair { device float* a; device float* b; };
kernel void swap_pair(device Pair& pair [[buffer(0)]]) {
  device float* a = pair.a;
  pair.a = pair.b;
  pair.b = a;
  pair.a[0] = 1;
}
struct Part { uint number; device float* value; };
kernel void count_up(device const Part* parts [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  parts[i].value[0] += parts[i].number;
}
kernel void untold(device const ulong* address [[buffer(0)]], device float* y [[buffer(1)]]) {
  y[0] = *(device float*)address[0];
}
)";

struct Layer {
  std::uint32_t count = 0;
  std::uint64_t weights = 0;
};
struct Part {
  std::uint32_t number = 0;
  std::uint64_t value = 0;
};
struct Model {
  std::array<Layer, 2> layers;
  std::array<std::uint64_t, 2> sums{};
};
struct Node {
  float value = 0;
  std::uint64_t next = 0;
};

enum class Place : std::uint8_t { host, here, there, shared };

Buffer buffer_in(Place place, std::size_t size) {
  switch (place) {
    case Place::host: return Buffer(size);
    case Place::here: return {Device::named("trial"), size};
    case Place::there: return {Device::named("trial:1"), size};
    case Place::shared: return {Device::named("trial"), size, Buffer::Storage::shared};
  }
  return Buffer(size);
}

Buffer with(Place place, const std::vector<float>& values) {
  Buffer buffer = buffer_in(place, 4 * values.size());
  buffer.write(0, std::as_bytes(std::span(values)));
  return buffer;
}

template <typename T>
T read(const Buffer& buffer, std::size_t offset = 0) {
  T value;
  buffer.read(offset, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

template <typename T>
void write(const Buffer& buffer, std::size_t offset, const T& value) {
  buffer.write(offset, std::as_bytes(std::span(&value, 1)));
}

Kernel kernel_on(const Device& device, const char* name) { return device.make_library(source).kernel(name); }

template <typename Work>
std::string refusal(Work work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was refused";
}

class ArgumentBuffers : public testing::TestWithParam<std::tuple<const char*, Place>> {
 protected:
  Device device() const { return Device::named(std::get<0>(GetParam())); }
  Place place() const { return std::get<1>(GetParam()); }
};

TEST_P(ArgumentBuffers, LeadToWhatIsUsed) {
  const Buffer one = with(place(), {1, 2, 3}), two = with(Place::here, {10, 20}), sums = with(place(), {0, 0, 0});
  Model model;
  model.layers = {Layer{3, one.gpu_address()}, Layer{2, two.gpu_address()}};
  model.sums = {sums.gpu_address(), sums.gpu_address() + 8};
  const Kernel kernel = kernel_on(device(), "add_up");
  for (const bool is_inline : {false, true}) {
    // Behind other bytes, which are no addresses.
    const Buffer arguments = buffer_in(place(), 256 + 2 * sizeof(Model));
    write(arguments, 256, model);
    arguments.write(256 + sizeof(Model), std::vector<std::byte>(sizeof(Model), std::byte{0x5a}));
    Dispatch dispatch;
    dispatch.use(one, Access::read).use(two, Access::read).use(sums).threads({2}, {2});
    if (is_inline) {
      dispatch.value(0, model);
    } else {
      dispatch.buffer(0, arguments, 256);
    }
    sums.write(0, std::vector<std::byte>(12));
    run(kernel, dispatch);
    EXPECT_EQ(read<float>(sums), 6);
    EXPECT_EQ(read<float>(sums, 4), 0);
    EXPECT_EQ(read<float>(sums, 8), 30);
    EXPECT_EQ(read<Model>(arguments, 256).layers[1].weights, two.gpu_address());
  }
}

TEST_P(ArgumentBuffers, AddressesThatAKernelWritesAreTheHosts) {
  const Buffer a = with(place(), {0}), b = with(place(), {0}), pair = buffer_in(place(), 16);
  write(pair, 0, std::array{a.gpu_address(), b.gpu_address()});
  run(kernel_on(device(), "swap_pair"), Dispatch().buffer(0, pair).use(a).use(b).threads({1}, {1}));
  EXPECT_THAT((read<std::array<std::uint64_t, 2>>(pair)), ElementsAre(b.gpu_address(), a.gpu_address()));
  EXPECT_EQ(read<float>(a), 0);
  EXPECT_EQ(read<float>(b), 1);
}

// A pointer leads to as many objects as there are, and to whatever lies behind them.
TEST_P(ArgumentBuffers, AreOfSeveralObjects) {
  const Buffer values = with(place(), {1, 2, 3}), parts = buffer_in(place(), 5 * sizeof(Part));
  const std::uint64_t begin = values.gpu_address();
  const std::array list{Part{10, begin + 8}, Part{20, begin}, Part{30, begin + 4}, Part{0, 0}, Part{0, 0x5a5a5a5a5a5a}};
  write(parts, 0, list);
  run(kernel_on(device(), "count_up"), Dispatch().buffer(0, parts).use(values).threads({3}, {2}));
  EXPECT_THAT((read<std::array<float, 3>>(values)), ElementsAre(21, 32, 13));
  EXPECT_EQ((read<std::array<Part, 5>>(parts))[4].value, 0x5a5a5a5a5a5a);
}

TEST_P(ArgumentBuffers, AreChecked) {
  const Buffer one = with(place(), {1, 2, 3}), sums = with(place(), {0, 0});
  Model model;
  model.layers = {Layer{3, one.gpu_address()}, Layer{0, 0}};
  model.sums = {sums.gpu_address(), sums.gpu_address() + 4};
  CheckSession session;
  run(kernel_on(device(), "add_up"), Dispatch().value(0, model).use(one, Access::read).use(sums).threads({2}, {2}));
  EXPECT_EQ(session.dispatches(), 1u);
  EXPECT_TRUE(session.findings().empty());
  EXPECT_EQ(read<float>(sums), 6);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, ArgumentBuffers,
                         testing::Combine(testing::Values("trial", "trial:1", "trial_reference", "cpu"),
                                          testing::Values(Place::host, Place::here, Place::there, Place::shared)));

TEST(ArgumentBuffersOfCopies, NameWhatTheyLeadTo) {
  const Kernel add_up = kernel_on(Device::named("trial"), "add_up");
  const Buffer one = with(Place::host, {1}), other = with(Place::host, {1});
  Model model;
  model.layers = {Layer{0, 0}, Layer{1, one.gpu_address()}};
  const std::string text =
      refusal([&] { run(add_up, Dispatch().value(0, model).use(other, Access::read).threads({2}, {2})); });
  EXPECT_THAT(text, HasSubstr("kernel 'add_up': the address in argument 'model' at index 0, 'layers[1].weights', leads "
                              "to memory that is neither bound nor named with use()"));
}

// Where the buffers lie in memory that the device reaches, nothing needs to be known of them.
TEST(ArgumentBuffersOfCopies, AreRefusedWhereAddressesAreNotKnown) {
  const Kernel untold = kernel_on(Device::named("trial"), "untold"),
               follow = kernel_on(Device::named("trial"), "follow");
  for (const Place place : {Place::host, Place::shared}) {
    const Buffer number = with(place, {5}), address = buffer_in(place, 8), y = with(place, {0}),
                 node = buffer_in(place, sizeof(Node));
    write(address, 0, number.gpu_address());
    write(node, 0, Node{.value = 2, .next = 0});
    const auto run_untold = [&] {
      run(untold, Dispatch().buffer(0, address).buffer(1, y).use(number, Access::read).threads({1}, {1}));
    };
    const auto run_follow = [&](std::uint64_t next) {
      run(follow,
          Dispatch().value(0, Node{.value = 1, .next = next}).buffer(1, y).use(node, Access::read).threads({1}, {1}));
    };
    run_follow(0);
    EXPECT_EQ(read<float>(y), 1);
    if (place == Place::shared) {
      run_untold();
      EXPECT_EQ(read<float>(y), 5);
      run_follow(node.gpu_address());
      EXPECT_EQ(read<float>(y), 3);
    } else {
      EXPECT_THAT(refusal(run_untold), HasSubstr("kernel 'untold' uses a buffer that its device cannot reach"));
      EXPECT_THAT(refusal([&] { run_follow(node.gpu_address()); }),
                  HasSubstr("argument 'node' at index 0, 'next', leads to memory that holds addresses, too"));
    }
  }
}

}  // namespace argument_buffers_test
}  // namespace metalloid
