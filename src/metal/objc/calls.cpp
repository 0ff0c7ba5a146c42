// Arguments and results in registers and on the stack, by System V's convention for x86-64 (its ABI, 3.2.3).
#include "metal/objc/calls.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace metalloid::objective_c {
namespace {

Forwarder forwarder = nullptr;

#ifdef __x86_64__

// Of eight bytes: which registers they go in.
enum class Eightbyte : std::uint8_t { none, integer, vector, x87 };

struct Place {
  std::array<Eightbyte, 2> parts = {};
  bool in_memory = false;
};

Place place_of(const Type& type) {
  Place place;
  if (type.size > 16) {
    place.in_memory = true;
    return place;
  }
  for (const Scalar& one : type.scalars) {
    const Eightbyte part = one.kind == 'D'                      ? Eightbyte::x87
                           : one.kind == 'f' || one.kind == 'd' ? Eightbyte::vector
                                                                : Eightbyte::integer;
    for (std::size_t i = one.offset / 8; i < (one.offset + one.size + 7) / 8; ++i) {
      // Of a union's members that share a place integers win.
      if (place.parts[i] != Eightbyte::integer) place.parts[i] = part;
    }
  }
  return place;
}

// Walks over arguments: each eight bytes in their register or word of the stack.
class Walk {
 public:
  explicit Walk(const Type& result) : general_(place_of(result).in_memory ? 1 : 0) {}

  // Calls with the offset of each eight bytes, and one of a register of either kind and a word of the stack.
  template <typename General, typename Vector, typename Word>
  void over(const Type& type, const General& general, const Vector& vector, const Word& word) {
    const Place place = place_of(type);
    const auto count = [&](Eightbyte kind) { return static_cast<std::size_t>(std::ranges::count(place.parts, kind)); };
    const std::size_t integers = count(Eightbyte::integer), vectors = count(Eightbyte::vector);
    if (place.in_memory || count(Eightbyte::x87) != 0 || general_ + integers > 6 || vectors_ + vectors > 8) {
      if (type.alignment > 8) words_ += words_ % 2;
      for (std::size_t offset = 0; offset < type.size; offset += 8) word(offset, words_++);
      return;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (place.parts[i] == Eightbyte::integer) general(i * 8, general_++);
      if (place.parts[i] == Eightbyte::vector) vector(i * 8, vectors_++);
    }
  }

  std::size_t vectors() const { return vectors_; }

 private:
  std::size_t general_, vectors_ = 0, words_ = 0;
};

std::size_t eight_of(const Type& type, std::size_t offset) { return std::min<std::size_t>(8, type.size - offset); }

// Numbers below 32 bits fill a register, as compilers have it.
void widen(const Type& type, std::uint64_t& value) {
  if (type.scalars.size() != 1 || type.encoding.size() != 1) return;
  if (std::string_view("csi").find(type.scalars[0].kind) == std::string_view::npos) return;
  const std::size_t above = 64 - 8 * type.size;
  value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << above) >> above);
}

#endif

}  // namespace

std::string why_not_callable(const Type& result, std::span<const Type> arguments) {
#ifdef __x86_64__
  if (!result.unknown.empty()) return result.unknown + " as the result";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].unknown.empty()) return arguments[i].unknown + " as argument " + std::to_string(i);
  }
  return {};
#else
  static_cast<void>(result);
  static_cast<void>(arguments);
  return "calls of types that are known at run time alone are there on x86-64 only";
#endif
}

#ifdef __x86_64__

static_assert(offsetof(Registers, vectors) == 48 && offsetof(Registers, vector_count) == 176 &&
              offsetof(Registers, general_results) == 208 && offsetof(Registers, vector_results) == 224 &&
              offsetof(Registers, x87_result) == 256 && sizeof(Registers) == 272);
extern "C" void metalloid_call(Registers* registers, Method code);

