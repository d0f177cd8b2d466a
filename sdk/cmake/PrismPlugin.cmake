# SPDX-License-Identifier: Apache-2.0
# prism_add_plugin(ID KIND kind VERSION x.y.z SUMMARY "..." SOURCES files...
#                  [LINK targets...] [COMPANIONS targets...] [PYTHON dir] [LICENSE spdx]
#                  [INTERFACES ids...] [DRAFTS ids...] [REQUIRES what version ...] [ROOT dir])
#
# Builds the target plugin_<ID>: the folder <ROOT>/<ID> with libprism_<ID>.so, its generated
# plugin.toml, companions and Python files, and installs the same folder.
#
#   INTERFACES  default: prism.<KIND>/1. DRAFTS: default: those of them that the SDK keeps in
#               prism/abi/draft.
#   COMPANIONS  libraries or programs that another program loads, defined before this call; what
#               they export goes into their target property PRISM_EXPORTS.
#   PYTHON      files of this folder are copied to <ID>/python.
#   REQUIRES    pairs for the manifest's [requires], e.g. torch "==2.11.*"; told when loading fails.
#   ROOT        where the folder is built; default: the build tree's plugin folder. A plugin with a
#               ROOT of its own is not installed.
#
# Sources see PRISM_PLUGIN_ID and PRISM_PLUGIN_VERSION, for the PRISM_PLUGIN macro. The target
# check-<ID> runs `prism plugin check` on the folder.
#
# prism_add_plugin_test(ID SOURCES files... [LINK targets...])
#
# A unit test of that plugin, registered with ctest as <ID>.unit: a program of the plugin's own
# sources and of these, without the program prism (prism/sdk/testing/fake_host.hpp).
#
# A project may be in C, in C++ or in both: project(x LANGUAGES C).
include_guard(GLOBAL)
include(GNUInstallDirs)

set(PRISM_PLUGIN_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})
if(NOT prism_INCLUDE_DIR)
  get_filename_component(prism_INCLUDE_DIR ${CMAKE_CURRENT_LIST_DIR}/../include ABSOLUTE)
endif()
set(PRISM_PLUGIN_ABI_MAJOR 1)
# Relative to the build tree and to the install prefix; the program is in bin/ of both.
set(PRISM_PLUGIN_SUBDIR prism/plugins/abi-${PRISM_PLUGIN_ABI_MAJOR})

