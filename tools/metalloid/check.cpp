// `metalloid check`: runs one kernel under the checker and says what is wrong with it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argument.h"
#include "check_settings.h"
#include "checker/report/classes.h"
#include "checker/session.h"
#include "files.h"
#include "launch.h"
#include "metalloid/check.h"
#include "options.h"
#include "output.h"
#include "run_options.h"

namespace metalloid::tool {
namespace {

using Classes = decltype(CheckOptions::classes);

// Lists of names with commas between them.
Classes parse_classes(std::string_view option, const std::vector<std::string>& lists) {
  Classes classes;
  for (const std::string& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      try {
        for (const CheckClass kind : check_classes_named(std::string_view(list).substr(begin, end - begin))) {
          classes.set(static_cast<std::size_t>(kind));
        }
      } catch (const Error& error) {
        throw UsageError(fmt::format("{} {}: {}", option, shortened(list), error.what()));
      }
      begin = end + 1;
    }
  }
  return classes;
}

}  // namespace

CheckOptions check_options(const CheckSettings& settings) {
  CheckOptions options = settings.check;
  if (!settings.only.empty()) options.classes = parse_classes("--only", settings.only);
  options.classes |= parse_classes("--also", settings.also);
  options.classes &= ~parse_classes("--skip", settings.skip);
  for (const std::string& pattern : settings.suppressions) {
    try {
      static_cast<void>(checker::parse_suppression(pattern));
    } catch (const Error& error) {
      throw UsageError(fmt::format("--suppress {}: {}", shortened(pattern), error.what()));
    }
    options.suppressions.push_back(pattern);
  }
  for (const std::string& file : settings.suppression_files) {
    const std::string reason = reason_not_source(file);
    if (!reason.empty()) {
      throw UsageError(fmt::format("--suppressions {}: it cannot be read: {}", shortened(file), reason));
    }
    try {
      for (std::string& pattern : read_suppressions(file)) options.suppressions.push_back(std::move(pattern));
    } catch (const Error& error) {
      throw UsageError(fmt::format("--suppressions {}", error.what()));
    }
  }
  return options;
}

std::string plural(std::uint64_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

namespace {

bool wants_colour(const std::string& choice) {
  if (choice != "auto") return choice == "always";
  const char* none = std::getenv("NO_COLOR");
  if (none != nullptr && *none != '\0') return false;  // no-color.org
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

// "2 findings: 1 threadgroup-race, 1 out-of-bounds", and what else there is to say.
std::string summary_of(const std::vector<Finding>& findings, const CheckSession& session,
                       const CommandLineLaunch& launch) {
  std::vector<std::pair<CheckClass, std::uint64_t>> counted;  // in the order in which they were found
  std::uint64_t total = 0, notes = 0;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::note) {
      ++notes;
      continue;
    }
    ++total;
    auto known = std::ranges::find(counted, finding.kind, &std::pair<CheckClass, std::uint64_t>::first);
    if (known == counted.end()) known = counted.insert(counted.end(), {finding.kind, 0});
    ++known->second;
  }
  std::string text;
  if (total == 0) {
    text = fmt::format("no findings in {} ({})",
                       session.dispatches() == 1 ? "1 dispatch" : fmt::format("{} dispatches", session.dispatches()),
                       launch.grid_text());
  } else {
    text = plural(total, "finding") + ":";
    for (const auto& [kind, count] : counted) {
      text += fmt::format("{} {} {}", text.ends_with(':') ? "" : ",", count, name_of(kind));
    }
  }
  if (notes != 0) text += fmt::format("; {}", plural(notes, "note"));
  if (session.lost() != 0) text += fmt::format("; {} more than --max-reports", session.lost());
  if (session.suppressed() != 0) text += fmt::format("; {} suppressed", session.suppressed());
  return text + "\n";
}

int check_kernel(const CheckSettings& settings) {
  if (settings.run.file.empty()) throw UsageError("check what? Name a Metal source, or a program behind --");
  const CheckOptions options = check_options(settings);
  const Report json(settings.json), sarif(settings.sarif);
  if (json.is_same_file(sarif)) throw UsageError("--json and --sarif are written to one place");
  if (!settings.run.prints.empty() && (settings.json == "-" || settings.sarif == "-")) {
    throw UsageError("--print and a report are both written to stdout; give the report a file");
  }
  const Library library = load_source(Device::named(settings.run.device), settings.run.file, settings.run.flags);
  CommandLineLaunch launch(library, settings.run.launch);
  const RunOutputs outputs(launch, settings.run);
  choose_group(launch, settings.run);

  const CheckSession session(options);
  for (const Finding& finding : launch.findings()) checker::add_finding(finding);
  std::optional<Error> error;
  try {
    launch.execute();
  } catch (const Error& thrown) {
    error = thrown;
  }
  const std::vector<Finding> findings = session.findings();
  const bool has_colour = wants_colour(settings.colour);
  for (const Finding& finding : findings) write_raw_message(text_of(finding, has_colour) + "\n");
  if (json.is_wanted()) json.write(json_of(findings));
  if (sarif.is_wanted()) sarif.write(sarif_of(findings));
  if (error) {
    if (!counts(findings)) throw Error(*error);
    print_message("metalloid: {}\n", error->what());
  } else {
    outputs.write();
  }
  write_message(summary_of(findings, session, launch));
  return counts(findings) ? exit_findings : exit_fine;
}

std::string class_help() {
  std::string text = "CLASSES are names with commas between them, race for the four kinds of races, or all:\n";
  for (const CheckClass kind : checker::all_classes()) {
    text += fmt::format("  {:<22} {}\n", name_of(kind), description_of(kind));
  }
  return text;
}

void add_class_options(CLI::App& command, CheckSettings& settings) {
  const auto add = [&](const char* name, std::vector<std::string>& lists, const char* description) {
    command.add_option(name, lists, description)->type_name("CLASSES")->allow_extra_args(false)->group("Checks");
  };
  add("--only", settings.only, "Look for these alone");
  add("--also", settings.also, "Look for these, too (not-finite is off unless asked for)");
  add("--skip", settings.skip, "Do not look for these");
}

}  // namespace

