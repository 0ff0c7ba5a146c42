// copy_ between devices, types and layouts, and reading single elements.
#include <ATen/core/Tensor.h>
#include <ATen/core/op_registration/adaption.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/copy.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <atomic>

#include "copy.h"
#include "host_view.h"
#include "streams.h"

namespace metalloid::torch_device {

namespace {

std::atomic<CopyKernel> copy_kernel = nullptr;

at::Tensor& copy_(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (self.is_mps() && source.is_mps() && !self.is_same(source)) {
    const CopyKernel kernel = copy_kernel;
    if (kernel && kernel(self, source)) return self;
  }
  if (!self.is_mps()) synchronize();
  HostViews views;
  at::Tensor host = views.of(self);
  host.copy_(views.of(source), non_blocking);
  return self;
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& destination, bool non_blocking) {
  at::Tensor target = destination;
  copy_(target, self, non_blocking);
  return target;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& destination) {
  at::Tensor target = destination;
  if (target.sizes() != self.sizes()) {
    TORCH_CHECK(target.numel() == 0, "_copy_from_and_resize would change the sizes of a tensor with elements");
    target.resize_(self.sizes());
  }
  return copy_(target, self, false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  synchronize();
  HostViews views;
  return at::native::_local_scalar_dense_cpu(views.of(self));
}

TORCH_LIBRARY_IMPL(aten, MPS, library) {
  library.impl("copy_", copy_);
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_from_and_resize);
  library.impl("_local_scalar_dense", local_scalar_dense);
}

}  // namespace

void set_copy_kernel(CopyKernel kernel) { copy_kernel = kernel; }

}  // namespace metalloid::torch_device
