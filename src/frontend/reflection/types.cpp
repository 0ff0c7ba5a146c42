#include "frontend/reflection/types.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecordLayout.h>
#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include "frontend/reflection/annotations.h"

namespace metalloid::frontend {
namespace {

ElementType scalar_kind(const clang::BuiltinType& type, std::uint64_t bits) {
  switch (type.getKind()) {
    case clang::BuiltinType::Bool: return ElementType::boolean;
    case clang::BuiltinType::Half:
    case clang::BuiltinType::Float16: return ElementType::float16;
    case clang::BuiltinType::BFloat16: return ElementType::bfloat16;
    case clang::BuiltinType::Float: return ElementType::float32;
    default: break;
  }
  return type.isInteger() ? integer_type(bits / 8, type.isSignedInteger()) : ElementType::none;
}

// Metal's spelling of a scalar: "uint", not "unsigned int".
std::string metal_name(ElementType kind) { return std::string(info_of(kind).metal_name); }

unsigned integer_argument(const clang::ClassTemplateSpecializationDecl& record, unsigned index) {
  return record.getTemplateArgs()[index].getAsIntegral().getZExtValue();
}

bool is_in_metal(const clang::CXXRecordDecl& record) {
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(record.getDeclContext()->getEnclosingNamespaceContext());
  return space && space->getName() == "metal";
}

// The library's own class types: vec, packed_vec, matrix, atomic, array, bfloat. False for all others.
bool describe_library_type(clang::ASTContext& context, const clang::CXXRecordDecl& record, TypeInfo& info) {
  if (!record.getIdentifier()) return false;
  const llvm::StringRef name = record.getName();
  if (name == "bfloat" && record.getDeclContext()->getEnclosingNamespaceContext()->isTranslationUnit()) {
    info.scalar = ElementType::bfloat16;
    info.name = "bfloat";
    return true;
  }
  if (!is_in_metal(record)) return false;
  const auto* specialisation = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&record);
  if (!specialisation || specialisation->getTemplateArgs().size() == 0 ||
      specialisation->getTemplateArgs()[0].getKind() != clang::TemplateArgument::Type) {
    return false;
  }
  const TypeInfo element = describe_type(context, specialisation->getTemplateArgs()[0].getAsType());
  const auto take_element = [&] {
    info.scalar = element.scalar;
    info.rows = element.rows;
    info.columns = element.columns;
  };
  if (name == "vec" || name == "packed_vec") {
    take_element();
    info.rows = integer_argument(*specialisation, 1);
    info.name = (name == "vec" ? "" : "packed_") + metal_name(info.scalar) + std::to_string(info.rows);
  } else if (name == "matrix") {
    take_element();
    info.columns = integer_argument(*specialisation, 1);
    info.rows = integer_argument(*specialisation, 2);
    info.name = metal_name(info.scalar) + std::to_string(info.columns) + "x" + std::to_string(info.rows);
  } else if (name == "atomic" || name == "_atomic") {
    take_element();
    info.is_atomic = true;
    info.name = "atomic_" + element.name;
  } else if (name == "uniform") {
    info = element;
  } else {
    return false;
  }
  return true;
}

// As its own, in what it consists of.
bool holds_pointers(clang::ASTContext& context, clang::QualType type) {
  type = context.getBaseElementType(type.getCanonicalType());
  if (type->isPointerType() || type->isReferenceType()) return true;
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition()) return false;
  const auto holds = [&](const auto& part) { return holds_pointers(context, part.getType()); };
  return llvm::any_of(record->bases(), holds) ||
         llvm::any_of(record->fields(), [&](const clang::FieldDecl* field) { return holds(*field); });
}

void describe_struct(clang::ASTContext& context, const clang::RecordDecl& record, TypeInfo& info) {
  const clang::ASTRecordLayout& layout = context.getASTRecordLayout(&record);
  for (const clang::FieldDecl* field : record.fields()) {
    const TypeInfo type = describe_type(context, field->getType());
    const std::uint64_t offset = layout.getFieldOffset(field->getFieldIndex()) / 8;
    if (field->isAnonymousStructOrUnion()) {
      for (StructMember member : type.members) {
        member.offset += offset;
        info.members.push_back(std::move(member));
      }
    } else {
      info.members.push_back({field->getNameAsString(), offset, {type}});
    }
  }
}

}  // namespace

TypeInfo describe_type(clang::ASTContext& context, clang::QualType type) {
  TypeInfo info;
  type = context.removeAddrSpaceQualType(type.getCanonicalType()).getUnqualifiedType();
  if (const auto* array = context.getAsConstantArrayType(type)) {
    info = describe_type(context, array->getElementType());
    const std::uint64_t count = array->getSize().getZExtValue();
    info.array_length = count * (info.array_length ? info.array_length : 1);
    info.size *= count;
    info.name += fmt::format("[{}]", count);
    return info;
  }
  if (type->isVoidType() || type->isIncompleteType() || type->isFunctionType()) {
    info.name = type->isVoidType() ? "void" : type.getAsString(context.getPrintingPolicy());
    return info;
  }
  info.size = context.getTypeSizeInChars(type).getQuantity();
  info.alignment = context.getTypeAlignInChars(type).getQuantity();
  if (const auto* enumeration = type->getAs<clang::EnumType>()) {
    info = describe_type(context, enumeration->getDecl()->getIntegerType());
    info.name = enumeration->getDecl()->getNameAsString();
    return info;
  }
  if (const auto* builtin = type->getAs<clang::BuiltinType>()) {
    info.scalar = scalar_kind(*builtin, context.getTypeSize(type));
    info.name =
        info.scalar == ElementType::none ? type.getAsString(context.getPrintingPolicy()) : metal_name(info.scalar);
    return info;
  }
  if (type->isPointerType()) {
    // Only the pointee's name: a struct may point to itself.
    const clang::QualType pointee = context.removeAddrSpaceQualType(type->getPointeeType()).getUnqualifiedType();
    const clang::CXXRecordDecl* record = pointee->getAsCXXRecordDecl();
    info.name = (record ? record->getNameAsString() : describe_type(context, pointee).name) + "*";
    info.scalar = ElementType::uint64;
    info.is_pointer = true;
    info.leads_to_pointers = holds_pointers(context, pointee);
    if (TypeInfo target; !record || describe_library_type(context, *record, target)) {
      info.pointee = record ? target.scalar : describe_type(context, pointee).scalar;
    }
    return info;
  }
  if (const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl()) {
    if (!describe_library_type(context, *record, info)) {
      const bool is_resource = find_annotation(*record, "texture") || find_annotation(*record, "sampler") ||
                               find_annotation(*record, "unsupported");
      info.name = is_resource ? record->getNameAsString() : record->getQualifiedNameAsString();
      if (!is_resource) describe_struct(context, *record, info);
    }
    return info;
  }
  info.name = type.getAsString(context.getPrintingPolicy());
  return info;
}

}  // namespace metalloid::frontend
