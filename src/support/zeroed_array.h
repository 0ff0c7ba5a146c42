// Memory that is zero and costs the host only what of it is touched: shadows of large buffers.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace metalloid::support {

// T is well as zero bytes.
template <typename T>
class ZeroedArray {
 public:
  ZeroedArray() = default;
  // Throws std::bad_alloc.
  explicit ZeroedArray(std::size_t count) : bytes_(count * sizeof(T)) {
    if (bytes_ == 0) return;
    void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    ::madvise(memory, bytes_, MADV_HUGEPAGE);
#endif
    data_ = static_cast<T*>(memory);
  }
  ZeroedArray(ZeroedArray&& other) noexcept { *this = std::move(other); }
  ZeroedArray& operator=(ZeroedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ZeroedArray() {
    if (data_) ::munmap(data_, bytes_);
  }

  // Until a page is written again, the system may make it one of zeros.
  void offer_to_system() const {
#ifdef MADV_FREE
    if (data_) ::madvise(data_, bytes_, MADV_FREE);
#endif
  }

  T* data() const { return data_; }
  std::size_t size() const { return bytes_ / sizeof(T); }
  T& operator[](std::size_t index) const { return data_[index]; }

 private:
  T* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace metalloid::support
