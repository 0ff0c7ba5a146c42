// What the checker found, in words.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "checker/report/words.h"
#include "checker/run/access.h"
#include "checker/run/watch.h"
#include "ir/operations.h"

namespace metalloid::checker {
namespace {

std::string text_of(const Size& size) { return fmt::format("({}, {}, {})", size.x, size.y, size.z); }

std::string thread_text(const ThreadPlace& place) {
  return fmt::format("thread {} of threadgroup {}", text_of(place.position_in_threadgroup), text_of(place.threadgroup));
}

const char* action_of(bool writes, bool reads, bool atomic) {
  if (atomic) return writes && reads ? "updates atomically" : writes ? "writes atomically" : "reads atomically";
  return writes ? "writes" : "reads";
}

std::string lanes_text(std::uint32_t lanes) {
  std::string text;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    std::uint32_t last = lane;
    while (last < 31 && (lanes >> (last + 1) & 1) != 0) ++last;
    text += (text.empty() ? "" : ", ") + (last > lane + 1 ? fmt::format("{} to {}", lane, last) : std::to_string(lane));
    if (last > lane + 1) lane = last;
  }
  return text;
}

std::string lines_between(const Site* one, const Site* other) {
  if (!one || one->line == other->line || std::strcmp(one->file, other->file) != 0) return "between the two accesses";
  return fmt::format("between line {} and line {}", std::min(one->line, other->line), std::max(one->line, other->line));
}

template <typename T>
T bits_at(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(value));
  return value;
}

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 0) return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(fraction * 0x1p-24f));
  const std::uint32_t widened = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
}

}  // namespace

Size position_of(const WatchedGrid& grid, std::uint32_t threadgroup) {
  const Size& groups = grid.threadgroups_per_grid;
  const std::uint32_t index = threadgroup - 1;
  return {index % groups.x, index / groups.x % groups.y, index / groups.x / groups.y};
}

Size threads_of(const WatchedGrid& grid, std::uint32_t threadgroup) {
  const Size position = position_of(grid, threadgroup), &nominal = grid.threads_per_threadgroup,
             &all = grid.threads_per_grid;
  return {std::min(nominal.x, all.x - position.x * nominal.x), std::min(nominal.y, all.y - position.y * nominal.y),
          std::min(nominal.z, all.z - position.z * nominal.z)};
}

SourcePlace Watch::place_of(const Site* site) const {
  const auto one = [](const Site& of) {
    SourcePlace place;
    place.file = of.file;
    place.line = of.line;
    place.column = of.column;
    if (of.macro) place.macro = of.macro;
    return place;
  };
  if (!site) return {};
  SourcePlace place = one(*site);
  for (const Site* outer = site->called_from; outer; outer = outer->called_from) {
    place.called_from.push_back(one(*outer));
  }
  return place;
}

ThreadPlace Watch::thread_at(std::uint32_t threadgroup, std::uint32_t thread) const {
  ThreadPlace place;
  place.threadgroup = position_of(grid_, threadgroup);
  const Size size = threads_of(grid_, threadgroup), &nominal = grid_.threads_per_threadgroup;
  place.position_in_threadgroup = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
  place.position_in_grid = {place.threadgroup.x * nominal.x + place.position_in_threadgroup.x,
                            place.threadgroup.y * nominal.y + place.position_in_threadgroup.y,
                            place.threadgroup.z * nominal.z + place.position_in_threadgroup.z};
  place.simdgroup = thread / 32;
  place.lane = thread % 32;
  return place;
}

std::uint64_t Watch::element_bytes(const Access& access) const {
  if (access.root < first_threadgroup_root) {
    const TypeInfo& type = kernel_.arguments[access.root].type;
    if (type.size != 0)
      return type.array_length != 0 ? std::max<std::uint64_t>(type.size / type.array_length, 1) : type.size;
  } else if (const auto named = roots_.find(access.root); named != roots_.end() && named->second.element_bytes != 0) {
    return named->second.element_bytes;
  }
  return access.bytes;
}

// "argument 'x' (buffer 0)", "threadgroup memory 'tile'"
std::string Watch::memory_name(const Access& access) const {
  if (access.root < first_threadgroup_root) {
    const ArgumentInfo& argument = kernel_.arguments[access.root];
    const char* kind = argument.kind == ArgumentKind::threadgroup_memory ? "threadgroup" : "buffer";
    return fmt::format("argument '{}' ({} {})", argument.name, kind, argument.index);
  }
  const auto named = roots_.find(access.root);
  const std::string name = named == roots_.end() ? "" : fmt::format(" '{}'", named->second.name);
  if (access.is_private) return (access.root >= first_private_root ? "the thread's array" : "constant") + name;
  if (access.space == Space::threadgroup) return "threadgroup memory" + name;
  return "memory that an address leads to";
}

