// Reads the annotations that tokens/attributes.cpp made of Metal's attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>

namespace metalloid::frontend {

// The annotation "metalloid.<name>", or null. `name` is Metal's attribute.
const clang::AnnotateAttr* find_annotation(const clang::Decl& declaration, llvm::StringRef name);
// Names of all annotations of a declaration, without the prefix.
std::vector<llvm::StringRef> annotation_names(const clang::Decl& declaration);
std::optional<std::uint64_t> integer_argument(const clang::ASTContext& context, const clang::AnnotateAttr& annotation,
                                              unsigned index = 0);
std::optional<std::string> string_argument(const clang::AnnotateAttr& annotation, unsigned index = 0);

}  // namespace metalloid::frontend
