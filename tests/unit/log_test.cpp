// What kernels print with os_log.
#include "metalloid/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace log_test {

using ::testing::ElementsAre;

class Log : public ::testing::Test {
 protected:
  void SetUp() override {
    set_log_handler([this](const LogMessage& message) { messages.push_back(message); });
  }
  void TearDown() override { set_log_handler({}); }
  void launch(const std::string& body, std::uint32_t threads = 1, std::uint32_t group = 1,
              const std::string& before = "") {
    const std::string source = "#include <metal_stdlib>\n#include <metal_logging>\nusing namespace metal;\n" + before +
                               "\nkernel void print(device uint* x, uint i [[thread_position_in_grid]]) {\n" + body +
                               "\n}\n";
    run(Device::cpu().make_library(source).kernel("print"), Dispatch().buffer(0, buffer).threads({threads}, {group}));
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> result;
    for (const LogMessage& message : messages) result.push_back(message.text);
    return result;
  }

  Buffer buffer{64};
  std::vector<LogMessage> messages;
};

TEST_F(Log, HasLevelsPlacesAndText) {
  launch(
      "if (i != 5) return;\n"
      "os_log_default.log(\"plain\");\n"
      "os_log_default.log_debug(\"i is %u\", i);\n"
      "os_log_default.log_error(\"%d%%\\n\", -7);\n"
      "os_log_default.log_with_type(log_type_fault, \"bad\");\n"
      "constant os_log& own = os_log_default; own.log_info(\"%s\", \"text\");",
      8, 4);
  EXPECT_THAT(texts(), ElementsAre("plain", "i is 5", "-7%", "bad", "text"));
  ASSERT_EQ(messages.size(), 5u);
  const LogLevel levels[] = {LogLevel::standard, LogLevel::debug, LogLevel::error, LogLevel::fault, LogLevel::info};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(messages[i].level, levels[i]) << i;
  EXPECT_EQ(messages[1].kernel, "print");
  EXPECT_EQ(messages[1].thread_position_in_grid, (Size{5, 0, 0}));
  EXPECT_EQ(messages[1].file, "program_source");
  EXPECT_EQ(messages[1].line, 8u);
  EXPECT_EQ(messages[2].description(), "kernel 'print', thread (5, 0, 0), program_source:9: error: -7%");
}

TEST_F(Log, FormatsEveryType) {
  launch(
      "os_log_default.log(\"%d %i %u %x %#X %o\", -1, short(-2), 3u, 255, 255u, 8);\n"
      "os_log_default.log(\"%lu %ld %hhd %hu\", ulong(1) << 40, -(1l << 40), char(-3), ushort(65535));\n"
      "os_log_default.log(\"%f %.2f %e %g %5.1f|\", 1.5f, half(0.25), 1e10f, bfloat(2.0f), 3.0f);\n"
      "os_log_default.log(\"%c%c [%5d] [%-5d] [%05d] [%+d] [%*d]\", 'o', 'k', 42, 42, 42, 42, 4, 7);\n"
      "os_log_default.log(\"%v4f %v2d %v3hlf %v4hhu\", float4(1, 2, 3, 4), int2(-1, 2), float3(0.5f), uchar4(255));\n"
      "os_log_default.log(\"%d %d %x\", true, i, -1);");
  EXPECT_THAT(texts(),
              ElementsAre("-1 -2 3 ff 0XFF 10", "1099511627776 -1099511627776 -3 65535",
                          "1.500000 0.25 1.000000e+10 2   3.0|", "ok [   42] [42   ] [00042] [+42] [   7]",
                          "1.000000,2.000000,3.000000,4.000000 -1,2 0.500000,0.500000,0.500000 255,255,255,255",
                          "1 0 ffffffff"));
}

