// Tuning: candidates, choice and measuring on given times; then whole tunings, of which only what does not depend on
// time is tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "metalloid/metalloid.h"
#include "metalloid/tune.h"
#include "runtime/cache/disk_cache.h"
#include "support/build_id.h"
#include "tune/arguments.h"
#include "tune/choice.h"
#include "tune/measure.h"

namespace metalloid {
namespace tune_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using tuning::choose;
using tuning::compare_elements;
using tuning::default_candidates;
using Outcome = TuneTrial::Outcome;

std::vector<std::string> names(const std::vector<Size>& sizes) {
  std::vector<std::string> result;
  for (const Size& size : sizes) result.push_back(to_string(size));
  return result;
}

TEST(TuneCandidates, AreRowsOfSimdgroupsThatTheGridFills) {
  EXPECT_THAT(names(default_candidates({100000}, true, 1024)), ElementsAre("32", "64", "128", "256", "512", "1024"));
  EXPECT_THAT(names(default_candidates({100}, true, 1024)), ElementsAre("32", "64", "128"));
  EXPECT_THAT(names(default_candidates({1}, true, 1024)), ElementsAre("32"));
  EXPECT_THAT(names(default_candidates({UINT32_MAX}, true, 96)), ElementsAre("32", "64", "96"));
  EXPECT_THAT(names(default_candidates({100000}, true, 20)), ElementsAre("20"));
}

TEST(TuneCandidates, OfThreadgroupsDoNotDependOnTheGrid) {
  EXPECT_THAT(names(default_candidates({1}, false, 1024)), ElementsAre("32", "64", "128", "256", "512", "1024"));
  EXPECT_THAT(names(default_candidates({7, 9}, false, 256)), ElementsAre("32", "64", "128", "256"));
}

TEST(TuneCandidates, HaveBlocksForGridsOfMoreDimensions) {
  EXPECT_THAT(names(default_candidates({500, 500}, true, 256)),
              ElementsAre("32", "64", "128", "256", "8x8", "16x8", "16x16", "32x8"));
  EXPECT_THAT(names(default_candidates({30, 5}, true, 1024)), ElementsAre("32", "8x8", "16x8", "32x8"));
  EXPECT_THAT(names(default_candidates({64, 64, 64}, true, 64)), ElementsAre("32", "64", "8x8", "4x4x4"));
}

std::vector<TuneTrial> trials(std::initializer_list<double> seconds) {
  std::vector<TuneTrial> result;
  for (const double time : seconds) {
    result.push_back({.group = {32}, .outcome = time < 0 ? Outcome::failed : Outcome::measured, .seconds = time});
  }
  return result;
}

TEST(TuneChoice, IsTheFastest) {
  EXPECT_EQ(choose(trials({3, 1, 2}), std::nullopt, 0.1), 1U);
  EXPECT_EQ(choose(trials({3, 1, 1}), std::nullopt, 0.1), 1U) << "the first of equals";
  EXPECT_EQ(choose(trials({}), std::nullopt, 0.1), std::nullopt);
}

TEST(TuneChoice, KeepsTheDefaultWithinTheMargin) {
  EXPECT_EQ(choose(trials({1.09, 1, 1.2}), 0, 0.1), 0U);
  EXPECT_EQ(choose(trials({1.11, 1, 1.2}), 0, 0.1), 1U);
  EXPECT_EQ(choose(trials({1.11, 1, 1.2}), 2, 0.25), 2U);
  EXPECT_EQ(choose(trials({1.0001, 1}), 0, 0), 1U);
}

TEST(TuneChoice, IsNeverOneThatFailedOrDiffers) {
  EXPECT_EQ(choose(trials({-1, 5}), 0, 0.1), 1U);
  EXPECT_EQ(choose(trials({-1, -1}), 0, 0.1), std::nullopt);
  std::vector<TuneTrial> with_wrong = trials({1, 9});
  with_wrong[0].outcome = Outcome::different_results;
  EXPECT_EQ(choose(with_wrong, 1, 0.1), 1U);
}

TEST(TuneChoice, MedianAndSpread) {
  TuneTrial trial;
  tuning::summarise(trial, {9, 1, 2, 3, 4});
  EXPECT_EQ(trial.runs, 5U);
  EXPECT_DOUBLE_EQ(trial.seconds, 3);
  EXPECT_DOUBLE_EQ(trial.spread, (4.0 - 2.0) / 2 / 3);
  tuning::summarise(trial, {1, 2});
  EXPECT_DOUBLE_EQ(trial.seconds, 1.5);
}

TEST(TuneTable, AlignsAndExplains) {
  TuneResult result{.kernel = "k", .device = "d", .grid = {64, 64}, .margin = 0.1};
  result.trials = trials({0.0021, 0.002, -1});
  result.trials[1].group = {16, 16};
  result.trials[2].note = "too large";
  result.standard = 0;
  EXPECT_EQ(result.table(),
            "k, 64x64 threads; d\n"
            "group     time  spread  of chosen  note\n"
            "   32  2.10 ms   0.0 %       1.00  chosen, default\n"
            "16x16  2.00 ms   0.0 %       0.95\n"
            "   32        -                     too large\n"
            "k: 32 threads per threadgroup stays: no other size is 10 % faster\n");
  result.trials[1].spread = 0.3;
  EXPECT_THAT(result.table(), HasSubstr("vary much"));
  result.trials[1].outcome = Outcome::different_results;
  EXPECT_THAT(result.table(), HasSubstr("the only size with its results"));
}

// Times and results given per candidate and run.
class GivenBench : public tuning::Bench {
 public:
  struct Given {
    double seconds = 1;
    int result = 7;
    std::optional<ErrorCode> error{};
  };
  explicit GivenBench(std::vector<Given> given) : given_(std::move(given)) {}

