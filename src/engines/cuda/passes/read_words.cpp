#include "engines/cuda/passes/read_words.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Vectorize/LoadStoreVectorizer.h>

#include <cstdint>

#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

constexpr unsigned word_bits = 32;

// How many elements of a read of memory that nobody writes make a word; 0 if they do not.
unsigned elements_of_word(const llvm::LoadInst& load) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
  if (!type || !load.isSimple() || !load.hasMetadata(llvm::LLVMContext::MD_invariant_load)) return 0;
  if (!type->getElementType()->isIntegerTy(8) && !type->getElementType()->isIntegerTy(16)) return 0;
  const unsigned of_word = word_bits / type->getScalarSizeInBits();
  const bool is_whole = type->getNumElements() % of_word == 0 && load.getAlign() >= word_bits / 8;
  return is_whole && llvm::all_of(load.users(),
                                  [](const llvm::User* user) {
                                    const auto* element = llvm::dyn_cast<llvm::ExtractElementInst>(user);
                                    return element && llvm::isa<llvm::ConstantInt>(element->getIndexOperand());
                                  })
             ? of_word
             : 0;
}

void read_as_words(llvm::LoadInst& load) {
  const unsigned of_word = elements_of_word(load);
  auto* type = llvm::cast<llvm::FixedVectorType>(load.getType());
  const unsigned words = type->getNumElements() / of_word, bits = word_bits / of_word;
  llvm::IRBuilder<> builder(&load);
  llvm::Type* word = builder.getInt32Ty();
  llvm::LoadInst* whole = builder.CreateAlignedLoad(words == 1 ? word : llvm::FixedVectorType::get(word, words),
                                                    load.getPointerOperand(), load.getAlign());
  whole->copyMetadata(load);
  whole->setMetadata(llvm::LLVMContext::MD_range, nullptr);
  for (llvm::User* user : llvm::make_early_inc_range(load.users())) {
    auto* element = llvm::cast<llvm::ExtractElementInst>(user);
    const std::uint64_t place = llvm::cast<llvm::ConstantInt>(element->getIndexOperand())->getZExtValue();
    builder.SetInsertPoint(element);
    Value* part = words == 1 ? static_cast<Value*>(whole) : builder.CreateExtractElement(whole, place / of_word);
    part = builder.CreateLShr(part, place % of_word * bits);
    Value* alone =
        builder.CreateAnd(part, builder.getInt32(llvm::APInt::getLowBitsSet(word_bits, bits).getZExtValue()));
    // LLVM would make elements of vectors of what is cut off.
    for (llvm::User* of_element : llvm::make_early_inc_range(element->users())) {
      auto* wide = llvm::dyn_cast<llvm::ZExtInst>(of_element);
      if (!wide || wide->getType() != word) continue;
      wide->replaceAllUsesWith(alone);
      wide->eraseFromParent();
    }
    element->replaceAllUsesWith(builder.CreateTrunc(part, element->getType()));
    element->eraseFromParent();
  }
  load.eraseFromParent();
}

}  // namespace

void read_words(llvm::Module& module, llvm::TargetMachine& machine) {
  ir::PassManagers managers(&machine, llvm::PipelineTuningOptions());
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::LoadStoreVectorizerPass().run(function, managers.functions);
    llvm::SmallVector<llvm::LoadInst*, 16> loads;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load && elements_of_word(*load) != 0) loads.push_back(load);
    }
    if (loads.empty()) continue;
    for (llvm::LoadInst* load : loads) read_as_words(*load);
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    managers.functions.clear();
    passes.run(function, managers.functions);
  }
}

}  // namespace metalloid::engines::cuda
