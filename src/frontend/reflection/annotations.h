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
// Larger and smaller ones become the largest and smallest.
std::optional<std::int64_t> integer_argument(const clang::ASTContext& context, const clang::AnnotateAttr& annotation,
                                             unsigned index = 0);
// The one argument of an attribute whose argument is an index. Reports what is wrong with it at the declaration.
std::optional<std::uint32_t> index_argument(const clang::ASTContext& context, const clang::NamedDecl& declaration,
                                            const clang::AnnotateAttr& annotation, std::uint32_t most);
std::optional<std::string> string_argument(const clang::AnnotateAttr& annotation, unsigned index = 0);

}  // namespace metalloid::frontend
