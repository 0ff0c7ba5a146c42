// The three kernels of examples/kernels/radix_sort.metal as one writes them in CUDA C++: what each does is told there.
constexpr unsigned digits = 16;
constexpr unsigned warp_threads = 32;
constexpr unsigned all_lanes = ~0u;

__device__ __forceinline__ unsigned digit_of(unsigned key, unsigned shift) { return key >> shift & (digits - 1); }

extern "C" __global__ void histogram(unsigned* counts, const unsigned* __restrict__ keys, unsigned length, unsigned shift) {
  __shared__ unsigned tile_counts[digits];
  for (unsigned digit = threadIdx.x; digit < digits; digit += blockDim.x) tile_counts[digit] = 0;
  __syncthreads();
  const unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position < length) atomicAdd(&tile_counts[digit_of(keys[position], shift)], 1u);
  __syncthreads();
  for (unsigned digit = threadIdx.x; digit < digits; digit += blockDim.x) {
    counts[digit * gridDim.x + blockIdx.x] = tile_counts[digit];
  }
}

extern "C" __global__ void prefix_sum(unsigned* starts, const unsigned* __restrict__ counts, unsigned length) {
  __shared__ unsigned totals[warp_threads];
  const unsigned lane = threadIdx.x % warp_threads, warp = threadIdx.x / warp_threads;
  unsigned carried = 0;
  for (unsigned start = 0; start < length; start += blockDim.x) {
    const unsigned i = start + threadIdx.x;
    const unsigned count = i < length ? counts[i] : 0;
    unsigned sum = count;
    for (unsigned distance = 1; distance < warp_threads; distance *= 2) {
      const unsigned earlier = __shfl_up_sync(all_lanes, sum, distance);
      sum += lane >= distance ? earlier : 0;
    }
    if (lane == warp_threads - 1) totals[warp] = sum;
    __syncthreads();
    unsigned before = carried + sum - count;
    for (unsigned w = 0; w < blockDim.x / warp_threads; ++w) {
      before += w < warp ? totals[w] : 0;
      carried += totals[w];
    }
    if (i < length) starts[i] = before;
    __syncthreads();
  }
}

extern "C" __global__ void scatter(unsigned* sorted_keys, unsigned* sorted_values, const unsigned* __restrict__ keys,
                                   const unsigned* __restrict__ values, const unsigned* __restrict__ starts,
                                   unsigned length, unsigned shift) {
  __shared__ unsigned warp_counts[warp_threads][digits];
  const unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % warp_threads, warp = threadIdx.x / warp_threads;
  const bool has_key = position < length;
  const unsigned key = has_key ? keys[position] : 0;
  const unsigned digit = digit_of(key, shift);
  unsigned same = __ballot_sync(all_lanes, has_key);
  for (unsigned bit = 0; bit < 4; ++bit) {
    const bool is_set = digit >> bit & 1;
    const unsigned set = __ballot_sync(all_lanes, is_set);
    same &= is_set ? set : ~set;
  }
  const unsigned earlier_lanes = __popc(same & ((1u << lane) - 1));
  if (lane < digits) warp_counts[warp][lane] = 0;
  __syncwarp();
  if (has_key && earlier_lanes == 0) warp_counts[warp][digit] = __popc(same);
  __syncthreads();
  if (has_key) {
    unsigned place = starts[digit * gridDim.x + blockIdx.x] + earlier_lanes;
    for (unsigned w = 0; w < warp; ++w) place += warp_counts[w][digit];
    if (place < length) {
      sorted_keys[place] = key;
      sorted_values[place] = values[position];
    }
  }
}
