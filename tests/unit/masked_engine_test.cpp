// The engine that proves masks (engines/reference/reference_engine.h) sees wrong ones: else no test that runs on device
// "masked" would say anything.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "engines/reference/reference_engine.h"
#include "metalloid/error.h"

namespace metalloid {
namespace masked_engine_test {

constexpr const char* declarations = R"(
declare i32 @metalloid.masked.simd.sum.i32(i32, i32) convergent
declare void @metalloid.masked.threadgroup_barrier(i32, i32, i32, i32) convergent
declare i32 @metalloid.lanes.present() convergent
declare void @llvm.trap()
declare i32 @metalloid.lanes.where(i32, i1) convergent
define void @kernel(i32 %lane) convergent {
)";

// Runs a kernel of 32 threads whose first argument is the lane.
void run(const std::string& body) {
  KernelInfo info;
  info.name = info.symbol = "kernel";
  ArgumentInfo lane;
  lane.name = "lane";
  lane.kind = ArgumentKind::builtin;
  lane.builtin = Builtin::thread_index_in_simdgroup;
  lane.type.scalar = ElementType::uint32;
  lane.type.size = 4;
  info.arguments.push_back(lane);
  engines::DispatchPlan plan;
  plan.arguments.resize(1);
  plan.threads_per_grid = plan.threads_per_threadgroup = {32, 1, 1};
  plan.threadgroups_per_grid = {1, 1, 1};
  plan.timeout = std::chrono::seconds(30);
  engines::reference::load_masked(declarations + body + "}\n", info)->run(plan);
}

void expect_crash(const std::string& body) {
  try {
    run(body);
    ADD_FAILURE() << "nobody noticed: " << body;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kernel_crashed) << error.what();
  }
}

TEST(MaskedEngine, CarriesOutWhatTheMasksSay) {
  run(R"(
  %all = call i32 @metalloid.lanes.present()
  %c = icmp ult i32 %lane, 7
  %some = call i32 @metalloid.lanes.where(i32 %all, i1 %c)
  br i1 %c, label %a, label %b
a:
  %x = call i32 @metalloid.masked.simd.sum.i32(i32 127, i32 1)
  %is.right = icmp eq i32 %x, 7
  %is.mask = icmp eq i32 %some, 127
  %holds = and i1 %is.right, %is.mask
  br i1 %holds, label %b, label %wrong
wrong:
  call void @llvm.trap()
  unreachable
b:
  call void @metalloid.masked.threadgroup_barrier(i32 -1, i32 2, i32 0, i32 1)
  ret void
)");
}

TEST(MaskedEngine, SeesALaneThatNoMaskNames) {
  expect_crash("%x = call i32 @metalloid.masked.simd.sum.i32(i32 2147483647, i32 1)\n ret void\n");
}

TEST(MaskedEngine, SeesALaneThatDoesNotCome) {
  expect_crash(R"(
  %c = icmp ult i32 %lane, 7
  br i1 %c, label %a, label %b
a:
  %x = call i32 @metalloid.masked.simd.sum.i32(i32 -1, i32 1)
  br label %b
b:
  ret void
)");
}

TEST(MaskedEngine, SeesLanesAtDifferentOperations) {
  expect_crash(R"(
  %c = icmp ult i32 %lane, 7
  br i1 %c, label %a, label %b
a:
  %x = call i32 @metalloid.masked.simd.sum.i32(i32 -1, i32 1)
  br label %end
b:
  %y = call i32 @metalloid.masked.simd.sum.i32(i32 -1, i32 1)
  br label %end
end:
  ret void
)");
}

TEST(MaskedEngine, SeesLanesWithDifferentMasks) {
  expect_crash("%x = call i32 @metalloid.masked.simd.sum.i32(i32 %lane, i32 1)\n ret void\n");
}

TEST(MaskedEngine, SeesWhoIsMissingAtABarrier) {
  expect_crash(R"(
  %c = icmp ult i32 %lane, 7
  br i1 %c, label %a, label %b
a:
  call void @metalloid.masked.threadgroup_barrier(i32 -1, i32 2, i32 0, i32 1)
  br label %b
b:
  ret void
)");
}

}  // namespace masked_engine_test
}  // namespace metalloid
