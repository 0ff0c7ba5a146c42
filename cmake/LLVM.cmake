# Clang and LLVM 22 as static archives, linked into libmetalloid.so and hidden there: a Python process often
# holds an LLVM of its own (torch, triton, llvmlite). Debian's exported CMake targets would bring libLLVM.so.

find_program(METALLOID_LLVM_CONFIG NAMES llvm-config-22 HINTS /usr/lib/llvm-22/bin)
if(NOT METALLOID_LLVM_CONFIG)
  message(FATAL_ERROR "LLVM 22 is missing. scripts/install_dependencies.sh installs it and all else that Metalloid needs.")
endif()
execute_process(COMMAND ${METALLOID_LLVM_CONFIG} --includedir OUTPUT_VARIABLE LLVM_INCLUDE_DIRS
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${METALLOID_LLVM_CONFIG} --libdir OUTPUT_VARIABLE LLVM_LIBRARY_DIR
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

execute_process(
  COMMAND ${METALLOID_LLVM_CONFIG} --link-static --libfiles
    analysis bitreader bitwriter core coroutines irreader linker mc object orcjit jitlink passes
    support target transformutils instcombine ipo scalaropts frontendopenmp windowsdriver option coverage
    x86codegen x86asmparser x86desc x86info x86disassembler nvptx
  OUTPUT_VARIABLE llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_archives)
execute_process(
  COMMAND ${METALLOID_LLVM_CONFIG} --link-static --system-libs support
  OUTPUT_VARIABLE llvm_system_libraries OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_system_libraries)
# The archives of zlib and zstd: they are hidden with LLVM, and one thing less that must be installed.
list(TRANSFORM llvm_system_libraries REPLACE "^-l(z|zstd)$" "-l:lib\\1.a")

set(clang_archives "")
foreach(name Frontend Serialization CodeGen Parse Sema AnalysisLifetimeSafety Analysis ASTMatchers Edit AST APINotes Support Lex Basic
             Driver Options)
  if(EXISTS ${LLVM_LIBRARY_DIR}/libclang${name}.a)
    list(APPEND clang_archives ${LLVM_LIBRARY_DIR}/libclang${name}.a)
  endif()
endforeach()

add_library(metalloid_llvm_headers INTERFACE)
# Behind all others: where libc++ is installed, its <cxxabi.h> lies there too.
target_compile_options(metalloid_llvm_headers INTERFACE "SHELL:-idirafter ${LLVM_INCLUDE_DIRS}")

add_library(metalloid_llvm_archives INTERFACE)
target_link_libraries(metalloid_llvm_archives INTERFACE
  -Wl,--start-group ${clang_archives} ${llvm_archives} -Wl,--end-group ${llvm_system_libraries})