  double run(std::size_t candidate, std::chrono::milliseconds limit) override {
    order.push_back(candidate);
    limits.push_back(limit);
    const Given& now = given_[candidate];
    const std::string kernel = now.error == ErrorCode::kernel_crashed ? "kernel 'k' " : "kernel 'k': ";
    if (now.error) throw Error(*now.error, kernel + "because of " + std::string(name_of(*now.error)));
    last_ = now.result + (varies ? static_cast<int>(order.size()) : 0);
    return now.seconds;
  }
  void keep_results() override { kept_ = last_; }
  std::optional<std::string> difference() override {
    return kept_ == last_ ? std::nullopt : std::optional<std::string>("other");
  }

  bool varies = false;
  std::vector<std::size_t> order;
  std::vector<std::chrono::milliseconds> limits;

 private:
  std::vector<Given> given_;
  int last_ = 0, kept_ = 0;
};

const std::vector<Size> three = {{32}, {64}, {128}};

tuning::Measurements measure(GivenBench& bench, const TuneOptions& options, std::size_t reference = 0) {
  return tuning::measure(
      bench, {.candidates = three, .reference = reference, .limit = std::chrono::seconds(100), .options = &options});
}

TEST(TuneMeasure, InterleavesTheCandidates) {
  GivenBench bench({{.seconds = 3}, {.seconds = 2}, {.seconds = 1}});
  TuneOptions options{.rounds = 2};
  const auto measured = measure(bench, options, 1);
  // The reference twice, the others once; then two rounds, each from another candidate on.
  EXPECT_THAT(bench.order, ElementsAre(1, 1, 0, 2, 0, 1, 2, 1, 2, 0));
  ASSERT_THAT(measured.trials, SizeIs(3));
  EXPECT_EQ(measured.trials[0].seconds, 3);
  EXPECT_EQ(measured.trials[2].seconds, 1);
  EXPECT_EQ(measured.trials[2].runs, 2U);
}

TEST(TuneMeasure, FitsTheRoundsIntoTheTime) {
  TuneOptions options{.budget = std::chrono::seconds(1)};
  GivenBench quick({{.seconds = 0.01}, {.seconds = 0.01}, {.seconds = 0.03}});
  EXPECT_EQ(measure(quick, options).trials[0].runs, 20U);
  GivenBench slow({{.seconds = 0.1}, {.seconds = 0.2}, {.seconds = 0.1}});
  EXPECT_EQ(measure(slow, options).trials[0].runs, 3U);
  GivenBench too_slow({{.seconds = 10}, {.seconds = 10}, {.seconds = 30}});
  EXPECT_EQ(measure(too_slow, options).trials[0].runs, 1U);
  GivenBench instant({{.seconds = 0}, {.seconds = 0}, {.seconds = 0}});
  EXPECT_EQ(measure(instant, options).trials[0].runs, 100U);
}

TEST(TuneMeasure, RecordsFailuresAndGoesOn) {
  GivenBench bench({{.error = ErrorCode::limit_exceeded}, {.seconds = 2}, {.error = ErrorCode::kernel_crashed}});
  const auto measured = measure(bench, {.rounds = 1});
  EXPECT_EQ(measured.trials[0].outcome, Outcome::failed);
  EXPECT_EQ(measured.trials[0].note, "because of limit_exceeded") << "without the kernel's name";
  EXPECT_EQ(measured.trials[2].note, "because of kernel_crashed");
  EXPECT_EQ(measured.trials[1].outcome, Outcome::measured);
  EXPECT_EQ(measured.first_error, ErrorCode::limit_exceeded);
  EXPECT_EQ(measured.reference, 1U) << "the first that ran";
}

TEST(TuneMeasure, FindsDifferentResults) {
  GivenBench bench({{.result = 1}, {.result = 1}, {.result = 2}});
  const auto measured = measure(bench, {.rounds = 1});
  EXPECT_EQ(measured.trials[1].outcome, Outcome::measured);
  EXPECT_EQ(measured.trials[2].outcome, Outcome::different_results);
  EXPECT_FALSE(measured.results_vary);
  EXPECT_EQ(measured.trials[2].runs, 1U) << "its time is shown all the same";

  GivenBench unasked({{.result = 1}, {.result = 1}, {.result = 2}});
  EXPECT_EQ(measure(unasked, {.rounds = 1, .compare = false}).trials[2].outcome, Outcome::measured);
}

TEST(TuneMeasure, DoesNotCompareWhatVariesByItself) {
  GivenBench bench({{.result = 1}, {.result = 1}, {.result = 2}});
  bench.varies = true;
  const auto measured = measure(bench, {.rounds = 1});
  EXPECT_TRUE(measured.results_vary);
  EXPECT_EQ(measured.trials[2].outcome, Outcome::measured);
}

TEST(TuneMeasure, GivesUpOnSizesThatAreFarTooSlow) {
  GivenBench bench({{.seconds = 0.5}, {.error = ErrorCode::kernel_timed_out}, {.seconds = 0.5}});
  measure(bench, {.rounds = 1});
  EXPECT_EQ(bench.limits[0], std::chrono::seconds(100));
  EXPECT_EQ(bench.limits.back(), std::chrono::seconds(10)) << "twenty times the best so far";

  GivenBench endless(std::vector<GivenBench::Given>(3, {.error = ErrorCode::kernel_timed_out}));
  measure(endless, {});
  EXPECT_THAT(endless.limits,
              ElementsAre(std::chrono::seconds(100), std::chrono::seconds(10), std::chrono::seconds(10)));
}

template <typename T>
std::span<const std::byte> bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

TEST(TuneCompare, FloatsToATolerance) {
  const std::vector<float> expected = {1, 100, 0, std::numeric_limits<float>::quiet_NaN()};
  auto compare = [&](std::vector<float> result, std::optional<double> tolerance = {}) {
    return compare_elements(ElementType::float32, bytes(expected), bytes(result), tolerance);
  };
  const float nan = expected[3];
  EXPECT_EQ(compare({1, 100, 0, nan}), std::nullopt);
  EXPECT_EQ(compare({1.001f, 100.009f, 1e-4f, -nan}), std::nullopt) << "small against the array's size";
  EXPECT_THAT(*compare({1, 100.1f, 0, nan}),
              AllOf(HasSubstr("1 of 4"), HasSubstr("at 1"), HasSubstr("instead of 100")));
  EXPECT_EQ(compare({1, 100.1f, 0, nan}, 0.01), std::nullopt);
  EXPECT_THAT(*compare({1, 100, nan, 0}), HasSubstr("2 of 4"));
  EXPECT_THAT(*compare({1, std::numeric_limits<float>::infinity(), 0, nan}, 10), HasSubstr("inf"));
}

TEST(TuneCompare, IntegersAndBytesExactly) {
  const std::vector<std::int32_t> expected = {1, 2, 3};
  EXPECT_EQ(compare_elements(ElementType::int32, bytes(expected), bytes(expected), {}), std::nullopt);
  EXPECT_THAT(*compare_elements(ElementType::int32, bytes(expected), bytes(std::vector<std::int32_t>{1, 2, 4}), 10),
              HasSubstr("1 of 3 elements differ, the first at 2: 4 instead of 3"));
  EXPECT_EQ(*compare_elements(ElementType::int8, bytes(std::vector<std::int8_t>{-1}),
                              bytes(std::vector<std::int8_t>{-2}), {}),
            "1 of 1 elements differ, the first at 0: -2 instead of -1");
  EXPECT_THAT(
      *compare_elements(ElementType::uint64, bytes(std::vector<std::uint64_t>{0}), bytes(std::vector{~0ull}), {}),
      HasSubstr(": 18446744073709551615 instead of 0"));
  EXPECT_THAT(*compare_elements(ElementType::none, bytes(expected), bytes(std::vector<std::int32_t>{1, 258, 3}), {}),
              HasSubstr("1 of 12"));
}

constexpr std::string_view source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void add_one(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
kernel void rows(device const float* x, device float* sums, constant uint& columns,
                 uint row [[threadgroup_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                 uint threads [[threads_per_threadgroup]]) {
  threadgroup float parts[1024];
  float sum = 0;
  for (uint i = t; i < columns; i += threads) sum += x[row * columns + i];
  parts[t] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t != 0) return;
  for (uint i = 1; i < threads; ++i) sum += parts[i];
  sums[row] = sum;
}
// Wrong unless a threadgroup has 64 threads.
kernel void for_64(device float* x, uint group [[threadgroup_position_in_grid]],
                   uint t [[thread_index_in_threadgroup]]) { x[group * 64 + t] = group; }
kernel void dynamic(device float* out, threadgroup float* shared [[threadgroup(0)]],
                    uint t [[thread_index_in_threadgroup]]) { shared[t] = 1; out[0] = shared[0]; }
[[required_threads_per_threadgroup(64, 1, 1)]] kernel void needs_64(device float* x) { x[0] = 1; }
constant int repeats [[function_constant(0)]];
kernel void repeated(device float* x, uint i [[thread_position_in_grid]]) { x[i] += repeats; }
)";

class Tune : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* old = std::getenv("METALLOID_CACHE_DIR")) previous_ = old;
    std::filesystem::create_directories(folder_);
    setenv("METALLOID_CACHE_DIR", folder_.c_str(), 1);
    clear_cached_tunings();
  }
  void TearDown() override {
    if (previous_.empty()) {
      unsetenv("METALLOID_CACHE_DIR");
    } else {
      setenv("METALLOID_CACHE_DIR", previous_.c_str(), 1);
    }
    std::filesystem::remove_all(folder_);
  }

  static Kernel kernel(std::string_view name, const FunctionConstants& constants = {}) {
    static const Library library = Device::cpu().make_library(source);
    return library.kernel(name, constants);
  }
  static TuneOptions quick() { return {.rounds = 1}; }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("metalloid-tune-" + std::to_string(getpid()));
  std::string previous_;
};

