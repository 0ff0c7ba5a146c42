#include "engines/simd/simdgroup/permute_loads.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <utility>

namespace metalloid::engines::simd {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr std::int64_t vector_bytes = 64, unit_bytes = 2;
constexpr int units_of_vector = vector_bytes / unit_bytes;
constexpr unsigned chunk_elements = 16;
// Of a load that takes part. Larger ones are put in their place by the load itself, at no cost.
constexpr std::uint64_t largest_load = 8;
// Of one vector: each costs a permutation.
constexpr std::size_t most_sources = 4;
// Between two loads, less than a page.
constexpr std::int64_t largest_gap = 1024;
constexpr std::int64_t nowhere = INT64_MIN;

// For each byte of a value its distance from the group's beginning, or nowhere.
using Places = llvm::SmallVector<std::int64_t, 64>;

struct Group {
  Value* base = nullptr;
  llvm::LoadInst* first = nullptr;
  llvm::SmallVector<std::pair<std::int64_t, std::int64_t>, 32> read;  // from, to
  llvm::SmallVector<Instruction*, 64> members;                        // loads, and what is made of them
};

struct Origin {
  Group* group;
  Places places;
};

// The part of a vector that is made by permutations of some loads.
struct Chunk {
  llvm::SmallVector<std::int64_t, units_of_vector> units;  // places, or nowhere
  llvm::SmallVector<std::int64_t, 4> sources;              // where the loads begin
};

struct Root {
  Instruction* value;
  llvm::SmallVector<Chunk, 4> chunks;
};

bool writes(const Instruction& instruction) {
  if (!instruction.mayWriteToMemory()) return false;
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!intrinsic) return true;
  switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::prefetch:
    case llvm::Intrinsic::fake_use: return false;
    default: return !intrinsic->isAssumeLikeIntrinsic();
  }
}

// The loads of a function's block by what their addresses are made of.
class Block {
 public:
  Block(llvm::BasicBlock& block, bool is_permutation_cheap)
      : layout_(block.getModule()->getDataLayout()), pair_cost_(is_permutation_cheap ? 1 : 3) {
    for (Instruction& instruction : block) {
      if (writes(instruction)) bases_.clear();
      if (const auto origin = origin_of(instruction)) {
        origin->group->members.push_back(&instruction);
        origins_.try_emplace(&instruction, *origin);
      }
    }
  }

  bool run() {
    bool has_changed = false;
    for (Group& group : groups_) has_changed |= permute(group);
    return has_changed;
  }

