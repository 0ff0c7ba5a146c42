// What a process that ends with its work does not free.
#pragma once

#include <memory>

namespace metalloid::support {

namespace detail {
inline bool ends_with_work = false;
}

// This process was made for one piece of work, and leaves its memory to the system then.
inline void end_with_work() { detail::ends_with_work = true; }
inline bool ends_with_work() { return detail::ends_with_work; }

// For large trees of objects, as compilers have: they take milliseconds to free.
struct DeleteUnlessEnding {
  DeleteUnlessEnding() = default;
  template <class T>
  DeleteUnlessEnding(std::default_delete<T> /*usual*/) {}
  template <class T>
  void operator()(T* object) const {
    if (!ends_with_work()) delete object;
  }
};

}  // namespace metalloid::support
