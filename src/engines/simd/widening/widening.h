// Turns a lane's program into one that a simdgroup runs in step: a varying value of type T becomes a <32 x T>, a
// uniform one stays a T, blocks run as block_schedule.h says.
//
//   %x = load float, ptr %a                  ; %a strided by 4
//   %y = fmul float %x, %scale               ; %scale uniform
//   store float %y, ptr %b
// ->
//   %x = call <32 x float> @llvm.masked.load(ptr %a.of.lane.0, <32 x i1> %lanes, poison)
//   %y = fmul <32 x float> %x, splat(%scale)
//   call void @llvm.masked.store(<32 x float> %y, ptr %b.of.lane.0, <32 x i1> %lanes)
//
// Vectors and structs of varying elements are kept apart, one <32 x T> for each element. Values that live beyond their
// block go through variables, which LLVM makes values again: so no order of blocks breaks what it knows of dominance.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallBitVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MathExtras.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/simd/remarks.h"
#include "engines/simd/shapes/lane_shapes.h"
#include "engines/simd/shapes/parameter_shapes.h"
#include "engines/simd/vectors/joined_vectors.h"
#include "engines/simd/vectors/parts.h"
#include "engines/simd/widening/block_schedule.h"
#include "engines/simd/widening/wide_functions.h"
#include "ir/tiles.h"
#include "metalloid/reflection.h"
#include "support/address_spaces.h"

namespace metalloid::engines::simd {

inline constexpr std::uint64_t safe_bytes = 128;  // Widening::safe_address

// The type as which elements are moved.
inline llvm::Type* bits_like(llvm::IRBuilder<>& builder, llvm::Type* type) {
  return type->isHalfTy() || type->isBFloatTy() ? builder.getInt16Ty() : type;
}

// Which elements of a row belong to lanes that take part; null: all.
llvm::Value* row_mask(llvm::IRBuilder<>& builder, llvm::Value* lanes, unsigned width, unsigned parts,
                      unsigned distance);

// What an instruction becomes: one value that all lanes have (of strided ones lane 0's), or vectors.
struct Widened {
  llvm::Value* scalar = nullptr;
  llvm::SmallVector<llvm::Value*, 4> vectors;
  // Of values that may wrap (lane_shapes.h): whether they do not, an i1; of strided ones what lanes have that the
  // stride does not tell, a vector, zero where nothing wraps.
  llvm::Value *is_steady = nullptr, *beside_row = nullptr;
};

class Widening {
 public:
  // `wide` has the parameters that `functions` says (wide_functions.h). It is empty. Both are in one module.
  Widening(const AnalysedFunction& lane, llvm::Function& wide, const BlockSchedule& schedule, Entry entry,
           const WideFunctions& functions);
  void run();
  // What lanes do one after the other.
  Remarks& remarks() { return remarks_; }

 private:
  using Value = llvm::Value;
  using Type = llvm::Type;

  // widening.cpp: blocks, lanes and what goes from block to block
  void make_blocks();
  void make_slots();
  void enter();
  void run_block(const ScheduledBlock& scheduled);
  void run_instructions(const ScheduledBlock& scheduled, Value* lanes);
  llvm::SmallBitVector sets_there_twice() const;
  bool is_never_whole(LaneSet set) const;
  void leave(const ScheduledBlock& scheduled);
  void go_along(const llvm::BasicBlock& from, llvm::ArrayRef<unsigned> successors, llvm::ArrayRef<Value*> edge_lanes);
  Value* lanes_of(LaneSet set);       // null: all
  Value* lanes_or_all(Value* lanes);  // as a vector
  void find_fresh_slots(const llvm::BasicBlock& block);
  void begin_anew(const llvm::BasicBlock& block);
  void keep(Value& value, const Widened& widened);
  bool lives_beyond_block(const llvm::Instruction& instruction) const;
  llvm::BasicBlock* start_of(const llvm::BasicBlock* block);

  // values.cpp: operands
  llvm::VectorType* wide(Type* scalar) const;
  unsigned lane_bits() const { return llvm::Log2_32(width_); }
  Value* scalar_of(Value* value);  // of uniform and strided ones
  Value* vector_of(Value* value, unsigned part = 0);
  Value* element_of(Value* value, unsigned part, Value* lane);  // one lane's
  Value* whole_of(Value* value, Value* lane);                   // one lane's, in its own type
  Value* value_in_lane(Value* value, unsigned lane);
  bool can_be_made_again(const Value& value, unsigned depth = 0) const;
  Value* bits_of(Value* lanes);
  Value* any(Value* lanes);
  Value* lane_numbers(Type* type) const;
  Value* last_lane(Value* lanes);
  const Widened& known(Value* value);
  // wraps.cpp: rows whose narrower sums may wrap
  Type* number_like(Type* type) const;  // of addresses: of their indices
  bool may_wrap(const Value& value) const;
  Value* is_steady(Value* value);
  Value* beside_row(Value* value);
  Value* row_of_strided(Value* value, const Shape& shape);
  Value* is_steady_extension(llvm::CastInst& extension);
  std::optional<std::uint64_t> wraps_at(const Value& offset) const;
  Value* safe_address(Type* pointer);
  Value* in_memory(Value* vector);
  void call_runtime(std::string_view name, llvm::ArrayRef<Value*> operands);

