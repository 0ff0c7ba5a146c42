#include "engines/cuda/passes/lower_tiles.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/IPO/Internalize.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "engines/cuda/kernel_abi.h"
#include "engines/cuda/tiles/gpu_code.h"
#include "ir/tile_blocks.h"
#include "ir/tiles.h"
#include "metalloid/error.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

constexpr unsigned threads_of_warpgroup = 128, rows_of_product = 64, narrowest = 16;
// Of products that want different ones, of which a threadgroup has one number: dispatches go to code without them.
constexpr std::uint32_t impossible_threads = max_threads_per_threadgroup + 1;
// As tiles.cpp has them.
constexpr std::uint32_t row_bytes = 128, first_alignment = 1024;
constexpr std::uint32_t fewest_stages = 3, most_stages = 6;
// Registers of a thread for sums; two threadgroups of 128 threads fit on a multiprocessor then.
constexpr std::uint32_t most_sums = 128;
// Of the 227 KiB of a multiprocessor of compute capability 9.0, less a threadgroup's own 32.
constexpr std::uint32_t most_bytes = (227 - 32) * 1024;

std::optional<std::uint32_t> constant(const Value& value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&value);
  if (!number || number->getZExtValue() > 0xffff) return std::nullopt;
  return static_cast<std::uint32_t>(number->getZExtValue());
}

// How warpgroups divide a product, and how it passes through threadgroup memory.
struct Division {
  std::uint32_t m = 0, n = 0, threads = 0, down = 0, across = 0, stages = 0, bytes = 0;
};

std::uint32_t round_up(std::uint32_t size, std::uint32_t to) { return (size + to - 1) / to * to; }

// Elements of a chunk, as many as of k there are in a stage.
std::uint32_t chunk_elements(ir::TileElement element) { return row_bytes / (element == ir::TileElement::f32 ? 4 : 2); }

std::uint32_t operand_bytes(std::uint32_t size, bool lies, std::uint32_t chunk) {
  return lies ? round_up(size, chunk) * row_bytes : round_up(size, 8) * row_bytes;
}

std::optional<Division> divide(const ir::Matmul2d& product) {
  const auto m = constant(*product.m), n = constant(*product.n);
  const unsigned threads = product.simdgroups * 32;
  if (!m || !n || threads == 0 || threads % threads_of_warpgroup != 0 || threads > max_threads_per_threadgroup) {
    return std::nullopt;
  }
  if (*m % rows_of_product != 0 || *n % narrowest != 0) return std::nullopt;
  const bool left_lies = product.left_is_transposed, right_lies = !product.right_is_transposed;
  const std::uint32_t warpgroups = threads / threads_of_warpgroup, chunk = chunk_elements(product.left.element);
  std::optional<Division> found;
  std::uint32_t least_read = 0;
  for (std::uint32_t across = 1; across <= warpgroups; ++across) {
    const std::uint32_t down = warpgroups / across;
    if (down * across != warpgroups || *m / rows_of_product % down != 0 || *n % (across * narrowest) != 0) continue;
    const std::uint32_t columns = *n / across, rows = *m / down;
    if (columns > 256 || rows * columns / threads_of_warpgroup > most_sums) continue;
    if (across > 1 && right_lies && columns % chunk != 0) continue;
    // Tensor cores read the right operand anew for each 64 rows.
    const std::uint32_t read = rows / rows_of_product * (rows_of_product + columns);
    if (found && least_read <= read) continue;
    least_read = read;
    found = Division{.m = *m, .n = *n, .threads = threads, .down = down, .across = across};
  }
  if (!found) return std::nullopt;
  const std::uint32_t stage = operand_bytes(*m, left_lies, chunk) + operand_bytes(*n, right_lies, chunk);
  // Two threadgroups hide what one waits for.
  const std::uint32_t room = threads == threads_of_warpgroup ? most_bytes / 2 : most_bytes;
  found->stages = std::min((room - first_alignment) / stage, most_stages);
  if (found->stages < fewest_stages) return std::nullopt;
  found->bytes = found->stages * stage + first_alignment;
  if (product.destination.is_held) {
    const std::uint32_t sums = *m * (*n + 8) * sizeof(float) + first_alignment;
    found->bytes = std::max(found->bytes, sums);
    if (sums > most_bytes) return std::nullopt;
  }
  return found;
}

