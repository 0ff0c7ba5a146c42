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

// Rows of a contiguous tensor along one dimension: `inner` elements each, and one for each index, `outer` times. A simdgroup
// has columns of a few rows.
struct RowsOfDim {
  uint dim, inner, count;
  long size, index_stride;
};
constant constexpr uint columns_of_simdgroup = 1024, rows_of_simdgroup = 4;

template <typename T, typename I>
kernel void gather_rows(
    device T* result [[buffer(0)]],
    const device T* self [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    constant RowsOfDim& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint3 at [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  const uint inner = params.inner, begin = at.x * columns_of_simdgroup, end = min(begin + columns_of_simdgroup, inner);
  const uint last = min((at.y + 1) * rows_of_simdgroup, params.count);
  for (uint i = at.y * rows_of_simdgroup; i < last; ++i) {
    long index = indices[i * params.index_stride];
    if (!is_in_range(index, params.size, false, params.dim, errors)) continue;
    device T* to = result + (at.z * ulong(params.count) + i) * inner;
    const device T* from = self + (at.z * ulong(params.size) + ulong(index)) * inner;
    for (uint column = begin; column < end; column += 32) {
      if (column + lane < end) to[column + lane] = from[column + lane];
    }
  }
}

// As AlongDim, of up to three dimensions, innermost first, of which the first is dense in the index and the other tensor.
struct Lines {
  uint dim, numbered;  // which the indices replace; its number as the tensor has it
  uint indexed_strides[3], other_strides[3], index_strides[3];
  long dim_size;
};

// As the function for AlongDim; offsets are less than 2^32.
template <typename I>
bool find(constant Lines& params, const device I* indices, uint3 at, device ErrorMessages* errors, thread uint& indexed,
          thread uint& other) {
  other = at.y * params.other_strides[1] + at.z * params.other_strides[2] + at.x;
  long index = indices[at.y * params.index_strides[1] + at.z * params.index_strides[2] + at.x];
  if (!is_in_range(index, params.dim_size, false, params.numbered, errors)) return false;
  if (params.dim == 0) {
    indexed = at.y * params.indexed_strides[1] + at.z * params.indexed_strides[2] + uint(index) * params.indexed_strides[0];
  } else if (params.dim == 1) {
    indexed = at.z * params.indexed_strides[2] + at.x * params.indexed_strides[0] + uint(index) * params.indexed_strides[1];
  } else {
    indexed = at.y * params.indexed_strides[1] + at.x * params.indexed_strides[0] + uint(index) * params.indexed_strides[2];
  }
  return true;
}

template <typename T, typename I>
kernel void gather_lines(
    device T* result [[buffer(0)]],
    const device T* self [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    constant Lines& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint3 at [[thread_position_in_grid]]) {
  uint from, to;
  if (find(params, indices, at, errors, from, to)) result[to] = self[from];
}

// The same along rows that lie side by side and fit into threadgroup memory, where a simdgroup has one: it comes from device
// memory in its order. count: of a row's indices
constant constexpr uint row_bytes = 16384;

template <typename T, typename I>
kernel void gather_in_rows(
    device T* result [[buffer(0)]],
    const device T* self [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    constant Lines& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    constant uint& count [[buffer(5)]],
    uint3 at [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup T row[row_bytes / sizeof(T)];
  self += at.y * params.indexed_strides[1] + at.z * params.indexed_strides[2];
  result += at.y * params.other_strides[1] + at.z * params.other_strides[2];
  indices += at.y * params.index_strides[1] + at.z * params.index_strides[2];
  const uint size = uint(params.dim_size);
  for (uint begin = 0; begin < size; begin += 32) {
    if (begin + lane < size) row[begin + lane] = self[begin + lane];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint begin = 0; begin < count; begin += 32) {
    if (begin + lane >= count) return;
    long index = indices[begin + lane];
    if (is_in_range(index, size, false, params.numbered, errors)) result[begin + lane] = row[int(index)];
  }
}

template <typename T, typename I>
kernel void scatter_lines(
    device T* self [[buffer(0)]],
    const device T* source [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    constant Lines& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint3 at [[thread_position_in_grid]]) {
  uint from, to;
  if (find(params, indices, at, errors, to, from)) self[to] = source[from];
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

// Rows of two contiguous tensors along one dimension, as RowsOfDim; the sums of self have the type A. A simdgroup has
// the columns of `chunk` and adds the rows whose index is its own, modulo their number: so nobody else writes there.
struct AddedRows {
  uint dim, inner, count, chunk, parts;
  long size, index_stride;
};

template <typename T, typename A, typename I>
kernel void add_rows(
    device A* self [[buffer(0)]],
    const device T* source [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    constant AddedRows& params [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint3 at [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  const uint inner = params.inner, begin = at.x * params.chunk, end = min(begin + params.chunk, inner);
  const uint mask = params.parts - 1, part = at.y;
  self += at.z * ulong(params.size) * inner;
  source += at.z * ulong(params.count) * inner;
  for (uint i = 0; i < params.count; ++i) {
    long index = indices[i * params.index_stride];
    if ((uint(index) & mask) != part || !is_in_range(index, params.size, false, params.dim, errors)) continue;
    device A* sums = self + ulong(index) * inner;
    const device T* row = source + ulong(i) * inner;
    uint column = begin;
    for (; column + 32 <= end; column += 32) sums[column + lane] += A(row[column + lane]);
    if (column + lane < end) sums[column + lane] += A(row[column + lane]);
  }
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
  template [[host_name("gather_lines_" #N "_" #I)]] kernel void gather_lines<T, I>(                                  \
      device T*, const device T*, const device I*, constant Lines&, device ErrorMessages*, uint3);                   \
  template [[host_name("gather_in_rows_" #N "_" #I)]] kernel void gather_in_rows<T, I>(                              \
      device T*, const device T*, const device I*, constant Lines&, device ErrorMessages*, constant uint&, uint3, uint); \
  template [[host_name("scatter_lines_" #N "_" #I)]] kernel void scatter_lines<T, I>(                                \
      device T*, const device T*, const device I*, constant Lines&, device ErrorMessages*, uint3);                   \
  template [[host_name("gather_rows_" #N "_" #I)]] kernel void gather_rows<T, I>(                                    \
      device T*, const device T*, const device I*, constant RowsOfDim&, device ErrorMessages*, uint3, uint);         \
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
      device AtomicType_t<A>*, const device T*, const device I*, constant AlongDim&, device ErrorMessages*, uint);   \
  template [[host_name("add_rows_" #T "_" #A "_" #I)]] kernel void add_rows<T, A, I>(                                \
      device A*, const device T*, const device I*, constant AddedRows&, device ErrorMessages*, uint3, uint);

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