TEST_F(Tune, LeavesTheArgumentsAlone) {
  Buffer x(4096 * sizeof(float));
  x.as<float>()[7] = 41;
  const TuneResult result = tune(kernel("add_one"), Dispatch().buffer(0, x).threads({4096}, {0, 0, 0}), quick());
  EXPECT_EQ(x.as<float>()[7], 41);
  EXPECT_EQ(x.as<float>()[8], 0);
  ASSERT_THAT(result.trials, SizeIs(6));
  for (const TuneTrial& trial : result.trials) EXPECT_EQ(trial.outcome, Outcome::measured) << trial.note;
  EXPECT_EQ(result.standard, 5U) << "the longest row";
  EXPECT_FALSE(result.results_vary) << "every run started from the same input";
  EXPECT_THAT(result.table(), AllOf(HasSubstr("4096 threads"), HasSubstr("chosen"), HasSubstr("1024")));
}

TEST_F(Tune, OverlappingArgumentsStayOverlapping) {
  Buffer memory(512 * sizeof(float));
  for (float& value : memory.as<float>()) value = 1;
  // Sums land in the matrix that they are sums of: the same memory twice, the second time behind an offset.
  const Dispatch dispatch = Dispatch()
                                .buffer(0, memory)
                                .buffer(1, memory, 256 * sizeof(float))
                                .value(2, std::uint32_t{64})
                                .threadgroups({4}, {32});
  tuning::TuneArguments copies(kernel("rows"), dispatch, {});
  copies.restore();
  run(kernel("rows"), Dispatch(copies.dispatch()).threadgroups({4}, {32}));
  const auto& first = std::get<Dispatch::BufferBinding>(copies.dispatch().bindings().at(0)).buffer;
  const auto& second = std::get<Dispatch::BufferBinding>(copies.dispatch().bindings().at(1)).buffer;
  EXPECT_EQ(second.as<float>()[3], 64);
  EXPECT_EQ(first.as<float>()[259], 64);
  EXPECT_EQ(memory.as<float>()[259], 1);
}

