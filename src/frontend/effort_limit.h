// Ends compilations that would never end: templates that instantiate each other without bound in number, macros
// that expand to billions of tokens. Depth is Clang's own limit; this one is on time and token count.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

namespace clang {
class TemplateInstantiationCallback;
}

namespace metalloid::frontend {

// Thrown through Clang, which cleans nothing up: the session must then be left behind, not destroyed.
struct EffortExceeded {
  const char* reason;
};

class EffortLimit {
 public:
  // $METALLOID_COMPILE_TIMEOUT seconds, else 120 s.
  EffortLimit();

  void check_time() const;
  void check_token_count(std::size_t count) const;
  std::unique_ptr<clang::TemplateInstantiationCallback> make_callback() const;

 private:
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace metalloid::frontend
