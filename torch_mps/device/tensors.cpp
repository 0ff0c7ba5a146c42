// Making and viewing tensors on "mps".
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/mps/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <cstring>

#include "host_view.h"
#include "memory.h"
#include "streams.h"

namespace at::detail {

namespace {

constexpr c10::DispatchKeySet keys(c10::DispatchKey::MPS);

ScalarType checked(std::optional<ScalarType> type, std::optional<Layout> layout, std::optional<Device> device,
                   std::optional<bool> pinned) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided,
                              "only strided tensors are supported on MPS");
  // An operator makes its result where its first tensor is.
  TORCH_CHECK(!device || device->is_mps(),
              "Expected all tensors to be on the same device, but found at least two devices, mps:0 and ",
              device.value_or(Device(DeviceType::MPS)), "!");
  TORCH_CHECK(!device || device->index() <= 0, "device '", device.value_or(Device(DeviceType::MPS)),
              "' is out of range: there is one MPS device, mps:0");
  TORCH_CHECK(!pinned.value_or(false), "Only dense CPU tensors can be pinned");
  const auto checked = type.value_or(get_default_dtype_as_scalartype());
  metalloid::torch_device::check_type(checked);
  return checked;
}

}  // namespace

TensorBase empty_mps(IntArrayRef size, std::optional<ScalarType> type, std::optional<Layout> layout,
                     std::optional<Device> device, std::optional<bool> pinned,
                     std::optional<c10::MemoryFormat> memory_format) {
  return empty_generic(size, &metalloid::torch_device::allocator(), keys, checked(type, layout, device, pinned),
                       memory_format);
}

TensorBase empty_mps(IntArrayRef size, const TensorOptions& options) {
  return empty_mps(size, optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(), options.device_opt(),
                   options.pinned_memory_opt(), options.memory_format_opt());
}

TensorBase empty_strided_mps(IntArrayRef size, IntArrayRef stride, ScalarType type, std::optional<Device> device) {
  return empty_strided_generic(size, stride, &metalloid::torch_device::allocator(), keys,
                               checked(type, {}, device, {}));
}

TensorBase empty_strided_mps(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  checked({}, options.layout_opt(), {}, options.pinned_memory_opt());
  return empty_strided_mps(size, stride, typeMetaToScalarType(options.dtype()), options.device_opt());
}

}  // namespace at::detail

namespace metalloid::torch_device {

namespace {

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout> layout,
                 std::optional<at::Device> device, std::optional<bool> pinned,
                 std::optional<at::MemoryFormat> memory_format) {
  return at::Tensor(at::detail::empty_mps(size, type, layout, device, pinned, memory_format));
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool> pinned) {
  TORCH_CHECK(!pinned.value_or(false), "Only dense CPU tensors can be pinned");
  return at::Tensor(
      at::detail::empty_strided_mps(size, stride, type.value_or(at::get_default_dtype_as_scalartype()), device));
}

// Zeros without memory, which autograd's forward mode computes with.
struct NoMemory final : c10::Allocator {
  c10::DataPtr allocate(std::size_t) override { return {nullptr, c10::Device(c10::DeviceType::MPS, 0)}; }
  void copy_data(void*, const void*, std::size_t) const override {}
};

at::Tensor efficient_zero_tensor(at::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                                 std::optional<at::Device>, std::optional<bool>) {
  static auto& no_memory = *new NoMemory;
  constexpr auto keys = c10::DispatchKeySet(c10::DispatchKey::MPS) | c10::DispatchKeySet(c10::DispatchKey::ZeroTensor);
  return at::Tensor(
      at::detail::empty_generic(size, &no_memory, keys, type.value_or(at::get_default_dtype_as_scalartype()), {}));
}

// Enlarges the storage where the new shape needs it; what was in it stays.
void resize_storage(c10::StorageImpl* storage, std::size_t size) {
  TORCH_CHECK(storage->resizable(), "Trying to resize storage that is not resizable");
  auto data = allocator().allocate(size);
  if (storage->data() != nullptr && size != 0) {
    wait_for_work();
    std::memcpy(data.mutable_get(), storage->data(), std::min(size, storage->nbytes()));
  }
  storage->set_data_ptr_noswap(std::move(data));
  storage->set_nbytes(size);
}

void resize_to(const at::Tensor& self, at::IntArrayRef size, at::OptionalIntArrayRef stride = std::nullopt) {
  if (self.sizes() == size && (!stride || self.strides() == *stride)) return;
  auto* impl = self.unsafeGetTensorImpl();
  const auto bytes = stride
                         ? at::detail::computeStorageNbytes(size, *stride, self.element_size(), self.storage_offset())
                         : at::detail::computeStorageNbytesContiguous(size, self.element_size(), self.storage_offset());
  if (bytes > self.storage().nbytes()) resize_storage(self.storage().unsafeGetStorageImpl(), bytes);
  if (stride) {
    impl->set_sizes_and_strides(size, *stride);
  } else {
    impl->set_sizes_contiguous(size);
  }
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat> memory_format) {
  resize_to(self, size);
  if (memory_format) {
    TORCH_CHECK(*memory_format != at::MemoryFormat::Preserve, "Unsupported memory format", *memory_format);
    self.unsafeGetTensorImpl()->empty_tensor_restride(*memory_format);
  }
  return self;
}

at::Tensor& set_(at::Tensor& self) {
  at::Storage storage(at::Storage::use_byte_size_t(), 0, &allocator(), true);
  return at::native::set_storage_cpu_(self, std::move(storage), 0, {0}, {});
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source, std::int64_t offset, at::IntArrayRef size,
                        at::IntArrayRef stride) {
  TORCH_CHECK(source.device_type() == c10::DeviceType::MPS, "Expected a storage on mps, but found one on ",
              source.device());
  at::native::checkSetStorage(self, source, offset, size, stride);
  self.unsafeGetTensorImpl()->set_storage_offset(offset);
  at::OptionalIntArrayRef strides = stride.data() != nullptr ? at::OptionalIntArrayRef(stride) : std::nullopt;
  resize_to(self, size, strides);
  return self;
}

at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                      std::optional<std::int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

TORCH_LIBRARY_IMPL(aten, MPS, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("_efficientzerotensor", efficient_zero_tensor);
  library.impl("as_strided", as_strided);
  library.impl("view", at::native::view);
  library.impl("_reshape_alias", at::native::_reshape_alias);
  library.impl("unfold", at::native::unfold);
  library.impl("view_as_real", at::native::view_as_real);
  library.impl("view_as_complex", at::native::view_as_complex);
  library.impl("resize_", resize_);
  library.impl("set_", set_);
  library.impl("set_.source_Tensor", at::native::set_tensor_);
  library.impl("set_.source_Storage", [](at::Tensor& self, at::Storage source) -> at::Tensor& {
    const auto size = static_cast<std::int64_t>(source.nbytes() / self.dtype().itemsize());
    return set_storage(self, std::move(source), 0, size, {});
  });
  library.impl("set_.source_Storage_storage_offset", set_storage);
}

}  // namespace

}  // namespace metalloid::torch_device
