// Values whose type is the argument's: "1024", "0.5", "{8, 0.5}", "{width=8, weight=0.5}".
#pragma once

#include <string>
#include <string_view>

#include "array.h"

namespace metalloid::tool {

// Whether a SPEC is such a value, by how it begins.
bool is_value(std::string_view text);

// The bytes of the value, as an array of the type's elements, or of bytes for a struct. VALUE := NUMBER | true | false
// | {VALUE, ...} | {MEMBER=VALUE, ...}: vectors, matrices (by columns), arrays and structs take braces. What is not
// given is zero. Throws UsageError, which shows `whole`.
Array parse_value(std::string_view text, const TypeInfo& type, std::string_view whole);

// "VALUE", "{VALUE,...}" or "'{width=...,weight=...}'", quoted for a shell where it needs to be.
std::string example_value(const TypeInfo& type);

}  // namespace metalloid::tool
