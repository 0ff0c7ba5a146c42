// What surrounds engines, seen with one that has memory of its own and is done later (engines/trial).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "engines/registry.h"
#include "metalloid/check.h"
#include "metalloid/emit.h"
#include "metalloid/metalloid.h"
#include "metalloid/tune.h"
#include "runtime/compile/compile_jobs.h"
#include "runtime/compile/kernel_lookup.h"
#include "runtime/dispatch/plan.h"
#include "runtime/dispatch/staging.h"
#include "runtime/states.h"

namespace metalloid {
namespace engine_boundary_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Before anything asks for the list of engines.
[[maybe_unused]] const int registered = ::setenv("METALLOID_TRIAL_ENGINE", "1", 1);

Device trial() { return Device::named("trial"); }

constexpr const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void add(device const float* a [[buffer(0)]], device float* b [[buffer(1)]], constant float& c [[buffer(2)]],
                uint i [[thread_position_in_grid]]) {
  b[i] = a[i] + b[i] + c;
}
int fibonacci(int n) {
  threadgroup_barrier(mem_flags::mem_none);
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
kernel void total(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  b[i] = simd_sum(a[i]) + fibonacci(int(a[0]) - 1);
}
kernel void touch(device float* a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = 7; }
)";

Library library() {
  CompileOptions options;
  options.source_name = "boundary.metal";
  return trial().make_library(source, options);
}

void set(const Buffer& buffer, const std::vector<float>& values) { buffer.write(0, std::as_bytes(std::span(values))); }

std::vector<float> get(const Buffer& buffer) {
  std::vector<float> values(buffer.size() / sizeof(float));
  buffer.read(0, std::as_writable_bytes(std::span(values)));
  return values;
}

TEST(EngineBoundary, MemoryOfADeviceIsReachedByCopies) {
  const Buffer a(trial(), 16), b(trial(), 16);
  EXPECT_EQ(a.contents(), nullptr);
  EXPECT_EQ(a.as<float>().size(), 0u);
  EXPECT_NE(a.gpu_address(), 0u);
  EXPECT_THAT(get(a), ElementsAre(0, 0, 0, 0));
  set(a, {1, 2, 3, 4});
  set(b, {10, 20, 30, 40});
  const Kernel add = library().kernel("add");
  EXPECT_EQ(add.engine(), "trial");
  EXPECT_TRUE(add.remarks().empty());
  run(add, Dispatch().buffer(0, a).buffer(1, b).value(2, 0.5f).threads({4}, {4}));
  EXPECT_THAT(get(b), ElementsAre(11.5f, 22.5f, 33.5f, 44.5f));
  EXPECT_THAT(get(a), ElementsAre(1, 2, 3, 4));
  std::array<std::byte, 8> room;
  EXPECT_THROW(a.read(12, room), Error);
  EXPECT_THROW(a.write(17, {}), Error);
}

TEST(EngineBoundary, HostMemoryIsCopiedThereAndBack) {
  std::vector<float> a = {1, 2}, b = {3, 4};
  const Kernel add = library().kernel("add");
  run(add, Dispatch()
               .buffer(0, Buffer::wrap(a.data(), 8))
               .buffer(1, Buffer::wrap(b.data(), 8))
               .value(2, 0.0f)
               .threads({2}, {2}));
  EXPECT_THAT(b, ElementsAre(4, 6));
  EXPECT_THAT(a, ElementsAre(1, 2));
}

// b is a moved on by one element: what the kernel writes through one it reads through the other.
TEST(EngineBoundary, WhatIsBoundTwiceIsOneMemory) {
  std::vector<float> numbers = {1, 2, 3, 4, 5};
  const Kernel add = library().kernel("add");
  for (unsigned i = 0; i < 4; ++i) {
    run(add, Dispatch()
                 .buffer(0, Buffer::wrap(numbers.data(), 20), 4 * i)
                 .buffer(1, Buffer::wrap(numbers.data() + 1, 16), 4 * i)
                 .value(2, 0.0f)
                 .threads({1}, {1}));
  }
  EXPECT_THAT(numbers, ElementsAre(1, 3, 6, 10, 15));
}

// What the kernel is given the address of.
constexpr const char* addresses = R"(
#include <metal_stdlib>
using namespace metal;
kernel void where(device float* x [[buffer(0)]], device ulong* at [[buffer(1)]]) { at[0] = ulong(x); }
)";