TEST_F(Tune, AThreadgroupPerRow) {
  Buffer x(8 * 100 * sizeof(float)), sums(8 * sizeof(float));
  for (float& value : x.as<float>()) value = 0.1f;
  const Dispatch dispatch =
      Dispatch().buffer(0, x).buffer(1, sums).value(2, std::uint32_t{100}).threadgroups({8}, {0, 0, 0});
  const TuneResult result = tune(kernel("rows"), dispatch, quick());
  ASSERT_THAT(result.trials, SizeIs(6));
  for (const TuneTrial& trial : result.trials) EXPECT_EQ(trial.outcome, Outcome::measured) << trial.note;
  EXPECT_EQ(result.standard, std::nullopt);
}

TEST_F(Tune, NeverChoosesASizeWithOtherResults) {
  Buffer x(4 * 64 * sizeof(float));
  const Dispatch dispatch = Dispatch().buffer(0, x).threadgroups({4}, {64});
  const TuneResult result = tune(kernel("for_64"), dispatch, quick());
  EXPECT_EQ(result.best(), Size{64});
  ASSERT_THAT(result.trials, SizeIs(6));
  EXPECT_EQ(result.trials[0].outcome, Outcome::different_results);
  EXPECT_EQ(result.trials[2].outcome, Outcome::failed);
  EXPECT_THAT(result.trials[2].note, HasSubstr("writes outside of argument 'x'"));
  EXPECT_THAT(result.summary(), HasSubstr("64 threads per threadgroup is the only size with its results"));
}