TEST_F(Log, SurvivesWrongFormats) {
  launch(
      "os_log_default.log(\"%d %d\", 1);\n"
      "os_log_default.log(\"%s %n %@ %\", 5);\n"
      "os_log_default.log(\"%d %f\", 1.5f, 3);\n"
      "os_log_default.log(\"%999999999d|\", 1);\n"
      "os_log_default.log(\"\\033[31mred\");\n"
      "os_log_default.log(\"%p\", x);\n"
      "os_log_default.log(\"%d\", 1, 2, 3);");
  ASSERT_EQ(messages.size(), 7u);
  EXPECT_EQ(messages[0].text, "1 %d");
  EXPECT_EQ(messages[1].text, "5 %n %@ %");
  EXPECT_EQ(messages[2].text, "1.5 3.000000");
  EXPECT_EQ(messages[3].text.size(), 1001u);
  EXPECT_EQ(messages[4].text, "\\x1b[31mred");
  EXPECT_THAT(messages[5].text, ::testing::StartsWith("0x"));
  EXPECT_EQ(messages[6].text, "1");
}

TEST_F(Log, IsBoundedAndInTheOrderOfThreadgroups) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    messages.clear();
    launch("os_log_default.log(\"%u\", i);", 20'000, 4);
    ASSERT_EQ(messages.size(), 10'001u);
    for (std::uint32_t i = 0; i < 10'000; ++i) ASSERT_EQ(messages[i].text, std::to_string(i));
    EXPECT_EQ(messages.back().lost, 10'000u);
  }
}

TEST_F(Log, WorksBesideBarriersAndInFunctions) {
  launch(
      "threadgroup uint t[8]; t[i] = i;\n"
      "threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "os_log_default.log(\"%u\", t[7 - i]); threadgroup_barrier(mem_flags::mem_none); count(x, i, 2);",
      8, 8,
      "void count(device uint* x, uint i, int n) { if (n > 0) { if (i == 3) os_log_default.log(\"n %d\", n); count(x, "
      "i, n - 1); } }");
  ASSERT_EQ(messages.size(), 10u);
  EXPECT_EQ(messages[0].text, "7");
  EXPECT_EQ(messages[0].thread_position_in_grid, (Size{0, 0, 0}));
  EXPECT_EQ(messages[8].text, "n 2");
  EXPECT_EQ(messages[9].thread_position_in_grid, (Size{3, 0, 0}));
}

TEST_F(Log, OfAKernelThatCrashesIsKept) {
  EXPECT_THROW(launch("os_log_default.log(\"before\"); x[1ul << 40] = 1;"), Error);
  EXPECT_THAT(texts(), ElementsAre("before"));
}

TEST_F(Log, MayBeOnesOwn) {
  launch("mine.log(\"%u\", i);", 1, 1, "constant os_log mine(\"com.example\", \"kernels\");");
  EXPECT_THAT(texts(), ElementsAre("0"));
  EXPECT_EQ(messages[0].subsystem, "com.example");
  EXPECT_EQ(messages[0].category, "kernels");
  EXPECT_EQ(messages[0].description(), "kernel 'print', thread (0, 0, 0), program_source:6: [com.example:kernels] 0");
}

TEST_F(Log, NamesOfLoggersReachFunctionsAndAreEscaped) {
  launch("say(mine, i); say(os_log_default, i); other.log_error(\"three\"); empty.log(\"four\");", 1, 1,
         "constant os_log mine(\"a\", \"b\\033[31m\"), other(\"\", \"c\"), empty(\"d\", \"\");\n"
         "void say(constant os_log& log, uint i) { log.log_info(\"%u\", i); }");
  ASSERT_EQ(messages.size(), 4u);
  std::vector<std::string> names;
  for (const LogMessage& message : messages) names.push_back(message.subsystem + "|" + message.category);
  EXPECT_THAT(names, ElementsAre("a|b\\x1b[31m", "|", "|c", "d|"));
  EXPECT_THAT(messages[1].description(), ::testing::EndsWith(": info: 0"));
  EXPECT_THAT(messages[2].description(), ::testing::EndsWith(": error: [:c] three"));
  EXPECT_THAT(messages[3].description(), ::testing::EndsWith(": [d] four"));
}

TEST_F(Log, HandlersMayThrow) {
  set_log_handler([](const LogMessage&) { throw 1; });
  launch("os_log_default.log(\"x\");");
}

}  // namespace log_test
}  // namespace metalloid
