// Elements read or written where another tensor says: gather, scatter and everything that is one of the two with strides
// chosen by the host (index_select, index_copy, index_fill, take, put_, ...), index.Tensor, index_put_, strided copies.
// Kernels that only move elements know their size, not their type.
#include <c10/metal/atomic.h>
#include <c10/metal/error.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>

using namespace metal;
using c10::metal::AtomicType;
using c10::metal::AtomicType_t;
using c10::metal::ErrorMessages;

constant constexpr uint most_dims = 16;

// operations/Indexing.h has the same structures for the host.
struct AlongDim {
  uint ndim;
  uint dim;       // which the indices replace
  long dim_size;  // of the indexed tensor
  bool wraps;     // whether negative indices count from the end
  long sizes[most_dims];  // of the index
  long indexed_strides[most_dims];
  long other_strides[most_dims];
  long index_strides[most_dims];
};

struct ByTensors {
  uint ndim;
  uint count;  // of indices
  bool wraps;
  long sizes[most_dims];  // innermost first; strides are bytes
  long indexed_strides[most_dims];
  long other_strides[most_dims];
  long indexed_sizes[most_dims];        // of each index' dimension
  long strides_of_dims[most_dims];      // of each index' dimension
  long index_strides[most_dims * most_dims];  // of index k from [k * most_dims] on
};

struct IndexTable {
  metal::array<const device char*, most_dims> tensors;
};

struct InElements {  // a number of an element as the tensor is read row by row
  uint ndim;
  bool accumulate;
  long numel;
  long sizes[most_dims];
  long strides[most_dims];
};

inline bool is_in_range(thread long& index, long size, bool wraps, uint dim, device ErrorMessages* errors) {
  if (index >= (wraps ? -size : 0) && index < size) {
    if (index < 0) index += size;
    return true;
  }
  TORCH_REPORT_ERROR(errors, "index ", index, " is out of bounds for dimension ", long(dim), " with size ", size);
  return false;
}

// Offsets of the indexed tensor (the index' dimension left out), of the other one, and of the index. Returns false for an
// index out of range, which it reports.
template <typename I>
bool find(constant AlongDim& params, const device I* indices, uint thread_index, device ErrorMessages* errors,
          thread long& indexed, thread long& other) {
  uint rest = thread_index;  // which all sizes together fit into
  long at = 0;
  indexed = 0;
  other = 0;
  for (uint dim = params.ndim; dim-- > 0;) {
    const uint size = uint(params.sizes[dim]);
    const long position = dim == 0 ? rest : rest % size;
    rest /= size;
    if (dim != params.dim) indexed += position * params.indexed_strides[dim];
    other += position * params.other_strides[dim];
    at += position * params.index_strides[dim];
  }
  long index = indices[at];
  if (!is_in_range(index, params.dim_size, params.wraps, params.dim, errors)) return false;
  indexed += index * params.indexed_strides[params.dim];
  return true;
}