std::string Watch::element_of(const Access& access) const {
  const auto size = static_cast<std::int64_t>(element_bytes(access));
  const std::int64_t offset = access.offset(), element = offset >= 0 ? offset / size : -((-offset + size - 1) / size);
  const std::int64_t within = offset - element * size;
  return fmt::format("element {}", element) + (within != 0 ? fmt::format(", byte {} of it", within) : "");
}

std::string Watch::value_of(const Access& access) const {
  const std::uint32_t bytes = access.element_bytes();
  const bool is_stored = (access.flags & access_has_value) != 0;
  if (!is_stored && (access.writes() || access.bytes > access.size)) return {};
  const auto* at = is_stored ? reinterpret_cast<const std::byte*>(&access.value) : access.address;
  const bool is_float = (access.flags & access_is_float) != 0;
  switch (bytes) {
    case 1: return fmt::format("{}", bits_at<std::uint8_t>(at));
    case 2:
      if (is_float) return fmt::format("{:g}", half_to_float(bits_at<std::uint16_t>(at)));
      return fmt::format("{}", bits_at<std::int16_t>(at));
    case 4:
      if (is_float) return fmt::format("{:g}", bits_at<float>(at));
      return fmt::format("{}", bits_at<std::int32_t>(at));
    case 8: return fmt::format("{}", bits_at<std::int64_t>(at));
    default: return {};
  }
}

void Watch::describe_memory(Finding& finding, const Access& access) const {
  if (access.root < first_threadgroup_root) {
    finding.memory = kernel_.arguments[access.root].name;
    finding.index = kernel_.arguments[access.root].index;
  } else if (const auto named = roots_.find(access.root); named != roots_.end()) {
    finding.memory = named->second.name;
  }
  if (access.is_elsewhere) return;
  finding.byte_offset = access.offset();
  const auto size = static_cast<std::int64_t>(element_bytes(access));
  finding.element = access.offset() >= 0 ? access.offset() / size : -((-access.offset() + size - 1) / size);
}

FindingStep Watch::step_of(const Access& access) const {
  FindingStep step;
  step.action = action_of(access.writes(), (access.flags & access_reads) != 0, access.is_atomic());
  step.place = place_of(access.site);
  step.thread = thread_here(access.thread);
  return step;
}

Finding Watch::finding_of(CheckClass kind, const Access& access, std::string message) const {
  Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  describe_memory(finding, access);
  finding.steps.push_back(step_of(access));
  return finding;
}

Finding Watch::race_finding(const Access& access, const Race& race, CheckClass kind, bool same_value) const {
  const Slot& earlier = race.earlier;
  const bool same_group = earlier.threadgroup == threadgroup_;
  const bool is_local = access.space == Space::threadgroup;
  const char* flag = is_local ? "mem_flags::mem_threadgroup" : "mem_flags::mem_device";
  const Site* other = earlier.site < sites_.size() ? sites_[earlier.site] : nullptr;
  const std::string where = fmt::format("{} of {}", element_of(access), memory_name(access));
  const std::string lines = lines_between(other, access.site);
  std::string message, fix;
  Severity severity = Severity::error;
  switch (kind) {
    case CheckClass::overlapping_arguments:
      message = fmt::format("the memory of arguments '{}' and '{}' overlaps, and two threads use the same place of it",
                            kernel_.arguments[earlier.argument].name, kernel_.arguments[access.root].name);
      fix = "give the arguments memory that does not overlap";
      break;
    case CheckClass::missing_fence:
      message = fmt::format("two threads use {}; the barrier between them does not order that memory", where);
      fix = fmt::format("the barrier {} needs {}", lines, flag);
      break;
    case CheckClass::lockstep:
      message =
          fmt::format("two lanes of one simdgroup use {}, which is right only as long as lanes run in step", where);
      fix = fmt::format("a simdgroup_barrier({}) is missing {}", flag, lines);
      severity = Severity::warning;
      break;
    default:
      if (same_group) {
        message = fmt::format("two threads use {} without a barrier between them", where);
        fix = other == access.site ? std::string("let one thread write it, or use atomic operations")
                                   : fmt::format("a threadgroup_barrier({}) is missing {}", flag, lines);
      } else {
        message = fmt::format("threads of two threadgroups use {}; threadgroups of one dispatch have no order", where);
        fix = "let each threadgroup write elements of its own, use atomic operations, or a second dispatch";
      }
  }
  if (access.is_atomic() != earlier.atomic) {
    message += access.is_atomic() || earlier.atomic ? " (one access is atomic, the other is not)" : "";
  }
  if (same_value) {
    message += " (both write the same value)";
    severity = Severity::note;
  } else if (!same_group && has_fences_) {
    message += " (the kernel has fences, whose order among threadgroups is not followed)";
    severity = Severity::note;
  }
  Finding finding = finding_of(kind, access, std::move(message));
  finding.severity = severity;
  finding.fix = same_value ? std::string() : std::move(fix);
  finding.steps.front().value = value_of(access);
  FindingStep before;
  before.action = action_of(earlier.writes, !earlier.writes, earlier.atomic);
  before.place = place_of(other);
  before.thread = thread_at(earlier.threadgroup, earlier.thread);
  finding.steps.push_back(std::move(before));
  return finding;
}