void add_check(CLI::App& app, int& exit_code, std::vector<std::string> program) {
  auto settings = std::make_shared<CheckSettings>();
  settings->run.launch.takes_other_types = true;
  CLI::App* command = app.add_subcommand(
      "check", "Runs one kernel and reports races, accesses out of bounds, and what else is wrong with it");
  settings->program = std::move(program);
  add_run_options(*command, settings->run);
  if (!settings->program.empty()) command->get_option("FILE")->required(false);
  add_whole_number(
      *command, "--repeat", "Run N times, each from the same input", 1, 1'000'000'000,
      [settings](std::uint64_t count) { settings->run.launch.repeat = static_cast<std::uint32_t>(count); });
  add_class_options(*command, *settings);
  command->add_flag("--strict", settings->check.strict, "Threads that have returned count at barriers")
      ->group("Checks");
  add_whole_number(*command, "--schedule", "Let threads take turns in another order; 0 is the usual one", 0, UINT64_MAX,
                   [settings](std::uint64_t seed) { settings->check.schedule = seed; });
  add_whole_number(*command, "--max-reports", "Show at most N findings (100)", 0, 1'000'000'000,
                   [settings](std::uint64_t count) { settings->check.most_findings = count; });
  command->add_option("--suppress", settings->suppressions, "Leave findings out")
      ->type_name("CLASS[:FILE[:LINE]]")
      ->allow_extra_args(false);
  command->add_option("--suppressions", settings->suppression_files, "The same, one a line; # begins a comment")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--json", settings->json, "Write the findings as JSON; - is stdout")->type_name("FILE");
  command->add_option("--sarif", settings->sarif, "Write them as SARIF 2.1.0 for code scanning; - is stdout")
      ->type_name("FILE");
  command->add_option("--color", settings->colour, "auto (a terminal, unless NO_COLOR is set), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->footer(class_help() +
                  "A comment in the source, on a finding's line or alone above it, leaves it out, too:\n"
                  "  // metalloid: allow race\n\n" +
                  spec_help() +
                  "\n"
                  "Findings go to stderr. Exit code 4 if there are any; notes do not count.\n\n"
                  "Examples:\n"
                  "  metalloid check reverse.metal --threads 64 --arg x=f32[64]=arange --arg out=f32[64]=undefined\n"
                  "  metalloid check reverse.metal --threads 64 --arg x=f32[64]=arange --arg out=@x --sarif out.sarif\n"
                  "  metalloid check -- ./program --its --arguments    all kernels that it launches");
  command->callback([settings, &exit_code] {
    exit_code = settings->program.empty() ? check_kernel(*settings) : check_program(*settings);
  });
}

}  // namespace metalloid::tool
