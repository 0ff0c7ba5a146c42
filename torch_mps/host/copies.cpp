// ATen/native/mps/Copy.h, which other host files of PyTorch call. The device's own copy_ converts types and strides.
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/Copy.h>

#include <cstring>

#include <metalloid/metal/objects.h>
#include "../device/streams.h"

namespace at::native::mps {

Tensor& mps_copy_(Tensor& dst, const Tensor& src, bool non_blocking) { return dst.copy_(src, non_blocking); }

void copy_cast_kernel_mps(Tensor& dst, const Tensor& src) { dst.copy_(src); }

void copy_blit_mps(void* dst, const void* src, size_t size) {
  metalloid::metal::copy_memory(nullptr, src, 0, dst, 0, size);
}

void inner_contiguous_scatter_mps(const Tensor& input, const Tensor& output, uint64_t slice_bytes,
                                  uint64_t out_stride_bytes, uint64_t off_bytes) {
  if (slice_bytes == 0) return;
  metalloid::torch_device::wait_for_work();
  const auto* from = static_cast<const char*>(input.const_data_ptr());
  auto* to = static_cast<char*>(output.mutable_data_ptr()) + off_bytes;
  for (size_t left = input.nbytes(); left >= slice_bytes; left -= slice_bytes) {
    std::memcpy(to, from, slice_bytes);
    from += slice_bytes;
    to += out_stride_bytes;
  }
}

}  // namespace at::native::mps
