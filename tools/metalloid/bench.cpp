// `metalloid bench`: measures a kernel against this machine's limits, or against another kernel.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "argument.h"
#include "constants.h"
#include "files.h"
#include "json.h"
#include "launch.h"
#include "machine_limits.h"
#include "measurement.h"
#include "metalloid/work.h"
#include "numbers.h"
#include "output.h"
#include "roofline_plot.h"
#include "runtime/hardware_facts.h"
#include "tune/arguments.h"

namespace metalloid::tool {
namespace {

using Json = nlohmann::ordered_json;

// What a second contender has different from the first; empty: the same.
struct Other {
  std::string file, kernel, device, group;
  bool is_given() const { return !(file.empty() && kernel.empty() && device.empty() && group.empty()); }
};

struct BenchSettings {
  std::string file;
  std::string device = "cpu";
  LaunchOptions launch;
  Other other;
  RoundOptions rounds;
  std::optional<double> bytes;
  std::string flops, plot;
  bool json = false;
  CompilerFlags flags;
};

// A kernel, ready to run, and what it moves and computes.
struct Subject {
  std::string file, device;
  Library library;
  CommandLineLaunch launch;
  Amounts amounts;
  std::uint64_t footprint = 0;  // bytes bound
};

// "1e9", or "12/thread" for what one thread computes.
double parse_flops(const std::string& text, const CommandLineLaunch& launch) {
  constexpr std::string_view per_thread = "/thread";
  std::string_view number = text;
  const bool is_per_thread = number.ends_with(per_thread);
  if (is_per_thread) number.remove_suffix(per_thread.size());
  const auto flops = parse_number<double>(number);
  if (!flops || !(*flops >= 0) || std::isinf(*flops)) {
    throw UsageError(
        fmt::format("--flops {}: give the number of operations of a dispatch, or N/thread", shortened(text)));
  }
  return is_per_thread ? *flops * static_cast<double>(launch.thread_count()) : *flops;
}

void count(Subject& subject, const BenchSettings& settings) {
  const KernelInfo& info = subject.launch.kernel().info();
  const Work work = work_of(subject.library, info.name, parse_constants(subject.library, settings.launch.constants));
  for (std::size_t i = 0; i < subject.launch.arguments().size(); ++i) {
    const std::uint64_t size = subject.launch.memory(i).size();
    subject.footprint += size;
    for (std::size_t place = 0; place < info.arguments.size() && place < work.arguments.size(); ++place) {
      const ArgumentInfo& argument = info.arguments[place];
      const ArgumentInfo& bound = subject.launch.arguments()[i].info;
      if (argument.kind != bound.kind || argument.index != bound.index) continue;
      // A tensor's parameter leads to a descriptor, not to the elements.
      const bool is_known = argument.kind == ArgumentKind::buffer;
      const bool reads = !is_known || work.arguments[place].reads;
      const bool writes = is_known ? work.arguments[place].writes : argument.access == Access::read_write;
      subject.amounts.bytes += static_cast<double>(size) * (static_cast<int>(reads) + static_cast<int>(writes));
    }
  }
  if (settings.bytes) subject.amounts.bytes = *settings.bytes;
  if (!settings.flops.empty()) {
    subject.amounts.flops = parse_flops(settings.flops, subject.launch);
  } else if (work.flops_per_thread) {
    subject.amounts.flops = *work.flops_per_thread * static_cast<double>(subject.launch.thread_count());
  }
}

Subject prepare(const BenchSettings& settings, const Other& other) {
  const std::string& file = other.file.empty() ? settings.file : other.file;
  const std::string& device = other.device.empty() ? settings.device : other.device;
  LaunchOptions options = settings.launch;
  options.on_device = true;
  if (!other.kernel.empty()) options.kernel = other.kernel;
  if (!other.group.empty()) options.group = other.group;
  const Library library = load_source(Device::named(device), file, settings.flags);
  Subject subject{file, device, library, CommandLineLaunch(library, options), {}};
  if (options.group == "auto") {
    subject.launch.set_group(subject.launch.tune_once().best());
  } else if (options.group.empty()) {
    subject.launch.set_default_group();
  }
  count(subject, settings);
  return subject;
}

// What both have written differs; nothing if it does not.
std::optional<std::string> difference(Subject& one, Subject& other) {
  one.launch.read_back();
  other.launch.read_back();
  for (std::size_t i = 0; i < one.launch.arguments().size(); ++i) {
    const BoundArgument& argument = one.launch.arguments()[i];
    if (argument.info.access != Access::read_write || i >= other.launch.arguments().size()) continue;
    const auto text = tuning::compare_elements(argument.array.kind, one.launch.memory(i), other.launch.memory(i), {});
    if (text) return fmt::format("'{}': {}", argument.info.name, *text);
  }
  return std::nullopt;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string optional_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value / 1e9) : "-";
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json describe(const Bandwidth& bandwidth) {
  return {{"over_bytes", bandwidth.bytes},
          {"copy_bytes_per_second", bandwidth.copy},
          {"read_bytes_per_second", bandwidth.read}};
}

std::string peak_text(const std::string& device, const engines::Peak& peak) {
  return fmt::format("{}: {} multiprocessors, {:.0f} GFLOP/s and {:.0f} GB/s by their clocks", device, peak.processors,
                     peak.flops / 1e9, peak.bytes_per_second / 1e9);
}

Json describe(const std::string& device, const engines::Peak& peak) {
  return {{"device", device},
          {"multiprocessors", peak.processors},
          {"flops_per_second", peak.flops},
          {"bytes_per_second", peak.bytes_per_second}};
}

std::string limits_text(double flops, const Bandwidth& bandwidth) {
  return fmt::format("{} cores, {:.0f} GFLOP/s, over {:.3g} MiB {:.1f} GB/s in memcpy and {:.1f} GB/s in reads",
                     core_count(), flops / 1e9, static_cast<double>(bandwidth.bytes) / (1 << 20), bandwidth.copy / 1e9,
                     bandwidth.read / 1e9);
}

// Without a file: the machine alone.
int show_machine(const BenchSettings& settings) {
  if (const auto peak = runtime::peak_of(Device::named(settings.device))) {
    settings.json ? write_result(to_text(describe(settings.device, *peak)))
                  : print_result("{}\n", peak_text(settings.device, *peak));
    return exit_fine;
  }
  const OtherLoad load;
  std::vector<std::size_t> sizes = {std::size_t{1} << 18, std::size_t{1} << 22, std::size_t{1} << 26,
                                    std::size_t{1} << 28};
  if (settings.bytes) sizes = {static_cast<std::size_t>(*settings.bytes)};
  MachineLimits limits;
  limits.measure_flops();
  for (const std::size_t size : sizes) limits.measure_bandwidth(size);
  if (settings.json) {
    Json json{{"cores", core_count()},
              {"flops_per_second", limits.flops()},
              {"bandwidth", Json::array()},
              {"other_load", load.part()}};
    for (const std::size_t size : sizes) json["bandwidth"].push_back(describe(limits.bandwidth(size)));
    write_result(to_text(json));
  } else {
    for (const std::size_t size : sizes) print_result("{}\n", limits_text(limits.flops(), limits.bandwidth(size)));
  }
  return exit_fine;
}

struct BenchReport {
  std::vector<Subject>& subjects;
  std::vector<Contender>& contenders;
  double machine_flops;
  std::vector<std::optional<engines::Peak>>
      peaks;  // beside subjects, as what follows; none: the machine's limits count
  std::vector<Bandwidth> bandwidths;
  std::vector<Rates> rates;
  std::optional<std::string> difference;
  double other_load = 0;

