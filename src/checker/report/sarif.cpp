// Findings as SARIF 2.1.0 (OASIS standard, 2020), which GitHub's code scanning and editors read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "checker/report/classes.h"
#include "checker/report/words.h"
#include "metalloid/check.h"
#include "metalloid/version.h"
#include "support/hash.h"

namespace metalloid {
namespace {

using Json = nlohmann::ordered_json;
using checker::one_line;
using checker::words_of;
using checker::words_of_caller;

// A path of a URI (RFC 3986): what is not unreserved becomes %XX, byte by byte.
std::string uri_path(std::string_view path) {
  constexpr std::string_view unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string result;
  for (const char c : path) {
    if (unreserved.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

class Writer {
 public:
  Writer() {
    std::error_code error;
    folder_ = std::filesystem::current_path(error);
  }

  Json log_of(std::span<const Finding> findings) const {
    Json rules = Json::array(), results = Json::array();
    for (const CheckClass kind : checker::all_classes()) rules.push_back(rule_of(kind));
    for (const Finding& finding : findings) results.push_back(result_of(finding));
    Json driver = {
        {"name", "Metalloid"}, {"version", version}, {"semanticVersion", version}, {"rules", std::move(rules)}};
    Json run = {{"tool", {{"driver", std::move(driver)}}},
                {"columnKind", "unicodeCodePoints"},
                {"results", std::move(results)}};
    return {{"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({std::move(run)})}};
  }

 private:
  static Json rule_of(CheckClass kind) {
    const std::string_view help = checker::help_of(kind);
    return {{"id", name_of(kind)},
            {"shortDescription", {{"text", description_of(kind)}}},
            {"fullDescription", {{"text", help}}},
            {"help", {{"text", help}, {"markdown", fmt::format("**{}**: {}", name_of(kind), help)}}},
            {"defaultConfiguration", {{"level", "error"}}},
            {"properties", {{"tags", Json::array({"metal", "correctness"})}, {"precision", "very-high"}}}};
  }

  Json result_of(const Finding& finding) const {
    std::string message = one_line(finding.message, 4000);
    if (!finding.fix.empty()) message += fmt::format("\nFix: {}", one_line(finding.fix, 4000));
    Json result = {{"ruleId", name_of(finding.kind)},
                   {"ruleIndex", static_cast<std::size_t>(finding.kind)},
                   {"level", name_of(finding.severity)},
                   {"message", {{"text", message}}}};
    // The last step found out. A result without a place is refused by those who read these files.
    static const FindingStep nowhere;
    const FindingStep& main = finding.steps.empty() ? nowhere : finding.steps.back();
    Json location = location_of(main.place, finding.kernel);
    result["locations"] = Json::array({std::move(location)});
    add_related(result, finding);
    if (finding.steps.size() > 1) result["codeFlows"] = Json::array({code_flow_of(finding)});
    result["occurrenceCount"] = std::max<std::uint64_t>(finding.count, 1);
    result["partialFingerprints"] = {{"metalloidFinding/v1", fingerprint_of(finding)}};
    Json properties = Json::object();
    const auto add_text = [&](const char* name, const std::string& text) {
      if (!text.empty()) properties[name] = one_line(text, 4000);
    };
    add_text("kernel", finding.kernel);
    add_text("launch", finding.launch);
    add_text("memory", finding.memory);
    if (finding.index) properties["index"] = *finding.index;
    if (finding.byte_offset) properties["byteOffset"] = *finding.byte_offset;
    if (finding.element) properties["element"] = *finding.element;
    if (!properties.empty()) result["properties"] = std::move(properties);
    return result;
  }

  // Relative to the working folder where it is in there.
  std::string uri_of(const std::string& file) const {
    if (file.empty()) return "program_source";
    const std::filesystem::path path(file);
    if (!folder_.empty()) {
      const std::filesystem::path relative = (folder_ / path).lexically_normal().lexically_relative(folder_);
      if (!relative.empty() && *relative.begin() != ".." && relative != ".") return uri_path(relative.string());
      return "file://" + uri_path((folder_ / path).lexically_normal().string());
    }
    return (path.is_absolute() ? "file://" : "") + uri_path(path.string());
  }

  static Json region_of(const SourcePlace& place) {
    Json region = {{"startLine", std::max(place.line, 1U)}};
    if (place.column != 0) {
      // Ours are of bytes, those of the file of code points.
      std::size_t column = place.column;
      for (std::size_t i = 0; i + 1 < place.column && i < place.text.size(); ++i) {
        if ((static_cast<unsigned char>(place.text[i]) & 0xc0) == 0x80) --column;
      }
      region["startColumn"] = std::max<std::size_t>(column, 1);
    }
    if (!place.text.empty()) region["snippet"] = {{"text", place.text.substr(0, 1000)}};
    return region;
  }

  Json location_of(const SourcePlace& place, const std::string& kernel) const {
    Json location = {
        {"physicalLocation", {{"artifactLocation", {{"uri", uri_of(place.file)}}}, {"region", region_of(place)}}}};
    if (!kernel.empty()) {
      location["logicalLocations"] = Json::array({Json{{"name", one_line(kernel)}, {"kind", "function"}}});
    }
    return location;
  }

  Json location_of(const SourcePlace& place, const std::string& kernel, const std::string& message) const {
    Json location = location_of(place, kernel);
    if (!message.empty()) location["message"] = {{"text", message}};
    return location;
  }

  // The other step, and the calls and expansions that led to both.
  void add_related(Json& result, const Finding& finding) const {
    Json related = Json::array();
    const auto add = [&](const SourcePlace& place, const std::string& message) {
      Json location = location_of(place, finding.kernel, message);
      location["id"] = related.size();
      related.push_back(std::move(location));
    };
    for (std::size_t i = finding.steps.size(); i-- > 0;) {
      const FindingStep& step = finding.steps[i];
      const std::string words = words_of(step);
      if (i + 1 != finding.steps.size() || !words.empty()) add(step.place, words.empty() ? "and here" : words);
      const SourcePlace* inner = &step.place;
      for (const SourcePlace& caller : step.place.called_from) {
        add(caller, words_of_caller(*inner));
        inner = &caller;
      }
    }
    if (!related.empty()) result["relatedLocations"] = std::move(related);
  }

  // Each step is what one thread did: from the outermost call to the place itself.
  Json code_flow_of(const Finding& finding) const {
    Json flows = Json::array();
    int order = 0;
    for (const FindingStep& step : finding.steps) {
      ++order;
      Json locations = Json::array();
      const std::vector<SourcePlace>& callers = step.place.called_from;
      for (std::size_t i = callers.size(); i-- > 0;) {
        const std::string& macro = i == 0 ? step.place.macro : callers[i - 1].macro;
        const std::string words = macro.empty() ? "calls" : fmt::format("expands macro '{}'", one_line(macro));
        locations.push_back({{"location", location_of(callers[i], finding.kernel, words)}, {"executionOrder", order}});
      }
      locations.push_back({{"location", location_of(step.place, finding.kernel, words_of(step))},
                           {"executionOrder", order},
                           {"importance", "essential"}});
      Json flow = {{"locations", std::move(locations)}};
      if (step.thread) flow["message"] = {{"text", words_of(*step.thread)}};
      flows.push_back(std::move(flow));
    }
    return {{"threadFlows", std::move(flows)}};
  }

  // The same as long as the lines are, wherever they move to.
  std::string fingerprint_of(const Finding& finding) const {
    support::Hasher hasher;
    hasher.add(name_of(finding.kind)).add(finding.kernel).add(finding.memory);
    for (const FindingStep& step : finding.steps) {
      hasher.add(uri_of(step.place.file));
      if (step.place.text.empty()) {
        hasher.add(step.place.line);
      } else {
        hasher.add(step.place.text);
      }
      // A macro's body may be one long line.
      if (!step.place.macro.empty()) hasher.add(step.place.macro).add(step.place.column);
    }
    return hasher.finish().hex();
  }

  std::filesystem::path folder_;
};

}  // namespace

std::string sarif_of(std::span<const Finding> findings) {
  return Writer().log_of(findings).dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

}  // namespace metalloid