bool is_in_device_memory(const ir::Tile& tile) {
  return tile.address->getType()->getPointerAddressSpace() == device_space;
}

bool is_short(ir::TileElement element) { return element == ir::TileElement::f16 || element == ir::TileElement::bf16; }

// A call of the GPU's code in place of an operation's. Parameters are added in its order.
class CallWriter {
 public:
  CallWriter(llvm::CallInst& call, LaneOrder order) : call_(call), order_(order), builder_(&call) {}

  void add(std::initializer_list<std::uint32_t> numbers) {
    for (const std::uint32_t number : numbers) values_.push_back(builder_.getInt32(number));
  }
  void add_flag(bool flag) { values_.push_back(builder_.getInt1(flag)); }
  void add_value(Value* value) { values_.push_back(value); }
  void add_element(ir::TileElement element) { add({static_cast<std::uint32_t>(element)}); }
  // Nothing of a tile that is held.
  void add_memory(const ir::Tile& tile) {
    add_value(tile.is_held ? builder_.getInt64(0) : builder_.CreatePtrToInt(tile.address, builder_.getInt64Ty()));
    for (Value* number : {tile.columns, tile.rows, tile.across, tile.down}) add_value(number);
  }
  // Nothing of a tile in memory.
  void add_held(const ir::Tile& tile, std::uint32_t rows, std::uint32_t columns) {
    add_value(tile.is_held ? tile.address : llvm::ConstantPointerNull::get(builder_.getPtrTy()));
    const std::uint32_t fragment = tile.is_held ? *constant(*tile.across) : 0;
    const std::uint32_t simdgroups = tile.is_held ? *constant(*tile.down) : 0;
    const ir::TileBlocks blocks =
        tile.is_held ? ir::divide_tile(rows, columns, fragment, simdgroups) : ir::TileBlocks{};
    const auto number = [](std::int64_t size) { return static_cast<std::uint32_t>(size); };
    add({fragment, number(blocks.down), number(blocks.across), number(blocks.blocks_across), simdgroups});
    add_flag(order_ == LaneOrder::of_matrices);
  }

  void replace_by(llvm::StringRef function) {
    llvm::SmallVector<llvm::Type*, 40> types;
    for (Value* value : values_) types.push_back(value->getType());
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), types, /*isVarArg=*/false);
    llvm::CallInst* made = builder_.CreateCall(call_.getModule()->getOrInsertFunction(function, type), values_);
    made->setDebugLoc(call_.getDebugLoc());
    made->setConvergent();
    call_.eraseFromParent();
  }

 private:
  llvm::CallInst& call_;
  const LaneOrder order_;
  llvm::IRBuilder<> builder_;
  llvm::SmallVector<Value*, 40> values_;
};

void lower(CallWriter& writer, const ir::Matmul2d& product, const Division& division) {
  for (const ir::Tile& tile : {product.left, product.right, product.destination}) writer.add_memory(tile);
  writer.add_held(product.destination, division.m, division.n);
  writer.add_element(product.left.element);
  writer.add_flag(product.left_is_transposed);
  writer.add_flag(!product.right_is_transposed);
  writer.add_element(product.destination.element);
  writer.add_value(product.k);
  writer.add_flag(product.accumulates);
  writer.add({division.m, division.n, division.threads, division.down, division.across, division.stages});
  writer.replace_by("metalloid_multiply_tiles");
}

void lower(CallWriter& writer, const ir::TileTransfer& transfer) {
  const std::uint32_t rows = *constant(*transfer.held.rows), columns = *constant(*transfer.held.columns);
  writer.add_held(transfer.held, rows, columns);
  writer.add_element(transfer.held.element);
  writer.add({rows, columns});
  writer.add_memory(transfer.memory);
  writer.add_element(transfer.memory.element);
  writer.add_flag(transfer.is_load);
  writer.replace_by("metalloid_move_tile");
}

