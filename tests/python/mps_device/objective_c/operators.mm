// Operators in the style of PyTorch's own host files: blocks on the stream's queue, encoders, argument lists, errors.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/mps/MPSProfiler.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/mps/OperationUtils.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

namespace at::native {
namespace {

mps::MetalShaderLibrary& library() {
  static mps::MetalShaderLibrary lib(R"METAL(
#include <c10/metal/error.h>
#include <c10/metal/indexing.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;
struct shifted_functor {
  template <typename T> inline T operator()(const T a, const T b) { return a + b + T(1); }
};
REGISTER_BINARY_OP(shifted, float, float);
REGISTER_BINARY_OP(shifted, int, int);
struct Params { float scale; int shift; };
struct affine_functor {
  inline float operator()(const float x, const Params p) { return x * p.scale + p.shift; }
};
REGISTER_UNARY_ALPHA_OP(affine, float, Params, float);
kernel void pick(device float* out, constant float* values, constant long* indices, constant uint& size,
                 constant float2& range, device float* weight, device ErrorMessages* errors,
                 uint i [[thread_position_in_grid]]) {
  const long index = indices[i];
  if (index < 0 || index >= long(size)) {
    TORCH_REPORT_ERROR(errors, "index ", index, " out of bounds for size ", long(size));
    return;
  }
  out[i] = clamp(values[index], range.x, range.y) * (weight ? weight[index] : 1.0f);
}
kernel void fill_2d(device float* out, constant float& value, threadgroup float* scratch [[threadgroup(0)]],
                    uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]],
                    uint2 lane [[thread_position_in_threadgroup]], uint2 group [[threads_per_threadgroup]]) {
  scratch[lane.y * group.x + lane.x] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[at.y * size.x + at.x] = scratch[lane.y * group.x + lane.x] + at.x;
}
)METAL");
  return lib;
}

struct Params {
  float scale;
  int shift;
};

// Every branch that host files of PyTorch take: a pool, the queue, the profiler, arguments of all kinds.
Tensor pick(const Tensor& values, const Tensor& indices, double low, double high, const std::optional<Tensor>& weight) {
  using namespace mps;
  Tensor out = at::empty_like(indices, values.options());
  MPSStream* stream = getCurrentMPSStream();
  @autoreleasepool {
    dispatch_sync_with_rethrow(stream->queue(), ^() {
      id<MTLComputeCommandEncoder> encoder = stream->commandEncoder();
      auto pso = library().getPipelineStateForFunc("pick");
      getMPSProfiler().beginProfileKernel(pso, "pick", {values, indices});
      [encoder setComputePipelineState:pso];
      const std::array<float, 2> range = {static_cast<float>(low), static_cast<float>(high)};
      mtl_setArgs(encoder, out, values, indices, static_cast<uint32_t>(values.numel()), range, weight,
                  stream->getErrorBuffer());
      mtl_dispatch1DJob(encoder, pso, static_cast<NSUInteger>(indices.numel()));
      getMPSProfiler().endProfileKernel(pso);
    });
  }
  return out;
}

void shifted(const Tensor& out, const Tensor& a, const Tensor& b) {
  auto iter = TensorIteratorConfig()
                  .add_output(out)
                  .add_const_input(a)
                  .add_const_input(b)
                  .allow_cpu_scalars(true)
                  .promote_inputs_to_common_dtype(true)
                  .check_all_same_dtype(false)
                  .build();
  library().exec_binary_kernel(iter, "shifted");
}

// The stub that PyTorch's own atan2 calls.
void atan2(const Tensor& out, const Tensor& a, const Tensor& b) {
  auto iter = TensorIteratorConfig().add_output(out).add_const_input(a).add_const_input(b).build();
  atan2_stub(iter.device_type(), iter);
}

void affine(const Tensor& out, const Tensor& x, double scale, int64_t shift) {
  auto iter = TensorIteratorConfig().add_output(out).add_const_input(x).build();
  library().exec_unary_kernel_with_params(iter, "affine", Params{static_cast<float>(scale), static_cast<int>(shift)},
                                          "Params");
}

void strided(const Tensor& out, const Tensor& x, const Tensor& y) {
  auto built = TensorIteratorConfig().add_output(out).add_const_input(x).add_const_input(y).build();
  TensorIteratorBase& iter = built;
  MPSStream* stream = getCurrentMPSStream();
  dispatch_sync_with_rethrow(stream->queue(), ^() {
    auto encoder = stream->commandEncoder();
    auto pso = library().getPipelineStateForFunc("shifted_strided_float_float");
    [encoder setComputePipelineState:pso];
    mps::bind_iter_tensors(encoder, iter);
    const std::array<uint32_t, 4> dimensions = {static_cast<uint32_t>(iter.ndim()), 0, 0, 0};
    mps::mtl_setArgs<3>(encoder, iter.shape(), iter.strides(0), iter.strides(1), iter.strides(2), dimensions);
    mps::mtl_dispatch1DJob(encoder, pso, iter.numel());
  });
}

