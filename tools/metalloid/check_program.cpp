// `metalloid check -- PROGRAM`: the kernels that a program launches, and the processes that it starts, under the
// checker (src/checker/inherited.h says how they know of it).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "argument.h"
#include "check_settings.h"
#include "checker/report/classes.h"
#include "options.h"
#include "output.h"

extern char** environ;

namespace metalloid::tool {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Of this process, for as long as it waits for the program.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "metalloid-check-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw Error(ErrorCode::input_output, fmt::format("no folder can be made in {}: {}",
                                                       fs::temp_directory_path().string(), std::strerror(errno)));
    }
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// METALLOID_CHECK's lines.
std::string inherited(const CheckOptions& options, const fs::path& folder) {
  std::vector<std::string_view> names;
  for (const CheckClass kind : checker::all_classes()) {
    if (options.classes[static_cast<std::size_t>(kind)]) names.push_back(name_of(kind));
  }
  std::string text =
      fmt::format("folder={}\nonly={}\nstrict={}\nschedule={}\nmost_findings={}\n", folder.string(),
                  fmt::join(names, ","), options.strict ? 1 : 0, options.schedule, options.most_findings);
  for (const std::string& pattern : options.suppressions) text += fmt::format("suppress={}\n", pattern);
  return text;
}

// Returns its exit code, as shells have it. Ctrl-C is the program's.
int run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int failed = ::posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (failed != 0) {
    throw UsageError(fmt::format("{} cannot be started: {}", shortened(command[0]), std::strerror(failed)));
  }
  struct sigaction ignore = {}, before = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignore, &before);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  ::sigaction(SIGINT, &before, nullptr);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct Found {
  std::uint64_t dispatches = 0, lost = 0;
  Json findings = Json::array(), runs = Json::array();
  std::vector<std::string> texts;
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What all its processes have left.
Found collected(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  Found found;
  for (const fs::path& file : files) {
    if (file.extension() == ".count") found.dispatches += std::strtoull(read(file).c_str(), nullptr, 10);
    if (file.extension() != ".json") continue;
    const Json document = Json::parse(read(file), nullptr, /*allow_exceptions=*/false);
    if (!document.is_object()) continue;
    found.lost += document.value("lost", std::uint64_t{0});
    for (const Json& finding : document["findings"]) found.findings.push_back(finding);
    for (const Json& text : document["texts"]) found.texts.push_back(text.get<std::string>());
    for (const Json& one : document["sarif"]["runs"]) found.runs.push_back(one);
  }
  return found;
}

std::string written(const Json& document) {
  return document.dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int check_program(const CheckSettings& settings) {
  const CheckOptions options = check_options(settings);
  const Report json(settings.json), sarif(settings.sarif);
  if (json.is_same_file(sarif)) throw UsageError("--json and --sarif are written to one place");
  const Folder folder;
  ::setenv("METALLOID_CHECK", inherited(options, folder.path()).c_str(), 1);
  const int code = run(settings.program);
  ::unsetenv("METALLOID_CHECK");
  const Found found = collected(folder.path());

  std::map<std::string, std::uint64_t> classes;
  std::uint64_t total = 0, notes = 0;
  for (const Json& finding : found.findings) {
    if (finding["severity"] == name_of(Severity::note)) {
      ++notes;
    } else {
      ++total;
      ++classes[finding["class"].get<std::string>()];
    }
  }
  for (const std::string& text : found.texts) write_message(text + "\n");
  if (json.is_wanted()) json.write(written({{"version", 1}, {"findings", found.findings}}));
  if (sarif.is_wanted()) {
    Json document = Json::parse(sarif_of({}));
    if (!found.runs.empty()) document["runs"] = found.runs;
    sarif.write(written(document));
  }
  std::string summary = total == 0 ? fmt::format("no findings in {} {}", found.dispatches,
                                                 found.dispatches == 1 ? "dispatch" : "dispatches")
                                   : plural(total, "finding") + ":";
  for (const auto& [name, count] : classes)
    summary += fmt::format("{} {} {}", summary.ends_with(':') ? "" : ",", count, name);
  if (notes != 0) summary += fmt::format("; {}", plural(notes, "note"));
  if (found.lost != 0) summary += fmt::format("; {} more than --max-reports", found.lost);
  if (found.dispatches == 0 && total == 0) summary = "the program has launched no kernel on Metalloid";
  if (code != 0) summary += fmt::format("; the program ended with {}", code);
  write_message(summary + "\n");
  if (total != 0) return exit_findings;
  return code;
}

}  // namespace metalloid::tool
