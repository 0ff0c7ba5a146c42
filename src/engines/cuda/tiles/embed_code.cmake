# Writes OUTPUT, which defines gpu_code() (gpu_code.h) as the bytes of CODE.
include(${CMAKE_CURRENT_LIST_DIR}/../../../../cmake/byte_literals.cmake)
byte_literals(${CODE} literals)
file(WRITE ${OUTPUT} "#include \"engines/cuda/tiles/gpu_code.h\"\n\nnamespace metalloid::engines::cuda {\nnamespace {\n"
  "constexpr char code[] =\n${literals};\n}  // namespace\n\n"
  "llvm::StringRef gpu_code() { return {code, sizeof(code) - 1}; }\n\n}  // namespace metalloid::engines::cuda\n")
