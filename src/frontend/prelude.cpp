#include "frontend/prelude.h"

#include <map>
#include <mutex>

#include <clang/Basic/Version.h>
#include <fmt/format.h>

#include "frontend/session.h"
#include "metalloid/version.h"
#include "stdlib/headers.h"
#include "support/build_id.h"
#include "support/fork_safe_mutex.h"
#include "support/hash.h"

namespace metalloid::frontend {
namespace {

// The one mutable state of the front end: precompiled libraries of this process, by key.
//
// No lock is held while one is made: that runs inside the crash guard, which unlocks nothing. Threads that want the
// same one at the same time make it twice.
class Preludes {
 public:
  using Prelude = std::shared_ptr<const std::string>;

  Prelude find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : found->second;
  }
  // The first one stays.
  Prelude add(const std::string& key, std::string text) {
    auto made = std::make_shared<const std::string>(std::move(text));
    const std::lock_guard lock(mutex_);
    return by_key_.try_emplace(key, std::move(made)).first->second;
  }

 private:
  mutable support::ForkSafeMutex mutex_;
  std::map<std::string, Prelude> by_key_;
};

Preludes& preludes = *new Preludes;

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
  if (stdlib_on_disk()) return {};
  const std::string key = key_of(options);
  if (auto known = preludes.find(key)) return known;
  if (store.load) {
    if (auto saved = store.load(key)) return preludes.add(key, std::move(*saved));
  }
  auto made = preludes.add(key, Session::precompile_prelude(options));
  if (store.save) store.save(key, *made);
  return made;
}

}  // namespace metalloid::frontend
