#include "checker/session.h"

#include <fmt/format.h>
#include <unistd.h>

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
  // What the process that started this one asks for comes first.
  Active() {
    auto inherited = checker::inherited_session();
    if (!inherited) return;
    states.push_back(std::make_shared<CheckSession::State>(std::move(inherited->options)));
    states.back()->report_to(std::move(inherited->folder));
    exists = true;
  }
  std::atomic<bool> exists{false};
  support::ForkSafeMutex mutex;
  std::vector<std::shared_ptr<CheckSession::State>> states;  // the newest last
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

CheckSession::State::State(CheckOptions wanted)
    : options(std::move(wanted)), suppressions_(options), process_(::getpid()) {}

bool CheckSession::State::count_again(const std::string& key, const Finding& finding) {
  const auto known = known_.find(key);
  if (known == known_.end()) return false;
  if (known->second.fate != Fate::kept) return true;
  Finding& kept = findings_[known->second.index];
  if (kept.severity < finding.severity) return false;
  kept.count += finding.count;
  is_reported_ = false;
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
    is_reported_ = false;
    return;
  }
  const bool is_full = findings_.size() >= options.most_findings;
  const Fate fate = is_suppressed ? Fate::suppressed : is_full ? Fate::lost : Fate::kept;
  known_.emplace(key, Known{fate, findings_.size()});
  if (fate == Fate::suppressed) ++suppressed_;
  if (fate == Fate::lost) ++lost_;
  if (fate == Fate::kept) findings_.push_back(std::move(finding));
  is_reported_ = false;
}

void CheckSession::State::count_dispatch(bool is_examined) {
  {
    const std::lock_guard lock(mutex_);
    ++dispatches_;
    if (is_examined) ++examined_;
  }
  write_report();
}

void CheckSession::State::report_to(std::filesystem::path folder) {
  report_ = std::make_shared<checker::ProcessReport>(std::move(folder));
}

void CheckSession::State::come_to_this_process() {
  if (process_.load(std::memory_order_acquire) == ::getpid()) return;
  const auto inherited = checker::inherited_session();
  const std::lock_guard lock(mutex_);
  if (process_.load(std::memory_order_relaxed) == ::getpid()) return;
  if (inherited) {
    known_.clear();
    findings_.clear();
    lost_ = suppressed_ = dispatches_ = examined_ = 0;
  }
  report_ = inherited ? std::make_shared<checker::ProcessReport>(inherited->folder) : nullptr;
  process_.store(::getpid(), std::memory_order_release);
}

void CheckSession::State::write_report() {
  std::shared_ptr<checker::ProcessReport> report;
  {
    const std::lock_guard lock(mutex_);
    report = report_;
  }
  if (!report) return;
  const std::lock_guard in_order(report->mutex);
  std::vector<Finding> findings;
  std::uint64_t dispatches = 0, lost = 0;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    dispatches = dispatches_;
    lost = lost_;
    is_new = !std::exchange(is_reported_, true);
    if (is_new) findings = findings_;
  }
  report->write_dispatches(dispatches);
  if (is_new) report->write_findings(findings, lost);
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
  now.states.push_back(state_);
  now.exists.store(true, std::memory_order_release);
}

CheckSession::~CheckSession() {
  Active& now = active();
  const std::lock_guard lock(now.mutex);  // the state is destroyed behind it: this session holds it, too
  std::erase(now.states, state_);
  now.exists.store(!now.states.empty(), std::memory_order_release);
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
  std::shared_ptr<CheckSession::State> state;
  {
    const std::lock_guard lock(now.mutex);
    if (now.states.empty()) return nullptr;
    state = now.states.back();
  }
  state->come_to_this_process();
  return state;
}

void add_finding(Finding finding) {
  const auto session = active_session();
  if (!session) return;
  SourceLines lines;
  session->add(std::move(finding), lines);
  session->write_report();
}

}  // namespace checker
}  // namespace metalloid
