// Copies by a whole simdgroup between device and threadgroup memory, which public matrix kernels reach through
// declarations of their own with assembler labels ("air.simdgroup_async_copy_2d.p3i8.p1i8"). These are the functions
// behind the labels; a source that names one gets this header. One lane copies, and waiting is a barrier.
#ifndef METALLOID_ASYNC_COPY_H
#define METALLOID_ASYNC_COPY_H

#include <metal_stdlib>

namespace __metalloid::async {

// Of a tile of `destination_tile` elements; what lies outside of `source_tile` is zero, or the nearest element.
template <typename Word, typename Destination, typename Source>
METALLOID_FUNC void copy_tile(Destination destination, ulong destination_row, ulong destination_stride,
                              metal::ulong2 destination_tile, Source source, ulong source_row, ulong source_stride,
                              metal::ulong2 source_tile, metal::long2 offset, bool clamp_to_edge) {
  for (ulong y = 0; y < destination_tile.y; ++y) {
    for (ulong x = 0; x < destination_tile.x; ++x) {
      long column = long(x) + offset.x, row = long(y) + offset.y;
      bool inside = column >= 0 && row >= 0 && ulong(column) < source_tile.x && ulong(row) < source_tile.y;
      if (clamp_to_edge && source_tile.x != 0 && source_tile.y != 0) {
        column = metal::clamp(column, 0l, long(source_tile.x) - 1);
        row = metal::clamp(row, 0l, long(source_tile.y) - 1);
        inside = true;
      }
      destination[y * destination_row + x * destination_stride] =
          inside ? source[ulong(row) * source_row + ulong(column) * source_stride] : Word(0);
    }
  }
}

}  // namespace __metalloid::async

#define METALLOID_ASYNC_COPY(to, from, label)                                                                         \
  namespace __metalloid::async {                                                                                      \
  METALLOID_FUNC void* to##_2d(ulong size, ulong, to void* destination, ulong destination_row,                        \
                               ulong destination_stride, metal::ulong2 destination_tile, const from void* source,     \
                               ulong source_row, ulong source_stride, metal::ulong2 source_tile, metal::long2 offset, \
                               int clamp_mode) __asm("air.simdgroup_async_copy_2d." label);                           \
  METALLOID_FUNC void* to##_1d(ulong size, ulong, to void* destination, const from void* source,                      \
                               ulong count) __asm("air.simdgroup_async_copy_1d." label);                              \
  void* to##_2d(ulong size, ulong, to void* destination, ulong destination_row, ulong destination_stride,             \
                metal::ulong2 destination_tile, const from void* source, ulong source_row, ulong source_stride,       \
                metal::ulong2 source_tile, metal::long2 offset, int clamp_mode) {                                     \
    if (!metal::simd_is_first()) return nullptr;                                                                      \
    const bool edge = clamp_mode == 1;                                                                                \
    const auto copy_as = [&](auto word) {                                                                             \
      using Word = decltype(word);                                                                                    \
      const ulong words = size / sizeof(Word); /* per element */                                                      \
      for (ulong part = 0; part < words; ++part) {                                                                    \
        copy_tile<Word>((to Word*)destination + part, destination_row * words, destination_stride * words,            \
                        destination_tile, (const from Word*)source + part, source_row * words, source_stride * words, \
                        source_tile, offset, edge);                                                                   \
      }                                                                                                               \
    };                                                                                                                \
    if (size % 4 == 0) {                                                                                              \
      copy_as(uint(0));                                                                                               \
    } else if (size % 2 == 0) {                                                                                       \
      copy_as(ushort(0));                                                                                             \
    } else {                                                                                                          \
      copy_as(uchar(0));                                                                                              \
    }                                                                                                                 \
    return nullptr;                                                                                                   \
  }                                                                                                                   \
  void* to##_1d(ulong size, ulong alignment, to void* destination, const from void* source, ulong count) {            \
    const metal::ulong2 row(count, 1);                                                                                \
    return to##_2d(size, alignment, destination, count, 1, row, source, count, 1, row, metal::long2(0), 0);           \
  }                                                                                                                   \
  }
METALLOID_ASYNC_COPY(threadgroup, device, "p3i8.p1i8")
METALLOID_ASYNC_COPY(device, threadgroup, "p1i8.p3i8")
#undef METALLOID_ASYNC_COPY

namespace __metalloid::async {
METALLOID_FUNC void wait(int, void**) __asm("air.wait_simdgroup_events");
void wait(int, void**) { metal::simdgroup_barrier(metal::mem_flags::mem_device | metal::mem_flags::mem_threadgroup); }
}  // namespace __metalloid::async

#endif
