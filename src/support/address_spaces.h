// Metal's address spaces, by the numbers that AIR and our IR have for them; the thread's own is 0.
#pragma once

namespace metalloid {

inline constexpr unsigned thread_space = 0;  // or of any space
inline constexpr unsigned device_space = 1, constant_space = 2, threadgroup_space = 3;

}  // namespace metalloid