std::uint64_t address_in_kernel(const Device& device, const Buffer& buffer) {
  const Buffer at(device, 8);
  run(device.make_library(addresses).kernel("where"), Dispatch().buffer(0, buffer).buffer(1, at).threads({1}, {1}));
  std::uint64_t address = 0;
  at.read(0, std::as_writable_bytes(std::span(&address, 1)));
  return address;
}

TEST(EngineBoundary, OnlyMemoryOutOfReachIsCopied) {
  const Buffer own(trial(), 16), both(trial(), 16, Buffer::Storage::shared), other(Device::named("trial:1"), 16),
      host(16);
  EXPECT_EQ(address_in_kernel(trial(), own), own.gpu_address());
  EXPECT_EQ(address_in_kernel(trial(), both), both.gpu_address());
  EXPECT_NE(address_in_kernel(trial(), other), other.gpu_address());
  EXPECT_NE(address_in_kernel(trial(), host), host.gpu_address());
  EXPECT_EQ(address_in_kernel(Device::cpu(), both), both.gpu_address());
  EXPECT_NE(address_in_kernel(Device::cpu(), own), own.gpu_address());
}

TEST(EngineBoundary, SharedMemoryIsTheHostsToo) {
  const Buffer a(trial(), 16, Buffer::Storage::shared), b(trial(), 16);
  ASSERT_NE(a.contents(), nullptr);
  a.as<float>()[3] = 5;
  run(library().kernel("add"), Dispatch().buffer(0, b).buffer(1, a).value(2, 1.0f).threads({4}, {4}));
  EXPECT_THAT(a.as<float>(), ElementsAre(1, 1, 1, 6));
  EXPECT_NE(Buffer(Device::cpu(), 16, Buffer::Storage::shared).contents(), nullptr);
}

TEST(EngineBoundary, OfAReferencesBufferTheObjectIsCopied) {
  const Library peeks = trial().make_library(R"(
kernel void peek(constant float& c [[buffer(0)]], device float& y [[buffer(1)]]) { y = c; }
kernel void peek_behind(constant float& c [[buffer(0)]], device float& y [[buffer(1)]]) { y = (&c)[1]; }
)");
  const Buffer numbers(400), at_device(trial(), 400);
  for (int i = 0; i < 100; ++i) numbers.as<float>()[i] = static_cast<float>(i);
  at_device.write(0, std::as_bytes(numbers.as<float>()));
  // Of two references in one buffer, one of which is written.
  for (const std::size_t from : {0u, 37u, 99u}) {
    run(peeks.kernel("peek"), Dispatch().buffer(0, numbers, 4 * from).buffer(1, numbers, 4 * 36).threads({1}, {1}));
    EXPECT_EQ(numbers.as<float>()[36], static_cast<float>(from));
    numbers.as<float>()[36] = 36;
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(numbers.as<float>()[i], static_cast<float>(i));
  const auto peek_behind = [&](const Buffer& buffer) {
    run(peeks.kernel("peek_behind"), Dispatch().buffer(0, buffer, 4).buffer(1, buffer, 0).threads({1}, {1}));
  };
  peek_behind(at_device);
  EXPECT_EQ(get(at_device)[0], 2);
  try {
    peek_behind(numbers);
    FAIL() << "the next object was copied, too";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_bounds);
    EXPECT_THAT(error.what(), HasSubstr("outside of argument 'c'"));
  }
}

