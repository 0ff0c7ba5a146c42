// The closed list of operations, and how fences and orders of the source reach the IR.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "ir/assemble.h"
#include "ir/operations.h"
#include "metalloid/emit.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace ir_operations_test {

using ::testing::HasSubstr;
using ::testing::Not;

// "declare i32 @metalloid.thread_index() nounwind memory(none)", with the attributes of the declaration's group.
std::map<std::string, std::string> declarations() {
  const std::string text = ir::print_operations();
  std::map<std::string, std::string> groups, result;
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::smatch found;
  for (const std::string& line : lines) {
    if (std::regex_match(line, found, std::regex("attributes (#[0-9]+) = \\{ (.*) \\}"))) groups[found[1]] = found[2];
  }
  for (const std::string& line : lines) {
    if (!std::regex_match(line, found, std::regex("declare (.*) @([^(]*)(\\(.*\\))( (#[0-9]+))?"))) continue;
    result[found[2]] = found[1].str() + found[3].str() + " " + groups[found[5]];
  }
  return result;
}

TEST(Operations, HaveATypeAndWhatLlvmMayAssume) {
  const std::map<std::string, std::string> declared = declarations();
  for (const ir::Operation& operation : ir::all_operations()) {
    const std::string& name = operation.name;
    ASSERT_TRUE(declared.count(name)) << name;
    const std::string& declaration = declared.at(name);
    EXPECT_THAT(declaration, HasSubstr("nounwind")) << name;
    EXPECT_THAT(declaration, HasSubstr("memory(")) << name;
    EXPECT_EQ(declaration.find("convergent") != std::string::npos, operation.is_convergent) << name;
    EXPECT_EQ(declaration.find("willreturn") != std::string::npos, operation.will_return) << name;
    EXPECT_EQ(ir::find_operation(name), &operation) << name;
    EXPECT_EQ(ir::is_meeting(name), operation.is_meeting) << name;
  }
  const std::size_t count = ir::all_operations().size();
  EXPECT_EQ(count,
            2 * (8 * 6 + 3 * 2 + 7 * 2 + 2 + 1) + 2 * 9 + 3 + 4 * 3 + 7u + 3 * (3 + 2) + 3 * (4 * 4 * 3 + 3 + 2 + 1));
  EXPECT_EQ(declared.size(), count) << "no name is listed twice";

  const auto expect = [&](const char* name, const char* declaration) { EXPECT_EQ(declared.at(name), declaration); };
  expect("metalloid.threadgroup_barrier", "void(i32, i32, i32) convergent nounwind memory(readwrite)");
  expect("metalloid.fence", "void(i32, i32, i32) nounwind willreturn memory(readwrite)");
  expect("metalloid.thread_index", "i32() nounwind willreturn memory(none)");
  expect("metalloid.simd.max.f16", "half(half) convergent nounwind memory(inaccessiblemem: readwrite)");
  expect("metalloid.quad.shuffle_up.b64", "i64(i64, i32) convergent nounwind memory(inaccessiblemem: readwrite)");
  expect("metalloid.simd.ballot", "i64(i1) convergent nounwind memory(inaccessiblemem: readwrite)");
  expect("metalloid.simdgroup_matrix.multiply_accumulate.bf16.f16",
         "<2 x float>(<2 x i16>, <2 x half>, <2 x float>) convergent nounwind memory(inaccessiblemem: readwrite)");
  expect("metalloid.simdgroup_matrix.load.bf16.constant",
         "<2 x i16>(ptr addrspace(2), i64, i64, i64, i1) convergent nounwind memory(argmem: read)");
  expect("metalloid.simdgroup_matrix.store.f32.threadgroup",
         "void(<2 x float>, ptr addrspace(3), i64, i64, i64, i1) convergent nounwind memory(argmem: readwrite)");
  const std::string tile = ", i64, i64, i64, i64, i64, i32, ";
  expect("metalloid.matmul2d.simdgroups.held.constant.device",
         ("void(ptr" + tile + "ptr addrspace(2)" + tile + "ptr addrspace(1)" + tile +
          "i32, i32, i32, i1, i1, i1, i32, i32) convergent nounwind memory(argmem: readwrite, inaccessiblemem: "
          "readwrite)")
             .c_str());
  expect("metalloid.cooperative_tensor.reduce.thread.held",
         ("void(ptr" + tile + "ptr, i32, i1, i32) nounwind willreturn memory(argmem: readwrite)").c_str());
  expect("metalloid.simdgroup_matrix.zip_low.f32",
         "<2 x float>(<2 x float>, <2 x float>) convergent nounwind memory(inaccessiblemem: readwrite)");
  expect(
      "metalloid.log",
      "void(i32, i32, ptr addrspace(2), ptr addrspace(2), ptr addrspace(2), ptr, i32) convergent nounwind willreturn "
      "memory(read, inaccessiblemem: readwrite)");
  expect("metalloid.function_constant.defined", "i1(ptr addrspace(2)) nounwind willreturn memory(none)");
}

TEST(Operations, ThatThreadsMeetAtAreConvergentAndNeverPure) {
  for (const ir::Operation& operation : ir::all_operations()) {
    if (!operation.is_meeting) continue;
    EXPECT_TRUE(operation.is_convergent) << operation.name;
    EXPECT_NE(operation.memory, llvm::MemoryEffects::none()) << operation.name;
    EXPECT_FALSE(operation.will_return) << operation.name;
  }
}

