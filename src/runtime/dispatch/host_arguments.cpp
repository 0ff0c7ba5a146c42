#include "runtime/dispatch/host_arguments.h"

#include <algorithm>

#include "checker/session.h"
#include "runtime/states.h"

namespace metalloid::runtime {
namespace {

using checker::HostArgument;

HostArgument of_buffer(const Buffer& buffer, std::size_t offset, std::uint64_t size) {
  HostArgument result;
  result.kind = HostArgument::Kind::buffer;
  result.space = buffer.memory().address_space();
  result.base = buffer.gpu_address();
  result.address = buffer.gpu_address() + offset;
  result.size = size;
  result.elements = buffer.elements();
  return result;
}

// Bytes of a tensor without gaps; 0 for others, whose elements may lie between those of another one, and for what a
// dispatch refuses.
std::uint64_t bytes_of(const Dispatch::TensorBinding& tensor, std::uint64_t element) {
  std::uint64_t bytes = element;
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < tensor.extents.size(); ++d) {
    if (d >= tensor.strides.size() || tensor.strides[d] != stride || tensor.extents[d] < 0) return 0;
    if (__builtin_mul_overflow(stride, tensor.extents[d], &stride)) return 0;
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(tensor.extents[d]), &bytes)) return 0;
  }
  return bytes;
}

// Of integers, little-endian ones.
bool is_extended(const Dispatch::Bytes& value, const TypeInfo& type) {
  const std::span<const std::byte> own = value.value();
  if (type.size == 0 || own.size() <= type.size || type.rows != 1) return false;
  const std::byte* bytes = own.data();
  using enum ElementType;
  const bool is_signed = type.scalar == int8 || type.scalar == int16 || type.scalar == int32;
  const bool is_negative = is_signed && (bytes[type.size - 1] & std::byte{0x80}) != std::byte{0};
  const std::byte sign = is_negative ? std::byte{0xff} : std::byte{0};
  return std::all_of(bytes + type.size, bytes + own.size(), [&](std::byte byte) { return byte == sign; });
}

}  // namespace

HostArgument host_argument_of(const ArgumentInfo& argument, const Dispatch::Binding& binding) {
  if (const auto* bytes = std::get_if<Dispatch::Bytes>(&binding)) {
    HostArgument result;
    result.kind = HostArgument::Kind::value;
    result.size = bytes->value().size();
    result.elements = bytes->elements;
    result.is_extended = is_extended(*bytes, argument.type);
    return result;
  }
  if (const auto* tensor = std::get_if<Dispatch::TensorBinding>(&binding)) {
    const std::uint64_t room = tensor->buffer.size() - std::min(tensor->offset, tensor->buffer.size());
    return of_buffer(tensor->buffer, tensor->offset, std::min(bytes_of(*tensor, argument.type.size), room));
  }
  const auto& [buffer, offset] = std::get<Dispatch::BufferBinding>(binding);
  return of_buffer(buffer, offset, buffer.size() - std::min(offset, buffer.size()));
}

void check_host_arguments(const Kernel& kernel, const Dispatch& dispatch) {
  const auto session = checker::active_session();
  if (!session) return;
  const KernelInfo& info = kernel.info();
  std::vector<HostArgument> bound(info.arguments.size());
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const ArgumentInfo& argument = info.arguments[i];
    if (argument.kind != ArgumentKind::buffer && argument.kind != ArgumentKind::tensor) continue;
    const auto binding = dispatch.bindings().find(argument.index);
    if (binding != dispatch.bindings().end()) bound[i] = host_argument_of(argument, binding->second);
  }
  std::vector<Finding> findings = checker::check_host(info, bound);
  if (findings.empty()) return;
  checker::SourceLines lines;
  if (const auto& source = kernel.state().source) {
    lines.add(source->name, std::shared_ptr<const std::string>(source, &source->text));
  }
  for (Finding& finding : findings) {
    finding.launch = dispatch.label();
    session->add(std::move(finding), lines);
  }
  session->write_report();
}

}  // namespace metalloid::runtime