// What the host does next to it meanwhile stays.
TEST(EngineBoundary, NoMoreOfABufferIsCopiedThanIsNamed) {
  CompileOptions metal4;
  metal4.language = {4, 0};
  const Kernel kernel = trial()
                            .make_library(R"(
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;
kernel void one_and_some(device float& one [[buffer(0)]],
                         tensor<device float, dextents<int, 1>, tensor_handle> some [[buffer(1)]]) {
  one = some[0];
}
)",
                                          metal4)
                            .kernel("one_and_some");
  const Buffer numbers(std::size_t{1} << 20);
  const std::array<std::int64_t, 1> extents{5};
  const Dispatch dispatch = Dispatch().buffer(0, numbers, 4000).tensor(1, numbers, extents, {}, 8004).threads({1}, {1});
  const engines::DispatchPlan plan = runtime::plan_dispatch(kernel, dispatch);
  runtime::Staging staging(kernel.info(), plan, *kernel.state().compiled->runner.hardware);
  std::size_t copied = 0;
  for (const engines::BoundArgument& argument : staging.plan().arguments) copied += argument.memory.size;
  EXPECT_LT(copied, 2 * 128 + 6 * sizeof(float));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(staging.plan().arguments[0].memory.address()) % 128, 4000 % 128);
  kernel.state().compiled->executable->run(staging.plan());
  for (std::size_t i = 0; i < numbers.size() / 4; ++i) numbers.as<float>()[i] = 3;
  staging.copy_back();
  for (std::size_t i = 0; i < numbers.size() / 4; ++i) {
    const bool is_named = i == 1000 || (i >= 2001 && i < 2006);
    ASSERT_EQ(numbers.as<float>()[i], is_named ? 0 : 3) << i;
  }
}

TEST(EngineBoundary, EqualHardwareSharesCompiledCode) {
  const Device first = trial(), second = Device::named("trial:1");
  EXPECT_EQ(second.engine(), "trial");
  const std::string name =
      fmt::format("touch_{}_{}", ::getpid(), std::chrono::steady_clock::now().time_since_epoch().count());
  const std::string fresh =
      fmt::format("kernel void {}(device float* a, uint i [[thread_position_in_grid]]) {{ a[i] = 7; }}\n", name);
  const Kernel one = first.make_library(fresh).kernel(name), other = second.make_library(fresh).kernel(name);
  EXPECT_FALSE(one.came_from_cache());
  EXPECT_TRUE(other.came_from_cache());
  const runtime::CompiledKernel &here = *one.state().compiled, &there = *other.state().compiled;
  EXPECT_EQ(here.runner.engine, there.runner.engine);
  EXPECT_NE(here.runner.hardware, there.runner.hardware);
  EXPECT_NE(here.executable, there.executable);
  // Each with its own memory, and with the other's.
  for (const Device& owner : {first, second}) {
    const Buffer a(owner, 16);
    for (const Kernel& kernel : {one, other}) {
      set(a, {1, 2, 3, 4});
      run(kernel, Dispatch().buffer(0, a).threads({3}, {3}));
      EXPECT_THAT(get(a), ElementsAre(7, 7, 7, 4));
    }
  }
}

// Large kernels are compiled for threadgroups in rows of 32, and for others once there is one.
TEST(EngineBoundary, WhatFewDispatchesNeedIsCompiledForThem) {
  std::string text =
      "kernel void large(device uint* x, uint i [[thread_position_in_grid]]) {\n"
      "  threadgroup atomic_uint counts[64];\n"
      "  atomic_store_explicit(&counts[i % 64], 0, memory_order_relaxed);\n";
  for (int k = 0; k < 128; ++k) {
    text += "  atomic_fetch_add_explicit(&counts[i * " + std::to_string(k) + " % 64], 1, memory_order_relaxed);\n";
  }
  text += "  x[i] = i;\n}";
  const Device device = Device::cpu();
  const Kernel large = device.make_library("#include <metal_stdlib>\nusing namespace metal;\n" + text).kernel("large");
  const Buffer x(device, 64 * sizeof(float));
  run(large, Dispatch().buffer(0, x).threads({64}, {32}));
  EXPECT_EQ(large.state().complete.ready, nullptr);
  run(large, Dispatch().buffer(0, x).threads({40}, {32}));
  const runtime::CompiledKernel* complete = large.state().complete.ready;
  ASSERT_NE(complete, nullptr);
  EXPECT_EQ(complete->engine_name, "simd");
  run(large, Dispatch().buffer(0, x).threads({64}, {16}));
  EXPECT_EQ(large.state().complete.ready, complete);
}

