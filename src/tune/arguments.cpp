#include "tune/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "support/bfloat16.h"

namespace metalloid::tuning {
namespace {

const ArgumentInfo* find_argument(const KernelInfo& kernel, std::uint32_t index) {
  for (const ArgumentInfo& argument : kernel.arguments) {
    const bool takes_memory = argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::tensor;
    if (takes_memory && argument.index == index) return &argument;
  }
  return nullptr;
}

double load(ElementType kind, const std::byte* address) {
  if (kind == ElementType::float32) {
    float value;
    std::memcpy(&value, address, sizeof value);
    return value;
  }
  if (kind == ElementType::float16) {
    _Float16 value;
    std::memcpy(&value, address, sizeof value);
    return static_cast<double>(value);
  }
  std::uint16_t bits;
  std::memcpy(&bits, address, sizeof bits);
  return support::bfloat16_to_float(bits);
}

std::vector<std::byte> contents_of(const Buffer& buffer) {
  std::vector<std::byte> bytes(buffer.size());
  buffer.read(0, bytes);
  return bytes;
}

double standard_tolerance(ElementType kind) {
  if (kind == ElementType::float32) return 1e-4;
  return kind == ElementType::float16 ? 1e-2 : 5e-2;
}

double root_mean_square(ElementType kind, std::span<const std::byte> bytes) {
  const std::size_t step = size_of(kind);
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t at = 0; at + step <= bytes.size(); at += step) {
    const double value = load(kind, &bytes[at]);
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

bool is_same(double expected, double result, double tolerance, double scale) {
  if (std::isnan(expected) || std::isnan(result)) return std::isnan(expected) && std::isnan(result);
  if (std::isinf(expected) || std::isinf(result)) return expected == result;
  return std::abs(expected - result) <= tolerance * std::max(std::abs(expected), scale);
}

}  // namespace

std::string element_text(ElementType kind, const std::byte* address) {
  if (is_floating(kind)) return fmt::format("{:.7g}", load(kind, address));
  std::uint64_t bits = 0;
  const std::size_t size = std::max(size_of(kind), 1U);
  std::memcpy(&bits, address, size);
  const bool is_signed = is_signed_integer(kind);
  const std::size_t unused = 8 * (sizeof bits - size);
  return is_signed ? std::to_string(static_cast<std::int64_t>(bits << unused) >> unused) : std::to_string(bits);
}

std::optional<std::string> compare_elements(ElementType kind, std::span<const std::byte> expected,
                                            std::span<const std::byte> result, std::optional<double> tolerance) {
  if (std::memcmp(expected.data(), result.data(), expected.size()) == 0) return std::nullopt;
  const std::size_t step = std::max(size_of(kind), 1U);
  const bool floating = is_floating(kind);
  const double scale = floating ? root_mean_square(kind, expected) : 0;
  const double allowed = floating ? tolerance.value_or(standard_tolerance(kind)) : 0;
  std::size_t different = 0, first = 0;
  for (std::size_t at = 0; at < expected.size(); at += step) {
    const std::size_t bytes = std::min(step, expected.size() - at);
    if (std::memcmp(&expected[at], &result[at], bytes) == 0) continue;
    if (floating && bytes == step && is_same(load(kind, &expected[at]), load(kind, &result[at]), allowed, scale)) {
      continue;
    }
    if (different++ == 0) first = at;
  }
  if (different == 0) return std::nullopt;
  std::string text = fmt::format("{} of {} elements differ, the first at {}", different,
                                 (expected.size() + step - 1) / step, first / step);
  if (first + step > expected.size()) return text;
  text += fmt::format(": {} instead of {}", element_text(kind, &result[first]), element_text(kind, &expected[first]));
  return text;
}

TuneArguments::TuneArguments(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options)
    : device_(kernel.device()), copied_(dispatch), tolerance_(options.tolerance) {
  struct Bound {
    std::uint32_t index;
    const ArgumentInfo* info;
    engines::Memory* memory;
    std::byte* start;
    std::size_t size;
    const Dispatch::TensorBinding* tensor;
  };
  std::vector<Bound> bound;
  for (const auto& [index, binding] : dispatch.bindings()) {
    const Buffer* buffer = nullptr;
    std::size_t offset = 0;
    const auto* tensor = std::get_if<Dispatch::TensorBinding>(&binding);
    if (const auto* plain = std::get_if<Dispatch::BufferBinding>(&binding)) {
      buffer = &plain->buffer;
      offset = plain->offset;
    } else if (tensor) {
      buffer = &tensor->buffer;
      offset = tensor->offset;
    }
    // What the kernel does not take and what does not fit is left to the dispatch's checks.
    const ArgumentInfo* info = find_argument(kernel.info(), index);
    if (!buffer || !info || offset >= buffer->size()) continue;
    bound.push_back({index, info, &buffer->memory(), reinterpret_cast<std::byte*>(buffer->gpu_address()) + offset,
                     buffer->size() - offset, tensor});
  }
  for (const Bound& argument : bound) {
    add_region(*argument.memory, argument.start, argument.size, argument.info->access == Access::read_write,
               argument.info->name);
  }
  for (Region& region : regions_) {
    try {
      region.before.resize(region.size);
      region.copy.emplace(device_, region.size);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::limit_exceeded,
                  fmt::format("kernel '{}': no memory for a copy of '{}', {} bytes, to tune on", kernel.name(),
                              region.arguments, region.size));
    }
    region.memory->copy_out(region.before, region.original);
    region.fill();
  }
  for (const Bound& argument : bound) {
    const Buffer buffer = copy_of(*argument.memory, argument.start, argument.size);
    if (argument.tensor) {
      copied_.tensor(argument.index, buffer, argument.tensor->extents, argument.tensor->strides);
    } else {
      copied_.buffer(argument.index, buffer);
    }
    if (argument.info->access != Access::read_write) continue;
    ElementType elements = argument.info->type.scalar;
    const auto known = options.contents.find(argument.index);
    if (known != options.contents.end() && known->second.elements != ElementType::none) {
      elements = known->second.elements;
    }
    outputs_.push_back({argument.info->name, elements, buffer, {}});
  }
  for (const ReachedMemory& reached : options.reached) {
    reached_.push_back({reached.buffer, contents_of(reached.buffer)});
    outputs_.push_back({"memory behind an argument's addresses", reached.elements, reached.buffer, {}});
    copied_.use(reached.buffer);
  }
}

TuneArguments::~TuneArguments() {
  for (const Reached& reached : reached_) reached.memory.write(0, reached.before);
}

bool TuneArguments::Region::has(const engines::Memory& other, const std::byte* address) const {
  return memory->address_space() == other.address_space() && address >= original && address < original + size;
}

void TuneArguments::add_region(engines::Memory& memory, std::byte* start, std::size_t size, bool writable,
                               const std::string& name) {
  Region region{&memory, start, size, writable, name, {}, std::nullopt};
  // Regions that it overlaps become part of it.
  std::erase_if(regions_, [&](const Region& other) {
    std::byte* const end = region.original + region.size;
    std::byte* const other_end = other.original + other.size;
    if (!region.has(*other.memory, other.original) && !other.has(*region.memory, region.original)) return false;
    region.original = std::min(region.original, other.original);
    region.size = static_cast<std::size_t>(std::max(end, other_end) - region.original);
    region.writable |= other.writable;
    region.arguments = other.arguments + "', '" + region.arguments;
    return true;
  });
  regions_.push_back(std::move(region));
}

Buffer TuneArguments::copy_of(const engines::Memory& memory, const std::byte* original, std::size_t size) const {
  const auto region =
      std::ranges::find_if(regions_, [&](const Region& candidate) { return candidate.has(memory, original); });
  const auto offset = static_cast<std::uint64_t>(original - region->original);
  return Buffer::wrap(device_, region->copy->gpu_address() + offset, size);
}

void TuneArguments::restore() {
  for (const Region& region : regions_) {
    if (region.writable) region.fill();
  }
  for (const Reached& reached : reached_) reached.memory.write(0, reached.before);
}

void TuneArguments::keep_results() {
  for (Output& output : outputs_) output.expected = contents_of(output.memory);
}

std::optional<std::string> TuneArguments::difference() const {
  for (const Output& output : outputs_) {
    if (auto text = compare_elements(output.elements, output.expected, contents_of(output.memory), tolerance_)) {
      return fmt::format("'{}': {}", output.name, *text);
    }
  }
  return std::nullopt;
}

}  // namespace metalloid::tuning
