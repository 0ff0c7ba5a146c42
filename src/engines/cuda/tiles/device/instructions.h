// Instructions of PTX that C++ has no words for, by their names there.
#pragma once

using i32 = int;
using i64 = long;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long;

#define GPU_INLINE inline __attribute__((always_inline))
#define GPU_SHARED __attribute__((address_space(3)))
#define GPU_GLOBAL __attribute__((address_space(1)))

struct uint4 {
  u32 x, y, z, w;
};

// Of the block, as the hardware counts them.
GPU_INLINE u32 thread_index() {
  return __nvvm_read_ptx_sreg_tid_x() +
         __nvvm_read_ptx_sreg_ntid_x() *
             (__nvvm_read_ptx_sreg_tid_y() + __nvvm_read_ptx_sreg_ntid_y() * __nvvm_read_ptx_sreg_tid_z());
}

GPU_INLINE void synchronise() { asm volatile("barrier.cta.sync 0;" ::: "memory"); }
// The block's threads that have not ended, all of which come.
GPU_INLINE u32 count_threads() {
  u32 count;
  asm volatile("{\n.reg .pred %%all;\nsetp.eq.u32 %%all, 0, 0;\nbarrier.cta.red.popc.u32 %0, 0, %%all;\n}"
               : "=r"(count)
               :
               : "memory");
  return count;
}

// 16 bytes to threadgroup memory, of which those behind the first `bytes` are zeros.
GPU_INLINE void copy_later(u32 to, const GPU_GLOBAL void* from, u32 bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
GPU_INLINE void copy_later(u32 to, const GPU_GLOBAL void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
GPU_INLINE void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// All groups but the last `later` ones are there.
template <int later>
GPU_INLINE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(later) : "memory");
}
// Tensor cores read what the thread wrote to threadgroup memory.
GPU_INLINE void show_to_tensor_cores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

GPU_INLINE void store_shared(u32 to, uint4 value) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(value.x), "r"(value.y), "r"(value.z),
               "r"(value.w)
               : "memory");
}
GPU_INLINE void store_shared(u32 to, float x, float y) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(x), "f"(y) : "memory");
}
GPU_INLINE void load_shared(u32 from, float& x, float& y) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(from) : "memory");
}

GPU_INLINE void load_shared(u32 from, float (&values)[1]) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(values[0]) : "r"(from) : "memory");
}
GPU_INLINE void load_shared(u32 from, float (&values)[2]) { load_shared(from, values[0], values[1]); }
GPU_INLINE void load_shared(u32 from, float (&values)[4]) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(values[0]), "=f"(values[1]), "=f"(values[2]), "=f"(values[3])
               : "r"(from)
               : "memory");
}

// The registers of sums are the tensor cores' from here on.
GPU_INLINE void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
GPU_INLINE void close_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int later>
GPU_INLINE void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(later) : "memory");
}

enum class Element { f16, bf16, f32 };

#define SUMS_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define SUMS_16 SUMS_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define SUMS_32 SUMS_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SUMS_64                                                                                 \
  SUMS_32                                                                                       \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49," \
  " %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SUMS_128                                                                                \
  SUMS_64                                                                                       \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81," \
  " %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99,"  \
  " %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114,"  \
  " %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define REGISTERS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define REGISTERS_8(i) REGISTERS_4(i), REGISTERS_4(i + 4)
#define REGISTERS_16(i) REGISTERS_8(i), REGISTERS_8(i + 8)
#define REGISTERS_32(i) REGISTERS_16(i), REGISTERS_16(i + 16)
#define REGISTERS_64(i) REGISTERS_32(i), REGISTERS_32(i + 32)
#define REGISTERS_128(i) REGISTERS_64(i), REGISTERS_64(i + 64)
// How an operand is: it lies if neighbours in memory are of a column of the left one or a row of the right one, not
// along k.
struct Operands {
  Element element;
  bool left_lies, right_lies;
};

// The instruction for one kind of operands; add_product below chooses.
#define TENSOR_PRODUCT(n, half_n, type)                                                           \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" SUMS_##half_n \
               "}, %[left], %[right], 1, 1, 1, %[left_lies], %[right_lies];"                      \
               : REGISTERS_##half_n(0)                                                            \
               : [left] "l"(left), [right] "l"(right), [left_lies] "n"(left_lies ? 1 : 0),        \
                 [right_lies] "n"(right_lies ? 1 : 0))

template <u32 n, bool left_lies, bool right_lies>
GPU_INLINE void add_product(float* sums, u64 left, u64 right, Element element) {
#define TENSOR_PRODUCTS(type)       \
  if constexpr (n == 16) {          \
    TENSOR_PRODUCT(16, 8, type);    \
  } else if constexpr (n == 32) {   \
    TENSOR_PRODUCT(32, 16, type);   \
  } else if constexpr (n == 64) {   \
    TENSOR_PRODUCT(64, 32, type);   \
  } else if constexpr (n == 128) {  \
    TENSOR_PRODUCT(128, 64, type);  \
  } else {                          \
    static_assert(n == 256);        \
    TENSOR_PRODUCT(256, 128, type); \
  }
  if (element == Element::f16) {
    TENSOR_PRODUCTS("f16")
  } else {
    TENSOR_PRODUCTS("bf16")
  }
#undef TENSOR_PRODUCTS
}

// sums += left * right, 64 x n x 16, of which a thread has n / 2, once they are waited for. left, right: where the
// operands are (descriptors of wgmma).
template <u32 n>
GPU_INLINE void add_product(float* sums, u64 left, u64 right, const Operands& operands) {
  if (operands.left_lies) {
    if (operands.right_lies) {
      add_product<n, true, true>(sums, left, right, operands.element);
    } else {
      add_product<n, true, false>(sums, left, right, operands.element);
    }
  } else if (operands.right_lies) {
    add_product<n, false, true>(sums, left, right, operands.element);
  } else {
    add_product<n, false, false>(sums, left, right, operands.element);
  }
}
