# Embeds header files into a C++ source that defines metalloid::stdlib::headers(), so that the library needs
# no files beside it. Texts are written as byte arrays: no limit on literal length, no escaping.

set(METALLOID_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_script.cmake)

function(embed_headers output root)
  string(REPLACE ";" "|" joined "${ARGN}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DROOT=${root} "-DHEADERS=${joined}" -P ${METALLOID_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${METALLOID_EMBED_SCRIPT} ${PROJECT_SOURCE_DIR}/cmake/byte_literals.cmake
    COMMENT "Embedding the MSL standard library" VERBATIM)
endfunction()
