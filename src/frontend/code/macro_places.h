// Debug locations of code that comes from the body of a macro of the user's:
//
//   #define ADD(x, y) x += y      !1 = line 1 of the macro, in the scope of "ADD", inlined at !2
//   ADD(out[i], 1);               !2 = line 2
//
// Clang knows of one place for a debug location, and takes the line where the macro is expanded: all of a kernel that a
// macro makes lies there. So while code is generated, each place in a macro's body gets a line of its own in files that
// exist for that alone, and write() puts both places where they stand. Arguments of macros are where they are written.
#pragma once

#include <clang/Basic/LangOptions.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace metalloid::frontend {

class MacroPlaces {
 public:
  // Of this thread's code generation, until it is destroyed.
  MacroPlaces(clang::SourceManager& sources, const clang::LangOptions& language);
  ~MacroPlaces();
  MacroPlaces(const MacroPlaces&) = delete;
  MacroPlaces& operator=(const MacroPlaces&) = delete;

  static MacroPlaces* current();
  // The line that stands for a place in a macro, or `outside`, its place for Clang.
  clang::SourceLocation stand_in(clang::SourceLocation place, clang::SourceLocation outside);
  void write(llvm::Module& module);

 private:
  friend class LocationWriter;
  struct Entry {
    clang::SourceLocation spelling, outside;
    std::string macro;
  };

  clang::SourceManager& sources_;
  const clang::LangOptions& language_;
  std::vector<Entry> entries_;
  std::vector<clang::FileID> files_;
  llvm::DenseMap<std::pair<unsigned, unsigned>, clang::SourceLocation> known_;
};

}  // namespace metalloid::frontend
