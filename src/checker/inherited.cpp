#include "checker/inherited.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "metalloid/error.h"
#include "support/files.h"
#include "support/quiet_writes.h"

namespace metalloid::checker {
namespace {

// The next of several parts, which is taken away.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

void set(CheckOptions& options, std::string_view names, bool wanted) {
  while (!names.empty()) {
    for (const CheckClass kind : check_classes_named(next_part(names, ','))) {
      options.classes.set(static_cast<std::size_t>(kind), wanted);
    }
  }
}

template <typename Number>
Number number_of(std::string_view text) {
  Number number{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is no number", text));
  }
  return number;
}

Inherited parse(std::string_view text) {
  Inherited inherited;
  CheckOptions& options = inherited.options;
  while (!text.empty()) {
    std::string_view value = next_part(text, '\n');
    const std::string_view name = next_part(value, '=');
    if (name == "folder") {
      inherited.folder = value;
    } else if (name == "only") {
      options.classes.reset();
      set(options, value, true);
    } else if (name == "also" || name == "skip") {
      set(options, value, name == "also");
    } else if (name == "strict") {
      options.strict = value == "1";
    } else if (name == "schedule") {
      options.schedule = number_of<std::uint64_t>(value);
    } else if (name == "most_findings") {
      options.most_findings = number_of<std::size_t>(value);
    } else if (name == "suppress") {
      options.suppressions.emplace_back(value);
    } else {
      throw Error(ErrorCode::invalid_argument, fmt::format("it has '{}'", name));
    }
  }
  if (inherited.folder.empty()) throw Error(ErrorCode::invalid_argument, "it names no folder");
  return inherited;
}

std::string command_line() {
  std::string command = support::try_read_file("/proc/self/cmdline").value_or("");
  while (command.ends_with('\0')) command.pop_back();
  std::ranges::replace(command, '\0', ' ');
  std::ranges::replace(command, '\n', ' ');
  constexpr std::size_t most = 200;
  return command.size() > most ? command.substr(0, most) + "..." : command;
}

}  // namespace

std::optional<Inherited> inherited_session() {
  const char* variable = std::getenv("METALLOID_CHECK");
  if (!variable || !*variable) return std::nullopt;
  try {
    return parse(variable);
  } catch (const Error& error) {
    support::write_to_standard_error(
        fmt::format("metalloid: METALLOID_CHECK has no effect: {}. It is for processes that a checked one starts; "
                    "docs/checker.md says how to check\n",
                    error.what()));
    return std::nullopt;
  }
}

ProcessReport::ProcessReport(std::filesystem::path folder)
    : folder_(std::move(folder)),
      name_(fmt::format("{}-{:x}", ::getpid(), std::chrono::steady_clock::now().time_since_epoch().count())) {}

void ProcessReport::write_dispatches(std::uint64_t dispatches) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder_, ignored)) return;
  support::write_file_atomically(folder_ / (name_ + ".count"), fmt::format("{}\n", dispatches));
}

void ProcessReport::write_findings(std::span<const Finding> findings, std::uint64_t lost) {
  using Json = nlohmann::ordered_json;
  Json texts = Json::array();
  for (const Finding& finding : findings) texts.push_back(text_of(finding));
  const Json document = {{"process", ::getpid()},
                         {"command", command_line()},
                         {"lost", lost},
                         {"findings", Json::parse(json_of(findings))["findings"]},
                         {"texts", std::move(texts)},
                         {"sarif", Json::parse(sarif_of(findings))}};
  const std::string text = document.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  std::error_code ignored;
  if (std::filesystem::is_directory(folder_, ignored) &&
      support::write_file_atomically(folder_ / (name_ + ".json"), text)) {
    return;
  }
  for (; told_ < findings.size(); ++told_) support::write_to_standard_error(text_of(findings[told_]) + "\n");
}

}  // namespace metalloid::checker
