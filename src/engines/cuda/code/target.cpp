#include "engines/cuda/code/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "metalloid/error.h"

namespace metalloid::engines::cuda {
namespace {

constexpr std::string_view checked = "checked ", unchecked = "unchecked ", usual = "usual ",
                           overlapping = "overlapping ", ptx_prefix = ";ptx";

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// Three numbers, if the text begins with one.
void take_size(std::string_view& text, std::array<std::uint32_t, 3>& size) {
  for (std::uint32_t& number : size) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc()) return;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()) + 1);
  }
}

// 90 of "sm_90".
unsigned capability_of(std::string_view processor) {
  const std::string_view digits = processor.substr(std::min(processor.size(), std::size_t{3}));
  unsigned capability = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), capability);
  return capability;
}

}  // namespace

bool Target::has_asynchronous_copies() const { return capability_of(processor) >= 80 && ptx >= 70; }
bool Target::has_vector_reductions() const { return capability_of(processor) >= 90 && ptx >= 81; }

std::string Target::text() const {
  const std::string size = knows_threads() ? fmt::format("{} ", fmt::join(threads, ",")) : "";
  return fmt::format("{}{}{}{}{}{}{}", checks_bounds ? checked : unchecked, is_usual ? usual : "",
                     may_overlap ? overlapping : "", size, processor, ptx_prefix, ptx);
}

Target Target::from(std::string_view text) {
  const std::string_view whole = text;
  Target target;
  target.checks_bounds = take(text, checked);
  const bool has_mode = target.checks_bounds || take(text, unchecked);
  target.is_usual = take(text, usual);
  target.may_overlap = target.is_usual && take(text, overlapping);
  if (target.is_usual) take_size(text, target.threads);
  const std::size_t end = text.find(ptx_prefix);
  if (has_mode && end != std::string_view::npos) {
    target.processor = text.substr(0, end);
    const std::string_view digits = text.substr(end + ptx_prefix.size());
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), target.ptx);
    if (read.ec == std::errc() && read.ptr == digits.data() + digits.size()) return target;
  }
  throw Error(ErrorCode::internal, fmt::format("'{}' is no target of a GPU", whole));
}

// From CUDA 11.1 on the versions of PTX follow CUDA's, as its release notes state.
unsigned ptx_version(int driver_version) {
  constexpr std::array<std::pair<int, unsigned>, 16> known = {{{11010, 71},
                                                               {11020, 72},
                                                               {11030, 73},
                                                               {11040, 74},
                                                               {11050, 75},
                                                               {11060, 76},
                                                               {11070, 77},
                                                               {11080, 78},
                                                               {12000, 80},
                                                               {12010, 81},
                                                               {12020, 82},
                                                               {12030, 83},
                                                               {12040, 84},
                                                               {12050, 85},
                                                               {12080, 87},
                                                               {13000, 90}}};
  const auto* above = std::ranges::upper_bound(known, driver_version, {}, &std::pair<int, unsigned>::first);
  return above == known.begin() ? 0 : std::prev(above)->second;
}

}  // namespace metalloid::engines::cuda
