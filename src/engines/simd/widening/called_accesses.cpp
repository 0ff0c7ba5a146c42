// Accesses that are functions where a program has many of their kind. Of 8 and 16 bits processors have no gathers,
// scatters or masks, most of them, so that an access is an instruction or three for each lane: products that bring
// bytes to threadgroup memory one by one have hundreds, and would be made of nothing else. Each kind is there once
// then, for all lanes and for some: a caller's block is not there twice for its sake.
//
//   long loads      rows whose elements lie so far apart that they are longer than what 32 lanes take of them
//   narrow gathers  8 or 16 bits from places anywhere
//   short runs      8 or 16 bits by few runs of lanes
//   long stores     any by more runs, for all lanes (runs.cpp)
//
// They are called as functions of C: of others all registers would be full of addresses.
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/ModRef.h>
#include <llvm/Support/raw_ostream.h>

#include <string>

#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {

using llvm::Value;

namespace {

// Elements of a row up to which lanes that take part are told by masks as long as the row.
constexpr unsigned longest_masked = 128;

// Of a program, which are there each for itself.
constexpr unsigned most_long_loads = 8, most_short_run_loads = 64, most_short_run_stores = 16;

// What processors have masks and gathers for.
constexpr std::uint64_t masked_bytes = 4;

Value* address_in_bytes(llvm::IRBuilder<>& builder, Value* address, std::uint64_t offset) {
  return builder.CreateConstGEP1_64(builder.getInt8Ty(), address, offset);
}

// Each lane's element by a load of its own. Lanes that take no part read what is always there.
Value* load_each(llvm::IRBuilder<>& builder, llvm::Type* element, unsigned width, llvm::Align alignment, Value* lanes,
                 llvm::function_ref<Value*(unsigned lane)> address) {
  Value* safe = nullptr;
  if (lanes) {
    safe = builder.CreateAlloca(element);
    builder.CreateStore(llvm::Constant::getNullValue(element), safe);
  }
  Value* result = llvm::PoisonValue::get(wide_type(element, width));
  for (unsigned lane = 0; lane < width; ++lane) {
    Value* own = address(lane);
    if (lanes) {
      Value* takes_part = builder.CreateTrunc(builder.CreateLShr(lanes, lane), builder.getInt1Ty());
      own = builder.CreateSelect(takes_part, own, builder.CreateAddrSpaceCast(safe, own->getType()));
    }
    result = builder.CreateInsertElement(result, builder.CreateAlignedLoad(element, own, alignment), lane);
  }
  return result;
}

}  // namespace

// Of rows and short runs, before anything is widened.
void Widening::count_called_accesses() {
  for (const ScheduledBlock& scheduled : schedule_.blocks()) {
    for (const llvm::Instruction& instruction : *scheduled.block) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (short_runs_of(instruction)) ++(load ? short_run_loads_ : short_run_stores_);
      if (!load || load->getType()->isAggregateType()) continue;
      const auto row = row_of(load->getPointerOperand(), load->getType());
      long_loads_ += row && is_long(*row) ? 1 : 0;
    }
  }
}

// The function of that name. Its last parameter tells which lanes take part; `add_code` adds a block's code, which
// ends with a return, for all lanes (null) and, if it may be asked for, for some.
llvm::Function* Widening::called(const std::string& name, Type* result, llvm::ArrayRef<Type*> parameters, bool for_some,
                                 llvm::function_ref<void(llvm::Function&, llvm::IRBuilder<>&, Value* lanes)> add_code) {
  llvm::Module& module = *wide_.getParent();
  if (llvm::Function* made = module.getFunction(name)) return made;
  auto* made = llvm::Function::Create(llvm::FunctionType::get(result, parameters, false),
                                      llvm::GlobalValue::InternalLinkage, name, module);
  for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn}) {
    made->addFnAttr(attribute);
  }
  auto* all = llvm::BasicBlock::Create(context_, "all", made);
  llvm::IRBuilder<> builder(all);
  add_code(*made, builder, nullptr);
  if (!for_some) return made;
  Value* lanes = made->getArg(made->arg_size() - 1);
  auto* some = llvm::BasicBlock::Create(context_, "some", made);
  builder.SetInsertPoint(some);
  add_code(*made, builder, lanes);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", made, all));
  const auto every = static_cast<std::uint32_t>((std::uint64_t{1} << width_) - 1);
  builder.CreateCondBr(builder.CreateICmpEQ(lanes, builder.getInt32(every)), all, some);
  return made;
}

