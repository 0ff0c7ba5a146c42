// What the checker says of arguments before a kernel runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "checker/host_checks.h"
#include "metalloid/check.h"
#include "metalloid/metalloid.h"
#include "runtime/dispatch/plan.h"

namespace metalloid {
namespace check_host_test {

using checker::HostArgument;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TypeInfo type_of(ElementType scalar, std::uint32_t rows = 1) {
  TypeInfo type;
  type.name = std::string(info_of(scalar).metal_name) + (rows > 1 ? std::to_string(rows) : "");
  type.scalar = scalar;
  type.rows = rows;
  type.size = std::uint64_t{size_of(scalar)} * (rows == 3 ? 4 : rows);
  return type;
}

ArgumentInfo pointer(const TypeInfo& type, Access access = Access::read_write) {
  ArgumentInfo argument;
  argument.name = "x";
  argument.type = type;
  argument.access = access;
  return argument;
}

ArgumentInfo reference(const TypeInfo& type, Access access = Access::read) {
  ArgumentInfo argument = pointer(type, access);
  argument.is_reference = true;
  return argument;
}

HostArgument value(std::uint64_t size, ElementType elements = ElementType::none) {
  HostArgument bound;
  bound.kind = HostArgument::Kind::value;
  bound.size = size;
  bound.elements = elements;
  return bound;
}

HostArgument buffer(std::uint64_t base, std::uint64_t offset, std::uint64_t size,
                    ElementType elements = ElementType::none) {
  HostArgument bound;
  bound.kind = HostArgument::Kind::buffer;
  bound.base = base;
  bound.address = base + offset;
  bound.size = size;
  bound.elements = elements;
  return bound;
}

// "", "warning" or "error"
std::string_view width(const ArgumentInfo& argument, const HostArgument& bound) {
  const auto problem = checker::width_problem(argument, bound);
  EXPECT_EQ(checker::is_refused(argument, bound), problem && problem->severity == Severity::error);
  return problem ? name_of(problem->severity) : "";
}

TEST(CheckHost, ValuesHaveTheirTypesSize) {
  using enum ElementType;
  EXPECT_EQ(width(reference(type_of(uint32)), value(4)), "");
  EXPECT_EQ(width(reference(type_of(uint32)), value(4, int32)), "");
  EXPECT_EQ(width(reference(type_of(uint32)), value(8, int64)), "warning");
  EXPECT_EQ(width(reference(type_of(uint32)), value(8)), "warning");
  EXPECT_EQ(width(reference(type_of(uint32)), value(2)), "error");
  EXPECT_EQ(width(reference(type_of(uint32)), value(4, float32)), "warning");
  EXPECT_EQ(width(reference(type_of(float32)), value(4, int32)), "warning");
  EXPECT_EQ(width(reference(type_of(float32)), value(4, uint8)), "");  // bytes of whatever
  EXPECT_EQ(width(reference(type_of(float16)), value(2, bfloat16)), "error");
  EXPECT_EQ(width(reference(type_of(float32, 3)), value(12)), "");
  EXPECT_EQ(width(reference(type_of(float32, 3)), value(16)), "");
  EXPECT_EQ(width(reference(type_of(float32, 3)), value(20)), "warning");
  EXPECT_EQ(width(pointer(type_of(float32)), value(400)), "");
  HostArgument same = value(8, int64);
  same.is_extended = true;
  EXPECT_EQ(width(reference(type_of(uint32)), same), "note");
  EXPECT_EQ(width(reference(type_of(float32)), same), "warning");
  same.elements = none;  // bytes alone, which may be anything
  EXPECT_EQ(width(reference(type_of(uint32)), same), "warning");
  const auto problem = checker::width_problem(reference(type_of(uint32)), value(8, int64));
  ASSERT_TRUE(problem);
  EXPECT_THAT(problem->message, HasSubstr("type uint of 4 bytes; 8 bytes are given"));
  EXPECT_THAT(problem->fix, HasSubstr("uint32"));
}

TEST(CheckHost, ElementsHaveTheirTypesWidth) {
  using enum ElementType;
  const auto elements = [](ElementType wanted, ElementType given, std::uint32_t rows = 1) {
    return width(pointer(type_of(wanted, rows)), buffer(4096, 0, 64, given));
  };
  EXPECT_EQ(elements(uint32, int64), "warning");
  EXPECT_EQ(elements(int64, int32), "warning");
  EXPECT_EQ(elements(float32, int32), "");  // the same bits
  EXPECT_EQ(elements(float32, int64), "warning");
  EXPECT_EQ(elements(uint32, boolean), "warning");
  EXPECT_EQ(elements(boolean, uint8), "");
  EXPECT_EQ(elements(float32, float16), "error");
  EXPECT_EQ(elements(float32, float64), "error");
  EXPECT_EQ(elements(float32, uint8), "");  // packed, or bytes of whatever
  EXPECT_EQ(elements(uint8, int64), "");    // char* is memory of any kind
  EXPECT_EQ(elements(uint8, int64, 4), "warning");
  EXPECT_EQ(elements(float32, complex64), "");
  EXPECT_EQ(elements(uint32, none), "");
  EXPECT_EQ(elements(none, int64), "");
}

KernelInfo kernel_of(std::vector<ArgumentInfo> arguments) {
  KernelInfo kernel;
  kernel.name = "k";
  kernel.source_file = "a.metal";
  kernel.source_line = 3;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    arguments[i].index = static_cast<std::uint32_t>(i);
    arguments[i].name = std::string(1, static_cast<char>('a' + i));
  }
  kernel.arguments = std::move(arguments);
  return kernel;
}

// Severities of what is said of two arguments.
std::string_view overlap(const HostArgument& one, const HostArgument& two, Access first = Access::read_write,
                         Access second = Access::read, bool are_references = false) {
  const TypeInfo type = type_of(ElementType::float32);
  const auto make = are_references ? reference : pointer;
  const std::vector<HostArgument> bound = {one, two};
  const auto findings = checker::check_host(kernel_of({make(type, first), make(type, second)}), bound);
  if (findings.empty()) return "";
  EXPECT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, CheckClass::overlapping_arguments);
  return name_of(findings[0].severity);
}

