// From the position of an element to its place in memory, for arrays described by shape and strides (in elements,
// row-major order, the last dimension fastest): what MLX's custom kernels call for inputs that are not contiguous.
#ifndef METALLOID_MLX_INDEXING_H
#define METALLOID_MLX_INDEXING_H

#include <metal_stdlib>

// `elem` counts the elements in row-major order.
template <typename IdxT = int64_t>
METAL_FUNC IdxT elem_to_loc(IdxT elem, constant const int* shape, constant const int64_t* strides, int ndim) {
  IdxT place = 0;
  for (int d = ndim; d-- > 0 && elem != 0;) {
    const IdxT extent = shape[d];
    place += elem % extent * IdxT(strides[d]);
    elem /= extent;
  }
  return place;
}

// x and y are positions in the last two dimensions, z counts through those before them.
template <typename IdxT = int64_t>
METAL_FUNC IdxT elem_to_loc(uint3 elem, constant const int* shape, constant const int64_t* strides, int ndim) {
  IdxT place = elem.x * IdxT(strides[ndim - 1]);
  if (ndim > 1) place += elem.y * IdxT(strides[ndim - 2]);
  for (int d = ndim - 3; d >= 0; --d) {
    place += elem.z % uint(shape[d]) * IdxT(strides[d]);
    elem.z /= uint(shape[d]);
  }
  return place;
}

// Fixed numbers of dimensions.
template <typename IdxT = int64_t>
METAL_FUNC IdxT elem_to_loc_1(uint elem, constant const int64_t& stride) {
  return elem * IdxT(stride);
}
template <typename IdxT = int64_t>
METAL_FUNC IdxT elem_to_loc_2(uint2 elem, constant const int64_t strides[2]) {
  return elem.x * IdxT(strides[1]) + elem.y * IdxT(strides[0]);
}
template <typename IdxT = int64_t>
METAL_FUNC IdxT elem_to_loc_3(uint3 elem, constant const int64_t strides[3]) {
  return elem.x * IdxT(strides[2]) + elem.y * IdxT(strides[1]) + elem.z * IdxT(strides[0]);
}

// The same element of two or three arrays of one shape.
template <typename IdxT = int64_t>
METAL_FUNC vec<IdxT, 2> elem_to_loc_2_nd(uint3 elem, constant const int* shape, constant const int64_t* a_strides,
                                         constant const int64_t* b_strides, int ndim) {
  return vec<IdxT, 2>(elem_to_loc<IdxT>(elem, shape, a_strides, ndim), elem_to_loc<IdxT>(elem, shape, b_strides, ndim));
}
template <typename IdxT = int64_t>
METAL_FUNC vec<IdxT, 3> elem_to_loc_3_nd(uint3 elem, constant const int* shape, constant const int64_t* a_strides,
                                         constant const int64_t* b_strides, constant const int64_t* c_strides,
                                         int ndim) {
  return vec<IdxT, 3>(elem_to_loc<IdxT>(elem, shape, a_strides, ndim), elem_to_loc<IdxT>(elem, shape, b_strides, ndim),
                      elem_to_loc<IdxT>(elem, shape, c_strides, ndim));
}

// Walks through an array in row-major order without dividing at each step: a counter for each of the last DIM
// dimensions, carried like an odometer's. With General the array may have more dimensions than DIM; what is carried
// past the last counter is then taken apart by division.
template <int DIM, typename OffsetT = size_t, bool General = true>
struct LoopedElemToLoc {
  int dim;
  OffsetT offset{0};
  uint counters[DIM] = {};
  uint beyond = 0;

  LoopedElemToLoc(int dim) : dim(dim) {}

  void next(const constant int* shape, const constant int64_t* strides) { next(1, shape, strides); }

  void next(int n, const constant int* shape, const constant int64_t* strides) {
    uint carried = uint(n);
    for (int i = 0; i < DIM && i < dim; ++i) {
      const int d = dim - 1 - i;
      uint counter = counters[i] + carried;
      const bool stays = d == 0 || counter < uint(shape[d]);
      carried = stays ? 0 : counter / uint(shape[d]);
      if (!stays) counter -= carried * uint(shape[d]);
      offset += (OffsetT(counter) - OffsetT(counters[i])) * OffsetT(strides[d]);
      counters[i] = counter;
      if (stays) return;
    }
    if (General && dim > DIM) {
      const OffsetT before = elem_to_loc<OffsetT>(OffsetT(beyond), shape, strides, dim - DIM);
      beyond += carried;
      offset += elem_to_loc<OffsetT>(OffsetT(beyond), shape, strides, dim - DIM) - before;
    }
  }

  OffsetT location() { return offset; }
};

#endif
