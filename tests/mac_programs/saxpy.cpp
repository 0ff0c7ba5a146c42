// C++ through metal-cpp's headers, as MLX is written.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Metal/Metal.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(...)                                                                   \
  do {                                                                               \
    if (!(__VA_ARGS__)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

namespace {

NS::String* text(const char* value) { return NS::String::string(value, NS::UTF8StringEncoding); }

constexpr const char* source =
    "#include <metal_stdlib>\nusing namespace metal;\nconstant float scale [[function_constant(0)]];\n"
    "kernel void saxpy(device float* y, device const float* x, uint i [[thread_position_in_grid]]) {\n"
    "  y[i] += scale * x[i]; }";

}  // namespace

int main() {
  NS::AutoreleasePool* pool = NS::AutoreleasePool::alloc()->init();
  MTL::Device* device = MTL::CreateSystemDefaultDevice();
  CHECK(std::strstr(device->name()->utf8String(), "Metalloid on"));
  CHECK(device->supportsFamily(MTL::GPUFamilyMetal3) && !device->supportsFamily(MTL::GPUFamilyMetal4));
  CHECK(device->maxThreadsPerThreadgroup().width == 1024 && device->architecture()->name()->length() > 0);
  NS::Error* error = nullptr;
  MTL::Library* library = device->newLibrary(text(source), nullptr, &error);
  CHECK(library && !error);
  MTL::FunctionConstantValues* values = MTL::FunctionConstantValues::alloc()->init();
  const float scale = 2;
  values->setConstantValue(&scale, MTL::DataTypeFloat, NS::UInteger(0));
  MTL::Function* function = library->newFunction(text("saxpy"), values, &error);
  CHECK(function && !error);
  MTL::ComputePipelineDescriptor* descriptor = MTL::ComputePipelineDescriptor::alloc()->init();
  descriptor->setComputeFunction(function);
  MTL::AutoreleasedComputePipelineReflection reflection = nullptr;
  MTL::ComputePipelineState* state =
      device->newComputePipelineState(descriptor, MTL::PipelineOptionArgumentInfo, &reflection, &error);
  CHECK(state && reflection->bindings()->count() == 2);
  auto* binding = reflection->bindings()->object<MTL::Binding>(1);
  CHECK(std::strcmp(binding->name()->utf8String(), "x") == 0 && binding->access() == MTL::BindingAccessReadOnly);
  MTL::CommandQueue* queue = device->newCommandQueue();
  MTL::Buffer* x = device->newBuffer(4000, MTL::ResourceStorageModeShared);
  MTL::Buffer* y = device->newBuffer(4000, MTL::ResourceStorageModeShared);
  auto* of_x = static_cast<float*>(x->contents());
  auto* of_y = static_cast<float*>(y->contents());
  for (int i = 0; i < 1000; ++i) {
    of_x[i] = static_cast<float>(i);
    of_y[i] = 1;
  }
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  encoder->setComputePipelineState(state);
  encoder->setBuffer(y, 0, 0);
  encoder->setBuffer(x, 0, 1);
  encoder->dispatchThreads(MTL::Size(1000, 1, 1), MTL::Size(128, 1, 1));
  encoder->endEncoding();
  MTL::CommandBufferStatus seen = MTL::CommandBufferStatusNotEnqueued;
  commands->addCompletedHandler([&](MTL::CommandBuffer* done) { seen = done->status(); });
  commands->commit();
  commands->waitUntilCompleted();
  CHECK(seen == MTL::CommandBufferStatusCompleted && commands->GPUEndTime() >= commands->GPUStartTime());
  for (int i = 0; i < 1000; ++i) CHECK(of_y[i] == 1 + 2.0f * static_cast<float>(i));
  CHECK(!device->newLibrary(text("kernel void f() { nonsense; }"), nullptr, &error));
  CHECK(std::strstr(error->localizedDescription()->utf8String(), "undeclared identifier 'nonsense'"));
  for (NS::Object* one :
       std::initializer_list<NS::Object*>{x, y, queue, state, descriptor, function, values, library}) {
    one->release();
  }
  CHECK(device->currentAllocatedSize() == 0);
  pool->release();
  device->release();
  std::puts("saxpy");
}
