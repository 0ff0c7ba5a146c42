#include "engines/simd/tiles/tile_code.h"

#include <llvm/ADT/Twine.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include "engines/simd/tiles/tile_calls.h"
#include "ir/tiles.h"

namespace metalloid::engines::simd {
namespace {

llvm::StringRef instructions_of(const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return "plain";
  const auto has = [&](const char* features) { return machine.getMCSubtargetInfo()->checkFeatures(features); };
  if (!has("+avx2,+fma,+f16c")) return "plain";
  if (!has("+avx512f,+avx512bw,+avx512vl,+avx512dq")) return "avx2";
  return has("+avx512vnni,+avx512bf16") ? "avx512_dot" : "avx512";
}

bool is_nibble(ir::TileElement element) { return element == ir::TileElement::i4 || element == ir::TileElement::u4; }

}  // namespace

bool has_tile_code(std::string_view whole, const llvm::CallBase& call) {
  if (whole.starts_with("matmul2d.")) return !is_nibble(ir::read_matmul2d(call).destination.element);
  const bool is_load = whole.starts_with("cooperative_tensor.load.");
  if (!is_load && !whole.starts_with("cooperative_tensor.store.")) return false;
  const ir::TileTransfer transfer = ir::read_transfer(call, is_load);
  // From float to integer and back, elements are rounded as they are converted.
  return ir::is_float(transfer.held.element) == ir::is_float(transfer.memory.element) &&
         (is_load || !is_nibble(transfer.memory.element));
}

void choose_tile_code(llvm::Module& module, const llvm::TargetMachine& machine) {
  for (const std::string_view name : {multiply_tiles_name, load_tile_name, store_tile_name}) {
    llvm::Function* function = module.getFunction(llvm::StringRef(name));
    if (function) function->setName(function->getName() + "." + instructions_of(machine));
  }
}

}  // namespace metalloid::engines::simd
