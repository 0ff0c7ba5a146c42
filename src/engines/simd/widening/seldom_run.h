// Code on ways that are hardly ever taken is there once, wherever it is needed.
#pragma once

#include <llvm/IR/BasicBlock.h>

namespace metalloid::engines::simd {

//   maybe.outside:                        maybe.outside:
//     (what looks at each lane)   ->        call @seldom.run(ptr %state, i64 %offset, i32 %lanes, ...)
//     br label %inside                      br label %inside
//
// A check of bounds costs one comparison, and ten times as much code behind it, which looks for the lanes that are
// outside where nobody is in a hurry. Of programs with hundreds of checks that would be most of what is compiled. So
// the blocks from `first` on become a function, which is handed what they take from elsewhere, and those that become
// the same function share it. Nothing that the blocks compute is used by others; they are entered at `first` alone,
// and go on to `behind` or end in `unreachable`.
//
// Variables of the caller are read in front of the call, so that they become values as ever; those that the blocks
// alone use become the function's. On x86 the function keeps all registers but those of vectors, so that a call that is
// never made costs a loop none of them. (One that keeps vectors, too, does not get along with LLVM's vzeroupper.)
void call_seldom_run(llvm::BasicBlock& first, llvm::BasicBlock& behind);

}  // namespace metalloid::engines::simd