#ifdef __x86_64__
// Whatever this machine is: the compiler's process is told, and asks no hardware.
TEST(EngineBoundary, CodeIsMadeForATarget) {
  const Library library = Device::cpu().make_library(source);
  const Library::State& state = library.state();
  const auto limits = isolation::CompileLimits::from_environment();
  const KernelInfo& add = runtime::find_kernel(state.info, "add");
  for (const char* engine : {"simd", "reference", "trial"}) {
    const auto assembly = [&](const std::string& target) {
      const std::vector<runtime::Candidate> candidates{{engine, target, {}}};
      return runtime::compile_kernel(state.bitcode, state.info, add, {}, candidates, limits, Emit::assembly).code;
    };
    EXPECT_THAT(assembly("checked x86-64;"), AllOf(HasSubstr("metalloid_report_bounds"), Not(HasSubstr("\tvadd"))));
    EXPECT_THAT(assembly("checked skylake-avx512;"), HasSubstr("\tvadd"));
    EXPECT_THAT(assembly("checked usual skylake-avx512;"), HasSubstr("\tvadd"));
    EXPECT_THAT(assembly("unchecked x86-64;+avx,+avx2"),
                AllOf(HasSubstr("\tvadd"), Not(HasSubstr("metalloid_report_bounds"))));
    EXPECT_THROW(assembly("sm_90"), Error);
  }
}
#endif

// Threads that meet have their variables at the same time, for which there is 1 GiB of memory.
TEST(EngineBoundary, HowManyThreadsThereMayBeIsTheLoadedKernelsToSay) {
  constexpr const char* large = R"(
#include <metal_stdlib>
using namespace metal;
kernel void room(device uint* y [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  volatile uint own[1 << 20];
  own[y[i]] = i;
  threadgroup_barrier(mem_flags::mem_device);
  y[i] = own[y[i]];
}
)";
  for (const char* name : {"cpu", "reference", "trial", "trial_reference"}) {
    const Device device = Device::named(name);
    EXPECT_EQ(device.limits().threads_per_threadgroup, max_threads_per_threadgroup);
    const Kernel room = device.make_library(large).kernel("room");
    const std::uint32_t most = room.max_total_threads_per_threadgroup();
    EXPECT_LT(most, 257u) << name;
    EXPECT_GE(most, 128u) << name;
    const Buffer y(4096);
    try {
      run(room, Dispatch().buffer(0, y).threads({512}, {512}));
      FAIL() << "more than fit ran on " << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
      EXPECT_THAT(error.what(), HasSubstr(fmt::format("the kernel's max_total_threads_per_threadgroup is {}", most)));
    }
    run(room, Dispatch().buffer(0, y).threads({32}, {32}));
    EXPECT_EQ(y.as<std::uint32_t>()[31], 31u) << name;
  }
}

// The engine that checks is on the host's processor.
TEST(EngineBoundary, TheCheckerLooksAtDispatchesOfAllDevices) {
  const Library mistakes = trial().make_library(R"(
#include <metal_stdlib>
using namespace metal;
kernel void beyond(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) { out[i] = in[i + 1] + 1; }
)");
  const Buffer in(trial(), 16), out(trial(), 16), host_out(16);
  set(in, {1, 2, 3, 4});
  CheckSession session;
  const Kernel beyond = mistakes.kernel("beyond");
  run(beyond, Dispatch().buffer(0, in).buffer(1, out).threads({3}, {3}));
  EXPECT_EQ(session.dispatches(), 1u);
  EXPECT_TRUE(session.findings().empty());
  EXPECT_THAT(get(out), ElementsAre(3, 4, 5, 0));
  for (const Buffer& result : {out, host_out}) {
    run(beyond, Dispatch().buffer(0, in).buffer(1, result).threads({4}, {4}));
    EXPECT_THAT(get(result), ElementsAre(3, 4, 5, 1));
  }
  Queue queue(trial());
  queue.submit(beyond, Dispatch().buffer(0, in).buffer(1, out).threads({4}, {4})).wait();
  EXPECT_EQ(session.dispatches(), 4u);
  ASSERT_EQ(session.findings().size(), 1u);
  const Finding finding = session.findings().front();
  EXPECT_EQ(finding.kind, CheckClass::out_of_bounds);
  EXPECT_EQ(finding.count, 3u);
  EXPECT_EQ(finding.memory, "in");
  EXPECT_EQ(finding.index, 0);
}

