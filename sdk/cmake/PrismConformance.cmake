# SPDX-License-Identifier: Apache-2.0
# prism_add_conformance_test(TARGET [OPTIONS file] [SAMPLES files...] [ARGS arguments...])
#
# A ctest <ID>.conformance, label conformance: `prism plugin check` on the folder of that plugin
# (plugin_<ID>, made by prism_add_plugin).
#
#   OPTIONS  TOML file with [plugins.options.<ID>], for a plugin with required options
#   SAMPLES  files of one trace that a format imports; needed where it does not export too
#   ARGS     more arguments of the command, e.g. --skip REGEX --seed 7
include_guard(GLOBAL)
include(CTest)

function(prism_add_conformance_test target)
  cmake_parse_arguments(ARG "" "OPTIONS" "SAMPLES;ARGS" ${ARGN})
  if(NOT TARGET ${target} OR NOT target MATCHES "^plugin_(.*)$")
    message(FATAL_ERROR "prism_add_conformance_test: '${target}' is no plugin target (plugin_<ID>) that is defined yet")
  endif()
  set(id ${CMAKE_MATCH_1})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "prism_add_conformance_test(${target}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(options)
  if(ARG_OPTIONS)
    get_filename_component(file ${ARG_OPTIONS} ABSOLUTE)
    set(options --options ${file})
  endif()
  set(samples)
  foreach(sample IN LISTS ARG_SAMPLES)
    get_filename_component(file ${sample} ABSOLUTE)
    list(APPEND samples --sample ${file})
  endforeach()
  add_test(NAME ${id}.conformance
    COMMAND prism::prism plugin check $<TARGET_FILE_DIR:${target}> ${options} ${samples} ${ARG_ARGS})
  set_tests_properties(${id}.conformance PROPERTIES LABELS conformance TIMEOUT 300)
endfunction()
