// What a CheckSession keeps, counts and leaves out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "checker/report/suppressions.h"
#include "checker/session.h"
#include "metalloid/check.h"

namespace metalloid {
namespace check_session_test {

using checker::allowed_below;
using checker::allowed_by;
using checker::matches_path;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Finding finding_at(CheckClass kind, const std::string& file, std::uint32_t line, const std::string& text = "") {
  Finding finding;
  finding.kind = kind;
  finding.kernel = "k";
  finding.message = "wrong";
  finding.steps = {{"reads", {file, line, 1, text, {}, ""}, {}, ""}};
  return finding;
}

bool has(const checker::Classes& classes, CheckClass kind) { return classes[static_cast<std::size_t>(kind)]; }

struct File {
  std::map<std::uint32_t, std::string> lines;
  std::string operator()(const std::string&, std::uint32_t number) const {
    const auto found = lines.find(number);
    return found == lines.end() ? "" : found->second;
  }
};

bool is_suppressed(const std::vector<std::string>& patterns, const Finding& finding, File file = {}) {
  CheckOptions options;
  options.suppressions = patterns;
  return checker::Suppressions(options).suppress(finding, file);
}

TEST(CheckSuppressions, MatchPathsByTheirLastParts) {
  for (const char* pattern :
       {"c.metal", "b/c.metal", "/a/b/c.metal", "*.metal", "?.metal", "*/c.metal", "b/*", "c*l"}) {
    EXPECT_TRUE(matches_path(pattern, "/a/b/c.metal")) << pattern;
  }
  for (const char* pattern : {"", "metal", ".metal", "/b/c.metal", "/c.metal", "x/a/b/c.metal", "//a/b/c.metal", "b",
                              "a/*.metal", "?", "c.meta", "c.metall", "C.metal"}) {
    EXPECT_FALSE(matches_path(pattern, "/a/b/c.metal")) << pattern;
  }
  EXPECT_TRUE(matches_path("c.metal", "c.metal"));
  EXPECT_FALSE(matches_path("/c.metal", "c.metal"));
  EXPECT_TRUE(matches_path("a*b*c", "aXbXbYc"));
  EXPECT_TRUE(matches_path("**a**", "a"));
  // A star for each character, of which none fits: nothing is tried twice too often.
  std::string stars;
  for (int i = 0; i < 200; ++i) stars += "*a";
  EXPECT_FALSE(matches_path(stars + "b", std::string(10'000, 'a')));
}

TEST(CheckSuppressions, HaveClassesFilesAndLines) {
  const Finding finding = finding_at(CheckClass::lockstep, "src/a.metal", 7);
  for (const char* pattern : {"lockstep", "race", "all", "*", " lockstep ", "lockstep:a.metal", "race:*.metal:7",
                              "*:src/a.metal", "lockstep:src/a.metal:7"}) {
    EXPECT_TRUE(is_suppressed({pattern}, finding)) << pattern;
  }
  for (const char* pattern : {"device-race", "lockstep:b.metal", "lockstep:a.metal:8", "out-of-bounds:a.metal"}) {
    EXPECT_FALSE(is_suppressed({pattern}, finding)) << pattern;
  }
  EXPECT_FALSE(is_suppressed({}, finding));
  EXPECT_TRUE(is_suppressed({"lockstep:a:b.metal"}, finding_at(CheckClass::lockstep, "a:b.metal", 1)));
}

TEST(CheckSuppressions, LookAtEveryStepAndCaller) {
  Finding finding = finding_at(CheckClass::device_race, "a.metal", 7);
  finding.steps.push_back({"writes", {"b.metal", 9, 1, "", {{"c.metal", 3, 1, "", {}, ""}}, ""}, {}, ""});
  EXPECT_TRUE(is_suppressed({"race:a.metal"}, finding));
  EXPECT_TRUE(is_suppressed({"race:b.metal:9"}, finding));
  EXPECT_TRUE(is_suppressed({"race:c.metal"}, finding));
  EXPECT_FALSE(is_suppressed({"race:d.metal"}, finding));
}

TEST(CheckSuppressions, RefuseWhatIsNone) {
  for (const char* wrong : {"", " ", ":a.metal", "nothing", "race:", "race::7", "race,lockstep"}) {
    EXPECT_THROW(checker::parse_suppression(wrong), Error) << wrong;
  }
  CheckOptions options;
  options.suppressions = {"nonsense"};
  EXPECT_THROW(CheckSession session(options), Error);
  EXPECT_FALSE(is_checking());
}

TEST(CheckSuppressions, StandInComments) {
  const CheckClass race = CheckClass::threadgroup_race;
  for (const char* line :
       {"x; // metalloid: allow race", "x; //metalloid:allow threadgroup-race", "/* metalloid: allow all */ x;",
        "x; // metalloid: allow out-of-bounds, race: both threads write 1", "x; /// metalloid: allow race",
        "x = \"\\\"//\"; // metalloid: allow race", "// metalloid: allow misspelt, race"}) {
    EXPECT_TRUE(has(allowed_by(line), race)) << line;
  }
  for (const char* line :
       {"", "x;", "metalloid: allow race", "// metalloid: race", "// metalloid: allowrace", "// allow race",
        "// metalloid: allow", "// metalloid: allow races", "x = \"// metalloid: allow race\";",
        "// metalloid: allow out-of-bounds", "// metalloid: allow out-of-bounds race", "// see metalloid: allow race",
        "/* metalloid: */ allow race"}) {
    EXPECT_FALSE(has(allowed_by(line), race)) << line;
  }
  EXPECT_TRUE(has(allowed_below("  // metalloid: allow race"), race));
  EXPECT_TRUE(has(allowed_below("/* a */ /* metalloid: allow race */"), race));
  EXPECT_FALSE(has(allowed_below("x; // metalloid: allow race"), race));
  EXPECT_NO_THROW(allowed_by(std::string(1 << 20, '/') + "metalloid: allow " + std::string(1 << 20, ',')));
  EXPECT_TRUE(has(allowed_by("x = 1'000; // metalloid: allow race"), race));
  std::string quotes = "'", names = "// metalloid: allow a";
  for (int i = 0; i < 1 << 19; ++i) {
    quotes += "\\'\"";
    names += ",a";
  }
  EXPECT_FALSE(has(allowed_by(quotes), race));
  EXPECT_FALSE(has(allowed_by(names), race));
}

TEST(CheckSuppressions, CommentsSpeakOfTheirLineOrTheNext) {
  const auto at = [](const char* text) { return finding_at(CheckClass::lockstep, "a.metal", 7, text); };
  EXPECT_TRUE(is_suppressed({}, at("x; // metalloid: allow lockstep")));
  EXPECT_TRUE(is_suppressed({}, at("x;"), {{{6, "  // metalloid: allow lockstep"}}}));
  EXPECT_TRUE(is_suppressed({}, at(""), {{{7, "x; // metalloid: allow race"}}}));
  EXPECT_FALSE(is_suppressed({}, at("x;"), {{{6, "y; // metalloid: allow lockstep"}}}));
  EXPECT_FALSE(is_suppressed({}, at("x;"), {{{5, "// metalloid: allow lockstep"}}}));
  EXPECT_FALSE(is_suppressed({}, at("x;"), {{{8, "// metalloid: allow lockstep"}}}));
  CheckOptions options;
  options.comments_suppress = false;
  EXPECT_FALSE(checker::Suppressions(options).suppress(at("x; // metalloid: allow lockstep"), File{}));
}

class SuppressionFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  std::vector<std::string> read(const std::string& text) {
    std::ofstream(file_, std::ios::binary) << text;
    return read_suppressions(file_);
  }
  const std::filesystem::path file_ =
      std::filesystem::path(::testing::TempDir()) / ("suppressions_" + std::to_string(::getpid()));
};

TEST_F(SuppressionFile, HasOneInALine) {
  EXPECT_THAT(read("# all of these\n\n race \r\n*:a#b.metal # one file\nlockstep:c.metal:3"),
              ElementsAre("race", "*:a#b.metal", "lockstep:c.metal:3"));
  EXPECT_THAT(read(""), ElementsAre());
}

TEST_F(SuppressionFile, MistakesHaveTheirLine) {
  try {
    read("race\nrase\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr(":2: no class of findings is named 'rase'"));
  }
  EXPECT_THROW(read(std::string(10'000, '\0')), Error);
  std::filesystem::remove(file_);
  try {
    read_suppressions(file_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input_output);
  }
}

TEST(CheckSession, OneInsideOfAnotherTakesOver) {
  const auto add = [](std::uint32_t line) { checker::add_finding(finding_at(CheckClass::lockstep, "a", line)); };
  EXPECT_FALSE(is_checking());
  {
    const CheckSession outer;
    add(1);
    {
      const CheckSession inner;
      add(2);
      add(3);
      EXPECT_EQ(inner.findings().size(), 2u);
      EXPECT_EQ(outer.findings().size(), 1u);
    }
    EXPECT_TRUE(is_checking());
    add(4);
    EXPECT_EQ(outer.findings().size(), 2u);
  }
  EXPECT_FALSE(is_checking());
}

TEST(CheckSession, MayEndInAnyOrder) {
  auto first = std::make_unique<CheckSession>(), second = std::make_unique<CheckSession>();
  first.reset();
  EXPECT_TRUE(is_checking());
  checker::add_finding(finding_at(CheckClass::lockstep, "a", 1));
  EXPECT_EQ(second->findings().size(), 1u);
  second.reset();
  EXPECT_FALSE(is_checking());
}

TEST(CheckSession, NobodyLooksWithoutOne) {
  EXPECT_EQ(checker::active_session(), nullptr);
  checker::add_finding(finding_at(CheckClass::lockstep, "a", 1));  // nobody looks
  EXPECT_TRUE(CheckSession().findings().empty());
}

TEST(CheckSession, CountsWhatIsInTheSamePlaces) {
  const CheckSession session;
  const auto race = [](std::uint32_t one, std::uint32_t two) {
    Finding finding = finding_at(CheckClass::device_race, "a.metal", one);
    finding.steps.push_back({"writes", {"a.metal", two, 1, "", {}, ""}, {}, ""});
    return finding;
  };
  checker::add_finding(race(1, 2));
  checker::add_finding(race(2, 1));
  checker::add_finding(race(1, 3));
  Finding from_elsewhere = race(1, 2), many = race(1, 2), in_kernel = race(1, 2);
  from_elsewhere.steps[0].place.called_from = {{"a.metal", 9, 1, "", {}, ""}};
  many.count = 10;
  in_kernel.kernel = "other";
  checker::add_finding(from_elsewhere);
  checker::add_finding(many);
  checker::add_finding(in_kernel);
  const std::vector<Finding> findings = session.findings();
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].count, 12u);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(findings[i].count, 1u);
}

TEST(CheckSession, KeepsTheMostSevere) {
  const CheckSession session;
  Finding finding = finding_at(CheckClass::device_race, "a.metal", 1);
  for (const Severity severity : {Severity::note, Severity::error, Severity::warning}) {
    finding.severity = severity;
    finding.message = name_of(severity);
    checker::add_finding(finding);
    checker::add_finding(finding_at(CheckClass::lockstep, "a.metal", 1));
  }
  const std::vector<Finding> findings = session.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_EQ(findings[0].message, "error");
  EXPECT_EQ(findings[0].count, 3u);
}

TEST(CheckSession, KnowsFindingsWithoutPlacesByTheirWords) {
  const CheckSession session;
  Finding finding;
  for (const char* message : {"one", "two", "one"}) {
    finding.message = message;
    checker::add_finding(finding);
  }
  EXPECT_EQ(session.findings().size(), 2u);
}

TEST(CheckSession, LeavesOutWhatNobodyWants) {
  CheckOptions options;
  options.classes.reset(static_cast<std::size_t>(CheckClass::misaligned));
  options.suppressions = {"read-only"};
  options.most_findings = 2;
  const CheckSession session(options);
  checker::add_finding(finding_at(CheckClass::misaligned, "a", 1));
  checker::add_finding(finding_at(CheckClass::not_finite, "a", 1));
  for (int i = 0; i < 3; ++i) checker::add_finding(finding_at(CheckClass::read_only, "a", 1));
  EXPECT_EQ(session.findings().size(), 0u);
  EXPECT_EQ(session.suppressed(), 1u);
  for (std::uint32_t line = 1; line <= 5; ++line) checker::add_finding(finding_at(CheckClass::lockstep, "a", line));
  checker::add_finding(finding_at(CheckClass::lockstep, "a", 5));
  EXPECT_EQ(session.findings().size(), 2u);
  EXPECT_EQ(session.lost(), 3u);
}

TEST(CheckSession, ForgetsWhatIsTaken) {
  CheckSession session;
  checker::add_finding(finding_at(CheckClass::lockstep, "a", 1));
  EXPECT_EQ(session.take_findings().size(), 1u);
  EXPECT_TRUE(session.findings().empty());
  checker::add_finding(finding_at(CheckClass::lockstep, "a", 1));
  ASSERT_EQ(session.findings().size(), 1u);
  EXPECT_EQ(session.findings()[0].count, 1u);
}

TEST(CheckSession, TakesFindingsFromManyThreads) {
  const CheckSession session;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (std::uint32_t i = 0; i < 500; ++i) checker::add_finding(finding_at(CheckClass::lockstep, "a", 1 + i % 10));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<Finding> findings = session.findings();
  ASSERT_EQ(findings.size(), 10u);
  for (const Finding& finding : findings) EXPECT_EQ(finding.count, 200u);
}

TEST(CheckSession, AddingAfterItsEndHarmsNobody) {
  std::shared_ptr<CheckSession::State> state;
  {
    const CheckSession session;
    state = checker::active_session();
  }
  checker::SourceLines lines;
  state->add(finding_at(CheckClass::lockstep, "a", 1), lines);
  EXPECT_EQ(state->findings().size(), 1u);
  EXPECT_TRUE(CheckSession().findings().empty());
}

}  // namespace check_session_test
}  // namespace metalloid