Finding Watch::outside_finding(const Access& access) const {
  const char* action = access.writes() ? "writes" : "reads";
  if (access.is_elsewhere) {
    Finding finding = finding_of(CheckClass::out_of_bounds, access,
                                 fmt::format("the kernel {} at {}, where no memory is that the dispatch bound", action,
                                             fmt::ptr(access.address)));
    return finding;
  }
  const std::uint64_t size = element_bytes(access), count = access.size / size;
  std::string message =
      fmt::format("the kernel {} outside of {}: {} of {} ({} at byte {} of {})", action, memory_name(access),
                  element_of(access), count, counted(access.bytes, "byte"), access.offset(), access.size);
  Finding finding = finding_of(CheckClass::out_of_bounds, access, std::move(message));
  if (access.offset() >= 0 && access.root < first_threadgroup_root && access.space == Space::device) {
    const auto element = static_cast<std::uint64_t>(access.offset()) / size;
    if (element >= count && element == thread_here(access.thread).position_in_grid.x) {
      finding.fix =
          "the grid has more threads than the argument has elements: return early where the position is "
          "behind the end";
    }
  }
  return finding;
}

Finding Watch::unwritten_finding(const Access& access) const {
  Finding finding = finding_of(
      CheckClass::uninitialised, access,
      fmt::format("the kernel reads {} of {}, which no thread has written", element_of(access), memory_name(access)));
  if (access.space == Space::threadgroup) finding.fix = "threadgroup memory begins undefined: write it first";
  return finding;
}

Finding Watch::first_store_finding(const Access& access, const Access& store) const {
  Finding finding = finding_of(CheckClass::uninitialised, access,
                               fmt::format("the kernel reads {} of {}, and another thread writes the first value there "
                                           "without a barrier between them",
                                           element_of(access), memory_name(access)));
  finding.steps.push_back(step_of(store));
  finding.fix = fmt::format("a threadgroup_barrier(mem_flags::mem_threadgroup) is missing {}",
                            lines_between(store.site, access.site));
  return finding;
}

Finding Watch::misaligned_finding(const Access& access, std::uintptr_t alignment) const {
  const char* part = access.bytes < alignment ? " of a vector or struct" : "";
  Finding finding = finding_of(
      CheckClass::misaligned, access,
      fmt::format("the kernel {} {}{} at byte {} of {}, and the type wants addresses that are multiples of {}",
                  access.writes() ? "writes" : "reads", counted(access.bytes, "byte"), part,
                  access.offset() - bytes_behind(access.flags), memory_name(access), alignment));
  finding.fix = "use a packed type, or an offset that is a multiple";
  return finding;
}

Finding Watch::read_only_finding(const Access& access) const {
  return finding_of(CheckClass::read_only, access,
                    fmt::format("the kernel writes to {}, which is declared read-only", memory_name(access)));
}

Finding Watch::plain_finding(CheckClass kind, const char* name, std::uint32_t thread, const Site* site) const {
  Finding finding;
  finding.kind = kind;
  const std::string whose = name && *name ? fmt::format("'{}'", name) : std::string("a variable");
  FindingStep step;
  step.place = place_of(site);
  step.thread = thread_here(thread);
  switch (kind) {
    case CheckClass::division_by_zero:
      finding.message = "an integer is divided by zero";
      step.action = "divides";
      break;
    case CheckClass::uninitialised:
      finding.message = fmt::format("the thread reads its variable {} before it writes it", whose);
      finding.fix = fmt::format("give {} a value where it is declared", whose);
      finding.memory = name ? name : "";
      step.action = "reads";
      break;
    case CheckClass::out_of_bounds:
      finding.message = fmt::format("an index leads outside of the thread's array {}", whose);
      finding.memory = name ? name : "";
      step.action = "reads or writes";
      break;
    case CheckClass::misaligned:
      finding.message =
          fmt::format("the thread's variable {} is used at a place that is no multiple of what the type wants", whose);
      finding.fix = "use a packed type, or an offset that is a multiple";
      finding.memory = name ? name : "";
      step.action = "reads or writes";
      break;
    case CheckClass::not_finite:
      finding.message = "an operation on finite numbers gives NaN or infinity";
      step.action = "computes";
      break;
    default: break;
  }
  finding.steps.push_back(std::move(step));
  return finding;
}

