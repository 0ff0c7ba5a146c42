#include "engines/trial/trial_engine.h"

#include <string>
#include <utility>
#include <vector>

#include "engines/trial/deferring_stream.h"
#include "engines/trial/plain_accesses.h"
#include "engines/trial/plain_products.h"

namespace metalloid::engines::trial {
namespace {

class TrialExecutable final : public DeferredExecutable {
 public:
  TrialExecutable(std::unique_ptr<Executable> code, TrialHardware& hardware)
      : code_(std::move(code)), hardware_(hardware) {}

  void run(const DispatchPlan& plan) const override {
    const auto stream = hardware_.make_stream();
    const auto completion = stream->enqueue(*this, plan, Timing::none);
    completion->wait();
    if (completion->error()) std::rethrow_exception(completion->error());
  }

  bool takes(const DispatchPlan& plan) const override { return code_->takes(plan); }
  std::uint32_t max_threads_per_threadgroup() const override { return code_->max_threads_per_threadgroup(); }

  // Bytes of the dispatch go to the hardware's memory too, so that kernels read nothing of the host's.
  void run_now(const DispatchPlan& plan) const override {
    DispatchPlan own = plan;
    const Copies copies(own, hardware_.memory());
    const TrialHardware::Access access(hardware_);
    code_->run(own);
  }

 private:
  class Copies {
   public:
    Copies(DispatchPlan& plan, Memory& memory) : memory_(memory) {
      for (BoundArgument& argument : plan.arguments) {
        BoundMemory& range = argument.memory;
        if (range.owner != BoundMemory::Owner::dispatch) continue;
        std::byte* copy = memory.allocate(range.size);
        copies_.emplace_back(copy, range.size);
        memory.copy_in(copy, {range.base, range.size});
        range.base = copy;
        range.memory = &memory;
      }
    }
    ~Copies() {
      for (const auto& [address, bytes] : copies_) memory_.release(address, bytes);
    }
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;

   private:
    Memory& memory_;
    std::vector<std::pair<std::byte*, std::size_t>> copies_;
  };

  std::unique_ptr<Executable> code_;
  TrialHardware& hardware_;
};

class TrialEngine final : public Engine {
 public:
  TrialEngine(std::string name, const Engine& base) : name_(std::move(name)), base_(base) {}

  std::string name() const override { return name_; }
  std::string description() const override { return base_.description() + ", later"; }
  std::string target_for(const Hardware& hardware) const override { return base_.target_for(hardware); }
  std::string usual_target_for(const Hardware& hardware) const override { return base_.usual_target_for(hardware); }
  void prepare() const override { base_.prepare(); }
  ir::InlinePolicy inline_policy() const override { return base_.inline_policy(); }
  ir::OperationPolicy operation_policy(const std::string& /*target*/) const override {
    return [](const ir::Operation& operation, const llvm::CallBase& call) {
      return is_plain_access(operation, call) || is_plain_product(operation, call);
    };
  }
  Compilation compile(ir::KernelModule kernel, CodeForm form, const std::string& target) const override {
    lower_plain_accesses(*kernel.module);
    lower_plain_products(*kernel.module);
    return base_.compile(std::move(kernel), form, target);
  }
  std::unique_ptr<Executable> load(std::span<const char> bytes, const KernelInfo& info, Hardware& hardware,
                                   std::unique_ptr<const AssemblyStore> store) const override {
    auto& trial = static_cast<TrialHardware&>(hardware);
    return std::make_unique<TrialExecutable>(base_.load(bytes, info, trial.host(), std::move(store)), trial);
  }

 private:
  const std::string name_;
  const Engine& base_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(std::string name, const Engine& base) {
  return std::make_unique<TrialEngine>(std::move(name), base);
}

}  // namespace metalloid::engines::trial
