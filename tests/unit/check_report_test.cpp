// Findings as text, JSON and SARIF, also with hostile input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "checker/report/classes.h"
#include "checker/report/source_lines.h"
#include "metalloid/check.h"

namespace metalloid {
namespace check_report_test {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

FindingStep step_at(std::uint32_t line, std::uint32_t column, const std::string& text, const std::string& action,
                    std::uint32_t thread) {
  FindingStep step{action, {"tile.metal", line, column, text, {}, ""}, {}, ""};
  step.thread = ThreadPlace{{thread, 0, 0}, {0, 0, 0}, {thread, 0, 0}, thread / 32, thread % 32};
  return step;
}

Finding race() {
  Finding finding;
  finding.kind = CheckClass::threadgroup_race;
  finding.kernel = "reverse";
  finding.message = "race in threadgroup memory 'tile': two threads use element 4 without a barrier between them";
  finding.fix = "a threadgroup_barrier(mem_flags::mem_threadgroup) is missing between line 31 and line 35";
  finding.memory = "tile";
  finding.byte_offset = 16;
  finding.element = 4;
  finding.steps = {step_at(31, 3, "  tile[i] = x[i];", "writes", 4),
                   step_at(35, 12, "  out[i] = tile[63 - i];", "reads 4 bytes", 59)};
  finding.steps[1].value = "0.5";
  finding.count = 60;
  return finding;
}

Finding at_line(const std::string& text, std::uint32_t column) {
  Finding finding = race();
  finding.steps = {step_at(35, column, text, "", 0)};
  finding.steps[0].thread.reset();
  return finding;
}

// The source's line, and where in it the caret stands.
struct Snippet {
  std::string line;
  std::size_t caret = std::string::npos;
};
Snippet snippet_of(const std::string& text) {
  Snippet snippet;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto bar = line.find(" | ");
    if (bar == std::string::npos || bar > 12) continue;
    if (snippet.line.empty()) {
      snippet.line = line.substr(bar + 3);
    } else {
      snippet.caret = line.find('^') - (bar + 3);
      break;
    }
  }
  return snippet;
}

TEST(CheckText, ReadsAsCompilersErrorsDo) {
  EXPECT_EQ(
      text_of(race()),
      R"(tile.metal:35:12: error: race in threadgroup memory 'tile': two threads use element 4 without a barrier )"
      R"(between them [threadgroup-race]
   35 |   out[i] = tile[63 - i];
      |            ^
  thread (59, 0, 0) of threadgroup (0, 0, 0) (simdgroup 1, lane 27) reads 4 bytes here: 0.5
tile.metal:31:3: note: thread (4, 0, 0) of threadgroup (0, 0, 0) (simdgroup 0, lane 4) writes here
   31 |   tile[i] = x[i];
      |   ^
  fix: a threadgroup_barrier(mem_flags::mem_threadgroup) is missing between line 31 and line 35
  in kernel 'reverse', seen 60 times
)");
}

TEST(CheckText, ShowsTheCallsThatLedThere) {
  Finding finding = race();
  finding.steps[1].place.called_from = {{"tile.metal", 50, 7, "  load(i);", {}, ""},
                                        {"main.metal", 9, 1, "f();", {}, ""}};
  const std::string text = text_of(finding);
  EXPECT_THAT(text, HasSubstr("tile.metal:50:7: note: called from here\n   50 |   load(i);\n      |       ^\n"));
  EXPECT_THAT(text, HasSubstr("main.metal:9:1: note: called from here\n    9 | f();\n"));
  EXPECT_LT(text.find("main.metal:9"), text.find("tile.metal:31"));
}

TEST(CheckText, HasColoursOnDemandOnly) {
  EXPECT_THAT(text_of(race()), Not(HasSubstr("\x1b")));
  EXPECT_THAT(text_of(race(), true), HasSubstr("\x1b[1;31merror:\x1b[0m"));
}

TEST(CheckText, SaysWhatIsKnownAndNoMore) {
  Finding finding;
  finding.message = "wrong";
  EXPECT_EQ(text_of(finding), "metalloid: error: wrong [out-of-bounds]\n");
  finding.kernel = "k";
  finding.severity = Severity::warning;
  EXPECT_EQ(text_of(finding), "kernel 'k': warning: wrong [out-of-bounds]\n");
  finding.steps.push_back({"", {"a.metal", 7, 0, "", {}, ""}, {}, ""});
  EXPECT_EQ(text_of(finding), "a.metal:7: warning: wrong [out-of-bounds]\n  in kernel 'k'\n");
  finding.steps[0].place = {"", 7, 3, "", {}, ""};
  EXPECT_THAT(text_of(finding), HasSubstr("line 7:3: warning"));
}

TEST(CheckText, PutsTheCaretBehindTabsAndWideCharacters) {
  const Snippet tab = snippet_of(text_of(at_line("\tx = y;", 2)));
  EXPECT_EQ(tab.line, "        x = y;");
  EXPECT_EQ(tab.caret, 8u);
  const Snippet wide = snippet_of(text_of(at_line("/*\xe6\xbc\xa2*/ x", 9)));  // two columns, three bytes
  EXPECT_EQ(wide.caret, 7u);
  const Snippet escaped = snippet_of(text_of(at_line("\x01x", 2)));
  EXPECT_EQ(escaped.line, "\\x01x");
  EXPECT_EQ(escaped.caret, 4u);
  EXPECT_EQ(snippet_of(text_of(at_line("ab", 3))).caret, 2u);                 // behind the last character
  EXPECT_EQ(snippet_of(text_of(at_line("ab", 4))).caret, std::string::npos);  // nowhere
  EXPECT_EQ(snippet_of(text_of(at_line("ab\r\n", 1))).line, "ab");
}

TEST(CheckText, ShortensLongLinesAroundTheCaret) {
  const std::string half(1 << 20, 'a');
  const Snippet middle = snippet_of(text_of(at_line(half + "X" + half, (1 << 20) + 1)));
  EXPECT_LT(middle.line.size(), 140u);
  ASSERT_LT(middle.caret, middle.line.size());
  EXPECT_EQ(middle.line[middle.caret], 'X');
  EXPECT_TRUE(middle.line.starts_with("...a") && middle.line.ends_with("a..."));
  const Snippet first = snippet_of(text_of(at_line("X" + half, 1)));
  EXPECT_EQ(first.line[first.caret], 'X');
  EXPECT_TRUE(first.line.ends_with("a..."));
  const Snippet last = snippet_of(text_of(at_line(half + "X", (1 << 20) + 1)));
  EXPECT_EQ(last.line[last.caret], 'X');
  const std::string bytes(4000, '\x80');
  EXPECT_LT(snippet_of(text_of(at_line(bytes, 2000))).line.size(), 140u);
}

TEST(CheckText, LeavesNothingThatSteersATerminal) {
  const std::string hostile = "\x1b]0;x\x07\r\n\x9b\xe2\x80\xae\xff" + std::string(1, '\0');
  Finding finding = race();
  finding.message = finding.fix = finding.kernel = finding.memory = hostile;
  for (FindingStep& step : finding.steps) {
    step.action = step.value = step.place.file = step.place.text = hostile;
    step.place.called_from = {{hostile, 1, 1, hostile, {}, ""}};
  }
  const std::string text = text_of(finding);
  for (const char c : text) {
    EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f')) << static_cast<int>(c);
  }
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
  finding.message = std::string(1 << 20, 'm');
  EXPECT_LT(text_of(finding).size(), 50'000u);
}

TEST(CheckJson, HasAllOfAFinding) {
  Finding finding = race();
  finding.index = 3;
  finding.steps[0].place.called_from = {{"tile.metal", 50, 7, "load(i);", {}, ""}};
  const json document = json::parse(json_of(std::vector{finding}));
  EXPECT_EQ(document["version"], 1);
  ASSERT_EQ(document["findings"].size(), 1u);
  const json& one = document["findings"][0];
  EXPECT_EQ(one["class"], "threadgroup-race");
  EXPECT_EQ(one["severity"], "error");
  EXPECT_EQ(one["kernel"], "reverse");
  EXPECT_EQ(one["message"], finding.message);
  EXPECT_EQ(one["fix"], finding.fix);
  EXPECT_EQ(one["memory"], "tile");
  EXPECT_EQ(one["index"], 3);
  EXPECT_EQ(one["byte_offset"], 16);
  EXPECT_EQ(one["element"], 4);
  EXPECT_EQ(one["count"], 60);
  ASSERT_EQ(one["steps"].size(), 2u);
  EXPECT_EQ(one["steps"][0]["action"], "writes");
  EXPECT_EQ(one["steps"][0]["place"]["called_from"][0]["line"], 50);
  EXPECT_TRUE(one["steps"][0]["value"].is_null());
  const json& second = one["steps"][1];
  EXPECT_EQ(second["place"]["file"], "tile.metal");
  EXPECT_EQ(second["place"]["line"], 35);
  EXPECT_EQ(second["place"]["column"], 12);
  EXPECT_EQ(second["place"]["text"], "  out[i] = tile[63 - i];");
  EXPECT_EQ(second["thread"]["position_in_grid"], json::parse("[59, 0, 0]"));
  EXPECT_EQ(second["thread"]["threadgroup"], json::parse("[0, 0, 0]"));
  EXPECT_EQ(second["thread"]["position_in_threadgroup"], json::parse("[59, 0, 0]"));
  EXPECT_EQ(second["thread"]["simdgroup"], 1);
  EXPECT_EQ(second["thread"]["lane"], 27);
  EXPECT_EQ(second["value"], "0.5");
}

TEST(CheckJson, HasNullForWhatIsNotKnown) {
  const json none = json::parse(json_of({}));
  EXPECT_EQ(none["findings"], json::array());
  const json document = json::parse(json_of(std::vector{Finding{}}));
  const json& one = document["findings"][0];
  for (const char* name : {"kernel", "fix", "memory", "index", "byte_offset", "element"}) {
    EXPECT_TRUE(one.at(name).is_null()) << name;
  }
  EXPECT_EQ(one["steps"], json::array());
}

TEST(CheckJson, IsAsciiWhateverTheSourcesHave) {
  Finding finding = race();
  finding.message = "\x1b\xff\xe2\x80\xae\"\\" + std::string(1, '\0');
  finding.steps[0].place.file = "\xc3\x28.metal";
  for (const std::string& text : {json_of(std::vector{finding}), sarif_of(std::vector{finding})}) {
    for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << static_cast<int>(c);
    EXPECT_TRUE(json::accept(text));
  }
}

json sarif_result(const Finding& finding) {
  return json::parse(sarif_of(std::vector{finding}))["runs"][0]["results"][0];
}

TEST(CheckSarif, HasARuleForEachClass) {
  const json document = json::parse(sarif_of({}));
  EXPECT_EQ(document["version"], "2.1.0");
  EXPECT_EQ(document["runs"][0]["results"], json::array());
  const json& rules = document["runs"][0]["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), check_class_count);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(rules[i]["id"], name_of(static_cast<CheckClass>(i)));
    EXPECT_FALSE(rules[i]["help"]["text"].get<std::string>().empty());
  }
}

TEST(CheckSarif, HasPlacesLevelsAndFlows) {
  const json result = sarif_result(race());
  EXPECT_EQ(result["ruleId"], "threadgroup-race");
  EXPECT_EQ(result["ruleIndex"], static_cast<int>(CheckClass::threadgroup_race));
  EXPECT_EQ(result["level"], "error");
  EXPECT_EQ(result["occurrenceCount"], 60);
  const json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "tile.metal");
  EXPECT_EQ(place["region"]["startLine"], 35);
  EXPECT_EQ(place["region"]["startColumn"], 12);
  EXPECT_EQ(result["relatedLocations"][1]["physicalLocation"]["region"]["startLine"], 31);
  EXPECT_EQ(result["relatedLocations"][1]["id"], 1);
  const json& flows = result["codeFlows"][0]["threadFlows"];
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0]["locations"][0]["location"]["physicalLocation"]["region"]["startLine"], 31);
  EXPECT_EQ(flows[1]["locations"][0]["executionOrder"], 2);
}

