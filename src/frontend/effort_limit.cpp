#include "frontend/effort_limit.h"

#include <cstdlib>

#include <clang/Sema/TemplateInstCallback.h>

namespace metalloid::frontend {
namespace {

constexpr std::size_t max_tokens = 64 * 1024 * 1024;  // 1.5 GB of them

class InstantiationCallback final : public clang::TemplateInstantiationCallback {
 public:
  explicit InstantiationCallback(const EffortLimit& limit) : limit_(limit) {}
  void initialize(const clang::Sema&) override {}
  void finalize(const clang::Sema&) override {}
  void atTemplateBegin(const clang::Sema&, const clang::Sema::CodeSynthesisContext&) override {
    if (++count_ % 256 == 0) limit_.check_time();
  }
  void atTemplateEnd(const clang::Sema&, const clang::Sema::CodeSynthesisContext&) override {}

 private:
  const EffortLimit limit_;
  std::size_t count_ = 0;
};

}  // namespace

EffortLimit::EffortLimit() {
  const char* setting = std::getenv("METALLOID_COMPILE_TIMEOUT");
  const double seconds = setting ? std::strtod(setting, nullptr) : 0;  // 0 for what is no number
  deadline_ = std::chrono::steady_clock::now() +
              std::chrono::milliseconds(static_cast<long>((seconds > 0 ? seconds : 120) * 1000));
}

void EffortLimit::check_time() const {
  if (std::chrono::steady_clock::now() > deadline_) {
    throw EffortExceeded{"compiling takes longer than $METALLOID_COMPILE_TIMEOUT (120 s unless set)"};
  }
}

void EffortLimit::check_token_count(std::size_t count) const {
  if (count > max_tokens) throw EffortExceeded{"the source expands to more than 64 million tokens"};
  if (count % 65536 == 0) check_time();
}

std::unique_ptr<clang::TemplateInstantiationCallback> EffortLimit::make_callback() const {
  return std::make_unique<InstantiationCallback>(*this);
}

}  // namespace metalloid::frontend
