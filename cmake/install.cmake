# What `cmake --install` puts under its prefix, and the Python wheel under the package's folder: the library, its
# headers, the command line, and what CMake (find_package(metalloid)) and pkg-config need to find them.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/metalloid)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS metalloid EXPORT metalloid_targets COMPONENT metalloid
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS metalloid_compiler RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT metalloid)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/metalloid DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT metalloid)
# Metal's host API: its library, and Apple's headers by their names.
install(TARGETS metalloid_metal LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT metalloid)
if(SKBUILD)
  set(sdk_folder sdk)
else()
  set(sdk_folder ${CMAKE_INSTALL_DATADIR}/metalloid/sdk)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/metal/include DESTINATION ${sdk_folder} COMPONENT metalloid
        PATTERN ".clang-format" EXCLUDE)
if(TARGET metalloid_cli)
  install(TARGETS metalloid_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT metalloid)
endif()

# The library brings what it links to itself, so its targets are the whole package.
install(EXPORT metalloid_targets FILE metalloid-config.cmake NAMESPACE metalloid:: DESTINATION ${package_folder}
        COMPONENT metalloid)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/metalloid-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/metalloid-config-version.cmake DESTINATION ${package_folder}
        COMPONENT metalloid)

# Relative to its own place, so that an installed tree can be moved.
file(RELATIVE_PATH prefix_from_pkgconfig /prefix/${pkgconfig_folder} /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/metalloid.pc.in ${CMAKE_CURRENT_BINARY_DIR}/metalloid.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/metalloid.pc DESTINATION ${pkgconfig_folder} COMPONENT metalloid)