TEST(CheckSarif, HasAPlaceForFindingsWithoutOne) {
  const json result = sarif_result(Finding{});
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
  EXPECT_FALSE(result.contains("codeFlows"));
}

std::string uri_of(const std::string& file) {
  Finding finding = race();
  finding.steps[1].place.file = file;
  return sarif_result(finding)["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
}

TEST(CheckSarif, NamesFilesByTheWorkingFolder) {
  const std::string folder = std::filesystem::current_path().string();
  EXPECT_EQ(uri_of(folder + "/a/b.metal"), "a/b.metal");
  EXPECT_EQ(uri_of("./a/../b.metal"), "b.metal");
  EXPECT_EQ(uri_of("/nowhere/x.metal"), "file:///nowhere/x.metal");
  EXPECT_THAT(uri_of("../x.metal"), HasSubstr("file:///"));
  EXPECT_EQ(uri_of("a b%:\xff.metal"), "a%20b%25%3A%FF.metal");
}

TEST(CheckSarif, ColumnsAreOfCodePoints) {
  Finding finding = race();
  finding.steps[1].place.text = "/*\xe6\xbc\xa2*/ x";
  finding.steps[1].place.column = 9;
  EXPECT_EQ(sarif_result(finding)["locations"][0]["physicalLocation"]["region"]["startColumn"], 7);
}

TEST(CheckSarif, FingerprintsStayWhereLinesMove) {
  const std::string key = "metalloidFinding/v1";
  Finding moved = race(), other = race();
  for (FindingStep& step : moved.steps) step.place.line += 10;
  other.steps[0].place.text = "  tile[i] = 0;";
  const json first = sarif_result(race())["partialFingerprints"][key];
  EXPECT_EQ(sarif_result(moved)["partialFingerprints"][key], first);
  EXPECT_NE(sarif_result(other)["partialFingerprints"][key], first);
}

TEST(CheckClasses, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const CheckClass kind : checker::all_classes()) {
    names.insert(name_of(kind));
    EXPECT_FALSE(description_of(kind).empty());
    EXPECT_THAT(check_classes_named(name_of(kind)), ElementsAre(kind));
  }
  EXPECT_EQ(names.size(), check_class_count);
  EXPECT_EQ(check_classes_named("race").size(), 4u);
  EXPECT_EQ(check_classes_named("all").size(), check_class_count);
}

