#include "tensors.h"

#include <c10/core/Storage.h>
#include <c10/util/Exception.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace metalloid::torch_host {
namespace {

thread_local std::vector<c10::Storage> addressed_storages;

}  // namespace

void bind_memory(metal::EncoderObject& encoder, const at::TensorBase& tensor, std::size_t offset, unsigned index) {
  const c10::Storage& storage = tensor.storage();
  encoder.set_memory(index, storage.mutable_data(), storage.nbytes(), offset);
}

void bind_tensor(metal::EncoderObject& encoder, const at::TensorBase& tensor, unsigned index) {
  // Without elements it may have no memory either; a kernel does not read it.
  if (tensor.numel() == 0) return encoder.set_buffer(index, nullptr, 0);
  if (tensor.device().type() != at::kCPU) {
    return bind_memory(encoder, tensor, static_cast<std::size_t>(tensor.storage_offset()) * tensor.element_size(),
                       index);
  }
  TORCH_CHECK(tensor.dim() == 0, "Passed CPU tensor to MPS op");
  const void* value = tensor.const_data_ptr();
  if (tensor.scalar_type() == at::kDouble) {
    const auto narrow = static_cast<float>(*static_cast<const double*>(value));
    encoder.set_bytes(index, &narrow, sizeof(narrow));
  } else if (tensor.scalar_type() == at::kComplexDouble) {
    const auto narrow = static_cast<c10::complex<float>>(*static_cast<const c10::complex<double>*>(value));
    encoder.set_bytes(index, &narrow, sizeof(narrow));
  } else {
    encoder.set_bytes(index, value, tensor.element_size());
  }
}

std::byte* addressed(const at::TensorBase& tensor) {
  const c10::Storage& storage = tensor.storage();
  const auto is_it = [&](const c10::Storage& one) { return one.is_alias_of(storage); };
  if (std::ranges::none_of(addressed_storages, is_it)) addressed_storages.push_back(storage);
  return static_cast<std::byte*>(storage.mutable_data()) + tensor.storage_offset() * tensor.element_size();
}

void use_addressed(Dispatch& dispatch) {
  for (const c10::Storage& storage : addressed_storages) {
    dispatch.use(Buffer::wrap(storage.mutable_data(), storage.nbytes()));
  }
  addressed_storages.clear();
}

Number number_of(const c10::Scalar& scalar, c10::ScalarType type) {
  Number number;
  const auto put = [&](auto value) {
    static_assert(sizeof(value) <= sizeof(number.bytes));
    number.size = sizeof(value);
    std::memcpy(number.bytes, &value, sizeof(value));
  };
  using enum c10::ScalarType;
  switch (type) {
    case Double:
    case Float: put(scalar.to<float>()); break;
    case Half: put(scalar.to<c10::Half>()); break;
    case BFloat16: put(scalar.to<c10::BFloat16>()); break;
    case ComplexHalf: put(scalar.to<c10::complex<c10::Half>>()); break;
    case ComplexFloat:
    case ComplexDouble: put(scalar.to<c10::complex<float>>()); break;
    case Bool: put(scalar.to<bool>()); break;
    case Byte: put(scalar.to<std::uint8_t>()); break;
    case Char: put(scalar.to<std::int8_t>()); break;
    case Short: put(scalar.to<std::int16_t>()); break;
    case Int: put(scalar.to<std::int32_t>()); break;
    case Long: put(scalar.to<std::int64_t>()); break;
    case UInt16: put(scalar.to<std::uint16_t>()); break;
    case UInt32: put(scalar.to<std::uint32_t>()); break;
    case UInt64: put(scalar.to<std::uint64_t>()); break;
    default: TORCH_CHECK_TYPE(false, "Unsupported scalar type '", type, "' on MPS backend.");
  }
  return number;
}

}  // namespace metalloid::torch_host