bool Widening::is_long(const Row& row) const { return width_ * row.distance > longest_masked; }

bool Widening::calls_long_loads() const { return long_loads_ > most_long_loads; }

Value* Widening::call_long_load(llvm::LoadInst& load, const Row& row, llvm::Align alignment) {
  Type* bits = bits_like(builder_, load.getType()->getScalarType());
  Value* address = scalar_of(load.getPointerOperand());
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << "metalloid.load." << row.parts << '.' << *bits << ".in." << load.getPointerAddressSpace() << ".aligned."
         << alignment.value() << ".apart." << row.distance << ".lanes." << width_;
  const llvm::SmallVector<Type*, 4> vectors(row.parts, wide(bits));
  const auto add_code = [&](llvm::Function& made, llvm::IRBuilder<>& builder, Value* lanes) {
    const std::uint64_t size = layout_.getTypeStoreSize(bits).getFixedValue();
    llvm::SmallVector<Value*, 4> parts;
    if (!lanes) parts = load_whole(builder, bits, made.getArg(0), row, width_, alignment, false, nullptr);
    for (unsigned part = 0; lanes && part < row.parts; ++part) {
      parts.push_back(load_each(builder, bits, width_, alignment, lanes, [&](unsigned lane) {
        return address_in_bytes(builder, made.getArg(0), (lane * row.distance + part) * size);
      }));
    }
    builder.CreateAggregateRet(parts.data(), row.parts);
  };
  llvm::Function* made = called(name, llvm::StructType::get(context_, vectors),
                                {address->getType(), builder_.getInt32Ty()}, true, add_code);
  made->setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref));
  return builder_.CreateCall(made, {address, bits_of(lanes_)});
}

Value* Widening::call_narrow_gather(Type* type, Value* addresses, llvm::Align alignment, Value* lanes) {
  Type* bits = bits_like(builder_, type);
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << "metalloid.gather." << *bits << ".in." << addresses->getType()->getScalarType()->getPointerAddressSpace()
         << ".aligned." << alignment.value() << ".lanes." << width_;
  const auto add_code = [&](llvm::Function& made, llvm::IRBuilder<>& builder, Value* some) {
    builder.CreateRet(load_each(builder, bits, width_, alignment, some,
                                [&](unsigned lane) { return builder.CreateExtractElement(made.getArg(0), lane); }));
  };
  llvm::Function* made =
      called(name, wide(bits), {addresses->getType(), builder_.getInt32Ty()}, /*for_some=*/true, add_code);
  made->setMemoryEffects(llvm::MemoryEffects::readOnly());
  return builder_.CreateBitCast(builder_.CreateCall(made, {addresses, bits_of(lanes)}), wide(type));
}

// Of 8 or 16 bits.
std::optional<Widening::Runs> Widening::short_runs_of(const llvm::Instruction& access) const {
  const Value* pointer = llvm::getLoadStorePointerOperand(&access);
  if (!pointer || access.isAtomic() || access.isVolatile() || shapes_.is_uniform(*pointer)) return std::nullopt;
  Type* type = llvm::getLoadStoreType(&access);
  if (type->isAggregateType() || type->isIntOrIntVectorTy(1) ||
      layout_.getTypeStoreSize(type->getScalarType()).getFixedValue() >= masked_bytes || row_of(pointer, type)) {
    return std::nullopt;
  }
  auto runs = runs_of(pointer, type);
  if (!runs || !runs->same.empty() || runs->starts.size() > most_runs) return std::nullopt;
  return runs;
}

