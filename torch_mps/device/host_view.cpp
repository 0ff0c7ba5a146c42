#include "host_view.h"

#include <ATen/SparseTensorImpl.h>
#include <ATen/core/TensorBase.h>
#include <c10/core/CPUAllocator.h>

#include "memory.h"
#include "streams.h"

namespace metalloid::torch_device {

namespace {

// Of an operator's tensors: one allocation.
constexpr std::size_t usual_count = 4;

// A view's storage keeps the device's storage, by its context.
void release_storage(void* context) {
  c10::intrusive_ptr<c10::StorageImpl>::reclaim(static_cast<c10::StorageImpl*>(context));
}

bool is_view(const c10::StorageImpl& storage) { return storage.data_ptr().get_deleter() == &release_storage; }

at::Tensor make_tensor(c10::Storage storage, c10::DispatchKey key, const at::Tensor& like) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
  auto* made = tensor.unsafeGetTensorImpl();
  made->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.is_conj()) made->_set_conj(true);
  if (like.is_neg()) made->_set_neg(true);
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) made->set_wrapped_number(true);
  return tensor;
}

at::SparseTensorImpl& sparse(const at::Tensor& tensor) {
  return *static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
}

// Gives a sparse tensor what another one consists of, each part on this one's device.
template <typename Convert>
void assign(const at::Tensor& to, const at::Tensor& from, Convert convert) {
  auto &target = sparse(to), &source = sparse(from);
  const auto indices = convert(source.indices()), values = convert(source.values());
  if (to.sizes() == from.sizes() && target.sparse_dim() == source.sparse_dim() &&
      target.coalesced() == source.coalesced() && target.indices().is_same(indices) &&
      target.values().is_same(values)) {
    return;  // it may not be allowed to change
  }
  target.raw_resize_(source.sparse_dim(), source.dense_dim(), from.sizes());
  target.set_indices_and_values_unsafe(indices, values);
  target.set_coalesced(source.coalesced());
}

template <typename Convert>
at::Tensor make_sparse(c10::DispatchKey key, const at::Tensor& like, Convert convert) {
  auto made = at::detail::make_tensor<at::SparseTensorImpl>(c10::DispatchKeySet(key), like.dtype());
  assign(made, like, convert);
  return made;
}

}  // namespace

c10::intrusive_ptr<c10::StorageImpl> HostViews::storage_of(const c10::Storage& storage) {
  for (const auto& [known, view] : storages_) {
    if (known.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl()) return view;
  }
  auto* device = storage.unsafeGetStorageImpl();
  void* data = device->mutable_data();
  auto keeper = storage.getWeakStorageImpl().lock();  // another owner of the same
  c10::DataPtr shared(data, keeper.release(), &release_storage, c10::Device(c10::DeviceType::CPU));
  auto view = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), device->nbytes(),
                                                    std::move(shared), c10::GetCPUAllocator(), /*resizable=*/true);
  if (storages_.empty()) storages_.reserve(usual_count);
  storages_.emplace_back(storage, view);
  return view;
}

at::Tensor HostViews::of(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_mps()) return tensor;
  for (const auto& known : views_) {
    if (known.tensor.is_same(tensor)) return known.view;
  }
  if (views_.empty()) wait_for_work();
  auto view =
      tensor.is_sparse()
          ? make_sparse(c10::DispatchKey::SparseCPU, tensor, [this](const at::Tensor& part) { return of(part); })
          : make_tensor(c10::Storage(storage_of(tensor.storage())), c10::DispatchKey::CPU, tensor);
  if (views_.empty()) views_.reserve(usual_count);
  views_.push_back({tensor, view});
  return view;
}

at::Tensor HostViews::back(const at::Tensor& result) {
  if (!result.defined() || !result.is_cpu()) return result;
  for (const auto& known : views_) {
    if (known.view.is_same(result)) return known.tensor;
  }
  if (result.is_sparse()) {
    return make_sparse(c10::DispatchKey::SparseMPS, result, [this](const at::Tensor& part) { return back(part); });
  }
  TORCH_CHECK_NOT_IMPLEMENTED(!result.is_quantized() && !result.is_nested(),
                              result.is_quantized() ? "quantized" : "nested strided",
                              " tensors do not exist on the MPS device");
  TORCH_CHECK_NOT_IMPLEMENTED(result.layout() == c10::kStrided, "layout ", result.layout(),
                              " is not supported on the MPS device");
  check_type(result.scalar_type());
  auto* storage = result.storage().unsafeGetStorageImpl();
  for (const auto& [device, view] : storages_) {
    if (view.get() == storage) return make_tensor(device, c10::DispatchKey::MPS, result);
  }
  auto adopted = adopt(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage));
  storages_.emplace_back(c10::Storage(adopted), c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage));
  return make_tensor(c10::Storage(std::move(adopted)), c10::DispatchKey::MPS, result);
}

void HostViews::write_back() {
  for (auto& [device, view] : storages_) {
    auto* storage = device.unsafeGetStorageImpl();
    if (view->data() == storage->data() && view->nbytes() == storage->nbytes()) continue;
    if (is_view(*view)) {  // only its size changed
      storage->set_nbytes(view->nbytes());
      continue;
    }
    const auto size = view->nbytes();
    storage->set_data_ptr_noswap(adopt(view->set_data_ptr({nullptr, c10::Device(c10::DeviceType::CPU)}), size));
    storage->set_nbytes(size);
  }
  for (auto& [tensor, view] : views_) {
    if (tensor.is_sparse()) {
      assign(tensor, view, [this](const at::Tensor& part) { return back(part); });
      continue;
    }
    auto* impl = tensor.unsafeGetTensorImpl();
    if (view.is_conj() != tensor.is_conj()) impl->_set_conj(view.is_conj());
    if (view.is_neg() != tensor.is_neg()) impl->_set_neg(view.is_neg());
    if (tensor.sizes() == view.sizes() && tensor.strides() == view.strides() &&
        tensor.storage_offset() == view.storage_offset()) {
      continue;
    }
    impl->set_sizes_and_strides(view.sizes(), view.strides(), view.storage_offset());
  }
}

void check_type(at::ScalarType type) {
  TORCH_CHECK_TYPE(type != at::kDouble && type != at::kComplexDouble,
                   "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
                   "Please use float32 instead.");
}

}  // namespace metalloid::torch_device
