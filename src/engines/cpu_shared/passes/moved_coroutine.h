// A coroutine whose code is there once.
#pragma once

#include <functional>

#include <llvm/IR/Function.h>
#include <llvm/Transforms/Coroutines/ABI.h>

namespace metalloid::engines::cpu {

// A way to split coroutines for llvm::CoroSplitPass. LLVM's own copies the whole function three times, and two of the
// copies, for the end of coroutines that are not resumed, are thrown away. Here:
//
//   1. All code moves to the function by which a frame is resumed. It begins with a choice among the stops.
//   2. What runs up to the first stop is copied back.
//   3. If there is a stop in front of everything (`resumes`) the coroutine does not return at it, but goes on.
//
//   entry(state, ...):              entry(state, ...):
//     %frame = coro.begin             %frame = load
//     first                           store the arguments and resume to %frame
//     coro.suspend                    first
//     second                   ->     store 0 to %frame
//     ...                             return
//                                   resume(%frame):
//                                     switch on what was stored: second, ...
class MovedCoroutine final : public llvm::coro::SwitchABI {
 public:
  MovedCoroutine(llvm::Function& entry, llvm::coro::Shape& shape, std::function<bool(llvm::Instruction&)> is_cheap,
                 bool resumes)
      : SwitchABI(entry, shape, std::move(is_cheap)), resumes_(resumes) {}

  void splitCoroutine(llvm::Function& entry, llvm::coro::Shape& shape, llvm::SmallVectorImpl<llvm::Function*>& made,
                      llvm::TargetTransformInfo& costs) override;

 private:
  bool resumes_;
};

}  // namespace metalloid::engines::cpu
