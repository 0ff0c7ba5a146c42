// Many graphs on ggml's Metal back end: right results, and no object of Metal's that stays.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" size_t metalloid_live_objects(void);

namespace {

constexpr int width = 64, rows = 8;

// A product, its soft-max and a sum, with buffers of their own, out of a new graph; the largest error.
float compute(ggml_backend_t backend, float seed) {
  ggml_init_params parameters = {ggml_tensor_overhead() * 16 + ggml_graph_overhead(), nullptr, true};
  ggml_context* context = ggml_init(parameters);
  ggml_tensor* matrix = ggml_new_tensor_2d(context, GGML_TYPE_F32, width, width);
  ggml_tensor* vectors = ggml_new_tensor_2d(context, GGML_TYPE_F32, width, rows);
  ggml_tensor* out = ggml_add(context, ggml_soft_max(context, ggml_mul_mat(context, matrix, vectors)), vectors);
  ggml_cgraph* graph = ggml_new_graph(context);
  ggml_build_forward_expand(graph, out);
  ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(context, backend);
  std::vector<float> a(width * width), b(width * rows), result(width * rows);
  for (int i = 0; i < width * width; ++i) a[i] = std::sin(seed + 0.1f * static_cast<float>(i)) / 8;
  for (int i = 0; i < width * rows; ++i) b[i] = std::cos(seed + 0.3f * static_cast<float>(i));
  ggml_backend_tensor_set(matrix, a.data(), 0, a.size() * sizeof(float));
  ggml_backend_tensor_set_async(backend, vectors, b.data(), 0, b.size() * sizeof(float));
  if (ggml_backend_graph_compute(backend, graph) != GGML_STATUS_SUCCESS) std::exit(1);
  ggml_backend_tensor_get_async(backend, out, result.data(), 0, result.size() * sizeof(float));
  ggml_backend_synchronize(backend);
  float error = 0;
  for (int row = 0; row < rows; ++row) {
    std::vector<double> sums(width);
    double total = 0;
    for (int column = 0; column < width; ++column) {
      for (int i = 0; i < width; ++i) sums[column] += double{a[column * width + i]} * b[row * width + i];
      total += sums[column] = std::exp(sums[column]);
    }
    for (int column = 0; column < width; ++column) {
      const double expected = sums[column] / total + b[row * width + column];
      error = std::fmax(error, static_cast<float>(std::fabs(result[row * width + column] - expected)));
    }
  }
  ggml_backend_buffer_free(buffer);
  ggml_free(context);
  return error;
}

}  // namespace

int main(int count, char** arguments) {
  const int graphs = count > 1 ? std::atoi(arguments[1]) : 1000;
  ggml_backend_load_all();
  ggml_backend_dev_t device = ggml_backend_dev_by_name("MTL0");
  ggml_backend_t backend = device ? ggml_backend_dev_init(device, nullptr) : nullptr;
  if (!backend) return 1;
  float error = 0;
  for (int i = 0; i < 10; ++i) error = std::fmax(error, compute(backend, static_cast<float>(i)));
  const size_t before = metalloid_live_objects();
  for (int i = 0; i < graphs; ++i) error = std::fmax(error, compute(backend, static_cast<float>(i)));
  const size_t after = metalloid_live_objects();
  std::printf("%d graphs, %zd more objects, error %s\n", graphs, static_cast<ssize_t>(after - before),
              error < 1e-4f ? "small" : "large");
  ggml_backend_free(backend);
  return after == before && error < 1e-4f ? 0 : 1;
}