  // instructions.cpp
  void widen(llvm::Instruction& instruction);
  Value* scalar_copy(llvm::Instruction& instruction);
  Value* strided_copy(llvm::Instruction& instruction, const Shape& shape);
  Value* widen_index(llvm::CastInst& cast, const Shape& shape);
  Widened widen_operation(llvm::Instruction& instruction);
  Widened widen_division(llvm::BinaryOperator& division);
  Widened widen_cast(llvm::CastInst& cast);
  Widened reinterpret(llvm::CastInst& cast);
  Value* widen_address(llvm::GetElementPtrInst& address);
  Widened widen_intrinsic(llvm::CallInst& call);
  Widened change_threadgroup(llvm::AtomicRMWInst& change);
  Widened lane_by_lane(llvm::Instruction& instruction);
  Widened once_for_each_lane(llvm::Instruction& instruction);
  void remark(std::string reason);  // of what is being widened
  Value* copy_for_lane(llvm::Instruction& instruction, llvm::ArrayRef<Value*> operands);

  // memory.cpp
  Widened widen_load(llvm::LoadInst& load);
  void widen_store(llvm::StoreInst& store);
  // rows.cpp: lanes' elements side by side, each `parts` long and `distance` from the next one's.
  struct Row {
    unsigned parts, distance;
  };
  std::optional<Row> row_of(const Value* pointer, Type* type) const;
  static llvm::SmallVector<Value*, 4> load_whole(llvm::IRBuilder<>& builder, Type* bits, Value* address, const Row& row,
                                                 unsigned width, llvm::Align alignment, bool is_volatile, Value* lanes);
  bool load_row(llvm::LoadInst& load, llvm::Align alignment, Widened& result);
  // runs.cpp: lanes that lie side by side in memory for some bits of their number (`along`, of rising weight),
  // or at one place (`same`), from the lanes `starts` on. The accesses say whether they could.
  struct Runs {
    llvm::SmallVector<unsigned, 5> along, same;
    llvm::SmallVector<unsigned, 16> starts;
  };
  // More are no better than an access per lane, which is a gather's for 32 bits and more; so are as many as lanes.
  static constexpr unsigned most_runs = 8;
  std::optional<Runs> runs_of(const Value* pointer, Type* type) const;
  static llvm::SmallVector<unsigned, 16> lanes_of_bits(llvm::ArrayRef<unsigned> bits);
  Value* run_address(Value* pointer, llvm::ArrayRef<unsigned> along, unsigned start, std::uint64_t own);
  static Value* run_lanes(llvm::IRBuilder<>& builder, Value* lanes, const Runs& runs, unsigned start, unsigned parts);
  static bool is_all_known(const LaneBits& bits);
  bool load_runs(llvm::LoadInst& load, llvm::Align alignment, Widened& result);
  bool store_runs(llvm::StoreInst& store, llvm::Align alignment);
  llvm::SmallVector<int, 64> places_of_run(llvm::ArrayRef<unsigned> along, unsigned start, unsigned parts) const;
  // called_accesses.cpp
  void count_called_accesses();
  llvm::Function* called(const std::string& name, Type* result, llvm::ArrayRef<Type*> parameters, bool for_some,
                         llvm::function_ref<void(llvm::Function&, llvm::IRBuilder<>&, Value* lanes)> add_code);
  bool is_long(const Row& row) const;
  bool calls_long_loads() const;
  Value* call_long_load(llvm::LoadInst& load, const Row& row, llvm::Align alignment);
  Value* call_narrow_gather(Type* type, Value* addresses, llvm::Align alignment, Value* lanes);
  std::optional<Runs> short_runs_of(const llvm::Instruction& access) const;
  bool calls_short_runs(const llvm::Instruction& access) const;
  Value* call_runs(llvm::Instruction& access, const Runs& runs, llvm::Align alignment, Type* type, Value* elements);
  // pieces.cpp: lanes whose elements are whole pieces of 16 bytes, maybe together with the lanes `along`.
  struct Pieces {
    unsigned elements, place_bits, groups;          // of a piece; in an element's place; pieces of a lane
    llvm::SmallVector<unsigned, 4> along;           // bits of the lane's number
    llvm::SmallVector<unsigned, 4> vectors, steps;  // the bits that number vectors, and what the steps exchange
    llvm::SmallVector<unsigned, 4> order;           // bits of a part's number that number vectors in the end
  };
  std::optional<Pieces> pieces_of(const Value* pointer, Type* type) const;
  bool load_pieces(llvm::LoadInst& load, llvm::Align alignment, Widened& result);
  bool gather_words(llvm::LoadInst& load, llvm::Align alignment, Widened& result);
  bool scatter_words(llvm::StoreInst& store, llvm::Align alignment);
  llvm::SmallVector<Value*, 4> parts_of_words(llvm::ArrayRef<Value*> words, Type* element);
  std::uint64_t own_bytes(Type* type) const;
  void merge_vectors(llvm::MutableArrayRef<Value*> vectors, unsigned bit, unsigned elements);
  bool is_better_whole(const llvm::Instruction& access) const;
  Value* gather(Type* type, Value* addresses, llvm::Align alignment, Value* lanes);
  void scatter(Value* value, Value* addresses, llvm::Align alignment, Value* lanes);
  Value* spill(Value* vector);
  void widen_prefetch(llvm::CallInst& call);
  Widened widen_change(llvm::AtomicRMWInst& change);
  std::optional<Widened> widen_change_of_one(llvm::AtomicRMWInst& change);
  Value* address_part(Value* addresses, std::uint64_t offset);