 private:
  std::optional<Origin> origin_of(Instruction& instruction) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return origin_of_load(*load);
    if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction)) {
      const auto origin = origins_.find(cast->getOperand(0));
      return origin == origins_.end() ? std::nullopt : std::optional(origin->second);
    }
    auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction);
    if (!shuffle || !llvm::isa<llvm::FixedVectorType>(shuffle->getType())) return std::nullopt;
    const auto* type = llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType());
    const std::size_t size = layout_.getTypeStoreSize(type->getElementType());
    Origin result{nullptr, {}};
    for (const int from : shuffle->getShuffleMask()) {
      const int elements = static_cast<int>(type->getNumElements());
      Value* operand = from < 0 ? nullptr : shuffle->getOperand(from < elements ? 0 : 1);
      if (!operand || llvm::isa<llvm::UndefValue>(operand)) {
        result.places.append(size, nowhere);
        continue;
      }
      const auto origin = origins_.find(operand);
      if (origin == origins_.end() || (result.group && result.group != origin->second.group)) return std::nullopt;
      result.group = origin->second.group;
      const auto* begin = origin->second.places.begin() + static_cast<std::ptrdiff_t>(from % elements * size);
      result.places.append(begin, begin + size);
    }
    return result.group ? std::optional(std::move(result)) : std::nullopt;
  }

  std::optional<Origin> origin_of_load(llvm::LoadInst& load) {
    const llvm::TypeSize size = layout_.getTypeStoreSize(load.getType());
    if (!load.isSimple() || size.isScalable() || size.getFixedValue() > largest_load) return std::nullopt;
    if (layout_.getTypeSizeInBits(load.getType()) != 8 * size || !load.getType()->isVectorTy()) return std::nullopt;
    llvm::APInt offset(layout_.getIndexTypeSizeInBits(load.getPointerOperandType()), 0);
    Value* base = load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, true);
    Group*& group = bases_[base];
    if (!group) {
      groups_.push_back({base, &load, {}, {}});
      group = &groups_.back();
    }
    const std::int64_t from = offset.getSExtValue(), to = from + static_cast<std::int64_t>(size.getFixedValue());
    group->read.emplace_back(from, to);
    Origin result{group, {}};
    for (std::int64_t place = from; place < to; ++place) result.places.push_back(place);
    return result;
  }

  // What is not only a step on the way to another vector.
  bool is_root(const Instruction& instruction, const Group& group) const {
    if (llvm::isa<llvm::LoadInst>(instruction)) return false;
    return llvm::any_of(instruction.users(), [&](const llvm::User* user) {
      const auto origin = origins_.find(user);
      return origin == origins_.end() || origin->second.group != &group;
    });
  }

  std::optional<Root> root_of(Instruction& instruction, std::int64_t begin) const {
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
    if (!type || type->getNumElements() < chunk_elements || !llvm::isPowerOf2_32(type->getNumElements()))
      return std::nullopt;
    const std::size_t element = layout_.getTypeStoreSize(type->getElementType());
    const Places& places = origins_.find(&instruction)->second.places;
    const std::size_t size = std::min<std::size_t>(chunk_elements * element, vector_bytes);
    if (element < unit_bytes || places.size() != type->getNumElements() * element) return std::nullopt;
    Root root{&instruction, {}};
    for (std::size_t from = 0; from < places.size(); from += size) {
      Chunk& chunk = root.chunks.emplace_back();
      for (std::size_t byte = from; byte < from + size; byte += unit_bytes) {
        const std::int64_t low = places[byte], high = places[byte + 1];
        if (low != nowhere && (high != low + 1 || (low - begin) % unit_bytes != 0)) return std::nullopt;
        if (low == nowhere && high != nowhere) return std::nullopt;
        chunk.units.push_back(low);
      }
    }
    return root;
  }

  // From the lowest place on, vectors that are there already or begin at the next place that is left.
  static void choose_sources(Chunk& chunk, std::int64_t end, std::map<std::int64_t, Value*>& vectors) {
    auto units = chunk.units;
    llvm::sort(units);
    std::int64_t covered = nowhere;
    for (const std::int64_t unit : units) {
      if (unit == nowhere || unit < covered) continue;
      auto next = vectors.upper_bound(unit);
      std::int64_t source = std::min(unit, end - vector_bytes);
      if (next != vectors.begin() && std::prev(next)->first + vector_bytes > unit) source = std::prev(next)->first;
      vectors.try_emplace(source);
      chunk.sources.push_back(source);
      covered = source + vector_bytes;
    }
  }

  unsigned cost_of(const Instruction& instruction) const {
    if (llvm::isa<llvm::BitCastInst>(instruction)) return 0;
    const auto bytes = static_cast<std::int64_t>(layout_.getTypeStoreSize(instruction.getType()).getFixedValue());
    const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction);
    if (shuffle && bytes > vector_bytes && shuffle->isConcat()) return 0;
    return static_cast<unsigned>(std::max<std::int64_t>(bytes / vector_bytes, 1));
  }

  bool permute(Group& group) {
    llvm::sort(group.read);
    const std::int64_t begin = group.read.front().first;
    std::int64_t end = group.read.front().second;
    for (const auto& [from, to] : group.read) {
      if (from > end + largest_gap) return false;
      end = std::max(end, to);
    }
    if (end - begin < vector_bytes || (end - begin) % unit_bytes != 0) return false;
    llvm::SmallVector<Root, 8> roots;
    llvm::DenseSet<const Value*> gone;
    std::map<std::int64_t, Value*> vectors;
    unsigned before = 0, after = 0;
    for (Instruction* member : group.members) {
      if (!is_root(*member, group)) continue;
      auto root = root_of(*member, begin);
      if (!root) continue;
      for (Chunk& chunk : root->chunks) {
        choose_sources(chunk, end, vectors);
        const auto sources = static_cast<unsigned>(chunk.sources.size());
        if (sources > most_sources) return false;
        after += sources > 1 ? pair_cost_ * (sources - 1) : sources;
      }
      roots.push_back(std::move(*root));
      gone.insert(member);
    }
    for (Instruction* member : llvm::reverse(group.members)) {
      if (llvm::all_of(member->users(), [&](const Value* user) { return gone.contains(user); })) gone.insert(member);
      if (gone.contains(member)) before += cost_of(*member);
    }
    after += static_cast<unsigned>(vectors.size());
    if (roots.empty() || after >= before) return false;

    llvm::IRBuilder<> builder(group.first);
    auto* type = llvm::FixedVectorType::get(builder.getInt16Ty(), units_of_vector);
    for (auto& [source, vector] : vectors) {
      Value* address = group.base;
      if (source != 0) address = builder.CreatePtrAdd(address, builder.getInt64(static_cast<std::uint64_t>(source)));
      vector = builder.CreateAlignedLoad(type, address, llvm::Align(1));
    }
    for (const Root& root : roots) replace(root, vectors);
    return true;
  }

  static void replace(const Root& root, const std::map<std::int64_t, Value*>& vectors) {
    llvm::IRBuilder<> builder(root.value);
    const auto* type = llvm::cast<llvm::FixedVectorType>(root.value->getType());
    llvm::SmallVector<Value*, 4> parts;
    for (const Chunk& chunk : root.chunks) parts.push_back(make(builder, chunk, vectors));
    while (parts.size() > 1) {
      for (std::size_t i = 0; i < parts.size() / 2; ++i) {
        const auto units = llvm::cast<llvm::FixedVectorType>(parts[2 * i]->getType())->getNumElements();
        const auto all = llvm::to_vector(llvm::seq<int>(0, static_cast<int>(2 * units)));
        parts[i] = builder.CreateShuffleVector(parts[2 * i], parts[2 * i + 1], all);
      }
      parts.resize(parts.size() / 2);
    }
    root.value->replaceAllUsesWith(builder.CreateBitCast(parts.front(), const_cast<llvm::FixedVectorType*>(type)));
  }

  // Two vectors at a time.
  static Value* make(llvm::IRBuilder<>& builder, const Chunk& chunk, const std::map<std::int64_t, Value*>& vectors) {
    const std::size_t units = chunk.units.size();
    Value* made = nullptr;
    llvm::SmallVector<bool, units_of_vector> is_made(units, false);
    for (std::size_t next = 0; next < std::max<std::size_t>(chunk.sources.size(), 1);) {
      llvm::SmallVector<int, units_of_vector> places(units, -1);
      Value* operands[2] = {made, nullptr};
      for (std::size_t unit = 0; unit < units; ++unit) {
        if (is_made[unit]) places[unit] = static_cast<int>(unit);
      }
      for (unsigned side = made ? 1 : 0; side < 2 && next < chunk.sources.size(); ++side, ++next) {
        const std::int64_t source = chunk.sources[next];
        operands[side] = vectors.at(source);
        for (std::size_t unit = 0; unit < units; ++unit) {
          const std::int64_t place = chunk.units[unit];
          if (is_made[unit] || place == nowhere || place < source || place >= source + vector_bytes) continue;
          places[unit] = static_cast<int>((place - source) / unit_bytes + side * units_of_vector);
          is_made[unit] = true;
        }
      }
      if (chunk.sources.empty()) {
        return llvm::PoisonValue::get(llvm::FixedVectorType::get(builder.getInt16Ty(), static_cast<unsigned>(units)));
      }
      // All but the last step are whole vectors, as shuffles have operands of one type.
      if (next < chunk.sources.size()) places.resize(units_of_vector, -1);
      made = operands[1] ? builder.CreateShuffleVector(operands[0], operands[1], places)
                         : builder.CreateShuffleVector(operands[0], places);
    }
    return made;
  }

  const llvm::DataLayout& layout_;
  unsigned pair_cost_;
  std::list<Group> groups_;
  llvm::DenseMap<Value*, Group*> bases_;  // since the last write
  llvm::DenseMap<const Value*, Origin> origins_;
};

}  // namespace

void permute_loads(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86() || !machine.getMCSubtargetInfo()->checkFeatures("+avx512bw")) return;
  // One instruction on AMD's processors, three on Intel's.
  const bool is_permutation_cheap = machine.getTargetCPU().starts_with("znver");
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      if (!Block(block, is_permutation_cheap).run()) continue;
      for (Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(block))) {
        if (llvm::isInstructionTriviallyDead(&instruction)) instruction.eraseFromParent();
      }
    }
  }
}

}  // namespace metalloid::engines::simd
