// What goes to the compiler's process and comes back, as bytes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/frontend.h"
#include "metalloid/library.h"
#include "runtime/compile/archive.h"

namespace metalloid::runtime {

template <typename Archive>
void archive(Archive& bytes, std::filesystem::path& path) {
  std::string text = path.string();
  archive(bytes, text);
  if constexpr (Archive::reading) path = std::move(text);
}

template <typename Archive, typename First, typename Second>
void archive(Archive& bytes, std::pair<First, Second>& pair) {
  archive(bytes, pair.first);
  archive(bytes, pair.second);
}

template <typename Archive, typename Key, typename Value>
void archive(Archive& bytes, std::map<Key, Value>& map) {
  std::vector<std::pair<Key, Value>> entries(map.begin(), map.end());
  std::uint64_t size = entries.size();
  archive(bytes, size);
  if constexpr (Archive::reading) {
    if (size > bytes.left()) throw std::out_of_range("it ends too early");
    entries.resize(size);
  }
  for (auto& entry : entries) archive(bytes, entry);
  if constexpr (Archive::reading) map = {entries.begin(), entries.end()};
}

template <typename Archive>
void archive(Archive& bytes, CompileOptions& options) {
  archive_all(bytes, options.language.major_version, options.language.minor_version, options.math_mode);
  std::uint64_t definitions = options.definitions.size(), folders = options.include_directories.size();
  archive_all(bytes, definitions, folders);
  if constexpr (Archive::reading) {
    if (std::max(definitions, folders) > bytes.left()) throw std::out_of_range("it ends too early");
    options.definitions.resize(definitions);
    options.include_directories.resize(folders);
  }
  for (auto& definition : options.definitions) archive(bytes, definition);
  for (auto& folder : options.include_directories) archive(bytes, folder);
  archive_all(bytes, options.headers, options.source_name, options.source_file, options.warnings_as_errors,
              options.thread_overruns, options.files);
}

template <typename Archive>
void archive(Archive& bytes, PreprocessedSource::Include& include) {
  archive_all(bytes, include.depth, include.path);
}

template <typename Archive>
void archive(Archive& bytes, PreprocessedSource& source) {
  archive_all(bytes, source.text, source.includes, source.warnings);
}

template <typename Archive>
void archive(Archive& bytes, frontend::Dependency& dependency) {
  archive_all(bytes, dependency.path, dependency.is_file, dependency.content);
}

template <std::size_t index = 0, typename Archive>
void archive_alternative(Archive& bytes, FunctionConstants::Value& value, std::size_t wanted) {
  if constexpr (index < std::variant_size_v<FunctionConstants::Value>) {
    if (wanted != index) return archive_alternative<index + 1>(bytes, value, wanted);
    if constexpr (Archive::reading) value.emplace<index>();
    archive(bytes, std::get<index>(value));
  } else {
    throw std::out_of_range("no such kind of value");
  }
}

template <typename Archive>
void archive(Archive& bytes, FunctionConstants::Value& value) {
  std::uint64_t index = value.index();
  archive(bytes, index);
  archive_alternative(bytes, value, index);
}

template <typename Archive>
void archive(Archive& bytes, FunctionConstants& constants) {
  std::map<std::uint32_t, FunctionConstants::Value> by_index = constants.by_index();
  std::map<std::string, FunctionConstants::Value> by_name = constants.by_name();
  bool lenient = constants.is_lenient();
  archive_all(bytes, by_index, by_name, lenient);
  if constexpr (Archive::reading) {
    constants.set_lenient(lenient);
    for (auto& [index, value] : by_index) constants.set(index, std::move(value));
    for (auto& [name, value] : by_name) constants.set(name, std::move(value));
  }
}

template <typename Archive>
void archive(Archive& bytes, frontend::Result& result) {
  archive_all(bytes, result.library.bitcode, result.library.info, result.library.warnings, result.is_complete,
              result.processor_time);
  std::uint64_t size = result.dependencies.size();
  archive(bytes, size);
  if constexpr (Archive::reading) {
    if (size > bytes.left()) throw std::out_of_range("it ends too early");
    result.dependencies.resize(size);
  }
  for (auto& dependency : result.dependencies) archive(bytes, dependency);
}

}  // namespace metalloid::runtime
