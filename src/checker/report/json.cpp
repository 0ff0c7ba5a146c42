// Findings for programs: docs/checker.md has the schema.
#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <string>

#include "metalloid/check.h"

namespace metalloid {
namespace {

using Json = nlohmann::ordered_json;

// null: not known, or none.
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json json_of(const Size& size) { return Json::array({size.x, size.y, size.z}); }

Json json_of(const SourcePlace& place) {
  Json callers = Json::array();
  for (const SourcePlace& caller : place.called_from) callers.push_back(json_of(caller));
  return {{"file", text_or_null(place.file)},
          {"line", place.line == 0 ? Json() : Json(place.line)},
          {"column", place.column == 0 ? Json() : Json(place.column)},
          {"text", text_or_null(place.text)},
          {"macro", text_or_null(place.macro)},
          {"called_from", std::move(callers)}};
}

Json json_of(const ThreadPlace& thread) {
  return {{"position_in_grid", json_of(thread.position_in_grid)},
          {"threadgroup", json_of(thread.threadgroup)},
          {"position_in_threadgroup", json_of(thread.position_in_threadgroup)},
          {"simdgroup", thread.simdgroup},
          {"lane", thread.lane}};
}

Json json_of(const FindingStep& step) {
  return {{"action", step.action},
          {"place", json_of(step.place)},
          {"thread", step.thread ? json_of(*step.thread) : Json()},
          {"value", text_or_null(step.value)}};
}

Json json_of(const Finding& finding) {
  Json steps = Json::array();
  for (const FindingStep& step : finding.steps) steps.push_back(json_of(step));
  return {{"class", name_of(finding.kind)},
          {"severity", name_of(finding.severity)},
          {"kernel", text_or_null(finding.kernel)},
          {"launch", text_or_null(finding.launch)},
          {"message", finding.message},
          {"fix", text_or_null(finding.fix)},
          {"memory", text_or_null(finding.memory)},
          {"index", or_null(finding.index)},
          {"byte_offset", or_null(finding.byte_offset)},
          {"element", or_null(finding.element)},
          {"steps", std::move(steps)},
          {"count", finding.count}};
}

}  // namespace

std::string json_of(std::span<const Finding> findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push_back(json_of(finding));
  const Json document = {{"version", 1}, {"findings", std::move(list)}};
  // In ASCII, which no terminal takes for orders; bytes that are no UTF-8 become U+FFFD.
  return document.dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

}  // namespace metalloid
