// Devices, buffers, kernels, dispatch checks, queues, on every device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "metalloid/emit.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace runtime_test {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view source = R"(
#include <metal_stdlib>
using namespace metal;

kernel void scale(device float* values [[buffer(0)]], constant float& factor [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  values[i] *= factor;
}
struct Params { float4 a; uint b; };
kernel void params(device float* out, constant Params& p) { out[0] = p.a.x; }
kernel void three(device uint* out, constant uint3& v, constant packed_float3& p) { out[0] = v.x * v.y * v.z * uint(p.z); }
kernel void tile(device float* out, threadgroup float* shared [[threadgroup(0)]], threadgroup float4* more [[threadgroup(1)]],
                 uint i [[thread_position_in_threadgroup]]) {
  shared[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[0] + (&more[0] > (threadgroup float4*)shared ? 1 : 0);
}
kernel void fixed(device float* out, uint i [[thread_position_in_grid]]) {
  threadgroup float large[4096];
  large[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = large[i];
}
[[max_total_threads_per_threadgroup(64)]] kernel void limited(device float* out) { out[0] = 1; }
vertex float4 corner(uint i [[vertex_id]]) { return 0; }
constant bool with_bias [[function_constant(3)]];
constant int3 shape [[function_constant(4)]];
constant half exponent [[function_constant(5)]];
kernel void gated(device float* out, device const float* bias [[buffer(1), function_constant(with_bias)]]) {
  out[0] = (with_bias ? bias[0] : 7) + shape.x * 100 + shape.z * 1000 + float(exponent);
}
)";

class Runtime : public ::testing::TestWithParam<std::string> {
 protected:
  const Device device = Device::named(GetParam());

  Library library() const { return device.make_library(source); }  // kept in memory
  Kernel kernel(std::string_view name) const { return library().kernel(name); }
  Kernel kernel_of(const std::string& text) const {
    return device.make_library("#include <metal_stdlib>\nusing namespace metal;\n" + text).kernel("test");
  }

  template <typename Action>
  static void expect_error(ErrorCode code, Action action, const ::testing::Matcher<std::string>& message) {
    try {
      action();
      ADD_FAILURE() << "no error, expected " << name_of(code);
    } catch (const Error& error) {
      EXPECT_EQ(name_of(error.code()), name_of(code)) << error.what();
      EXPECT_THAT(std::string(error.what()), message);
    }
  }
};

TEST_P(Runtime, DevicesHaveNames) {
  EXPECT_EQ(device.name(), GetParam());
  EXPECT_EQ(Device::named("cpu").name(), "cpu");
  std::set<std::string> engines;
  for (const Device& each : Device::all()) EXPECT_TRUE(engines.insert(each.engine()).second) << each.name();
  std::set<std::string> names;
  for (const Device& each : Device::choices()) {
    EXPECT_TRUE(names.insert(each.name()).second) << each.name();
    EXPECT_EQ(Device::named(each.name()), each);
  }
  EXPECT_TRUE(names.contains(GetParam()));
  EXPECT_TRUE(std::ranges::includes(names, engines));
  EXPECT_EQ(Device::choices().front(), Device::cpu());
  expect_error(
      ErrorCode::invalid_argument, [] { Device::named("gpu"); }, AllOf(HasSubstr("gpu"), HasSubstr(GetParam())));
}

TEST_P(Runtime, OwnAndWrappedBuffers) {
  Buffer own(10);
  EXPECT_EQ(own.size(), 10u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(own.contents()) % 128, 0u);
  for (std::byte byte : own.as<std::byte>()) EXPECT_EQ(byte, std::byte{0});
  Buffer large(3 << 20);
  EXPECT_EQ(large.as<int>().back(), 0);
  EXPECT_NE(Buffer(0).contents(), nullptr);
  auto released = std::make_shared<int>(0);
  std::weak_ptr<int> watch = released;
  float memory[4] = {1, 2, 3, 4};
  {
    Buffer wrapped = Buffer::wrap(memory, sizeof(memory), std::move(released));
    Buffer copy = wrapped;
    wrapped = Buffer(1);
    EXPECT_FALSE(watch.expired());
    run(kernel("scale"), Dispatch().buffer(0, copy).value(1, 2.0f).threads({4}, {4}));
  }
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(memory[3], 8);
}

TEST_P(Runtime, BindsAtOffsets) {
  Buffer values(8 * sizeof(float));
  for (float& value : values.as<float>()) value = 1;
  run(kernel("scale"), Dispatch().buffer(0, values, 12).value(1, 3.0f).threads({5}, {2}));
  EXPECT_EQ(values.as<float>()[2], 1);
  EXPECT_EQ(values.as<float>()[3], 3);
  EXPECT_EQ(values.as<float>()[7], 3);
}

TEST_P(Runtime, TakesThreeNumbersForAVectorOfThree) {
  Buffer out(sizeof(std::uint32_t)), v(3 * sizeof(std::uint32_t));
  for (std::uint32_t i = 0; i < 3; ++i) v.as<std::uint32_t>()[i] = i + 2;
  const auto three = [&](auto p) { return Dispatch().buffer(0, out).buffer(1, v).value(2, p).threads({1}, {1}); };
  run(kernel("three"), three(std::array<float, 3>{0, 0, 10}));
  EXPECT_EQ(out.as<std::uint32_t>()[0], 240u);
  expect_error(
      ErrorCode::invalid_argument, [&] { run(kernel("three"), three(std::array<float, 2>{})); },
      AllOf(HasSubstr("'p'"), HasSubstr("12 bytes"), HasSubstr("8 given")));
}

TEST_P(Runtime, ChecksBuffers) {
  Buffer values(16);
  Kernel scale = kernel("scale");
  auto base = [&] { return Dispatch().threads({4}, {4}); };
  expect_error(
      ErrorCode::invalid_argument, [&] { run(scale, base().buffer(0, values)); },
      AllOf(HasSubstr("'scale'"), HasSubstr("index 1"), HasSubstr("'factor'"), HasSubstr("missing")));
  expect_error(
      ErrorCode::invalid_argument, [&] { run(scale, base().buffer(0, values).value(1, 1.0f).value(2, 1)); },
      AllOf(HasSubstr("'scale'"), HasSubstr("index 2"), HasSubstr("'values'")));
  expect_error(
      ErrorCode::limit_exceeded, [&] { run(scale, base().buffer(0, values).value(1, 1.0f).value(31, 1)); },
      HasSubstr("31"));
  expect_error(
      ErrorCode::invalid_argument, [&] { run(scale, base().buffer(0, values).value(1, std::uint16_t{1})); },
      AllOf(HasSubstr("'factor'"), HasSubstr("4 bytes"), HasSubstr("2 given")));
  expect_error(
      ErrorCode::invalid_argument, [&] { run(scale, base().buffer(0, values, 17).value(1, 1.0f)); },
      HasSubstr("offset 17"));
  expect_error(
      ErrorCode::invalid_argument, [&] { run(scale, base().buffer(0, values, 16).value(1, 1.0f)); },
      AllOf(HasSubstr("'values'"), HasSubstr("float")));
  std::vector<std::byte> many(4097);
  expect_error(
      ErrorCode::limit_exceeded, [&] { run(scale, base().buffer(0, values).bytes(1, many)); },
      AllOf(HasSubstr("4097"), HasSubstr("4096")));
  expect_error(
      ErrorCode::invalid_argument, [&] { run(kernel("params"), base().buffer(0, values).buffer(1, Buffer(16))); },
      AllOf(HasSubstr("'p'"), HasSubstr("Params"), HasSubstr("32 bytes")));
}

TEST_P(Runtime, ChecksGrids) {
  Buffer values(64);
  Kernel scale = kernel("scale");
  auto base = [&] { return Dispatch().buffer(0, values).value(1, 1.0f); };
  expect_error(ErrorCode::invalid_argument, [&] { run(scale, base()); }, HasSubstr("grid"));
  expect_error(ErrorCode::invalid_argument, [&] { run(scale, base().threads({0}, {4})); }, HasSubstr("(0, 1, 1)"));
  expect_error(ErrorCode::invalid_argument, [&] { run(scale, base().threads({4}, {4, 0})); }, HasSubstr("(4, 0, 1)"));
  expect_error(ErrorCode::limit_exceeded, [&] { run(scale, base().threads({4}, {1025})); }, HasSubstr("1024"));
  expect_error(ErrorCode::limit_exceeded, [&] { run(scale, base().threads({4}, {32, 32, 2})); }, HasSubstr("1024"));
  expect_error(
      ErrorCode::limit_exceeded, [&] { run(scale, base().threads({4}, {1u << 31, 1u << 31, 4})); }, HasSubstr("1024"));
  expect_error(
      ErrorCode::limit_exceeded, [&] { run(scale, base().threadgroups({1u << 30}, {1024})); }, HasSubstr("2^32"));
  EXPECT_EQ(kernel("limited").max_total_threads_per_threadgroup(), 64u);
  EXPECT_EQ(scale.max_total_threads_per_threadgroup(), 1024u);
  EXPECT_EQ(kernel("limited").default_threadgroup({0}), (Size{1}));
  EXPECT_EQ(kernel("limited").default_threadgroup({63}), (Size{63}));
  EXPECT_EQ(kernel("limited").default_threadgroup({65}), (Size{64}));
  EXPECT_EQ(kernel("limited").default_threadgroup({5, 3}, 2), (Size{64}));
  EXPECT_EQ(kernel("limited").filled_threadgroup({5, 3}), (Size{5, 3}));
  EXPECT_EQ(kernel("limited").filled_threadgroup({5, 30, 7}), (Size{5, 12, 1}));
  EXPECT_EQ(kernel("limited").filled_threadgroup({2, 3, 70}), (Size{2, 3, 10}));
  expect_error(
      ErrorCode::limit_exceeded, [&] { run(kernel("limited"), Dispatch().buffer(0, values).threads({65}, {65})); },
      AllOf(HasSubstr("64"), HasSubstr("max_total_threads_per_threadgroup")));
}

TEST_P(Runtime, ChecksThreadgroupMemory) {
  Buffer out(64 * sizeof(float));
  auto base = [&] { return Dispatch().buffer(0, out).threads({8}, {8}); };
  expect_error(
      ErrorCode::invalid_argument, [&] { run(kernel("tile"), base().threadgroup_memory(0, 32)); },
      AllOf(HasSubstr("'more'"), HasSubstr("index 1")));
  expect_error(
      ErrorCode::invalid_argument,
      [&] {
        run(kernel("tile"), base().threadgroup_memory(0, 32).threadgroup_memory(1, 32).threadgroup_memory(2, 16));
      },
      HasSubstr("index 2"));
  expect_error(
      ErrorCode::limit_exceeded,
      [&] { run(kernel("tile"), base().threadgroup_memory(0, 32).threadgroup_memory(1, 32768)); }, HasSubstr("32768"));
  EXPECT_EQ(kernel("fixed").static_threadgroup_memory_length(), 16384u);
  run(kernel("tile"), base().threadgroup_memory(0, 33).threadgroup_memory(1, 16));
  EXPECT_EQ(out.as<float>()[7], 1);
}

TEST_P(Runtime, NamesTheNearestKernels) {
  expect_error(
      ErrorCode::unknown_function, [&] { kernel("scales"); }, AllOf(HasSubstr("'scales'"), HasSubstr("'scale'")));
  expect_error(ErrorCode::unknown_function, [&] { kernel("completely_different"); }, HasSubstr("'params'"));
  expect_error(ErrorCode::unsupported, [&] { kernel("corner"); }, HasSubstr("vertex"));
}

TEST_P(Runtime, SpecialisesByFunctionConstants) {
  Buffer out(4), bias(4);
  bias.as<float>()[0] = 0.5;
  // As Metal refuses a pipeline.
  expect_error(
      ErrorCode::invalid_argument, [&] { kernel("gated"); },
      HasSubstr("needs a value for function constant 'with_bias' (index 3) of type bool"));
  FunctionConstants constants;
  constants.set(3, false).set("shape", std::vector<std::int64_t>{0, 0, 0}).set(5, 0.0);
  const Kernel plain = library().kernel("gated", constants);
  run(plain, Dispatch().buffer(0, out).threads({1}, {1}));
  EXPECT_EQ(out.as<float>()[0], 7);
  constants.set(3, true).set("shape", std::vector<std::int64_t>{1, 2, 3}).set(5, 0.25);
  Kernel special = library().kernel("gated", constants);
  expect_error(
      ErrorCode::invalid_argument, [&] { run(special, Dispatch().buffer(0, out).threads({1}, {1})); },
      HasSubstr("'bias'"));
  run(special, Dispatch().buffer(0, out).buffer(1, bias).threads({1}, {1}));
  EXPECT_EQ(out.as<float>()[0], 0.5f + 100 + 3000 + 0.25f);
  EXPECT_FALSE(plain.info().arguments[1].is_active);
  EXPECT_TRUE(special.info().arguments[1].is_active);
}

TEST_P(Runtime, FunctionConstantsHaveAllBits) {
  const Library wide = device.make_library(R"(
    #include <metal_stdlib>
    using namespace metal;
    constant ulong big [[function_constant(0)]];
    constant long small [[function_constant(1)]];
    constant ulong2 both [[function_constant(2)]];
    constant float number [[function_constant(3)]];
    kernel void f(device ulong* out) {
      out[0] = big; out[1] = ulong(small); out[2] = both.x; out[3] = isnan(number) ? 1 : ulong(number);
    }
  )");
  Buffer out(32);
  const auto values = [&](const FunctionConstants& constants) {
    run(wide.kernel("f", constants), Dispatch().buffer(0, out).threads({1}, {1}));
    const auto* first = out.as<std::uint64_t>().data();
    return std::vector<std::uint64_t>(first, first + 4);
  };
  const std::uint64_t most = UINT64_MAX, middle = std::uint64_t{1} << 63;
  EXPECT_THAT(values(FunctionConstants()
                         .set("big", most)
                         .set(1, 5u)
                         .set("both", std::vector<std::uint64_t>{middle, most})
                         .set(3, middle)),
              ::testing::ElementsAre(most, 5, middle, middle));
  EXPECT_THAT(values(FunctionConstants()
                         .set(0, std::int64_t{-1})  // the same bits
                         .set("small", std::int64_t{-2})
                         .set(2, std::vector<std::int64_t>{INT64_MIN, 1})
                         .set(3, std::nan(""))),
              ::testing::ElementsAre(most, most - 1, middle, 1));
  EXPECT_THAT(values(FunctionConstants()
                         .set(0, 0x1p63)
                         .set(1, std::int64_t{5})
                         .set(2, std::vector<double>{0x1p63, 0})
                         .set(3, 0x1p63)),
              ::testing::ElementsAre(middle, 5, middle, middle));
  expect_error(
      ErrorCode::invalid_argument, [&] { wide.kernel("f", FunctionConstants().set(0, 0x1p64)); },
      HasSubstr("'big' (index 0) of type ulong cannot hold"));
  expect_error(
      ErrorCode::invalid_argument, [&] { wide.kernel("f", FunctionConstants().set(3, 1e39)); },
      HasSubstr("'number' (index 3) of type float cannot hold 1e+39"));
}

TEST_P(Runtime, RejectsWrongFunctionConstants) {
  auto with = [&](FunctionConstants constants) { library().kernel("gated", constants); };
  expect_error(
      ErrorCode::invalid_argument, [&] { with(FunctionConstants().set(9, true)); },
      AllOf(HasSubstr("9"), HasSubstr("'with_bias'")));
  expect_error(ErrorCode::invalid_argument, [&] { with(FunctionConstants().set("bias", true)); }, HasSubstr("'bias'"));
  expect_error(
      ErrorCode::invalid_argument, [&] { with(FunctionConstants().set("shape", std::int64_t{1})); },
      AllOf(HasSubstr("'shape'"), HasSubstr("3 values")));
  expect_error(
      ErrorCode::invalid_argument,
      [&] { with(FunctionConstants().set(4, std::vector<std::int64_t>{1, 2, std::int64_t{1} << 33})); },
      HasSubstr("'shape'"));
  expect_error(
      ErrorCode::invalid_argument, [&] { with(FunctionConstants().set(4, std::vector<double>{1, 2, 0.5})); },
      HasSubstr("0.5"));
}

// As arrays of hosts lie, and as kernels cast.
TEST_P(Runtime, ReadsAndWritesAtAnyAddress) {
  const Kernel kernel = kernel_of(R"(
kernel void test(device float4* out, device const uchar* in [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = *reinterpret_cast<device const float4*>(in + 1 + 16 * i);
})");
  alignas(64) unsigned char bytes[4 + 32 * 16 + 1] = {};
  alignas(64) unsigned char from[2 + 32 * 16] = {};
  for (unsigned i = 0; i < 128; ++i) {
    const float value = static_cast<float>(i);
    std::memcpy(from + 1 + 4 * i, &value, 4);
  }
  run(kernel, Dispatch()
                  .buffer(0, Buffer::wrap(bytes + 4, 32 * 16))
                  .buffer(1, Buffer::wrap(from, sizeof(from)))
                  .threads({32}, {32}));
  EXPECT_EQ(std::memcmp(bytes + 4, from + 1, 32 * 16), 0);
}

TEST_P(Runtime, CrashesAndFineKernelsRunSideBySide) {
  if (GetParam() == "cuda") GTEST_SKIP() << "an address that is made of a number takes the process's context away";
  const Kernel crash = kernel_of(
      "kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {\n"
      "  simd_sum(i);\n  *(device uint*)(ulong(i)) = 1;\n}\n");
  const Kernel fine = kernel_of(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup_barrier(mem_flags::mem_none);
  out[i] = simd_sum(1u);
})");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 25; ++repeat) {
        Buffer out(512 * sizeof(std::uint32_t));
        const Dispatch dispatch = Dispatch().buffer(0, out).threads({512}, {64});
        if (t % 2) {
          expect_error(ErrorCode::kernel_crashed, [&] { run(crash, dispatch); }, HasSubstr("'test'"));
        } else {
          run(fine, dispatch);
          ASSERT_THAT(out.as<std::uint32_t>(), Each(32u));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Runtime, QueuesRunInOrderAndSideBySide) {
  Kernel scale = kernel("scale");
  constexpr int queues = 4, steps = 50;
  std::vector<Buffer> buffers;
  std::vector<std::thread> threads;
  for (int q = 0; q < queues; ++q) {
    buffers.emplace_back(1000 * sizeof(float));
    for (float& value : buffers.back().as<float>()) value = 1;
  }
  for (int q = 0; q < queues; ++q) {
    threads.emplace_back([&, q] {
      Queue queue(device);
      std::vector<float> seen;
      for (int step = 0; step < steps; ++step) {
        queue.submit(scale, Dispatch().buffer(0, buffers[q]).value(1, 2.0f).threads({1000}, {64}));
        queue.submit(scale, Dispatch().buffer(0, buffers[q]).value(1, 0.5f).threads({1000}, {64}));
        queue.submit([&] { seen.push_back(buffers[q].as<float>()[999]); });
      }
      queue.submit(scale, Dispatch().buffer(0, buffers[q]).value(1, float(q + 2)).threads({1000}, {64})).wait();
      queue.wait();
      EXPECT_EQ(seen, std::vector<float>(steps, 1.0f));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int q = 0; q < queues; ++q) {
    for (float value : buffers[q].as<float>()) ASSERT_EQ(value, q + 2);
  }
}

TEST_P(Runtime, QueuesKeepBuffersThatTheHostLetGo) {
  Queue queue(device);
  std::promise<void> go;
  queue.submit([&] { go.get_future().wait(); });
  auto owner = std::make_shared<std::vector<float>>(4, 3.0f);
  const std::weak_ptr<std::vector<float>> alive = owner;
  Buffer own(16);
  own.as<float>()[0] = 5;
  float* memory = own.as<float>().data();
  queue.submit(kernel("scale"),
               Dispatch().buffer(0, Buffer::wrap(owner->data(), 16, owner)).value(1, 2.0f).threads({4}, {4}));
  float seen = 0;
  auto last = queue.submit(kernel("scale"), Dispatch().buffer(0, own).value(1, 2.0f).threads({4}, {4}));
  queue.submit([&, own] { seen = memory[0]; });
  owner.reset();
  own = Buffer(16);
  EXPECT_FALSE(alive.expired());
  go.set_value();
  EXPECT_NO_THROW(queue.wait());
  EXPECT_TRUE(last.finished());
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(seen, 10);
}

TEST_P(Runtime, InterruptedDispatchesOfQueues) {
  const Kernel endless =
      device.make_library("kernel void spin(device volatile uint* x) { x[0] = 1; while (true) x[1]++; }")
          .kernel("spin");
  Queue queue(device);
  Buffer values(8);
  Submission submission =
      queue.submit(endless, Dispatch().buffer(0, values).threads({1}, {1}).timeout(std::chrono::milliseconds(0)));
  // Again and again: it may not run yet, and what it has written need not be in the host's memory.
  while (!submission.finished()) {
    interrupt_kernels();
    std::this_thread::yield();
  }
  expect_error(ErrorCode::kernel_interrupted, [&] { submission.wait(); }, HasSubstr("kernel 'spin' was interrupted"));
}

TEST_P(Runtime, QueuesCheckAtSubmitAndReportAtWait) {
  Queue queue(device);
  Buffer values(16);
  EXPECT_THROW(queue.submit(kernel("scale"), Dispatch().threads({1}, {1})), Error);
  Submission failing = queue.submit([] { throw Error(ErrorCode::internal, "on purpose"); });
  Submission fine = queue.submit(kernel("scale"), Dispatch().buffer(0, values).value(1, 1.0f).threads({4}, {4}));
  EXPECT_NO_THROW(fine.wait());
  EXPECT_TRUE(failing.finished());
  EXPECT_THROW(failing.wait(), Error);
  EXPECT_THROW(failing.wait(), Error) << "every time";
  EXPECT_THROW(queue.wait(), Error);
  EXPECT_NO_THROW(queue.wait()) << "once";
}

TEST_P(Runtime, ShowsWhatKernelsCompileTo) {
  EXPECT_THAT(emit_library(library()), HasSubstr("define"));
  EXPECT_THAT(emit(library(), "scale", Emit::ir), HasSubstr("fmul"));
  EXPECT_THAT(emit(library(), "scale", Emit::assembly), HasSubstr("\n"));
  EXPECT_THAT(emit(library(), "scale", Emit::object), Not(IsEmpty()));
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Device& device : Device::all()) names.push_back(device.name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Devices, Runtime, ::testing::ValuesIn(device_names()),
                         [](const auto& info) { return info.param; });

}  // namespace runtime_test
}  // namespace metalloid
