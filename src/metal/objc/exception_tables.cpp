// Reading tables of exceptions: the format is that of the Itanium C++ ABI's exception handling tables, with numbers in
// DWARF's encodings for them.
#include "metal/objc/exception_tables.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <typeinfo>

namespace metalloid::objective_c {
namespace {

// DWARF's encodings: a format and what the number is relative to.
constexpr std::uint8_t omitted = 0xff, unsigned_leb128 = 0x01, unsigned_2 = 0x02, unsigned_4 = 0x03,
                       signed_leb128 = 0x09, signed_2 = 0x0a, signed_4 = 0x0b, format_mask = 0x0f, place_mask = 0x70,
                       of_place = 0x10, of_text = 0x20, of_data = 0x30, of_function = 0x40, indirect = 0x80;

std::uintptr_t read_unsigned_leb128(const std::uint8_t*& at) {
  std::uintptr_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t byte = *at++;
    value |= static_cast<std::uintptr_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
}

std::intptr_t read_signed_leb128(const std::uint8_t*& at) {
  std::uintptr_t value = 0;
  for (unsigned shift = 0;;) {
    const std::uint8_t byte = *at++;
    value |= static_cast<std::uintptr_t>(byte & 0x7f) << shift;
    shift += 7;
    if (byte & 0x80) continue;
    if (byte & 0x40 && shift < 64) value |= ~std::uintptr_t{0} << shift;
    return static_cast<std::intptr_t>(value);
  }
}

template <typename T>
std::uintptr_t read(const std::uint8_t*& at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  at += sizeof(value);
  return static_cast<std::uintptr_t>(static_cast<std::intptr_t>(value));
}

std::uintptr_t read_number(std::uint8_t encoding, const std::uint8_t*& at) {
  switch (encoding & format_mask) {
    case unsigned_leb128: return read_unsigned_leb128(at);
    case signed_leb128: return static_cast<std::uintptr_t>(read_signed_leb128(at));
    case unsigned_2: return read<std::uint16_t>(at);
    case unsigned_4: return read<std::uint32_t>(at);
    case signed_2: return read<std::int16_t>(at);
    case signed_4: return read<std::int32_t>(at);
    default: return read<std::uint64_t>(at);  // addresses, and numbers of 8 bytes
  }
}

std::uintptr_t read_address(std::uint8_t encoding, _Unwind_Context* context, const std::uint8_t*& at) {
  const auto place = reinterpret_cast<std::uintptr_t>(at);
  std::uintptr_t value = read_number(encoding, at);
  if (value == 0) return 0;
  switch (encoding & place_mask) {
    case of_place: value += place; break;
    case of_text: value += _Unwind_GetTextRelBase(context); break;
    case of_data: value += _Unwind_GetDataRelBase(context); break;
    case of_function: value += _Unwind_GetRegionStart(context); break;
    default: break;
  }
  return encoding & indirect ? *reinterpret_cast<const std::uintptr_t*>(value) : value;
}

std::size_t size_of(std::uint8_t encoding) {
  switch (encoding & format_mask) {
    case unsigned_2:
    case signed_2: return 2;
    case unsigned_4:
    case signed_4: return 4;
    default: return 8;
  }
}

const void* virtual_table_of(const std::type_info& type) { return *reinterpret_cast<const void* const*>(&type); }

// That of each class of the ABI's that describes types.
bool is_virtual_table_of_types(const void* address) {
  struct Base {};
  struct Other {};
  struct Derived : Base {};
  struct Several : Base, Other {};
  enum Enumeration : int {};
  static const std::array tables = {
      virtual_table_of(typeid(int)),    virtual_table_of(typeid(int*)),        virtual_table_of(typeid(int[1])),
      virtual_table_of(typeid(void())), virtual_table_of(typeid(Enumeration)), virtual_table_of(typeid(int Base::*)),
      virtual_table_of(typeid(Base)),   virtual_table_of(typeid(Derived)),     virtual_table_of(typeid(Several)),
  };
  return std::ranges::find(tables, address) != tables.end();
}

bool is_name(const char* text) {
  const auto belongs = [](char one) {
    return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9') || one == '_' ||
           one == '$' || one == '@' || static_cast<unsigned char>(one) >= 0x80;
  };
  const std::size_t length = std::strlen(text);
  return length != 0 && std::all_of(text, text + length, belongs);
}

}  // namespace

CallSite::CallSite(_Unwind_Context* context) : context_(context) {
  table_ = reinterpret_cast<const std::uint8_t*>(_Unwind_GetLanguageSpecificData(context));
  if (!table_) return;
  int is_before = 0;
  std::uintptr_t address = _Unwind_GetIPInfo(context, &is_before);
  if (!is_before) --address;  // a call's return address may be another one's already

  const std::uint8_t* at = table_;
  const std::uintptr_t function = _Unwind_GetRegionStart(context);
  const std::uint8_t pads_encoding = *at++;
  const std::uintptr_t pads = pads_encoding == omitted ? function : read_address(pads_encoding, context, at);
  type_encoding_ = *at++;
  if (type_encoding_ != omitted) {
    const std::uintptr_t length = read_unsigned_leb128(at);
    types_ = at + length;
  }
  const std::uint8_t encoding = *at++;
  const std::uintptr_t length = read_unsigned_leb128(at);
  const std::uint8_t* const actions = at + length;
  while (at < actions) {
    const std::uintptr_t begin = function + read_number(encoding, at), size = read_number(encoding, at),
                         pad = read_number(encoding, at), action = read_unsigned_leb128(at);
    if (address < begin) return;  // they are in the order of their addresses
    if (address >= begin + size) continue;
    if (pad != 0) landing_pad_ = pads + pad;
    if (action != 0) action_ = actions + action - 1;
    return;
  }
}

std::uintptr_t CallSite::read_unsigned(const std::uint8_t*& at) { return read_unsigned_leb128(at); }

const std::uint8_t* CallSite::next_action(const std::uint8_t* at, Action& action) const {
  action = {read_signed_leb128(at), nullptr};
  if (action.filter > 0) action.type = type_at(static_cast<std::uintptr_t>(action.filter));
  const std::uint8_t* const place = at;
  const std::intptr_t step = read_signed_leb128(at);
  return step == 0 ? nullptr : place + step;
}

// They are counted from the end.
const void* CallSite::type_at(std::uintptr_t index) const {
  const std::uint8_t* at = types_ - index * size_of(type_encoding_);
  return reinterpret_cast<const void*>(read_address(type_encoding_, context_, at));
}

const char* class_name_in_table(const void* type) {
  const auto* name = static_cast<const char*>(type);
  if (reinterpret_cast<std::uintptr_t>(type) % alignof(void*) != 0) return name;
  if (is_virtual_table_of_types(*static_cast<const void* const*>(type))) return nullptr;
  // Descriptions of another C++ library begin with an address too, which is no name.
  return is_name(name) ? name : nullptr;
}

}  // namespace metalloid::objective_c
