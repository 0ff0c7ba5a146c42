// MTLDataType: what values of one are, and which one a type of Metal's language has.
#pragma once

#import <Metal/MTLTypes.h>

#include "metalloid/library.h"

namespace metalloid::metal {

// A scalar, vector or matrix. Vectors of three take the place of four.
struct Layout {
  ElementType scalar = ElementType::none;
  unsigned rows = 1, columns = 1;
  std::size_t size() const;  // bytes
};

// None for others: ElementType::none.
Layout layout_of(MTLDataType type);
// MTLDataTypeStruct for structures, MTLDataTypeNone for what Metal's hosts have no word for.
MTLDataType data_type_of(const TypeInfo& type);
// The value of a function constant in a host's memory. Others than scalars and vectors are a Fault::not_implemented.
FunctionConstants::Value constant_of(const void* value, MTLDataType type);

}  // namespace metalloid::metal
