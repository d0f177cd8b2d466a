# SPDX-License-Identifier: Apache-2.0
# prism_warnings(TARGET): our own code compiles without a warning; third-party headers are SYSTEM.
# prism_library(NAME SOURCES... [LINK targets...]): a static library of core, one per layer.

set(PRISM_CXX_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns wrongly about "literal" + std::string (gcc bug 105651).
  list(APPEND PRISM_CXX_WARNINGS -Wno-restrict)
endif()

if(PRISM_SANITIZE)
  # -O1 -g1: sanitized code compiles much faster so, and reports still name lines.
  add_compile_options(-O1 -g1
    -fsanitize=${PRISM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PRISM_SANITIZE})
endif()

function(prism_warnings target)
  target_compile_options(${target} PRIVATE
    ${PRISM_CXX_WARNINGS}
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>)
endfunction()

function(prism_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC prism_sdk ${ARG_LINK} PRIVATE ${ARG_LINK_PRIVATE})
  prism_warnings(${name})
endfunction()