TEST(EngineBoundary, TuningLeavesMemoryOfADeviceAlone) {
  const Buffer a(trial(), 256), b(trial(), 256, Buffer::Storage::shared);
  set(a, {1, 2, 3, 4});
  b.as<float>()[1] = 5;
  TuneOptions options{.rounds = 1, .force = true};
  options.reached.push_back({a, ElementType::float32});
  const TuneResult result = tune(library().kernel("add"),
                                 Dispatch().buffer(0, a).buffer(1, b).value(2, 1.0f).threads({64}, {0, 0, 0}), options);
  for (const TuneTrial& trial : result.trials) EXPECT_EQ(trial.outcome, TuneTrial::Outcome::measured) << trial.note;
  EXPECT_FALSE(result.results_vary);
  EXPECT_EQ(get(a)[3], 4);
  EXPECT_EQ(b.as<float>()[1], 5);
}

TEST(EngineBoundary, FallBacksShowWithTheirRemark) {
  const Kernel total = library().kernel("total");
  EXPECT_EQ(total.engine(), "reference");
  EXPECT_EQ(total.device().name(), "trial");
  const std::vector<Remark> remarks = total.remarks();
  ASSERT_EQ(remarks.size(), 1u);
  const Remark& remark = remarks[0];
  EXPECT_EQ(remark.engine, "trial");
  EXPECT_EQ(remark.reason, "a threadgroup barrier in a function that could not be inlined");
  EXPECT_EQ(remark.source_file, "boundary.metal");
  EXPECT_NE(remark.source_line, 0u);
  // From the cache it says the same.
  EXPECT_EQ(library().kernel("total").remarks().size(), 1u);
  // Its memory goes from the device to the host and back.
  const Buffer a(trial(), 16), b(trial(), 16);
  set(a, {1, 2, 3, 4});
  run(total, Dispatch().buffer(0, a).buffer(1, b).threads({4}, {4}));
  EXPECT_THAT(get(b), ElementsAre(10, 10, 10, 10));
}

TEST(EngineBoundary, DevicesDoNotShareLoadedKernels) {
  std::vector<float> numbers(4);
  const Kernel here = Device::cpu().make_library(source).kernel("touch");
  const Kernel there = trial().make_library(source).kernel("touch");
  EXPECT_EQ(here.engine(), Device::cpu().engine());
  EXPECT_EQ(there.engine(), "trial");
  for (const Kernel& kernel : {here, there}) {
    run(kernel, Dispatch().buffer(0, Buffer::wrap(numbers.data(), 16)).threads({4}, {4}));
    EXPECT_THAT(numbers, ElementsAre(7, 7, 7, 7));
    numbers.assign(4, 0);
  }
}

TEST(EngineBoundary, AQueueIsOfItsDevice) {
  Queue queue(trial());
  const Buffer a(trial(), 16);
  const Kernel here = Device::cpu().make_library(source).kernel("touch");
  try {
    queue.submit(here, Dispatch().buffer(0, a).threads({4}, {4}));
    FAIL() << "a kernel of another device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("'touch' was made for device 'cpu'; the queue is of device 'trial'"));
  }
  queue.submit(library().kernel("touch"), Dispatch().buffer(0, a).threads({4}, {4})).wait();
  EXPECT_THAT(get(a), ElementsAre(7, 7, 7, 7));
}

TEST(EngineBoundary, FailuresBringBackWhatWasWritten) {
  const Kernel kernel = trial()
                            .make_library(R"(
kernel void half_way(device uint* a [[buffer(0)]]) {
  a[0] = 1;
  device uint* nowhere = nullptr;
  nowhere[4] = 2;
}
)")
                            .kernel("half_way");
  std::vector<std::uint32_t> numbers(4);
  EXPECT_THROW(run(kernel, Dispatch().buffer(0, Buffer::wrap(numbers.data(), 16)).threads({1}, {1})), Error);
  EXPECT_THAT(numbers, ElementsAre(1, 0, 0, 0));
}

}  // namespace engine_boundary_test
}  // namespace metalloid
