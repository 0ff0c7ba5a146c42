// Tensors on "mps" as the CPU's: the same memory under another device, for operators of the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <unordered_map>
#include <vector>

namespace metalloid::torch_device {

// Views of the tensors of one call. Tensors that share a storage do so as views too, so that overlaps are noticed.
class HostViews {
 public:
  // The same elements, on the CPU. Other devices' tensors and undefined ones are returned as they are.
  at::Tensor of(const at::Tensor& tensor);

  // What an operator returned or left behind, on "mps": the tensor that a view was made of, a view of its memory, or
  // new memory that is taken over without a copy.
  at::Tensor back(const at::Tensor& result);

  // After the call: sizes and memory that the operator changed in the views become the tensors'.
  void write_back();

  bool empty() const { return views_.empty(); }

 private:
  struct View {
    at::Tensor tensor, view;
  };
  c10::intrusive_ptr<c10::StorageImpl> storage_of(const c10::Storage& storage);

  std::vector<View> views_;
  std::vector<std::pair<c10::Storage, c10::intrusive_ptr<c10::StorageImpl>>> storages_;
};

// TypeError in PyTorch's words if the type does not exist on "mps".
void check_type(at::ScalarType type);

}  // namespace metalloid::torch_device