TEST(Operations, HaveNoOtherNames) {
  for (const char* name :
       {"metalloid.", "metalloid.simd", "metalloid.simd.sum", "metalloid.simd.sum.b32", "metalloid.simd.and.f32",
        "metalloid.simd.sum.f32.f32", "metalloid.simd.ballot.i32", "metalloid.threadgroup_barrier.", "fence",
        "metalloid.simdgroup_matrix.transpose.f64", "metalloid.simdgroup_matrix.store.f32.constant",
        "metalloid.matmul2d.simdgroup.device.device.constant", "metalloid.matmul2d.simdgroup",
        "metalloid.<group>.ballot", "metalloid..ballot"}) {
    EXPECT_EQ(ir::find_operation(name), nullptr) << name;
  }
}

TEST(Operations, AreRefusedWithAnotherType) {
  try {
    ir::print_specialised(
        "declare float @metalloid.simd.sum.u32(float)\n"
        "define void @test(ptr addrspace(1) %x) {\n"
        "  %1 = call float @metalloid.simd.sum.u32(float 1.0)\n"
        "  store float %1, ptr addrspace(1) %x\n  ret void\n}",
        "test", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("with arguments or a result that it does not have"));
  }
}

std::string ir_of(const std::string& body) {
  Library library = Device::cpu().make_library(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void test(device atomic_uint* x, threadgroup atomic_int* y, device uint* z) {\n" +
      body + "\n}");
  return emit(library, "test", Emit::ir, {});
}

TEST(Fences, KeepTheirFlagsOrdersAndScopes) {
  EXPECT_THAT(ir_of("threadgroup_barrier(mem_flags::mem_threadgroup);"),
              HasSubstr("@metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)"));
  EXPECT_THAT(ir_of("threadgroup_barrier(mem_flags::mem_none);"),
              HasSubstr("@metalloid.threadgroup_barrier(i32 0, i32 4, i32 1)"));
  EXPECT_THAT(ir_of("threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_seq_cst, "
                    "thread_scope_device);"),
              HasSubstr("@metalloid.threadgroup_barrier(i32 3, i32 5, i32 2)"));
  EXPECT_THAT(ir_of("simdgroup_barrier(mem_flags::mem_device);"),
              HasSubstr("@metalloid.simdgroup_barrier(i32 1, i32 4, i32 4)"));
  EXPECT_THAT(ir_of("simdgroup_barrier(mem_flags::mem_threadgroup, memory_order_release, thread_scope_threadgroup);"),
              HasSubstr("@metalloid.simdgroup_barrier(i32 2, i32 3, i32 1)"));
  EXPECT_THAT(ir_of("atomic_thread_fence(mem_flags::mem_device, memory_order_acquire);"),
              HasSubstr("@metalloid.fence(i32 1, i32 2, i32 2)"));
  EXPECT_THAT(ir_of("atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_relaxed, thread_scope_simdgroup);"),
              HasSubstr("@metalloid.fence(i32 2, i32 0, i32 4)"));
}

TEST(Fences, OfAtomicAccessesAreTheirOrders) {
  const auto expect = [](const char* body, const char* wanted) {
    const std::string ir = ir_of(body);
    EXPECT_THAT(ir, HasSubstr(wanted));
    EXPECT_THAT(ir, Not(HasSubstr("fence")));
  };
  expect("atomic_fetch_add_explicit(x, 1u, memory_order_relaxed);", "i32 1 syncscope(\"metalloid.device\") monotonic");
  expect("atomic_fetch_add_explicit(x, 1u, memory_order_acq_rel);", "i32 1 syncscope(\"metalloid.device\") acq_rel");
  expect("atomic_fetch_or_explicit(y, 4, memory_order_acquire);", "i32 4 syncscope(\"metalloid.threadgroup\") acquire");
  expect("z[0] = atomic_load_explicit(y, memory_order_seq_cst);", "syncscope(\"metalloid.threadgroup\") seq_cst");
  expect("z[0] = atomic_load_explicit(x, memory_order_acquire);", "syncscope(\"metalloid.device\") acquire");
  expect("atomic_store_explicit(x, 3u, memory_order_release);",
         "store atomic i32 3, ptr addrspace(1) %x syncscope(\"metalloid.device\") release");
  expect("atomic_exchange_explicit(x, 3u, memory_order_seq_cst);", "i32 3 syncscope(\"metalloid.device\") seq_cst");
  expect(
      "uint seen = 2; atomic_compare_exchange_weak_explicit(x, &seen, 3u, memory_order_acq_rel, "
      "memory_order_acquire); z[0] = seen;",
      "i32 2, i32 3 syncscope(\"metalloid.device\") acq_rel acquire");
  expect(
      "uint seen = 2; atomic_compare_exchange_strong_explicit(x, &seen, 3u, memory_order_relaxed, "
      "memory_order_relaxed); z[0] = seen;",
      "i32 2, i32 3 syncscope(\"metalloid.device\") monotonic monotonic");
}

}  // namespace ir_operations_test
}  // namespace metalloid