void link_gpu_code(llvm::Module& module) {
  auto buffer = llvm::MemoryBuffer::getMemBuffer(gpu_code(), "GPU code", /*RequiresNullTerminator=*/false);
  auto code = llvm::getOwningLazyBitcodeModule(std::move(buffer), module.getContext());
  if (!code) throw Error(ErrorCode::internal, "GPU code: " + llvm::toString(code.takeError()));
  (*code)->setTargetTriple(module.getTargetTriple());
  (*code)->setDataLayout(module.getDataLayout());
  for (llvm::Function& function : **code) {
    for (const char* attribute : {"target-cpu", "target-features"}) function.removeFnAttr(attribute);
    if (!function.isDeclaration() || function.isMaterializable()) function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  const bool has_failed = llvm::Linker::linkModules(
      module, std::move(*code), llvm::Linker::LinkOnlyNeeded, [](llvm::Module& linked, const llvm::StringSet<>& names) {
        llvm::internalizeModule(linked, [&](const llvm::GlobalValue& value) {
          return !value.hasName() || !names.contains(value.getName()) || llvm::isa<llvm::GlobalVariable>(value);
        });
      });
  if (has_failed) throw Error(ErrorCode::internal, "GPU code does not fit the kernel");
}

bool is_product(const ir::Matmul2d& product) {
  // Floats are multiplied exactly, in the order of k.
  const bool is_exact =
      product.left.element == ir::TileElement::f32 && product.destination.element == ir::TileElement::f32;
  const bool is_for_tensor_cores =
      is_short(product.left.element) &&
      (is_short(product.destination.element) || product.destination.element == ir::TileElement::f32) &&
      product.precision == ir::Precision::relaxed;
  const bool fits = product.left.element == product.right.element && (is_exact || is_for_tensor_cores);
  const bool is_there = is_in_device_memory(product.left) && is_in_device_memory(product.right) &&
                        (is_in_device_memory(product.destination) || product.destination.is_held);
  return fits && is_there && divide(product).has_value();
}

}  // namespace

bool is_tile_operation(const ir::Operation& operation, const llvm::CallBase& call, const Target& target) {
  const std::string_view whole = operation.whole;
  if (!target.is_usual) return false;
  if (whole == "matmul2d.simdgroups") return target.has_warpgroup_products() && is_product(ir::read_matmul2d(call));
  const bool is_load = whole.starts_with("cooperative_tensor.load.simdgroup");
  if (!is_load && !whole.starts_with("cooperative_tensor.store.simdgroup")) return false;
  const ir::TileTransfer transfer = ir::read_transfer(call, is_load);
  return is_in_device_memory(transfer.memory) && ir::is_float(transfer.memory.element) &&
         ir::is_float(transfer.held.element);
}

TileNeeds lower_tiles(llvm::Module& module, LaneOrder order) {
  llvm::SmallVector<llvm::CallInst*, 4> calls;
  for (llvm::Function& function : module) {
    for (llvm::User* user : function.users()) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (call && (ir::as_product(*call) || ir::as_transfer(*call))) calls.push_back(call);
    }
  }
  TileNeeds needs;
  for (llvm::CallInst* call : calls) {
    CallWriter writer(*call, order);
    if (const auto transfer = ir::as_transfer(*call)) {
      lower(writer, *transfer);
      continue;
    }
    const ir::Matmul2d product = *ir::as_product(*call);
    const Division division = *divide(product);
    const bool is_first = needs.threads == 0 || needs.threads == division.threads;
    needs.threads = is_first ? division.threads : impossible_threads;
    needs.bytes = std::max(needs.bytes, division.bytes);
    lower(writer, product, division);
  }
  if (!calls.empty()) link_gpu_code(module);
  return needs;
}

}  // namespace metalloid::engines::cuda