TEST(CheckHost, MemoryThatIsBoundTwice) {
  EXPECT_EQ(overlap(buffer(4096, 0, 64), buffer(4096, 0, 64)), "note");
  EXPECT_EQ(overlap(buffer(4096, 0, 64), buffer(4100, 0, 64)), "warning");
  EXPECT_EQ(overlap(buffer(4100, 0, 64), buffer(4096, 0, 64)), "warning");
  EXPECT_EQ(overlap(buffer(4096, 0, 64), buffer(4096 + 63, 0, 1)), "warning");
  EXPECT_EQ(overlap(buffer(4096, 0, 64), buffer(4096 + 64, 0, 1)), "");
  EXPECT_EQ(overlap(buffer(4096, 0, 64), buffer(4096, 0, 32)), "note");  // one buffer
  EXPECT_EQ(overlap(buffer(4096, 0, 64), buffer(4092, 4, 32)), "warning");
  EXPECT_EQ(overlap(buffer(4096, 0, 64), buffer(4100, 0, 0)), "");
  EXPECT_EQ(overlap(buffer(4096, 0, 64), value(64)), "");
}

TEST(CheckHost, PartsOfOneBufferMayBeApart) {
  EXPECT_EQ(overlap(buffer(4096, 0, 64), buffer(4096, 32, 32)), "");
  // One object, whose size is known.
  EXPECT_EQ(overlap(buffer(4096, 0, 64), buffer(4096, 4, 60), Access::read_write, Access::read, true), "");
  EXPECT_EQ(overlap(buffer(4096, 0, 64), buffer(4096, 2, 62), Access::read_write, Access::read, true), "warning");
}

TEST(CheckHost, OnlyWhatIsWrittenMayNotOverlap) {
  const HostArgument one = buffer(4096, 0, 64), two = buffer(4100, 0, 64);
  EXPECT_EQ(overlap(one, two, Access::read, Access::read), "");
  EXPECT_EQ(overlap(one, two, Access::read, Access::read_write), "warning");
  HostArgument elsewhere = two;
  elsewhere.space = &two;
  EXPECT_EQ(overlap(one, elsewhere), "");
}