  double flops(std::size_t subject) const { return peaks[subject] ? peaks[subject]->flops : machine_flops; }
  bool is_on_host() const {
    return std::ranges::any_of(peaks, [](const auto& peak) { return !peak; });
  }
};

Json to_json(const BenchReport& report) {
  Json json;
  if (report.is_on_host()) json["machine"] = {{"cores", core_count()}, {"flops_per_second", report.machine_flops}};
  json["runs"] = Json::array();
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    const Subject& subject = report.subjects[i];
    const Contender& contender = report.contenders[i];
    const Rates& rates = report.rates[i];
    const Spread time = spread_of(contender.seconds);
    json["runs"].push_back({{"file", subject.file},
                            {"kernel", subject.launch.kernel().name()},
                            {"device", subject.device},
                            {"engine", subject.launch.kernel().engine()},
                            {"grid", subject.launch.grid_text()},
                            {"seconds", time.median},
                            {"spread", time.spread},
                            {"fastest", std::ranges::min(contender.seconds)},
                            {"samples", contender.seconds},
                            {"calls_per_sample", contender.calls},
                            {"bytes", subject.amounts.bytes},
                            {"flops", optional_json(subject.amounts.flops)},
                            {"bytes_per_second", rates.bytes_per_second},
                            {"flops_per_second", optional_json(rates.flops_per_second)},
                            {"intensity", optional_json(rates.intensity)},
                            {"bandwidth", describe(report.bandwidths[i])},
                            {"peak_flops_per_second", report.flops(i)},
                            {"roofline_fraction", rates.roofline_fraction},
                            {"bound_by", rates.is_bound_by_memory ? "memory" : "arithmetic"}});
  }
  if (report.subjects.size() == 2) {
    const Spread ratio = ratio_of(report.contenders[1].seconds, report.contenders[0].seconds);
    json["ratio"] = {{"median", ratio.median}, {"spread", ratio.spread}};
    json["results_differ"] = report.difference ? Json(*report.difference) : Json();
  }
  json["other_load"] = report.other_load;
  return json;
}

void print_table(const BenchReport& report) {
  std::vector<std::array<std::string, 7>> rows = {{"", "time", "spread", "GB/s", "GFLOP/s", "of roofline", "bound by"}};
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    const Rates& rates = report.rates[i];
    const Spread time = spread_of(report.contenders[i].seconds);
    rows.push_back({printable_name(report.contenders[i].label), time_text(time.median),
                    fmt::format("{:.1f} %", time.spread * 100), fmt::format("{:.2f}", rates.bytes_per_second / 1e9),
                    optional_text(rates.flops_per_second), fmt::format("{:.0f} %", rates.roofline_fraction * 100),
                    rates.is_bound_by_memory ? "memory" : "arithmetic"});
  }
  std::array<std::size_t, 7> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    print_result("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) print_result("  {:>{}}", row[i], widths[i]);
    print_result("\n");
  }
}

