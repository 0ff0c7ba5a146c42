#include "checker/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string_view>
#include <utility>

#include "metalloid/error.h"
#include "support/made_once.h"

namespace metalloid {
namespace {

struct Active {
  std::atomic<bool> exists{false};
  support::ForkSafeMutex mutex;
  std::shared_ptr<CheckSession::State> state;
};

Active& active() {
  static constinit support::MadeOnce<Active> made;  // kernels may run until the very end
  return made.get([] { return Active(); });
}

// Each with its length, so that no two sequences make the same text.
void append(std::string& key, std::string_view part) { key += fmt::format("{}:{}", part.size(), part); }

void append(std::string& key, const SourcePlace& place) {
  append(key, place.file);
  key += fmt::format(":{}:{}(", place.line, place.column);
  for (const SourcePlace& caller : place.called_from) append(key, caller);
  key += ')';
}

// Class, kernel, memory and places, whichever of two comes first. What has no place is known by what it says.
std::string key_of(const Finding& finding) {
  std::vector<std::string> places;
  bool has_place = false;
  for (const FindingStep& step : finding.steps) {
    has_place |= step.place.line != 0;
    append(places.emplace_back(), step.place);
  }
  std::ranges::sort(places);
  std::string key = fmt::format("{} ", static_cast<int>(finding.kind));
  append(key, finding.kernel);
  append(key, finding.memory);
  for (const std::string& place : places) append(key, place);
  if (!has_place) append(key, finding.message);
  return key;
}

void fill_in_lines(SourcePlace& place, checker::SourceLines& source) {
  if (place.text.empty() && place.line != 0) place.text = source.line(place.file, place.line);
  for (SourcePlace& caller : place.called_from) fill_in_lines(caller, source);
}

}  // namespace

CheckSession::State::State(CheckOptions wanted) : options(std::move(wanted)), suppressions_(options) {}

bool CheckSession::State::count_again(const std::string& key, const Finding& finding) {
  const auto known = known_.find(key);
  if (known == known_.end()) return false;
  if (known->second.fate != Fate::kept) return true;
  Finding& kept = findings_[known->second.index];
  if (kept.severity < finding.severity) return false;
  kept.count += finding.count;
  return true;
}

void CheckSession::State::add(Finding finding, checker::SourceLines& source) {
  if (!looks_for(finding.kind)) return;
  const std::string key = key_of(finding);
  {
    const std::lock_guard lock(mutex_);
    if (count_again(key, finding)) return;
  }
  // Without the lock: this may read files.
  for (FindingStep& step : finding.steps) fill_in_lines(step.place, source);
  const bool is_suppressed = suppressions_.suppress(
      finding, [&](const std::string& file, std::uint32_t number) { return source.line(file, number); });

  const std::lock_guard lock(mutex_);
  if (count_again(key, finding)) return;  // another thread found it, meanwhile
  if (const auto known = known_.find(key); known != known_.end()) {
    Finding& milder = findings_[known->second.index];
    finding.count += milder.count;
    milder = std::move(finding);
    return;
  }
  const bool is_full = findings_.size() >= options.most_findings;
  const Fate fate = is_suppressed ? Fate::suppressed : is_full ? Fate::lost : Fate::kept;
  known_.emplace(key, Known{fate, findings_.size()});
  if (fate == Fate::suppressed) ++suppressed_;
  if (fate == Fate::lost) ++lost_;
  if (fate == Fate::kept) findings_.push_back(std::move(finding));
}

void CheckSession::State::count_dispatch(bool is_examined) {
  const std::lock_guard lock(mutex_);
  ++dispatches_;
  if (is_examined) ++examined_;
}

std::vector<Finding> CheckSession::State::findings() const {
  const std::lock_guard lock(mutex_);
  return findings_;
}

std::vector<Finding> CheckSession::State::take_findings() {
  const std::lock_guard lock(mutex_);
  known_.clear();
  return std::exchange(findings_, {});
}

std::uint64_t CheckSession::State::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

std::uint64_t CheckSession::State::suppressed() const {
  const std::lock_guard lock(mutex_);
  return suppressed_;
}

std::uint64_t CheckSession::State::examined() const {
  const std::lock_guard lock(mutex_);
  return examined_;
}

std::uint64_t CheckSession::State::dispatches() const {
  const std::lock_guard lock(mutex_);
  return dispatches_;
}

CheckSession::CheckSession(CheckOptions options) : state_(std::make_shared<State>(std::move(options))) {
  Active& now = active();
  const std::lock_guard lock(now.mutex);
  if (now.state) throw Error(ErrorCode::invalid_argument, "a CheckSession exists already; there is one at a time");
  now.state = state_;
  now.exists.store(true, std::memory_order_release);
}

CheckSession::~CheckSession() {
  Active& now = active();
  std::shared_ptr<State> last;  // is destroyed without the lock
  const std::lock_guard lock(now.mutex);
  now.exists.store(false, std::memory_order_release);
  last = std::exchange(now.state, nullptr);
}

std::vector<Finding> CheckSession::findings() const { return state_->findings(); }
std::vector<Finding> CheckSession::take_findings() { return state_->take_findings(); }
std::uint64_t CheckSession::lost() const { return state_->lost(); }
std::uint64_t CheckSession::suppressed() const { return state_->suppressed(); }
std::uint64_t CheckSession::dispatches() const { return state_->dispatches(); }
std::uint64_t CheckSession::examined() const { return state_->examined(); }

bool is_checking() { return active().exists.load(std::memory_order_acquire); }

namespace checker {

std::shared_ptr<CheckSession::State> active_session() {
  if (!is_checking()) return nullptr;
  Active& now = active();
  const std::lock_guard lock(now.mutex);
  return now.state;
}

void add_finding(Finding finding) {
  const auto session = active_session();
  if (!session) return;
  SourceLines lines;
  session->add(std::move(finding), lines);
}

}  // namespace checker
}  // namespace metalloid
