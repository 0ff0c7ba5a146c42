option(METALLOID_BATCHES "Compile several files at a time" ON)

# Compiles a target's files in so many batches: what they include and instantiate together takes most of a build. Which
# batch a file is in depends on its name alone, so that a new file moves no other. Names of anonymous namespaces meet
# within a batch.
function(compile_in_batches target count)
  if(NOT METALLOID_BATCHES)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(GET source FILENAME name)
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 6 digits)
    math(EXPR batch "0x${digits} % ${count}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP batch_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