// An engine behind the device's first took the kernel: its time is not what the device is known for.
void tell_fallback(const Subject& subject) {
  const Kernel& kernel = subject.launch.kernel();
  const std::string first = Device::named(subject.device).engine();
  if (kernel.engine() == first) return;
  std::string reasons;
  for (const Remark& remark : kernel.remarks()) {
    if (remark.engine == first)
      reasons += fmt::format("; {}:{}: {}", remark.source_file, remark.source_line, remark.reason);
  }
  print_message("{} ran on the engine {}, not {}{}\n", printable_name(kernel.name()), kernel.engine(), first,
                printable(reasons));
}

void print(const BenchReport& report) {
  const Subject& first = report.subjects[0];
  print_result("{}, {}; {} samples of {} calls\n", printable_name(first.launch.kernel().name()),
               first.launch.grid_text(), report.contenders[0].seconds.size(), report.contenders[0].calls);
  print_table(report);
  if (report.subjects.size() == 2) {
    const Spread ratio = ratio_of(report.contenders[1].seconds, report.contenders[0].seconds);
    print_result("{} takes {:.3f} times as long as {}, spread {:.1f} %\n", printable_name(report.contenders[1].label),
                 ratio.median, printable_name(report.contenders[0].label), ratio.spread * 100);
    if (report.difference) print_result("their results differ: {}\n", *report.difference);
  }
  std::set<std::string> shown;
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    const auto& peak = report.peaks[i];
    const std::string text = peak ? peak_text(report.subjects[i].device, *peak)
                                  : "this machine: " + limits_text(report.machine_flops, report.bandwidths[i]);
    if (shown.insert(peak ? text : "host").second) print_result("{}\n", text);
  }
  if (!first.amounts.flops) {
    print_message("the kernel's code does not tell how many operations it makes; --flops says it\n");
  }
}

// Throws UsageError if a subject has no place in a plot.
void check_for_plot(const std::vector<Subject>& subjects) {
  for (const Subject& each : subjects) {
    if (each.amounts.bytes > 0 && each.amounts.flops.value_or(0) > 0) continue;
    throw UsageError("--plot needs floating-point operations and bytes; give --flops and --bytes");
  }
}

std::string svg_of(const BenchReport& report) {
  std::vector<RooflinePoint> points;
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    const Rates& rates = report.rates[i];
    points.push_back({report.contenders[i].label, rates.intensity.value_or(1), rates.flops_per_second.value_or(1)});
  }
  const auto& peak = report.peaks[0];
  return roofline_svg(report.flops(0), report.bandwidths[0], points,
                      peak ? fmt::format("Roofline of {} multiprocessors", peak->processors)
                           : fmt::format("Roofline of {} cores", core_count()));
}

// The kernel, and what tells it from the other one.
std::string label_of(const BenchSettings& settings, const Subject& subject) {
  std::string label = subject.launch.kernel().name();
  if (!settings.other.file.empty()) label += fmt::format(" of {}", subject.file);
  if (!settings.other.group.empty()) label += fmt::format(" in groups of {}", to_string(subject.launch.group()));
  return fmt::format("{} on {}", label, subject.device);
}