// Metal without PyTorch's helpers: device, library, queue, buffers, command buffer, handlers.
Tensor metal(const Tensor& like, double value) {
  Tensor out = at::empty_like(like);
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError* error = nil;
    MTLCompileOptions* options = [[MTLCompileOptions new] autorelease];
    options.languageVersion = MTLLanguageVersion3_2;
    options.preprocessorMacros = @{@"FACTOR" : @(2), @"NAME" : @"twice"};
    NSString* source = @"kernel void NAME(device float* out, device const float* x, constant float& v,"
                        "                 uint i [[thread_position_in_grid]]) { out[i] = x[i] + FACTOR * v; }";
    id<MTLLibrary> made = [device newLibraryWithSource:source options:options error:&error];
    TORCH_CHECK(made, [[error localizedDescription] UTF8String]);
    TORCH_CHECK([[made functionNames] isEqual:@[ @"twice" ]]);
    id<MTLComputePipelineState> state =
        [device newComputePipelineStateWithFunction:[[made newFunctionWithName:@"twice"] autorelease] error:&error];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLBuffer> ones = [device newBufferWithLength:like.nbytes() options:MTLResourceStorageModeShared];
    for (int64_t i = 0; i < like.numel(); ++i) static_cast<float*>([ones contents])[i] = 1;
    __block int completed = 0;
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    const float number = static_cast<float>(value);
    [encoder setComputePipelineState:state];
    [encoder setBuffer:mps::getMTLBufferStorage(out) offset:0 atIndex:0];
    [encoder setBuffer:ones offset:0 atIndex:1];
    [encoder setBytes:&number length:sizeof(number) atIndex:2];
    [encoder dispatchThreadgroups:MTLSizeMake(like.numel(), 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
      completed += buffer.status == MTLCommandBufferStatusCompleted;
    }];
    [commands commit];
    [commands waitUntilCompleted];
    TORCH_CHECK(completed == 1 && [mps::getMTLBufferStorage(out) length] == out.nbytes());
    TORCH_CHECK([mps::getMTLBufferStorage(out) contents] == out.storage().data());
    id<MTLLibrary> broken = [device newLibraryWithSource:@"what" options:nil error:&error];
    TORCH_CHECK(!broken && [[error localizedDescription] hasPrefix:@"program_source:1:1: error: unknown type name"]);
    [ones release];
    [queue release];
    [state release];
    [made release];
    [device release];
  }
  return out;
}

void fill_2d(const Tensor& out, double value) {
  using namespace mps;
  MPSStream* stream = getCurrentMPSStream();
  dispatch_sync_with_rethrow(stream->queue(), ^() {
    auto encoder = stream->commandEncoder();
    [encoder setComputePipelineState:library().getPipelineStateForFunc("fill_2d")];
    mtl_setArgs(encoder, out, value);
    [encoder setThreadgroupMemoryLength:16 * sizeof(float) atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(out.size(1), out.size(0), 1) threadsPerThreadgroup:MTLSizeMake(4, 4, 1)];
  });
}

// What Foundation has.
std::string foundation(int64_t count) {
  @autoreleasepool {
    NSMutableArray<NSNumber*>* numbers = [NSMutableArray array];
    for (int64_t i = 0; i < count; ++i) [numbers addObject:@(i * i)];
    NSInteger sum = 0;
    for (NSNumber* one in numbers) sum += [one integerValue];
    NSDictionary* named = @{@"sum" : @(sum), @"half" : @(0.5), @"list" : @[ @1, @"two" ]};
    NSString* text = [NSString stringWithFormat:@"%@ %@ %ld %s %.2f", named[@"sum"], named[@"list"],
                                                (long)[numbers count], "c", [named[@"half"] doubleValue]];
    return [[text stringByAppendingString:@"!"] UTF8String];
  }
}

void graph() {
  struct Cached : mps::MPSCachedGraph {
    Cached(MPSGraph* graph) : MPSCachedGraph(graph) {}
  };
  mps::LookUpOrCreateCachedGraph<Cached>("nothing", [](MPSGraph*, Cached*) {});
}
void matrix() { [[MPSMatrix alloc] initWithBuffer:nil descriptor:nil]; }
void nobody() { [(id)@"text" objectForKey:@"key"]; }

// C++'s exceptions pass through Objective-C's frames.
int64_t caught(const Tensor& tensor) {
  int64_t seen = 0;
  try {
    dispatch_sync_with_rethrow(getCurrentMPSStream()->queue(), ^() {
      @autoreleasepool {
        TORCH_CHECK_INDEX(false, "within a block");
      }
    });
  } catch (const c10::IndexError& error) {
    seen = std::string(error.what_without_backtrace()) == "within a block";
  }
  return seen;
}

}  // namespace
}  // namespace at::native

TORCH_LIBRARY(metalloid_objective_c_test, m) {
  m.def("pick(Tensor values, Tensor indices, float low, float high, Tensor? weight=None) -> Tensor");
  m.def("shifted(Tensor(a!) out, Tensor a, Tensor b) -> ()");
  m.def("atan2(Tensor(a!) out, Tensor a, Tensor b) -> ()");
  m.def("affine(Tensor(a!) out, Tensor x, float scale, int shift) -> ()");
  m.def("strided(Tensor(a!) out, Tensor x, Tensor y) -> ()");
  m.def("metal(Tensor like, float value) -> Tensor");
  m.def("fill_2d(Tensor(a!) out, float value) -> ()");
  m.def("foundation(int count) -> str", at::native::foundation);
  m.def("graph() -> ()", at::native::graph);
  m.def("matrix() -> ()", at::native::matrix);
  m.def("nobody() -> ()", at::native::nobody);
  m.def("caught(Tensor x) -> int");
}
TORCH_LIBRARY_IMPL(metalloid_objective_c_test, MPS, m) {
  m.impl("pick", at::native::pick);
  m.impl("shifted", at::native::shifted);
  m.impl("atan2", at::native::atan2);
  m.impl("affine", at::native::affine);
  m.impl("strided", at::native::strided);
  m.impl("metal", at::native::metal);
  m.impl("fill_2d", at::native::fill_2d);
  m.impl("caught", at::native::caught);
}
