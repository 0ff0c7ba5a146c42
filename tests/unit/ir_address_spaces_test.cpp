// Which memory a source's accesses go to, once its kernel is specialised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "metalloid/emit.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace ir_address_spaces_test {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ir_of(const std::string& text) {
  Library library = Device::cpu().make_library("#include <metal_stdlib>\nusing namespace metal;\n" + text);
  return emit(library, "test", Emit::ir, {});
}

TEST(AddressSpaces, OfAtomicsAreThoseOfTheirMemory) {
  const std::string ir = ir_of(R"(
kernel void test(device atomic_uint* x, device atomic_float* f, device atomic_bool* b, uint i [[thread_index_in_threadgroup]]) {
  threadgroup atomic_int sum;
  atomic_store_explicit(&sum, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&sum, int(i), memory_order_relaxed);
  atomic_fetch_max_explicit(x, i, memory_order_relaxed);
  float seen = atomic_load_explicit(f, memory_order_relaxed);
  atomic_compare_exchange_weak_explicit(f, &seen, 2.0f, memory_order_relaxed, memory_order_relaxed);
  atomic_exchange_explicit(f + 1, seen, memory_order_relaxed);
  atomic_store_explicit(b, atomic_load_explicit(b + 1, memory_order_relaxed), memory_order_relaxed);
})");
  EXPECT_THAT(ir, Not(HasSubstr("addrspacecast")));
  EXPECT_THAT(ir, HasSubstr("atomicrmw add ptr addrspace(3)"));
  EXPECT_THAT(ir, HasSubstr("atomicrmw umax ptr addrspace(1)"));
  EXPECT_THAT(ir, HasSubstr("cmpxchg weak ptr addrspace(1)"));
  EXPECT_THAT(ir, HasSubstr("load atomic i8, ptr addrspace(1)"));
}

TEST(AddressSpaces, OfHelpersThatTakeThreadReferences) {
  const std::string helper = " void twice(thread float& x) { x = x * 2.0f; }\n";
  const std::string kernel = "kernel void test(device float* x) { twice(x[3]); twice(x[4]); }";
  for (const char* how : {"inline", "__attribute__((noinline))"}) {
    const std::string ir = ir_of(how + helper + kernel);
    EXPECT_THAT(ir, HasSubstr("store float")) << how;
    EXPECT_THAT(ir, ::testing::AllOf(HasSubstr(", ptr addrspace(1) %"), Not(HasSubstr("addrspacecast")))) << how;
  }
}

TEST(AddressSpaces, OfAChoiceBetweenMemoriesAreUndecided) {
  const std::string ir = ir_of(R"(
float at(thread const float* p) { return *p; }
kernel void test(device float* x, threadgroup float* y, uint i [[thread_position_in_grid]]) {
  x[0] = at(i < 3 ? (thread const float*)x : (thread const float*)y);
})");
  EXPECT_THAT(ir, HasSubstr("load float, ptr %"));
  EXPECT_THAT(ir, HasSubstr("store float %"));
  EXPECT_THAT(ir, HasSubstr(", ptr addrspace(1) %"));
}

}  // namespace ir_address_spaces_test
}  // namespace metalloid