int bench_kernel(const BenchSettings& settings) {
  if (settings.file.empty()) return show_machine(settings);
  std::unique_ptr<OutputFile> plot;
  if (!settings.plot.empty()) plot = std::make_unique<OutputFile>(settings.plot);

  std::vector<Subject> subjects;
  subjects.push_back(prepare(settings, {}));
  if (settings.other.is_given()) subjects.push_back(prepare(settings, settings.other));
  if (plot) check_for_plot(subjects);
  std::vector<Contender> contenders;
  for (Subject& each : subjects) contenders.push_back({label_of(settings, each), &each.launch, 1, {}});

  BenchReport report{subjects, contenders, 0, {}, {}, {}, {}};
  for (const Subject& each : subjects) report.peaks.push_back(runtime::peak_of(Device::named(each.device)));
  const OtherLoad load;
  for (Subject& each : subjects) each.launch.time_calls(1);
  if (subjects.size() == 2) report.difference = difference(subjects[0], subjects[1]);
  MachineLimits limits;
  auto measure_limits = [&] {
    if (!report.is_on_host()) return;
    limits.measure_flops();
    for (const Subject& each : subjects) limits.measure_bandwidth(each.footprint);
  };
  measure_limits();
  measure_by_turns(contenders, settings.rounds);
  measure_limits();
  report.machine_flops = limits.flops();
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const std::uint64_t bytes = subjects[i].footprint;
    if (const auto& peak = report.peaks[i]) {
      report.bandwidths.push_back({bytes, peak->bytes_per_second, peak->bytes_per_second});
    } else {
      report.bandwidths.push_back(limits.bandwidth(bytes));
    }
  }
  report.other_load = load.part();
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    report.rates.push_back(
        rates_of(subjects[i].amounts, spread_of(contenders[i].seconds).median, report.flops(i), report.bandwidths[i]));
  }

  if (plot) {
    plot->write(svg_of(report));
    plot->finish();
  }
  if (settings.json) {
    write_result(to_text(to_json(report)));
  } else {
    print(report);
  }
  for (const Subject& each : subjects) tell_fallback(each);
  if (report.other_load > 0.1) {
    print_message("other processes kept {:.0f} % of this machine busy meanwhile; trust ratios, not times\n",
                  report.other_load * 100);
  }
  return exit_fine;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  auto settings = std::make_shared<BenchSettings>();
  CLI::App* command = app.add_subcommand("bench", "Measures a kernel, against this machine's limits or another kernel");
  command->add_option("FILE", settings->file, "Metal source; without one, the machine's limits are measured alone");
  add_launch_options(*command, settings->launch);
  command->get_option("--group")->description(
      "Threads per threadgroup X[,Y[,Z]], at most 1024 in all; auto: what `metalloid tune` finds (default with "
      "--threads: as many along X as the kernel allows)");
  constexpr double largest = 1e18;
  add_real_number(*command, "--seconds", "How long to measure, about (1)", 1e9,
                  [settings](double seconds) { settings->rounds.seconds = seconds; });
  add_whole_number(*command, "--rounds", "Take so many samples instead", 1, 1'000'000,
                   [settings](std::uint64_t rounds) { settings->rounds.rounds = static_cast<std::uint32_t>(rounds); });
  add_real_number(*command, "--bytes",
                  "Bytes that a dispatch moves (default: of each buffer's, what is read and what is written)", largest,
                  [settings](double bytes) { settings->bytes = bytes; });
  command->add_option("--flops", settings->flops,
                      "Floating-point operations of a dispatch, or N/thread (default: counted from the code, where the "
                      "turns of its loops are constants)");
  command->add_option("--against", settings->other.file, "Measure another file's kernel of that name by turns with it")
      ->type_name("FILE");
  command->add_option("--against-kernel", settings->other.kernel, "The same for another kernel on the same arguments");
  command->add_option("--against-device", settings->other.device, "The same for another device");
  command->add_option("--against-group", settings->other.group, "The same for another threadgroup size");
  command->add_flag("--json", settings->json, "Print JSON for programs instead of text");
  command->add_option("--plot", settings->plot, "Draw a roofline with the kernel in it")->type_name("FILE.svg");
  command->add_option("--device", settings->device, "One of `metalloid devices` (default: cpu)");
  add_compiler_flags(*command, settings->flags);
  command->footer(
      spec_help() +
      "\n"
      "A time is the median of samples, each from the same input; the spread is half of their interquartile range.\n"
      "The roofline is the least time that the bytes take at the bandwidth of memcpy or of reads, whichever is more,\n"
      "over as much memory as is bound, and the operations at that of fused multiply-adds: both measured at the "
      "start.\n"
      "On a GPU arguments lie in its memory, times are by its own clock, and the roofline is of its clocks.\n\n"
      "Examples:\n"
      "  metalloid bench saxpy.metal --threads 16777216 --group 256 \\\n"
      "      --arg y=f32[16777216]=ones --arg x=f32[16777216]=arange --arg a=0.5\n"
      "  metalloid bench new.metal --against old.metal --kernel softmax --threadgroups 64 --group 256 ...\n"
      "  metalloid bench saxpy.metal --against-device reference --plot saxpy.svg ...");
  command->callback([settings, &exit_code] { exit_code = bench_kernel(*settings); });
}

}  // namespace metalloid::tool
