# SPDX-License-Identifier: Apache-2.0
# prism_add_conformance_test(TARGET [OPTIONS file])
#
# Adds the ctest conformance.<TARGET>, label conformance: `prism plugin check` of the plugin that
# prism_add_plugin built as TARGET.
#
#   OPTIONS   TOML file with [plugins.options.ID], for a plugin whose options have no usable
#             defaults; default: conformance.toml beside the plugin's CMakeLists.txt, where there is
#             one.
include_guard(GLOBAL)

function(prism_add_conformance_test target)
  cmake_parse_arguments(ARG "" "OPTIONS" "" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "prism_add_conformance_test(${target}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR
      "prism_add_conformance_test: '${target}' is no target; that of a plugin is plugin_<ID>")
  endif()
  if(NOT ARG_OPTIONS)
    get_target_property(folder ${target} SOURCE_DIR)
    if(EXISTS ${folder}/conformance.toml)
      set(ARG_OPTIONS ${folder}/conformance.toml)
    endif()
  endif()
  set(options "")
  if(ARG_OPTIONS)
    get_filename_component(file ${ARG_OPTIONS} ABSOLUTE)
    set(options --options ${file})
  endif()
  add_test(NAME conformance.${target}
    COMMAND prism::prism plugin check $<TARGET_FILE_DIR:${target}> ${options})
  set_tests_properties(conformance.${target} PROPERTIES LABELS conformance TIMEOUT 300)
endfunction()
