#include "frontend/reflection/tensor_type.h"

#include <clang/AST/DeclTemplate.h>

namespace metalloid::frontend {
namespace {

using Specialisation = clang::ClassTemplateSpecializationDecl;

const Specialisation* metal_specialisation(clang::QualType type, llvm::StringRef name) {
  const auto* record = llvm::dyn_cast_or_null<Specialisation>(type->getAsCXXRecordDecl());
  if (!record || !record->getIdentifier() || record->getName() != name) return nullptr;
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(record->getDeclContext()->getEnclosingNamespaceContext());
  return space && space->getName() == "metal" ? record : nullptr;
}

}  // namespace

std::optional<TensorType> tensor_type(clang::QualType type) {
  type = type.getCanonicalType().getUnqualifiedType();
  const Specialisation* tensor = metal_specialisation(type, "tensor");
  if (!tensor || tensor->getTemplateArgs().size() < 3) return std::nullopt;
  const clang::TemplateArgumentList& arguments = tensor->getTemplateArgs();
  const Specialisation* extents = metal_specialisation(arguments[1].getAsType(), "extents");
  if (!extents) return std::nullopt;
  TensorType result;
  result.element = arguments[0].getAsType();
  const auto* descriptor = arguments[2].getAsType()->getAsCXXRecordDecl();
  result.is_handle = descriptor && descriptor->getIdentifier() && descriptor->getName() == "tensor_handle";
  for (const clang::TemplateArgument& size : extents->getTemplateArgs()[1].pack_elements()) {
    const llvm::APSInt value = size.getAsIntegral();
    result.extents.push_back(value.isAllOnes() ? -1 : static_cast<std::int64_t>(value.getZExtValue()));
  }
  return result;
}

}  // namespace metalloid::frontend