TEST(CheckHost, AddressesAtTheEndOfTheirRange) {
  const std::uint64_t last = UINT64_MAX - 63;
  EXPECT_EQ(overlap(buffer(last, 0, 64), buffer(last + 32, 0, 32)), "warning");
  EXPECT_EQ(overlap(buffer(last, 0, 64), buffer(0, 0, 64)), "");
  EXPECT_EQ(overlap(buffer(0, 0, UINT64_MAX), buffer(last, 0, 1)), "warning");
}

TEST(CheckHost, InactiveAndMissingArgumentsAreNotLookedAt) {
  KernelInfo kernel = kernel_of({reference(type_of(ElementType::uint32)), pointer(type_of(ElementType::uint32))});
  EXPECT_THAT(checker::check_host(kernel, {}), IsEmpty());
  kernel.arguments[0].is_active = false;
  const std::vector<HostArgument> bound = {value(8), HostArgument{}};
  EXPECT_THAT(checker::check_host(kernel, bound), IsEmpty());
}

constexpr std::string_view source =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "kernel void k(device float* y, device const float* x, constant uint& n, uint i [[thread_position_in_grid]]) {\n"
    "  if (i < n) y[i] = x[i];\n}\n";

struct Checked : ::testing::Test {
  Kernel kernel = Device::cpu().make_library(source).kernel("k");
  std::array<float, 64> memory{};
  Dispatch dispatch = Dispatch().threads({16}, {16});
  CheckSession session;
};

TEST_F(Checked, DispatchesWithNothingWrongHaveNoFindings) {
  dispatch.buffer(0, Buffer::of<float>(16)).buffer(1, Buffer::of<float>(16)).value(2, std::uint32_t{16});
  run(kernel, dispatch);
  Queue queue(kernel.device());
  queue.submit(kernel, dispatch).wait();
  EXPECT_THAT(session.findings(), IsEmpty());
  EXPECT_EQ(session.dispatches(), 2u);
}

TEST_F(Checked, DispatchesSayWhereTheKernelIs) {
  dispatch.buffer(0, Buffer::wrap(std::span(memory).first(32)))
      .buffer(1, Buffer::wrap(std::span(memory).subspan(16)))
      .value(2, std::uint64_t{16});
  run(kernel, dispatch);
  run(kernel, dispatch);
  const std::vector<Finding> findings = session.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].kind, CheckClass::argument_width);
  EXPECT_EQ(findings[0].memory, "n");
  EXPECT_EQ(findings[0].index, 2);
  EXPECT_EQ(findings[1].kind, CheckClass::overlapping_arguments);
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.kernel, "k");
    EXPECT_EQ(finding.count, 2u);
    ASSERT_EQ(finding.steps.size(), 1u);
    EXPECT_EQ(finding.steps[0].place.file, "program_source");
    EXPECT_EQ(finding.steps[0].place.line, 3u);
    EXPECT_TRUE(finding.steps[0].place.text.starts_with("kernel void k(")) << finding.steps[0].place.text;
  }
}

TEST_F(Checked, WhatADispatchRefusesIsFoundFirst) {
  dispatch.buffer(0, Buffer(64).with_elements(ElementType::float16)).buffer(1, Buffer(64)).value(2, std::uint32_t{16});
  try {
    run(kernel, dispatch);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("whose elements are f32; those given are f16"));
  }
  ASSERT_EQ(session.findings().size(), 1u);
  EXPECT_EQ(session.findings()[0].severity, Severity::error);
}

TEST_F(Checked, BuffersSayThatNobodyHasWrittenThem) {
  const Buffer written(64), undefined = written.as_undefined();
  EXPECT_FALSE(written.is_undefined());
  EXPECT_TRUE(undefined.is_undefined() && undefined.with_elements(ElementType::float32).is_undefined());
  EXPECT_EQ(undefined.contents(), written.contents());
  dispatch.buffer(0, undefined).buffer(1, written).value(2, std::uint32_t{16});
  const engines::DispatchPlan plan = runtime::plan_dispatch(kernel, dispatch);
  EXPECT_TRUE(plan.arguments[0].is_undefined);
  EXPECT_FALSE(plan.arguments[1].is_undefined);
}

}  // namespace check_host_test
}  // namespace metalloid