void send_message(const Type& result, std::span<const Type> arguments, std::span<void* const> values, void* returned) {
  void* const receiver = *static_cast<void**>(values[0]);
  auto* const selector = *static_cast<Selector**>(values[1]);
  const Method code =
      place_of(result).in_memory ? objc_msg_lookup_stret(receiver, selector) : objc_msg_lookup(receiver, selector);
  Registers registers = {};
  std::vector<std::uint64_t> stack;
  if (place_of(result).in_memory) registers.general[0] = reinterpret_cast<std::uint64_t>(returned);
  Walk walk(result);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = arguments[i];
    const auto* from = static_cast<const std::uint8_t*>(values[i]);
    walk.over(
        type,
        [&](std::size_t offset, std::size_t place) {
          std::memcpy(&registers.general[place], from + offset, eight_of(type, offset));
          widen(type, registers.general[place]);
        },
        [&](std::size_t offset, std::size_t place) {
          std::memcpy(registers.vectors[place], from + offset, eight_of(type, offset));
        },
        [&](std::size_t offset, std::size_t place) {
          if (stack.size() <= place) stack.resize(place + 1);
          std::memcpy(&stack[place], from + offset, eight_of(type, offset));
          widen(type, stack[place]);
        });
  }
  registers.vector_count = walk.vectors();
  registers.stack = stack.data();
  registers.stack_words = stack.size();
  registers.returns_x87 = result.scalars.size() == 1 && result.scalars[0].kind == 'D';
  metalloid_call(&registers, code);

  const Place place = place_of(result);
  if (place.in_memory) return;
  auto* to = static_cast<std::uint8_t*>(returned);
  for (std::size_t i = 0, general = 0, vectors = 0; i * 8 < result.size; ++i) {
    if (place.parts[i] == Eightbyte::integer) {
      std::memcpy(to + i * 8, &registers.general_results[general++], eight_of(result, i * 8));
    } else if (place.parts[i] == Eightbyte::vector) {
      std::memcpy(to + i * 8, registers.vector_results[vectors++], eight_of(result, i * 8));
    } else if (place.parts[i] == Eightbyte::x87 && i == 0) {
      std::memcpy(to, registers.x87_result, 16);
    }
  }
}

void read_arguments(const Registers& registers, const Type& result, std::span<const Type> arguments,
                    std::span<void* const> values) {
  Walk walk(result);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = arguments[i];
    auto* to = static_cast<std::uint8_t*>(values[i]);
    const auto take = [&](std::size_t offset, const void* from) {
      std::memcpy(to + offset, from, eight_of(type, offset));
    };
    walk.over(
        type, [&](std::size_t offset, std::size_t place) { take(offset, &registers.general[place]); },
        [&](std::size_t offset, std::size_t place) { take(offset, registers.vectors[place]); },
        [&](std::size_t offset, std::size_t place) { take(offset, registers.stack + place); });
  }
}

void write_result(Registers& registers, const Type& result, const void* value) {
  const Place place = place_of(result);
  const auto* from = static_cast<const std::uint8_t*>(value);
  if (place.in_memory) {
    std::memcpy(reinterpret_cast<void*>(registers.general[0]), from, result.size);
    registers.general_results[0] = registers.general[0];
    return;
  }
  for (std::size_t i = 0, general = 0, vectors = 0; i * 8 < result.size; ++i) {
    if (place.parts[i] == Eightbyte::integer) {
      std::uint64_t& to = registers.general_results[general++];
      std::memcpy(&to, from + i * 8, eight_of(result, i * 8));
      widen(result, to);
    } else if (place.parts[i] == Eightbyte::vector) {
      std::memcpy(registers.vector_results[vectors++], from + i * 8, eight_of(result, i * 8));
    } else if (place.parts[i] == Eightbyte::x87 && i == 0) {
      std::memcpy(registers.x87_result, from, 16);
      registers.returns_x87 = 1;
    }
  }
}

// Where to go on, with the receiver changed; null: the result is there.
extern "C" Method metalloid_forward_message(Registers* registers, bool is_in_memory) {
  std::uint64_t& receiver = registers->general[is_in_memory ? 1 : 0];
  auto* selector = reinterpret_cast<Selector*>(registers->general[is_in_memory ? 2 : 1]);
  void* target = forwarder(reinterpret_cast<void*>(receiver), selector, *registers);
  if (!target) return nullptr;
  receiver = reinterpret_cast<std::uint64_t>(target);
  return is_in_memory ? objc_msg_lookup_stret(target, selector) : objc_msg_lookup(target, selector);
}

#else

void send_message(const Type&, std::span<const Type>, std::span<void* const>, void*) {}
void read_arguments(const Registers&, const Type&, std::span<const Type>, std::span<void* const>) {}
void write_result(Registers&, const Type&, const void*) {}

extern "C" void* metalloid_forward(void* receiver, Selector* selector, ...) { refuse(receiver, selector); }
extern "C" void* metalloid_forward_stret(void* receiver, Selector* selector, ...) { refuse(receiver, selector); }

#endif

void set_forwarder(Forwarder function) { forwarder = function; }

}  // namespace metalloid::objective_c