TEST(CheckClasses, NamesThatAreNoneHaveNeighbours) {
  try {
    check_classes_named("threadgroup-rase");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'threadgroup-race'"));
  }
  EXPECT_THROW(check_classes_named(""), Error);
  EXPECT_THROW(check_classes_named(std::string(1 << 20, 'x')), Error);
}

TEST(CheckClasses, NotesDoNotCount) {
  std::vector<Finding> findings(2);
  findings[0].severity = findings[1].severity = Severity::note;
  EXPECT_FALSE(counts(findings));
  findings[1].severity = Severity::warning;
  EXPECT_TRUE(counts(findings));
  EXPECT_FALSE(counts({}));
}

TEST(CheckLines, AreThoseOfMetalloidsOwnHeaders) {
  checker::SourceLines lines;
  EXPECT_EQ(lines.line("/metalloid/stdlib/metal_stdlib", 1),
            "// Metal's whole standard library. It is there before the first line of every source, so this include "
            "only names it.");
  EXPECT_EQ(lines.line("/metalloid/stdlib/metal_stdlib", 100'000), "");
  EXPECT_EQ(lines.line("/metalloid/stdlib/no_header", 1), "");
  EXPECT_EQ(lines.line("/metalloid/stdlib", 1), "");
  EXPECT_EQ(lines.line("/metalloid/stdlibmetal_stdlib", 1), "");
}

TEST(CheckLines, FollowLineDirectives) {
  checker::SourceLines lines;
  lines.add("program_source", std::make_shared<const std::string>(
                                  "first\n#line 100 \"own\\\"name.metal\"\nhundred\r\n  # 7\nseven\n#define x\n#"));
  EXPECT_EQ(lines.line("program_source", 1), "first");
  EXPECT_EQ(lines.line("own\"name.metal", 100), "hundred");
  EXPECT_EQ(lines.line("own\"name.metal", 7), "seven");
  EXPECT_EQ(lines.line("own\"name.metal", 8), "#define x");
  EXPECT_EQ(lines.line("program_source", 2), "");
  EXPECT_EQ(lines.line("program_source", 0), "");
  EXPECT_EQ(lines.line("no such file", 1), "");
  EXPECT_EQ(lines.line("/dev/zero", 1), "");
  EXPECT_NE(lines.line(METALLOID_TESTS_FOLDER "/CMakeLists.txt", 1), "");
}

}  // namespace check_report_test
}  // namespace metalloid
