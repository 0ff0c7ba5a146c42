#include "frontend/session/prelude.h"

#include <clang/Basic/Version.h>
#include <fmt/format.h>

#include "frontend/session/session.h"
#include "metalloid/version.h"
#include "stdlib/headers.h"
#include "support/compiler_id.h"
#include "support/hash.h"
#include "support/made_once.h"

namespace metalloid::frontend {
const std::string& stdlib_fingerprint() {
  static constinit support::MadeOnce<std::string> fingerprint;
  return fingerprint.get([] {
    support::Hasher hasher;
    hasher.add(clang::getClangFullVersion()).add(version).add(support::compiler_id());
    for (const auto& header : stdlib::headers()) hasher.add(header.name).add(header.text);
    return hasher.finish().hex();
  });
}

std::string make_prelude(const CompileOptions& options) {
  CompileOptions plain;  // the library does not depend on the user's macros and folders
  plain.language = options.language;
  plain.math_mode = options.math_mode;
  return Session::precompile_prelude(plain);
}

std::string prelude_key(const CompileOptions& options) {
  return fmt::format("{}-{}.{}-{}", stdlib_fingerprint(), options.language.major_version,
                     options.language.minor_version, static_cast<int>(options.math_mode));
}

}  // namespace metalloid::frontend
