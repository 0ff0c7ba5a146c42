#include "frontend/prelude.h"

#include <map>
#include <mutex>

#include <clang/Basic/Version.h>
#include <fmt/format.h>

#include "frontend/session.h"
#include "metalloid/version.h"
#include "stdlib/headers.h"
#include "support/build_id.h"
#include "support/hash.h"

namespace metalloid::frontend {
namespace {

// The one mutable state of the front end: precompiled libraries of this process, by key.
struct Preludes {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const std::string>> by_key;
};

Preludes& preludes() {
  static Preludes instance;
  return instance;
}

std::string key_of(const CompileOptions& options) {
  return fmt::format("{}-{}.{}-{}", stdlib_fingerprint(), options.language.major_version,
                     options.language.minor_version, static_cast<int>(options.math_mode));
}

}  // namespace

const std::string& stdlib_fingerprint() {
  static const std::string fingerprint = [] {
    support::Hasher hasher;
    hasher.add(clang::getClangFullVersion()).add(version).add(support::build_id());
    for (const auto& header : stdlib::headers()) hasher.add(header.name).add(header.text);
    return hasher.finish().hex();
  }();
  return fingerprint;
}

std::shared_ptr<const std::string> precompiled_prelude(const CompileOptions& options, const PreludeStore& store) {
  if (std::getenv("METALLOID_STDLIB_DIR")) return {};
  const std::string key = key_of(options);
  auto& [mutex, by_key] = preludes();
  const std::lock_guard lock(mutex);
  auto& entry = by_key[key];
  if (entry) return entry;
  if (store.load) {
    if (auto saved = store.load(key)) return entry = std::make_shared<const std::string>(std::move(*saved));
  }
  entry = std::make_shared<const std::string>(Session::precompile_prelude(options));
  if (store.save) store.save(key, *entry);
  return entry;
}

}  // namespace metalloid::frontend
