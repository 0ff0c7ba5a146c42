// Libraries to bytes and back.
#include "metalloid/packed_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "metalloid/error.h"
#include "metalloid/recorder.h"
#include "metalloid/version.h"
#include "runtime/compile/request_archive.h"
#include "runtime/states.h"
#include "support/files.h"
#include "support/hash.h"

namespace metalloid {

struct PackedLibrary::State {
  std::vector<std::string> kernel_names;
  std::string source;
  CompileOptions options;  // with all files
};

namespace {

namespace fs = std::filesystem;

// Behind MTLB, where Apple's tools have versions and sizes. The number is that of the form of what follows.
using namespace std::string_view_literals;
constexpr std::string_view begin_mark = "MTLB", own_mark = "\0Metalloid\0\2"sv, end_mark = "ENDT";
constexpr std::string_view mark_without_form = own_mark.substr(0, own_mark.size() - 1);

// Each text once: sources of one project include the same headers.
class Texts {
 public:
  std::uint64_t add(const std::string& text) {
    const auto [place, is_new] = places_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(text);
    return place->second;
  }
  std::vector<std::string>& all() { return all_; }

 private:
  std::map<std::string, std::uint64_t> places_;
  std::vector<std::string> all_;
};

// As bytes have it: texts by their numbers.
struct Part {
  std::vector<std::string> kernel_names;
  std::uint64_t source = 0;
  CompileOptions options;
  std::vector<std::pair<std::string, std::uint64_t>> files;
};

template <typename Archive>
void archive(Archive& bytes, Part& part) {
  archive_all(bytes, part.kernel_names, part.source, part.options, part.files);
}

std::string written(std::span<const PackedLibrary> libraries) {
  Texts texts;
  std::vector<Part> parts;
  for (const PackedLibrary& library : libraries) {
    const PackedLibrary::State& state = library.state();
    Part part{state.kernel_names, texts.add(state.source), state.options, {}};
    for (const auto& [path, text] : state.options.files) part.files.emplace_back(path, texts.add(text));
    part.options.files.clear();
    parts.push_back(std::move(part));
  }
  runtime::Writer writer;
  std::string made_by(version);
  archive_all(writer, made_by, texts.all(), parts);
  return fmt::format("{}{}{}{}", begin_mark, own_mark, writer.take(), end_mark);
}

[[noreturn]] void refuse(std::string_view what) { throw Error(ErrorCode::input_output, std::string(what)); }

// What it is that was not packed here.
[[noreturn]] void refuse_bytes(std::string_view bytes) {
  constexpr std::string_view bitcode = "BC\xc0\xde", wrapped_bitcode = "\xde\xc0\x17\x0b";
  if (bytes.empty()) refuse("the file is empty");
  if (bytes.starts_with(begin_mark)) {
    if (bytes.substr(begin_mark.size()).starts_with(mark_without_form)) {
      refuse("it was packed by another version of Metalloid; build it again from its Metal source");
    }
    refuse(
        "a metallib is machine code for Apple's GPUs, which Metalloid cannot run; compile the kernels from their Metal "
        "source");
  }
  if (bytes.starts_with(bitcode) || bytes.starts_with(wrapped_bitcode)) {
    refuse("it is what Apple's compiler made of a source (AIR), which Metalloid cannot read; compile the Metal source");
  }
  refuse("it is no Metal library");
}

CompileOptions with_absolute_paths(CompileOptions options) {
  std::error_code failed;
  const auto absolute = [&](const fs::path& path) {
    fs::path result = fs::absolute(path, failed);
    return failed ? path : result;
  };
  if (!options.source_file.empty()) options.source_file = absolute(options.source_file);
  for (fs::path& folder : options.include_directories) folder = absolute(folder);
  return options;
}

}  // namespace

const std::vector<std::string>& PackedLibrary::kernel_names() const { return state_->kernel_names; }

Library PackedLibrary::load(const Device& device) const { return device.make_library(state_->source, state_->options); }

std::string pack(const Library& library) {
  const Library::State& state = library.state();
  auto packed = std::make_shared<PackedLibrary::State>();
  packed->kernel_names = library.kernel_names();
  packed->source = state.source->text;
  packed->options = with_absolute_paths(state.options);
  for (const frontend::Dependency& dependency : state.dependencies) {
    if (!dependency.is_file) continue;
    std::string text = support::read_file(dependency.path);
    if (support::hash_of(text) != dependency.content) refuse(dependency.path + " has changed since it was compiled");
    packed->options.files.emplace(dependency.path, std::move(text));
  }
  // One at least, or the files of the disk would be seen where it is loaded.
  if (packed->options.files.empty()) packed->options.files.emplace("/program_source", packed->source);
  const PackedLibrary one{packed};
  return written({&one, 1});
}

std::string pack(std::span<const PackedLibrary> libraries) { return written(libraries); }

std::vector<PackedLibrary> unpack(std::string_view bytes) {
  std::string_view body = bytes;
  const bool is_own = body.starts_with(begin_mark) && body.substr(begin_mark.size()).starts_with(own_mark);
  if (!is_own) refuse_bytes(bytes);
  body.remove_prefix(begin_mark.size() + own_mark.size());
  std::string made_by;
  std::vector<std::string> texts;
  std::vector<Part> parts;
  const auto text = [&](std::uint64_t number) -> const std::string& { return texts.at(number); };
  try {
    if (!body.ends_with(end_mark)) throw std::out_of_range("no end");
    body.remove_suffix(end_mark.size());
    runtime::Reader reader(body);
    archive_all(reader, made_by, texts, parts);
    std::vector<PackedLibrary> libraries;
    for (Part& part : parts) {
      auto state = std::make_shared<PackedLibrary::State>();
      state->kernel_names = std::move(part.kernel_names);
      state->source = text(part.source);
      state->options = std::move(part.options);
      for (const auto& [path, number] : part.files) state->options.files.emplace(path, text(number));
      libraries.emplace_back(std::move(state));
    }
    return libraries;
  } catch (const std::out_of_range&) {
    refuse("it is damaged: it ends too early, or its parts contradict each other");
  }
}

std::vector<std::string> included_files_of(const Library& library) {
  std::vector<std::string> files;
  for (const frontend::Dependency& dependency : library.state().dependencies) {
    if (dependency.is_file) files.push_back(dependency.path);
  }
  return files;
}

}  // namespace metalloid