  // checks.cpp
  void run_checks();
  Value* are_surely_inside(const llvm::CallInst& check);
  Value* are_indices_inside(Value* offset, Value* limit);
  Value* lanes_outside(const llvm::CallInst& check);
  void check_rows(const llvm::CallInst& check);
  Value* are_ends_inside(const llvm::CallInst& check);
  void find_outside(const llvm::CallInst& check, llvm::BasicBlock& next);
  void report_lane(const llvm::CallInst& check, Value* outside);
  Value* first_thread_of(const llvm::CallInst& check);
  void apart(llvm::function_ref<void()> code);

  // screen.cpp
  bool widen_screen_call(llvm::CallInst& call);
  void call_screen(std::string_view name, llvm::ArrayRef<Value*> operands);
  void expect(llvm::CallInst& call);
  void screen_access(llvm::CallInst& call);
  bool screen_runs(llvm::CallInst& call, std::uint64_t bytes);
  void screen_meeting(llvm::CallInst& call);

  // calls.cpp
  bool widen_call(llvm::CallInst& call, Widened& result);
  void call_in_step(llvm::CallInst& call, llvm::Function& wide, Widened& result);
  void give_back(Value* result);
  Value* common_tag(llvm::Instruction& instruction);

  // tiles.cpp
  struct TileCall {
    std::string_view name;
    llvm::SmallVector<ir::Tile, 3> tiles;
    llvm::SmallVector<Value*, 3> numbers;
    llvm::SmallVector<std::uint32_t, 5> flags;
  };
  bool widen_tile_operation(llvm::CallInst& call);
  void call_together(const TileCall& call);
  void call_in_threads(const TileCall& call);
  void call_tile_code(const TileCall& call, llvm::SmallVectorImpl<Value*>& operands);

  llvm::Function& lane_;
  llvm::Function& wide_;
  const unsigned width_;  // lanes in step (lane_target.h)
  const LaneShapes& shapes_;
  const BlockSchedule& schedule_;
  const Entry entered_by_;
  const WideFunctions& functions_;
  const llvm::DataLayout& layout_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
  llvm::BasicBlock* entry_ = nullptr;
  Remarks remarks_;

  struct Places {
    llvm::BasicBlock *check = nullptr, *body = nullptr;
    // Of blocks that are there twice: for some lanes, and for all.
    std::array<llvm::BasicBlock*, 2> variants{};
  };
  llvm::DenseMap<const llvm::BasicBlock*, Places> places_;
  std::vector<llvm::AllocaInst*> lane_slots_;  // per LaneSet
  llvm::SmallBitVector rare_sets_;
  Value* entering_ = nullptr;  // lanes; null: all
  struct Slots {
    llvm::AllocaInst* scalar = nullptr;
    llvm::SmallVector<llvm::AllocaInst*, 4> vectors;
    llvm::AllocaInst *is_steady = nullptr, *beside_row = nullptr;
  };
  Widened load(const Slots& slots);
  llvm::DenseMap<const Value*, Slots> slots_;      // of values that live beyond their block
  llvm::DenseMap<const Value*, Slots> phi_slots_;  // what the next block's phi will be
  llvm::DenseMap<const llvm::BasicBlock*, llvm::SmallVector<llvm::AllocaInst*, 4>> fresh_slots_;  // that begin there
  llvm::DenseMap<const Value*, Widened> arguments_;
  Value *state_ = nullptr, *first_thread_ = nullptr;

  // Of the block that is being widened.
  const ScheduledBlock* current_ = nullptr;
  unsigned variant_ = 0;
  bool is_rare_ = false;                                  // a block that is slow for some lanes, for these
  bool is_apart_ = false;                                 // on a way that is hardly ever taken (checks.cpp)
  Value* lanes_ = nullptr;                                // null: all
  llvm::SmallVector<llvm::CallInst*, 4> pending_checks_;  // of bounds, of accesses that come next
  llvm::DenseMap<const Value*, Widened> known_;
  llvm::DenseMap<std::pair<const Value*, unsigned>, Value*> in_lane_;
  llvm::DenseMap<Type*, Value*> safe_addresses_;
  unsigned narrow_gathers_ = 0, long_stores_ = 0, long_loads_ = 0, short_run_loads_ = 0, short_run_stores_ = 0;
};

}  // namespace metalloid::engines::simd