Finding Watch::timeout_finding(const std::string& place) const {
  Finding finding;
  finding.kind = CheckClass::endless_loop;
  finding.message = "the kernel did not end within its time";
  FindingStep step;
  step.action = "was running";
  step.place.file = kernel_.source_file;
  step.place.line = kernel_.source_line;
  if (!place.empty()) {
    const std::string_view line = std::string_view(place).substr(place.rfind(':') + 1);
    step.place.file = place.substr(0, place.rfind(':'));
    std::from_chars(line.data(), line.data() + line.size(), step.place.line);
  }
  finding.steps.push_back(std::move(step));
  return finding;
}

Finding Watch::two_barriers_finding(std::uint32_t a, const Site* at_a, std::uint32_t b, const Site* at_b) const {
  Finding finding;
  finding.kind = CheckClass::barrier_divergence;
  finding.message = "threads of one threadgroup wait at different barriers";
  finding.fix = "all threads of a threadgroup must come to the same barriers in the same order";
  finding.steps.push_back({"waits at this barrier", place_of(at_b), thread_here(b), {}});
  finding.steps.push_back({"waits at this barrier", place_of(at_a), thread_here(a), {}});
  return finding;
}

Finding Watch::missed_barrier_finding(std::uint32_t waits, const Site* site, std::uint32_t missing, bool around) const {
  Finding finding;
  finding.kind = CheckClass::barrier_divergence;
  finding.message =
      around ? fmt::format("not all threads of the threadgroup come to this barrier: {} goes around it",
                           thread_text(thread_here(missing)))
             : fmt::format("not all threads of the threadgroup come to this barrier: {} has returned before it",
                           thread_text(thread_here(missing)));
  finding.fix = "move the barrier out of the condition, so that every thread executes it";
  finding.steps.push_back({"waits here", place_of(site), thread_here(waits), {}});
  return finding;
}

Finding Watch::missing_lanes_finding(std::uint32_t simdgroup, std::uint32_t lane, std::uint32_t missing,
                                     const Site* site, bool is_barrier, bool is_matrix) const {
  Finding finding;
  finding.kind = CheckClass::divergent_operation;
  const char* what = is_barrier ? "simdgroup_barrier" : is_matrix ? "operation on simdgroup matrices" : "operation";
  const bool is_one = std::has_single_bit(missing);
  finding.message = fmt::format("not all lanes of simdgroup {} take part in this {}: {} {} {} not", simdgroup, what,
                                is_one ? "lane" : "lanes", lanes_text(missing), is_one ? "does" : "do");
  if (!is_barrier && !is_matrix) finding.severity = Severity::warning;
  finding.fix = "let all lanes of the simdgroup execute it";
  finding.steps.push_back({"takes part", place_of(site), thread_here(32 * simdgroup + lane), {}});
  return finding;
}

Finding Watch::non_uniform_finding(std::uint32_t simdgroup, std::uint32_t lanes, const Site* site,
                                   ir::CrossLane operation) const {
  const char* what = operation == ir::CrossLane::broadcast     ? "the lane to broadcast"
                     : operation == ir::CrossLane::shuffle_xor ? "the mask"
                                                               : "the distance";
  const auto first = static_cast<std::uint32_t>(std::countr_zero(lanes));
  std::uint32_t other = first;
  const auto& operands = simdgroups_[simdgroup].operands;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) != 0 && operands[lane] != operands[first]) {
      other = lane;
      break;
    }
  }
  Finding finding;
  finding.kind = CheckClass::non_uniform;
  finding.message = fmt::format("{} must be the same in all lanes: it is {} in lane {} and {} in lane {}", what,
                                operands[first], first, operands[other], other);
  finding.fix = "simd_shuffle takes a lane of its own from each thread";
  finding.steps.push_back({"takes part", place_of(site), thread_here(32 * simdgroup + first), {}});
  return finding;
}

Finding Watch::inactive_lane_finding(std::uint32_t simdgroup, std::uint32_t lane, std::uint32_t source,
                                     const Site* site) const {
  const Simdgroup& state = simdgroups_[simdgroup];
  Finding finding;
  finding.kind = CheckClass::inactive_lane;
  const bool exists = source < 32 && (state.exists >> source & 1) != 0;
  finding.message = fmt::format("lane {} takes the value of lane {}, which {}", lane, source,
                                exists ? "does not take part" : "does not exist in this simdgroup");
  finding.severity = Severity::warning;
  finding.steps.push_back({"takes part", place_of(site), thread_here(32 * simdgroup + lane), {}});
  return finding;
}

}  // namespace metalloid::checker