TEST_F(Tune, ResultsThatDifferNeedADefault) {
  Buffer x(4 * 64 * sizeof(float));
  auto with = [&](Size group, std::vector<Size> candidates) {
    TuneOptions options = quick();
    options.candidates = std::move(candidates);
    return tune(kernel("for_64"), Dispatch().buffer(0, x).threadgroups({4}, group), options);
  };
  try {
    with({0, 0, 0}, {});
    FAIL() << "which size is right?";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("for_64"), HasSubstr("depend on the threadgroup size"), HasSubstr("64")));
  }
  EXPECT_EQ(with({0, 0, 0}, {{64}, {32}}).best(), Size{64}) << "the first of a list is the default";
}

TEST_F(Tune, AllSizesFailing) {
  Buffer x(4);
  TuneOptions options = quick();
  options.candidates = {{2048}, {0}};
  try {
    tune(kernel("add_one"), Dispatch().buffer(0, x).threads({1}, {0, 0, 0}), options);
    FAIL() << "nothing can run";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("2048: "), HasSubstr("1024"), HasSubstr("0: "), HasSubstr("at least 1")));
  }
  EXPECT_THROW(tune(kernel("add_one"), Dispatch().threads({1}, {32}), quick()), Error) << "a missing argument";
  EXPECT_THROW(tune(kernel("add_one"), Dispatch().buffer(0, x), quick()), Error) << "no grid";
}

TEST_F(Tune, ThreadgroupMemoryThatFollowsTheSize) {
  Buffer out(4);
  TuneOptions options = quick();
  options.threadgroup_memory_per_thread = {{0, 64}};
  const TuneResult result = tune(kernel("dynamic"), Dispatch().buffer(0, out).threadgroups({1}, {0, 0, 0}), options);
  EXPECT_EQ(result.trials[4].outcome, Outcome::measured);
  EXPECT_EQ(result.trials[5].outcome, Outcome::failed);
  EXPECT_THAT(result.trials[5].note, HasSubstr("65536 bytes of threadgroup memory"));
}

TEST_F(Tune, ThreadgroupMemoryThatIsTooSmallForASize) {
  Buffer out(4);
  // 512 bytes are enough for 128 threads.
  const Dispatch dispatch = Dispatch().buffer(0, out).threadgroup_memory(0, 512).threadgroups({1}, {0, 0, 0});
  const TuneResult result = tune(kernel("dynamic"), dispatch, quick());
  EXPECT_EQ(result.trials[2].outcome, Outcome::measured);
  EXPECT_EQ(result.trials[3].outcome, Outcome::failed);
  EXPECT_THAT(result.trials[3].note, HasSubstr("writes outside of argument 'shared' (threadgroup 0)"));
}

TEST_F(Tune, ARequiredSizeIsTheOnlyCandidate) {
  Buffer x(4);
  const TuneResult result = tune(kernel("needs_64"), Dispatch().buffer(0, x).threads({64}, {0, 0, 0}), quick());
  EXPECT_EQ(result.best(), Size{64});
  EXPECT_THAT(result.summary(), HasSubstr("the only size"));
}