get_property(PRISM_PLUGIN_LANGUAGES GLOBAL PROPERTY ENABLED_LANGUAGES)
if(CXX IN_LIST PRISM_PLUGIN_LANGUAGES)
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles("
#include <string>
#if !defined(_GLIBCXX_USE_CXX11_ABI) || !_GLIBCXX_USE_CXX11_ABI
#error old
#endif
int main() {}" PRISM_CXX11_ABI)
endif()

# A list as the inside of a TOML array of strings.
function(prism_toml_strings out)
  set(items ${ARGN})
  list(TRANSFORM items REPLACE "^.+$" "\"\\0\"")
  list(JOIN items ", " joined)
  set(${out} "${joined}" PARENT_SCOPE)
endfunction()

function(prism_plugin_python target source_dir destination)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${source_dir} ${source_dir}/*)
  list(FILTER files EXCLUDE REGEX "(^|/)(__pycache__|\\.)|\\.pyc$")
  # A file that left the sources leaves the build tree too.
  file(GLOB_RECURSE old RELATIVE ${destination} ${destination}/*)
  foreach(file IN LISTS old)
    if(NOT file IN_LIST files)
      file(REMOVE ${destination}/${file})
    endif()
  endforeach()
  set(copies)
  foreach(file IN LISTS files)
    add_custom_command(OUTPUT ${destination}/${file}
      COMMAND ${CMAKE_COMMAND} -E copy ${source_dir}/${file} ${destination}/${file}
      DEPENDS ${source_dir}/${file} VERBATIM)
    list(APPEND copies ${destination}/${file})
  endforeach()
  add_custom_target(${target}_python ALL DEPENDS ${copies})
  add_dependencies(${target} ${target}_python)
endfunction()

# A companion library exports what PRISM_EXPORTS names and nothing else: headers of a framework may
# force default visibility on what they instantiate.
function(prism_plugin_exports companion)
  get_target_property(type ${companion} TYPE)
  if(NOT type MATCHES "^(MODULE|SHARED)_LIBRARY$")
    return()
  endif()
  get_target_property(exports ${companion} PRISM_EXPORTS)
  set(global "")
  if(exports)
    list(JOIN exports "; " names)
    set(global "global: ${names}; ")
  endif()
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${companion}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "{ ${global}local: *; };\n" @ONLY)
  target_link_options(${companion} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${companion} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# Ends the configuration where the SDK has no interface prism.<KIND>/1.
function(prism_check_kind id kind)
  file(GLOB headers ${prism_INCLUDE_DIR}/prism/abi/*.h ${prism_INCLUDE_DIR}/prism/abi/draft/*.h)
  set(kinds)
  foreach(header IN LISTS headers)
    file(STRINGS ${header} ids REGEX "^#define PRISM_[A-Z_]+_1 \"prism\\.[a-z_]+/1\"")
    foreach(line IN LISTS ids)
      string(REGEX REPLACE ".*\"prism\\.([a-z_]+)/1\".*" "\\1" name "${line}")
      list(APPEND kinds ${name})
    endforeach()
  endforeach()
  list(SORT kinds)
  if(NOT kind IN_LIST kinds)
    list(JOIN kinds ", " choices)
    message(FATAL_ERROR "prism_add_plugin(${id}): there is no KIND '${kind}'; choose from ${choices}, or name your INTERFACES")
  endif()
endfunction()

function(prism_add_plugin id)
  cmake_parse_arguments(ARG "" "KIND;VERSION;SUMMARY;PYTHON;LICENSE;ROOT"
    "SOURCES;LINK;COMPANIONS;INTERFACES;DRAFTS;REQUIRES" ${ARGN})
  if(NOT id MATCHES "^[a-z][a-z0-9_]+(\\.[a-z0-9_]+)*$")
    message(FATAL_ERROR "prism_add_plugin: '${id}' is no plugin id: use a-z, 0-9 and _, or reverse DNS")
  endif()
  foreach(needed KIND VERSION SUMMARY SOURCES)
    if(NOT ARG_${needed})
      message(FATAL_ERROR "prism_add_plugin(${id}): ${needed} is missing")
    endif()
  endforeach()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "prism_add_plugin(${id}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_LICENSE)
    set(ARG_LICENSE Apache-2.0)
  endif()
  if(NOT ARG_INTERFACES)
    prism_check_kind(${id} "${ARG_KIND}")
    set(ARG_INTERFACES prism.${ARG_KIND}/1)
  endif()
  if(NOT ARG_DRAFTS)
    foreach(interface IN LISTS ARG_INTERFACES)
      string(REGEX REPLACE "^prism\\.(.*)/[0-9]+$" "\\1" name ${interface})
      if(EXISTS ${prism_INCLUDE_DIR}/prism/abi/draft/${name}.h)
        list(APPEND ARG_DRAFTS ${interface})
      endif()
    endforeach()
  endif()
  if(ARG_ROOT)
    set(folder ${ARG_ROOT}/${id})
  else()
    set(folder ${PROJECT_BINARY_DIR}/lib/${PRISM_PLUGIN_SUBDIR}/${id})
  endif()

  set(target plugin_${id})
  add_library(${target} MODULE ${ARG_SOURCES})
  # The C++ layer asks for C++20, which a project without C++ cannot give.
  if(CXX IN_LIST PRISM_PLUGIN_LANGUAGES)
    target_link_libraries(${target} PRIVATE prism::sdk ${ARG_LINK})
  else()
    target_link_libraries(${target} PRIVATE prism::abi ${ARG_LINK})
  endif()
  target_compile_definitions(${target} PRIVATE
    PRISM_PLUGIN_ID="${id}" PRISM_PLUGIN_VERSION="${ARG_VERSION}")
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>)
  if(COMMAND prism_warnings)
    prism_warnings(${target})
  endif()
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME prism_${id} PREFIX lib SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY ${folder}
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  set(map ${PRISM_PLUGIN_CMAKE_DIR}/prism_plugin_v1.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,--exclude-libs,ALL)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
  # The sanitizer runtime of clang is in the program only: there, undefined symbols are expected.
  if(NOT (CMAKE_CXX_COMPILER_ID MATCHES Clang
          AND "${PRISM_SANITIZE}${CMAKE_CXX_FLAGS}" MATCHES "address|thread|undefined|memory"))
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()

  foreach(companion IN LISTS ARG_COMPANIONS)
    if(NOT TARGET ${companion})
      message(FATAL_ERROR "prism_add_plugin(${id}): companion '${companion}' is no target (yet)")
    endif()
    set_target_properties(${companion} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${folder} RUNTIME_OUTPUT_DIRECTORY ${folder})
    prism_plugin_exports(${companion})
    add_dependencies(${target} ${companion})
  endforeach()
  if(ARG_PYTHON)
    get_filename_component(python ${ARG_PYTHON} ABSOLUTE)
    prism_plugin_python(${target} ${python} ${folder}/python)
  endif()

  prism_plugin_manifest(${folder}/plugin.toml)
  add_custom_target(check-${id} COMMAND prism::prism plugin check ${folder}
    DEPENDS ${target} USES_TERMINAL VERBATIM)

  if(NOT ARG_ROOT)
    set(destination ${CMAKE_INSTALL_LIBDIR}/${PRISM_PLUGIN_SUBDIR}/${id})
    install(TARGETS ${target} ${ARG_COMPANIONS}
      LIBRARY DESTINATION ${destination} RUNTIME DESTINATION ${destination})
    install(FILES ${folder}/plugin.toml DESTINATION ${destination})
    if(ARG_PYTHON)
      install(DIRECTORY ${folder}/python DESTINATION ${destination} PATTERN __pycache__ EXCLUDE)
    endif()
  endif()
endfunction()

function(prism_add_plugin_test id)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(NOT TARGET plugin_${id} OR NOT ARG_SOURCES)
    message(FATAL_ERROR "prism_add_plugin_test(ID SOURCES files...): the plugin '${id}' must be there, and sources")
  endif()
  set(target plugin_${id}_test)
  add_executable(${target} $<TARGET_PROPERTY:plugin_${id},SOURCES> ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE
    $<TARGET_PROPERTY:plugin_${id},LINK_LIBRARIES> ${ARG_LINK})
  foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS)
    set_target_properties(${target} PROPERTIES
      ${property} $<TARGET_PROPERTY:plugin_${id},${property}>)
  endforeach()
  add_test(NAME ${id}.unit COMMAND ${target})
endfunction()

# Writes the manifest of the plugin that the calling prism_add_plugin describes.
macro(prism_plugin_manifest file)
  string(REPLACE "\\" "\\\\" summary "${ARG_SUMMARY}")
  string(REPLACE "\"" "\\\"" summary "${summary}")
  prism_toml_strings(interfaces ${ARG_INTERFACES})
  prism_toml_strings(drafts ${ARG_DRAFTS})
  set(sanitizers "${PRISM_SANITIZE}")
  if(NOT sanitizers AND "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize=([a-z,]+)")
    set(sanitizers ${CMAKE_MATCH_1})
  endif()
  string(REPLACE "," ";" sanitizers "${sanitizers}")
  prism_toml_strings(sanitizers ${sanitizers})
  if(CXX IN_LIST PRISM_PLUGIN_LANGUAGES)
    set(language CXX)
    set(build "std = \"c++20\"\ncxx11_abi = $<IF:$<BOOL:${PRISM_CXX11_ABI}>,true,false>")
  else()
    set(language C)
    set(build "std = \"c11\"")
  endif()
  set(requires "")
  set(pairs ${ARG_REQUIRES})
  while(pairs)
    list(POP_FRONT pairs what version)
    string(APPEND requires "${what} = \"${version}\"\n")
  endwhile()
  set(companions "")
  foreach(companion IN LISTS ARG_COMPANIONS)
    set(exports "$<TARGET_PROPERTY:${companion},PRISM_EXPORTS>")
    string(APPEND companions "[[companion]]\nfile = \"$<TARGET_FILE_NAME:${companion}>\"\n"
      "exports = [$<$<BOOL:${exports}>:\"$<JOIN:${exports},\"$<COMMA> \">\">]\n")
  endforeach()
  file(GENERATE OUTPUT ${file} CONTENT "# Written by prism_add_plugin.
manifest = 1
[plugin]
id = \"${id}\"
version = \"${ARG_VERSION}\"
library = \"libprism_${id}.so\"
summary = \"${summary}\"
license = \"${ARG_LICENSE}\"
[abi]
major = ${PRISM_PLUGIN_ABI_MAJOR}
min_host_minor = 0
drafts = [${drafts}]
[provides]
interfaces = [${interfaces}]
[requires]
${requires}[build]
compiler = \"${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION}\"
${build}
sanitizers = [${sanitizers}]
${companions}")
endmacro()