bool Widening::calls_short_runs(const llvm::Instruction& access) const {
  const bool has_many = llvm::isa<llvm::LoadInst>(access) ? short_run_loads_ > most_short_run_loads
                                                          : short_run_stores_ > most_short_run_stores;
  return has_many && short_runs_of(access);
}

// All runs of a load, as vectors side by side of that type, or of a store of such elements, part by part. Where the
// place of one lane tells that of every other, the function is handed that place alone.
Value* Widening::call_runs(llvm::Instruction& access, const Runs& runs, llvm::Align alignment, Type* type,
                           Value* elements) {
  Value* pointer = llvm::getLoadStorePointerOperand(&access);
  Type* accessed = llvm::getLoadStoreType(&access);
  const unsigned parts = parts_of(accessed);
  const std::uint64_t own = parts * layout_.getTypeStoreSize(accessed->getScalarType()).getFixedValue();
  const LaneBits bits = shapes_.bits_of(*pointer);
  const bool is_one_place = is_all_known(bits);
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << (elements ? "metalloid.store." : "metalloid.load.") << *type << ".in."
         << pointer->getType()->getPointerAddressSpace() << ".aligned." << alignment.value() << ".parts." << parts;
  llvm::SmallVector<Value*, 10> operands;
  if (elements) operands.push_back(elements);
  const auto first_address = static_cast<unsigned>(operands.size());
  if (is_one_place) {
    stream << ".by";
    for (const auto& growth : bits.growth) stream << '.' << *growth;
    operands.push_back(run_address(pointer, {}, 0, 0));
  } else {
    stream << ".along";
    for (const unsigned bit : runs.along) stream << '.' << bit;
    for (const unsigned start : runs.starts) operands.push_back(run_address(pointer, runs.along, start, own));
  }
  stream << ".lanes." << width_;
  operands.push_back(bits_of(lanes_));
  llvm::SmallVector<Type*, 10> types;
  for (const Value* operand : operands) types.push_back(operand->getType());
  const auto add_code = [&](llvm::Function& made, llvm::IRBuilder<>& builder, Value* lanes) {
    const auto length = parts << runs.along.size();
    auto* row = llvm::FixedVectorType::get(type->getScalarType(), length);
    if (lanes) {
      lanes = builder.CreateBitCast(builder.CreateTrunc(lanes, builder.getIntNTy(width_)), wide(builder.getInt1Ty()));
    }
    llvm::SmallVector<Value*, 16> loaded;
    for (unsigned run = 0; run < runs.starts.size(); ++run) {
      const unsigned start = runs.starts[run];
      std::int64_t before = 0;
      for (unsigned bit = 0; is_one_place && bit < bits.growth.size(); ++bit) {
        before += (start >> bit) & 1 ? *bits.growth[bit] : 0;
      }
      Value* address = is_one_place
                           ? address_in_bytes(builder, made.getArg(first_address), static_cast<std::uint64_t>(before))
                           : made.getArg(first_address + run);
      Value* some = lanes ? run_lanes(builder, lanes, runs, start, parts) : nullptr;
      if (!elements) {
        loaded.push_back(some ? static_cast<Value*>(builder.CreateMaskedLoad(row, address, alignment, some))
                              : builder.CreateAlignedLoad(row, address, alignment));
        continue;
      }
      Value* stored = builder.CreateShuffleVector(made.getArg(0), places_of_run(runs.along, start, parts));
      if (some) {
        builder.CreateMaskedStore(stored, address, alignment, some);
      } else {
        builder.CreateAlignedStore(stored, address, alignment);
      }
    }
    builder.CreateRet(elements ? nullptr : join(builder, loaded));
  };
  Type* result = elements ? builder_.getVoidTy() : type;
  llvm::Function* made = called(name, result, types, /*for_some=*/runs.starts.size() <= most_runs, add_code);
  made->setMemoryEffects(llvm::MemoryEffects::argMemOnly(elements ? llvm::ModRefInfo::Mod : llvm::ModRefInfo::Ref));
  return builder_.CreateCall(made, operands);
}

}  // namespace metalloid::engines::simd
