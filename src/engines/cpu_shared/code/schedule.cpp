#include "engines/cpu_shared/code/schedule.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineInstr.h>
#include <llvm/CodeGen/MachinePassRegistry.h>
#include <llvm/CodeGen/MachineScheduler.h>
#include <llvm/CodeGen/MacroFusion.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::cpu {
namespace {

using Block = llvm::MachineBasicBlock;
using Constructor = llvm::MachineSchedRegistry::ScheduleDAGCtor;

// Shorter ones are not longer than what processors look ahead.
constexpr unsigned least_instructions = 64;
// At least one of so many instructions computes with floats.
constexpr unsigned least_part = 4;

bool computes_floats(Block::const_iterator begin, Block::const_iterator end) {
  unsigned all = 0, floats = 0;
  for (; begin != end; ++begin) {
    if (begin->isDebugInstr()) continue;
    ++all;
    if (begin->getDesc().mayRaiseFPException()) ++floats;
  }
  return all >= least_instructions && floats * least_part >= all;
}

class ByTime : public llvm::GenericScheduler {
 public:
  using GenericScheduler::GenericScheduler;

  void initPolicy(Block::iterator begin, Block::iterator end, unsigned size) override {
    GenericScheduler::initPolicy(begin, end, size);
    if (computes_floats(begin, end)) RegionPolicy.ShouldTrackPressure = RegionPolicy.ShouldTrackLaneMasks = false;
  }
};

// Processors take a comparison and the branch on it as one, if nothing is between them. Without a first instruction:
// whether the second one ever has such a partner.
bool branches_on(const llvm::TargetInstrInfo& /*instructions*/, const llvm::TargetSubtargetInfo& /*processor*/,
                 const llvm::MachineInstr* first, const llvm::MachineInstr& second) {
  return second.isConditionalBranch() && (!first || first->isCompare());
}

llvm::ScheduleDAGInstrs* make_schedule(llvm::MachineSchedContext* context) {
  const llvm::MachineFunction& function = *context->MF;
  const bool has_registers =
      context->TM->getTargetTriple().isX86() && function.getSubtarget().checkFeatures("+avx512f");
  const auto computes = [](const Block& block) { return computes_floats(block.begin(), block.end()); };
  if (has_registers && llvm::any_of(function, computes)) {
    llvm::ScheduleDAGMILive* schedule = llvm::createSchedLive<ByTime>(context);
    schedule->addMutation(llvm::createMacroFusionDAGMutation({branches_on}, /*BranchOnly=*/true));
    return schedule;
  }
  llvm::ScheduleDAGInstrs* own = context->TM->createMachineScheduler(context);
  return own ? own : llvm::createSchedLive(context);
}

}  // namespace

void order_floats_by_time() {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find("misched");
  if (found == options.end()) return;
  using Option = llvm::cl::opt<Constructor, false, llvm::RegisterPassParser<llvm::MachineSchedRegistry>>;
  static_cast<Option*>(found->second)->setValue(make_schedule);
}

}  // namespace metalloid::engines::cpu