template <typename T, typename I>
kernel void gather(
    device T* result [[buffer(0)]],
    const device T* self [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    constant AlongDim& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  long from, to;
  if (find(params, indices, thread_index, errors, from, to)) result[to] = self[from];
}

// Rows of a contiguous tensor along one dimension: `inner` elements each, and one for each index, `outer` times.
struct RowsOfDim {
  uint dim, inner, count;
  long size, index_stride;
};

template <typename T, typename I>
kernel void gather_rows(
    device T* result [[buffer(0)]],
    const device T* self [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    constant RowsOfDim& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint3 at [[thread_position_in_grid]]) {
  long index = indices[at.y * params.index_stride];
  if (!is_in_range(index, params.size, false, params.dim, errors)) return;
  result += (at.z * long(params.count) + at.y) * params.inner;
  self += (at.z * params.size + index) * params.inner;
  result[at.x] = self[at.x];
}

template <typename T, typename I>
kernel void scatter(
    device T* self [[buffer(0)]],
    const device T* source [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    constant AlongDim& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  long from, to;
  if (find(params, indices, thread_index, errors, to, from)) self[to] = source[from];
}

// T: of the source; A: of self, in which is accumulated.
template <typename T, typename A, typename I>
kernel void scatter_add(
    device AtomicType_t<A>* self [[buffer(0)]],
    const device T* source [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    constant AlongDim& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  long from, to;
  if (find(params, indices, thread_index, errors, to, from)) AtomicType<A>::atomic_add(self, to, A(source[from]));
}

struct Product {
  template <typename T>
  T operator()(T a, T b) const {
    return c10::metal::mul(a, b);
  }
};
template <>
inline bool Product::operator()(bool a, bool b) const {
  return a && b;
}
struct Greatest {
  template <typename T>
  T operator()(T a, T b) const {
    return a != a || a > b ? a : b;
  }
};
struct Least {
  template <typename T>
  T operator()(T a, T b) const {
    return a != a || a < b ? a : b;
  }
};

// One thread for all indices along the dimension: not every type has atomic operations, and the order is that of the CPU.
template <typename T, typename I, typename Operation>
kernel void scatter_reduce(
    device T* self [[buffer(0)]],
    const device T* source [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    constant AlongDim& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  ulong rest = thread_index;
  long to = 0, from = 0, at = 0;
  for (uint dim = params.ndim; dim-- > 0;) {
    if (dim == params.dim) continue;
    const long size = params.sizes[dim];
    const long position = rest % size;
    rest /= size;
    to += position * params.indexed_strides[dim];
    from += position * params.other_strides[dim];
    at += position * params.index_strides[dim];
  }
  for (long i = 0; i < params.sizes[params.dim]; ++i) {
    long index = indices[at + i * params.index_strides[params.dim]];
    if (!is_in_range(index, params.dim_size, params.wraps, params.dim, errors)) continue;
    device T& element = self[to + index * params.indexed_strides[params.dim]];
    element = Operation()(element, source[from + i * params.other_strides[params.dim]]);
  }
}

// Bytes of the element in the indexed tensor and in the other one.
inline bool find(constant ByTensors& params, constant IndexTable& table, uint thread_index, device ErrorMessages* errors,
                 thread long& indexed, thread long& other) {
  long at[most_dims];
  for (uint k = 0; k < params.count; ++k) at[k] = 0;
  ulong rest = thread_index;
  indexed = 0;
  other = 0;
  for (uint dim = 0; dim < params.ndim; ++dim) {
    const long size = params.sizes[dim];
    const long position = rest % size;
    rest /= size;
    indexed += position * params.indexed_strides[dim];
    other += position * params.other_strides[dim];
    for (uint k = 0; k < params.count; ++k) at[k] += position * params.index_strides[k * most_dims + dim];
  }
  for (uint k = 0; k < params.count; ++k) {
    long index = *reinterpret_cast<const device long*>(table.tensors[k] + at[k]);
    if (!is_in_range(index, params.indexed_sizes[k], params.wraps, k, errors)) return false;
    indexed += index * params.strides_of_dims[k];
  }
  return true;
}

template <typename T>
kernel void index_get(
    device char* result [[buffer(0)]],
    const device char* self [[buffer(1)]],
    constant IndexTable& table [[buffer(2)]],
    constant ByTensors& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  long from, to;
  if (!find(params, table, thread_index, errors, from, to)) return;
  *reinterpret_cast<device T*>(result + to) = *reinterpret_cast<const device T*>(self + from);
}

template <typename T>
kernel void index_put(
    device char* self [[buffer(0)]],
    const device char* source [[buffer(1)]],
    constant IndexTable& table [[buffer(2)]],
    constant ByTensors& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  long from, to;
  if (!find(params, table, thread_index, errors, to, from)) return;
  *reinterpret_cast<device T*>(self + to) = *reinterpret_cast<const device T*>(source + from);
}

template <typename T, typename A>
kernel void index_put_accumulate(
    device char* self [[buffer(0)]],
    const device char* source [[buffer(1)]],
    constant IndexTable& table [[buffer(2)]],
    constant ByTensors& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  long from, to;
  if (!find(params, table, thread_index, errors, to, from)) return;
  AtomicType<A>::atomic_add(
      reinterpret_cast<device AtomicType_t<A>*>(self), to / long(sizeof(A)), A(*reinterpret_cast<const device T*>(source + from)));
}

inline bool find(constant InElements& params, long index, device ErrorMessages* errors, thread long& offset) {
  if (!is_in_range(index, params.numel, true, 0, errors)) return false;
  ulong rest = index;
  offset = 0;
  for (uint dim = params.ndim; dim-- > 0;) {
    const ulong size = params.sizes[dim];
    offset += long(rest % size) * params.strides[dim];
    rest /= size;
  }
  return true;
}

template <typename T>
kernel void take(
    device T* result [[buffer(0)]],
    const device T* self [[buffer(1)]],
    const device long* indices [[buffer(2)]],
    constant InElements& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  long offset;
  if (find(params, indices[thread_index], errors, offset)) result[thread_index] = self[offset];
}

template <typename T>
kernel void put(
    device T* self [[buffer(0)]],
    const device T* source [[buffer(1)]],
    const device long* indices [[buffer(2)]],
    constant InElements& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  long offset;
  if (find(params, indices[thread_index], errors, offset)) self[offset] = source[thread_index];
}

template <typename T, typename A>
kernel void put_accumulate(
    device AtomicType_t<A>* self [[buffer(0)]],
    const device T* source [[buffer(1)]],
    const device long* indices [[buffer(2)]],
    constant InElements& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  long offset;
  if (find(params, indices[thread_index], errors, offset)) AtomicType<A>::atomic_add(self, offset, A(source[thread_index]));
}

// Sizes innermost first, strides in bytes; they may be negative, bases are offsets of the first elements.
template <typename T>
kernel void strided_copy(
    device char* result [[buffer(0)]],
    const device char* self [[buffer(1)]],
    constant long* sizes [[buffer(2)]],
    constant long* result_strides [[buffer(3)]],
    constant long* self_strides [[buffer(4)]],
    constant long2& bases [[buffer(5)]],
    constant uint& ndim [[buffer(6)]],
    uint thread_index [[thread_position_in_grid]]) {
  ulong rest = thread_index;
  long to = bases.x, from = bases.y;
  for (uint dim = 0; dim < ndim; ++dim) {
    const long position = rest % ulong(sizes[dim]);
    rest /= ulong(sizes[dim]);
    to += position * result_strides[dim];
    from += position * self_strides[dim];
  }
  *reinterpret_cast<device T*>(result + to) = *reinterpret_cast<const device T*>(self + from);
}

#define FOR_INDEX(T, N, I)                                                                                           \
  template [[host_name("gather_" #N "_" #I)]] kernel void gather<T, I>(                                              \
      device T*, const device T*, const device I*, constant AlongDim&, device ErrorMessages*, uint);                 \
  template [[host_name("gather_rows_" #N "_" #I)]] kernel void gather_rows<T, I>(                                    \
      device T*, const device T*, const device I*, constant RowsOfDim&, device ErrorMessages*, uint3);               \
  template [[host_name("scatter_" #N "_" #I)]] kernel void scatter<T, I>(                                            \
      device T*, const device T*, const device I*, constant AlongDim&, device ErrorMessages*, uint);

#define FOR_SIZE(T, N)                                                                                               \
  FOR_INDEX(T, N, int)                                                                                               \
  FOR_INDEX(T, N, long)                                                                                              \
  template [[host_name("index_get_" #N)]] kernel void index_get<T>(                                                  \
      device char*, const device char*, constant IndexTable&, constant ByTensors&, device ErrorMessages*, uint);     \
  template [[host_name("index_put_" #N)]] kernel void index_put<T>(                                                  \
      device char*, const device char*, constant IndexTable&, constant ByTensors&, device ErrorMessages*, uint);     \
  template [[host_name("take_" #N)]] kernel void take<T>(                                                            \
      device T*, const device T*, const device long*, constant InElements&, device ErrorMessages*, uint);            \
  template [[host_name("put_" #N)]] kernel void put<T>(                                                              \
      device T*, const device T*, const device long*, constant InElements&, device ErrorMessages*, uint);            \
  template [[host_name("strided_copy_" #N)]] kernel void strided_copy<T>(                                            \
      device char*, const device char*, constant long*, constant long*, constant long*, constant long2&,             \
      constant uint&, uint);

FOR_SIZE(uchar, 1)
FOR_SIZE(ushort, 2)
FOR_SIZE(uint, 4)
FOR_SIZE(ulong, 8)

#define SCATTER_ADD(T, A, I)                                                                                         \
  template [[host_name("scatter_add_" #T "_" #A "_" #I)]] kernel void scatter_add<T, A, I>(                          \
      device AtomicType_t<A>*, const device T*, const device I*, constant AlongDim&, device ErrorMessages*, uint);

// T in A, which has at least 4 bytes: small elements at the end of memory have no word of their own.
#define ACCUMULATE(T, A)                                                                                             \
  SCATTER_ADD(T, A, int)                                                                                             \
  SCATTER_ADD(T, A, long)                                                                                            \
  template [[host_name("index_put_accumulate_" #T "_" #A)]] kernel void index_put_accumulate<T, A>(                  \
      device char*, const device char*, constant IndexTable&, constant ByTensors&, device ErrorMessages*, uint);     \
  template [[host_name("put_accumulate_" #T "_" #A)]] kernel void put_accumulate<T, A>(                              \
      device AtomicType_t<A>*, const device T*, const device long*, constant InElements&, device ErrorMessages*, uint);

ACCUMULATE(float, float)
ACCUMULATE(half, float)
ACCUMULATE(bfloat, float)
ACCUMULATE(float2, float2)
ACCUMULATE(half2, half2)
ACCUMULATE(long, long)
ACCUMULATE(int, int)
ACCUMULATE(short, int)
ACCUMULATE(char, int)
ACCUMULATE(uchar, int)
ACCUMULATE(bool, int)

#define SCATTER_REDUCE(NAME, OPERATION, T, I)                                                                        \
  template [[host_name("scatter_" NAME "_" #T "_" #I)]] kernel void scatter_reduce<T, I, OPERATION>(                 \
      device T*, const device T*, const device I*, constant AlongDim&, device ErrorMessages*, uint);
#define REDUCE(T)                            \
  SCATTER_REDUCE("prod", Product, T, int)    \
  SCATTER_REDUCE("prod", Product, T, long)   \
  SCATTER_REDUCE("amax", Greatest, T, int)   \
  SCATTER_REDUCE("amax", Greatest, T, long)  \
  SCATTER_REDUCE("amin", Least, T, int)      \
  SCATTER_REDUCE("amin", Least, T, long)

REDUCE(float)
REDUCE(half)
REDUCE(bfloat)
REDUCE(long)
REDUCE(int)
REDUCE(short)
REDUCE(char)
REDUCE(uchar)
REDUCE(bool)
SCATTER_REDUCE("prod", Product, float2, int)
SCATTER_REDUCE("prod", Product, float2, long)
