#include "engines/simd/remarks.h"

#include <llvm/IR/DebugInfoMetadata.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace metalloid::engines::simd {

Remark remark_at(const llvm::DebugLoc& debug_place, std::string reason) {
  Remark remark{.engine = {}, .reason = std::move(reason), .source_file = {}, .source_line = 0};
  if (const llvm::DILocation* place = debug_place.get()) {
    while (place->getInlinedAt()) place = place->getInlinedAt();
    remark.source_file = place->getFilename().str();
    remark.source_line = place->getLine();
  }
  return remark;
}

void Remarks::add(const llvm::DebugLoc& place, std::string reason) {
  Remark remark = remark_at(place, std::move(reason));
  const auto key = [](const Remark& r) { return std::tie(r.source_file, r.source_line, r.reason); };
  const auto where = std::ranges::lower_bound(list_, key(remark), {}, key);
  if (where == list_.end() || key(*where) != key(remark)) list_.insert(where, std::move(remark));
}

}  // namespace metalloid::engines::simd
