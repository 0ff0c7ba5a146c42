// LayerNorm over the rows of a matrix, one threadgroup per row, for float, half and bfloat. layer_norm.h has the
// arithmetic; examples/python/layer_norm.py uses it, too.
//
//   metalloid run examples/kernels/layer_norm.metal --kernel layer_norm_float --threadgroups 8 --group 256
//       --arg out=f32[8,1000]=zeros --arg x=f32[8,1000]=normal --arg weight=f32[1000]=ones --arg bias=f32[1000]=zeros
//       --arg columns=u32:1000 --arg epsilon=f32:1e-5
#include "layer_norm.h"

using namespace metal;

template <typename T>
[[kernel]] void layer_norm(device T* out [[buffer(0)]],
                           device const T* x [[buffer(1)]],
                           device const T* weight [[buffer(2)]],
                           device const T* bias [[buffer(3)]],
                           constant uint& columns [[buffer(4)]],
                           constant float& epsilon [[buffer(5)]],
                           uint row [[threadgroup_position_in_grid]],
                           uint thread_index [[thread_index_in_threadgroup]],
                           uint threads [[threads_per_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint simdgroup [[simdgroup_index_in_threadgroup]],
                           uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float scratch[32];
  const size_t start = size_t(row) * columns;
  layer_norm_row(out + start, x + start, weight, bias, columns, epsilon, scratch, thread_index, threads, lane,
                 simdgroup, simdgroups);
}

template [[host_name("layer_norm_float")]] [[kernel]] decltype(layer_norm<float>) layer_norm<float>;
template [[host_name("layer_norm_half")]] [[kernel]] decltype(layer_norm<half>) layer_norm<half>;
template [[host_name("layer_norm_bfloat")]] [[kernel]] decltype(layer_norm<bfloat>) layer_norm<bfloat>;
