// Argument SPECs: what they parse to, and what is said about those that do not parse.
#include "argument.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "array.h"
#include "support/bfloat16.h"
#include "value.h"

namespace metalloid::tool {
namespace argument_test {

std::string refusal(std::string_view text) {
  try {
    materialise(parse_argument(text), 0);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Argument, ScalarHasItsKindAndNoShape) {
  const ArgumentSpec spec = parse_argument("u32:1024");
  EXPECT_TRUE(spec.is_scalar);
  EXPECT_EQ(spec.target, "");
  const Array array = materialise(spec, 0);
  EXPECT_EQ(array.kind, ElementType::uint32);
  EXPECT_TRUE(array.shape.empty());
  EXPECT_EQ(element_as_integer(array, 0), 1024);
}

TEST(Argument, FloatsTakeExponentsSignsAndInfinities) {
  EXPECT_FLOAT_EQ(element_as_double(materialise(parse_argument("f32:1e-5"), 0), 0), 1e-5f);
  EXPECT_EQ(element_as_double(materialise(parse_argument("f32:-inf"), 0), 0), -INFINITY);
  EXPECT_TRUE(std::isnan(element_as_double(materialise(parse_argument("bf16:nan"), 0), 0)));
  EXPECT_EQ(element_as_double(materialise(parse_argument("f16:+0.5"), 0), 0), 0.5);
}

TEST(Argument, ArraysFillInEveryWay) {
  EXPECT_EQ(element_as_integer(materialise(parse_argument("i32[2,3]=arange"), 0), 5), 5);
  EXPECT_EQ(element_as_integer(materialise(parse_argument("i8[4]=-7"), 0), 3), -7);
  EXPECT_EQ(element_as_integer(materialise(parse_argument("i16[3]=1,2,3"), 0), 1), 2);
  EXPECT_EQ(element_as_double(materialise(parse_argument("f32[4]=ones"), 0), 2), 1);
  EXPECT_EQ(element_as_integer(materialise(parse_argument("u64[1]=0xffffffffffffffff"), 0), 0), -1);
  EXPECT_EQ(materialise(parse_argument("f32[8,1024]=zeros"), 0).shape, (std::vector<std::size_t>{8, 1024}));
}

TEST(Argument, UndefinedMemoryHasAPattern) {
  const ArgumentSpec spec = parse_argument("x=u8[7]=undefined");
  EXPECT_EQ(spec.target, "x");
  EXPECT_EQ(spec.source, ArgumentSpec::Source::undefined);
  const Array array = materialise(spec, 0);
  const std::uint8_t bytes[] = {0xff, 0x7f, 0xff, 0x7f, 0xff, 0x7f, 0xff};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(element_as_integer(array, i), bytes[i]);
  for (const char* text : {"f32[2]=undefined", "f16[2]=undefined", "bf16[2]=undefined"}) {
    EXPECT_TRUE(std::isnan(element_as_double(materialise(parse_argument(text), 0), 1))) << text;
  }
}

TEST(Argument, MemoryOfAnotherArgument) {
  const ArgumentSpec whole = parse_argument("b=@a"), part = parse_argument("@0+16");
  EXPECT_EQ(whole.target, "b");
  EXPECT_EQ(whole.source, ArgumentSpec::Source::alias);
  EXPECT_EQ(whole.alias, "a");
  EXPECT_EQ(whole.alias_offset, 0u);
  EXPECT_EQ(part.target, "");
  EXPECT_EQ(part.alias, "0");
  EXPECT_EQ(part.alias_offset, 16u);
  EXPECT_EQ(parse_argument("@a.npy").source, ArgumentSpec::Source::file);
  EXPECT_NE(refusal("b=@"), "");
  EXPECT_NE(refusal("b=@+1"), "");
  EXPECT_NE(refusal("b=@a+x"), "");
  EXPECT_NE(refusal("b=@a+1+1"), "");
}

TEST(Argument, RandomFillsDependOnTheSeedAlone) {
  const ArgumentSpec spec = parse_argument("f32[1000]=normal");
  const Array first = materialise(spec, 1), same = materialise(spec, 1), other = materialise(spec, 2);
  EXPECT_EQ(first.bytes, same.bytes);
  EXPECT_NE(first.bytes, other.bytes);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    sum += element_as_double(first, i);
    squares += element_as_double(first, i) * element_as_double(first, i);
  }
  EXPECT_NEAR(sum / 1000, 0, 0.15);
  EXPECT_NEAR(squares / 1000, 1, 0.2);
}

TEST(Argument, UniformIntegersStayBelowAHundred) {
  const Array array = materialise(parse_argument("u8[1000]=uniform"), 3);
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < 1000; ++i) seen.insert(element_as_integer(array, i));
  EXPECT_LT(*seen.rbegin(), 100);
  EXPECT_GT(seen.size(), 50u);
}

TEST(Argument, TargetsAreNamesOrIndices) {
  EXPECT_EQ(parse_argument("out=f32[4]=zeros").target, "out");
  EXPECT_EQ(parse_argument("3=u32:7").target, "3");
  const ArgumentSpec file = parse_argument("x=folder/in.npy");
  EXPECT_EQ(file.target, "x");
  EXPECT_EQ(file.file, "folder/in.npy");
  EXPECT_EQ(parse_argument("folder/a=b.npy").file, "folder/a=b.npy");
}

TEST(Argument, BfloatFilesNameTheirKind) {
  const ArgumentSpec spec = parse_argument("w=bf16:weights.npy");
  EXPECT_EQ(spec.kind, ElementType::bfloat16);
  EXPECT_EQ(spec.file, "weights.npy");
}

TEST(Argument, WhatDoesNotParseIsExplained) {
  EXPECT_NE(refusal("hello").find("not understood"), std::string::npos);
  EXPECT_NE(refusal("f64:1").find("no 64-bit floats"), std::string::npos);
  EXPECT_NE(refusal("float[4]=ones").find("written f32 here"), std::string::npos);
  EXPECT_NE(refusal("bfloat16:1").find("written bf16 here"), std::string::npos);
  EXPECT_NE(refusal("uchar:1").find("written u8 here"), std::string::npos);
  EXPECT_NE(refusal("uint16_t:1").find("written u16 here"), std::string::npos);
  EXPECT_NE(refusal("double:1").find("no 64-bit floats"), std::string::npos);
  EXPECT_NE(refusal("f32[4]=aragne").find("'aragne' is neither"), std::string::npos);
  EXPECT_NE(refusal("f32[4]").find("KIND[N,...]=FILL"), std::string::npos);
  EXPECT_NE(refusal("f32[4]=").find("nothing after '='"), std::string::npos);
  EXPECT_NE(refusal("f32[n]=1").find("'n' is not an extent"), std::string::npos);
  EXPECT_NE(refusal("i32:1.5").find("'1.5' is not an integer"), std::string::npos);
  EXPECT_NE(refusal("u8:256").find("256 does not fit u8"), std::string::npos);
  EXPECT_NE(refusal("u32:-1").find("-1 does not fit u32"), std::string::npos);
  EXPECT_NE(refusal("i64:9223372036854775808").find("does not fit i64"), std::string::npos);
  EXPECT_NE(refusal("f32[3]=1,2").find("2 values for 3 elements"), std::string::npos);
  EXPECT_NE(refusal("f32[99999999999,99999999999]=1").find("larger than"), std::string::npos);
}

TEST(Argument, ValuesOfTheArgumentsType) {
  for (const char* text : {"1024", "-1", ".5", "1e-5", "-inf", "true", "nan", "{8, 0.5}", "{n=8}"}) {
    EXPECT_EQ(parse_argument(text).source, ArgumentSpec::Source::of_argument) << text;
    EXPECT_EQ(parse_argument(text).value, text);
  }
  EXPECT_EQ(parse_argument("p={n=8}").target, "p");
  EXPECT_EQ(parse_argument("3=7").target, "3");
  EXPECT_EQ(parse_argument("3=7").value, "7");
  EXPECT_EQ(parse_argument("2x.npy").source, ArgumentSpec::Source::file);
}

TypeInfo scalar(ElementType kind) { return {.name = "t", .scalar = kind, .size = size_of(kind), .members = {}}; }

TypeInfo vector(ElementType kind, std::uint32_t rows, std::uint64_t size) {
  return {.name = "vector", .scalar = kind, .rows = rows, .size = size, .members = {}};
}

std::string value_refusal(std::string_view text, const TypeInfo& type) {
  try {
    parse_value(text, type, text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Value, ScalarsAndVectors) {
  EXPECT_EQ(element_as_integer(parse_value("-7", scalar(ElementType::int16), ""), 0), -7);
  EXPECT_TRUE(parse_value("1", scalar(ElementType::float32), "").shape.empty());
  const Array three = parse_value("{1, 2,3}", vector(ElementType::float32, 3, 16), "");
  EXPECT_EQ(three.shape, std::vector<std::size_t>{4}) << "with its padding";
  EXPECT_EQ(element_as_double(three, 2), 3);
  EXPECT_EQ(element_as_double(three, 3), 0);
  EXPECT_NE(value_refusal("1.5", scalar(ElementType::uint32)).find("'1.5' is not an integer"), std::string::npos);
  EXPECT_NE(value_refusal("{1}", scalar(ElementType::uint32)).find("no braces"), std::string::npos);
  EXPECT_NE(value_refusal("1", vector(ElementType::float32, 3, 16)).find("in braces"), std::string::npos);
  EXPECT_NE(value_refusal("{1,2,3,4}", vector(ElementType::float32, 3, 16)).find("4 values for"), std::string::npos);
}

TEST(Value, StructsByOrderAndByName) {
  TypeInfo array = scalar(ElementType::uint8);
  array.array_length = 4;
  array.size = 4;
  const TypeInfo inner{.name = "Inner",
                       .size = 8,
                       .members = {{"bytes", 0, {array}}, {"half2", 4, {vector(ElementType::float16, 2, 4)}}}};
  const TypeInfo outer{
      .name = "Outer", .size = 12, .members = {{"n", 0, {scalar(ElementType::uint32)}}, {"inner", 4, {inner}}}};
  const Array by_order = parse_value("{258, {{1,2}, {0.5, -1}}}", outer, "");
  EXPECT_EQ(by_order.kind, ElementType::uint8);
  EXPECT_EQ(by_order.bytes, parse_value("{inner={half2={0.5,-1},bytes={1,2}},n=258}", outer, "").bytes);
  const std::vector<std::byte> expected = {std::byte{2}, std::byte{1},    std::byte{0}, std::byte{0},
                                           std::byte{1}, std::byte{2},    std::byte{0}, std::byte{0},
                                           std::byte{0}, std::byte{0x38}, std::byte{0}, std::byte{0xbc}};
  EXPECT_EQ(by_order.bytes, expected);
  EXPECT_EQ(parse_value("{}", outer, "").bytes, std::vector<std::byte>(12));
  EXPECT_NE(value_refusal("{m=1}", outer).find("no member 'm': {n=...,inner=...}"), std::string::npos);
  EXPECT_NE(value_refusal("{1,{},3}", outer).find("too many values"), std::string::npos);
  EXPECT_NE(value_refusal("{1", outer).find("not closed"), std::string::npos);
  EXPECT_NE(value_refusal("{1}}", outer).find("behind the last brace"), std::string::npos);
  EXPECT_NE(value_refusal("5", outer).find("in braces"), std::string::npos);
}

TEST(Argument, Extents) {
  EXPECT_EQ(parse_extents("5x6", "--threads"), (std::vector<std::uint64_t>{5, 6, 1}));

  EXPECT_EQ(parse_extents("5", "--threads"), (std::vector<std::uint64_t>{5, 1, 1}));
  EXPECT_EQ(parse_extents("5,6,7", "--threads"), (std::vector<std::uint64_t>{5, 6, 7}));
  EXPECT_THROW(parse_extents("", "--threads"), UsageError);
  EXPECT_THROW(parse_extents("1,2,3,4", "--threads"), UsageError);
  EXPECT_THROW(parse_extents("-1", "--threads"), UsageError);
  EXPECT_THROW(parse_extents("4294967296", "--threads"), UsageError);
}

TEST(Bfloat16, RoundsOnceToNearestEven) {
  EXPECT_EQ(support::double_to_bfloat16(1.0), 0x3f80);
  EXPECT_EQ(support::double_to_bfloat16(1.0 + 0x1p-8), 0x3f80);            // a tie goes to even
  EXPECT_EQ(support::double_to_bfloat16(1.0 + 0x1p-8 + 0x1p-40), 0x3f81);  // above the tie, below float's precision
  EXPECT_EQ(support::double_to_bfloat16(1.0 + 3 * 0x1p-8 - 0x1p-40), 0x3f81);
  EXPECT_EQ(support::double_to_bfloat16(-INFINITY), 0xff80);
  EXPECT_EQ(support::bfloat16_to_float(0x3fc0), 1.5f);
}

TEST(FormatArray, LooksLikeNumPy) {
  EXPECT_EQ(format_array(materialise(parse_argument("i32[2,3]=arange"), 0)), "[[0 1 2]\n [3 4 5]]");
  EXPECT_EQ(format_array(materialise(parse_argument("f32:0.5"), 0)), "0.5");
  EXPECT_EQ(format_array(materialise(parse_argument("bool[2]=1,0"), 0)), "[ True False]");
  EXPECT_EQ(format_array(materialise(parse_argument("i32[2000]=arange"), 0)), "[   0    1    2 ... 1997 1998 1999]");
}

}  // namespace argument_test
}  // namespace metalloid::tool