TEST_F(Tune, RemembersPerKernelShapeAndIntegerValue) {
  auto rows = [&](std::size_t count, std::uint32_t columns, TuneOptions options = quick()) {
    Buffer x(count * 64 * sizeof(float)), sums(count * sizeof(float));
    const Dispatch dispatch = Dispatch()
                                  .buffer(0, x)
                                  .buffer(1, sums)
                                  .value(2, columns)
                                  .threadgroups({static_cast<std::uint32_t>(count)}, {0, 0, 0});
    return tune(kernel("rows"), dispatch, options).from_cache;
  };
  EXPECT_FALSE(rows(2, 64));
  EXPECT_TRUE(rows(2, 64)) << "other arrays of the same size";
  EXPECT_FALSE(rows(2, 32)) << "another number of columns";
  EXPECT_FALSE(rows(3, 64)) << "another shape";
  EXPECT_FALSE(rows(2, 64, {.candidates = {{32}, {64}}, .rounds = 1})) << "other candidates";
  EXPECT_TRUE(rows(2, 64)) << "both are remembered";
  EXPECT_FALSE(rows(2, 64, {.rounds = 1, .force = true})) << "measured again";
  EXPECT_TRUE(rows(2, 64));

  auto repeated = [&](std::int64_t times) {
    Buffer x(64 * sizeof(float));
    const Kernel specialised = kernel("repeated", FunctionConstants().set(0, times));
    return tune(specialised, Dispatch().buffer(0, x).threads({64}, {0, 0, 0}), quick()).from_cache;
  };
  EXPECT_FALSE(repeated(1));
  EXPECT_FALSE(repeated(2)) << "another function constant";
  EXPECT_TRUE(repeated(1));
}

TEST_F(Tune, TheLastTuningWhateverItsOptions) {
  Buffer x(64 * sizeof(float));
  const Dispatch dispatch = Dispatch().buffer(0, x).threads({64}, {0, 0, 0});
  EXPECT_FALSE(last_tuning(kernel("add_one"), dispatch).has_value());
  tune(kernel("add_one"), Dispatch(dispatch).threads({64}, {16}), {.candidates = {{8}}, .rounds = 1});
  ASSERT_TRUE(last_tuning(kernel("add_one"), dispatch));
  EXPECT_THAT(last_tuning(kernel("add_one"), dispatch)->trials, SizeIs(2));
  tune(kernel("add_one"), dispatch, {.candidates = {{4}}, .rounds = 1, .compare = false});
  EXPECT_THAT(last_tuning(kernel("add_one"), dispatch)->trials, SizeIs(2)) << "uncompared ones are not taken";
  EXPECT_FALSE(last_tuning(kernel("add_one"), Dispatch(dispatch).threads({32}, {16})).has_value());
}

TEST_F(Tune, WhatIsCachedCanBeListedAndCleared) {
  Buffer x(64 * sizeof(float));
  const Dispatch dispatch = Dispatch().buffer(0, x).threads({64}, {0, 0, 0});
  const TuneResult measured = tune(kernel("add_one"), dispatch, quick());
  ASSERT_THAT(cached_tunings(), SizeIs(1));
  const CachedTuning cached = cached_tunings()[0];
  EXPECT_EQ(cached.arguments, "x f32[64]");
  EXPECT_EQ(cached.result.best(), measured.best());
  EXPECT_EQ(cached.result.trials[0].seconds, measured.trials[0].seconds);
  EXPECT_THAT(cached.result.table(), HasSubstr("(cached)"));

  EXPECT_TRUE(cached.of_this_build);
  const support::Hash other_build = support::Hasher().add(std::string_view("another build's")).finish();
  std::string payload = runtime::read_cache_entries(runtime::EntryKind::tuning).at(0);
  payload.replace(payload.find(support::build_id()), 4, "old-");
  runtime::write_cache_entry(runtime::EntryKind::tuning, other_build, payload);
  ASSERT_THAT(cached_tunings(), SizeIs(2));
  EXPECT_NE(cached_tunings()[0].of_this_build, cached_tunings()[1].of_this_build);

  // A damaged entry counts as missing.
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "tunings")) {
    std::ofstream(file.path(), std::ios::binary | std::ios::app) << "more";
  }
  EXPECT_THAT(cached_tunings(), SizeIs(0));
  EXPECT_EQ(clear_cached_tunings(), 2U);
  EXPECT_FALSE(tune(kernel("add_one"), dispatch, quick()).from_cache);
}

}  // namespace tune_test
}  // namespace metalloid
