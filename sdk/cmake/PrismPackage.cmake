# SPDX-License-Identifier: Apache-2.0
# The CMake package `prism`, which plugins of others find: installed, and the same in the build tree
# (-Dprism_ROOT=BUILD_TREE). Templates of `prism plugin new` are in share/ of both.
include(CMakePackageConfigHelpers)

# The version of the SDK is that of the plugin ABI, so that they cannot differ.
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/include/prism/abi/version.h lines REGEX "PRISM_ABI_M")
string(REGEX MATCH "MAJOR ([0-9]+).*MINOR ([0-9]+)" _ "${lines}")
set(PRISM_SDK_VERSION ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.0)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/prism)
set(build_package ${PROJECT_BINARY_DIR}/lib/cmake/prism)
set(config ${CMAKE_CURRENT_SOURCE_DIR}/cmake/prismConfig.cmake.in)
set(path_vars PRISM_INCLUDE_DIR PRISM_PLUGIN_DIR PRISM_MODULE_DIR)

set(PRISM_INCLUDE_DIR ${CMAKE_CURRENT_SOURCE_DIR}/include)
set(PRISM_PLUGIN_DIR ${PROJECT_BINARY_DIR}/lib/${PRISM_PLUGIN_SUBDIR})
set(PRISM_MODULE_DIR ${CMAKE_CURRENT_SOURCE_DIR}/cmake)
configure_package_config_file(${config} ${build_package}/prismConfig.cmake
  INSTALL_DESTINATION ${build_package} PATH_VARS ${path_vars})
write_basic_package_version_file(${build_package}/prismConfigVersion.cmake
  VERSION ${PRISM_SDK_VERSION} COMPATIBILITY SameMajorVersion)

set(PRISM_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR})
set(PRISM_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/${PRISM_PLUGIN_SUBDIR})
set(PRISM_MODULE_DIR ${package})
configure_package_config_file(${config} ${CMAKE_CURRENT_BINARY_DIR}/prismConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS ${path_vars})

# Other folders add targets to the export: the program does.
install(TARGETS prism_abi prism_sdk EXPORT prismTargets)
install(EXPORT prismTargets NAMESPACE prism:: DESTINATION ${package})
export(EXPORT prismTargets NAMESPACE prism:: FILE ${build_package}/prismTargets.cmake)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/prismConfig.cmake
              ${build_package}/prismConfigVersion.cmake DESTINATION ${package})
install(DIRECTORY cmake/ DESTINATION ${package}
  FILES_MATCHING PATTERN "PrismPlugin.cmake" PATTERN "PrismConformance.cmake" PATTERN "*.map")
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(templates ${CMAKE_INSTALL_DATADIR}/prism/templates)
install(DIRECTORY templates/ DESTINATION ${templates})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${templates})
set(build_templates ${PROJECT_BINARY_DIR}/${templates})
file(MAKE_DIRECTORY ${build_templates})
foreach(item common format router tensor_source)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/templates/${item} ${build_templates}/${item} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/LICENSE ${build_templates}/LICENSE SYMBOLIC)
