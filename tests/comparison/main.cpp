// metalloid_kernel_comparison [--device NAME] [--seed N] [--count N] [--seconds N] [--jobs N] [--keep-going] [--print]
//                             [--no-minimise]
//
// Makes random kernels, one for each seed, runs them on the first engine of a device, which is the SIMD engine if none
// is named, and on the reference engine, and compares what they write. On device "masked" that proves the masks of
// ir/passes/explicit_lanes.h. It stops after that many, and begins none after that many seconds. Of a difference it
// prints the seed and a kernel that was made as small as it still shows it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comparison.h"
#include "minimise.h"

namespace {

using namespace metalloid;
using namespace metalloid::comparison;

constexpr std::uint64_t kernels_per_library = 16;

struct Settings {
  std::string device = "cpu";
  std::uint64_t seed = 1, count = 1000;
  std::chrono::seconds most{0};  // 0: no limit of time
  unsigned jobs = 1;
  bool keeps_going = false, prints = false, minimises = true;
};

Task task_of(std::uint64_t seed, const std::string& device) {
  Task task{.kernel = generate_kernel(seed), .seed = seed, .shapes = {}, .device = device};
  task.shapes = shapes_for(task.kernel.dimensions, seed);
  return task;
}

class Run {
 public:
  explicit Run(const Settings& settings) : settings_(settings), next_(settings.seed) {}

  int all() {
    std::vector<std::thread> threads;
    for (unsigned job = 0; job < settings_.jobs; ++job) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    std::printf("%llu kernels compared in %llu dispatches, %llu differ\n", static_cast<unsigned long long>(compared_),
                static_cast<unsigned long long>(dispatches_), static_cast<unsigned long long>(differences_));
    return differences_ == 0 ? 0 : 1;
  }

 private:
  bool is_over() const {
    return settings_.most.count() != 0 && std::chrono::steady_clock::now() - began_ >= settings_.most;
  }

  void work() {
    while (true) {
      std::vector<Task> tasks;
      {
        const std::lock_guard lock(mutex_);
        const std::uint64_t end = settings_.seed + settings_.count;
        if (next_ >= end || is_over() || (differences_ != 0 && !settings_.keeps_going)) return;
        // Seeds of one library have the same mathematics.
        do {
          tasks.push_back(task_of(next_++, settings_.device));
        } while (next_ < end && next_ % kernels_per_library != 0);
      }
      const auto results = compare(tasks);
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (results[i]) report(tasks[i], *results[i]);
      }
      const std::lock_guard lock(mutex_);
      if (compared_ / 1000 != (compared_ + tasks.size()) / 1000) {
        std::fprintf(stderr, "%llu compared\n", static_cast<unsigned long long>(compared_ + tasks.size()));
      }
      compared_ += tasks.size();
      for (const Task& task : tasks) dispatches_ += task.shapes.size();
    }
  }

  void report(const Task& task, const Difference& difference) {
    Task small = task;
    Difference last = difference;
    if (settings_.minimises && difference.kind != Difference::Kind::invalid_source) {
      small = minimise(task, difference.kind);
      if (auto found = compare({small}).front()) last = *found;
    }
    const std::lock_guard lock(mutex_);
    ++differences_;
    std::printf("==== --seed %llu --count 1, %s mathematics\n%s\n%s\n", static_cast<unsigned long long>(task.seed),
                task.kernel.has_safe_mathematics ? "safe" : "fast", difference.text.c_str(), last.text.c_str());
    if (settings_.minimises) std::printf("%s%s\n", library_head().c_str(), source_of(small.kernel, "k0").c_str());
    std::fflush(stdout);
  }

  Settings settings_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::uint64_t next_, compared_ = 0, dispatches_ = 0, differences_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const auto number = [&] { return i + 1 < count ? std::strtoull(arguments[++i], nullptr, 10) : 0; };
    if (name == "--device" && i + 1 < count) {
      settings.device = arguments[++i];
    } else if (name == "--seed") {
      settings.seed = number();
    } else if (name == "--count") {
      settings.count = number();
    } else if (name == "--seconds") {
      settings.most = std::chrono::seconds(number());
    } else if (name == "--jobs") {
      settings.jobs = static_cast<unsigned>(number());
    } else if (name == "--keep-going") {
      settings.keeps_going = true;
    } else if (name == "--no-minimise") {
      settings.minimises = false;
    } else if (name == "--print") {
      settings.prints = true;
    } else {
      std::fprintf(stderr, "%s: unknown option\n", arguments[i]);
      return 2;
    }
  }
  if (settings.prints) {
    std::printf("%s%s", library_head().c_str(), source_of(generate_kernel(settings.seed), "k0").c_str());
    return 0;
  }
  setenv("METALLOID_CACHE", "0", 0);
  setenv("METALLOID_TRIAL_ENGINE", "1", 0);  // engines for tests
  setenv("METALLOID_COMPILE_IN_PROCESS", "1", 0);
  return Run(settings).all();
}
