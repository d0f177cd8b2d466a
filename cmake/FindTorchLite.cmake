# SPDX-License-Identifier: Apache-2.0
# Finds the headers, libtorch_cpu and libc10 of an installed PyTorch, without importing it and without
# the CUDA toolkit that find_package(Torch) would ask for.
#
#   PRISM_TORCH_ROOT       folder of the torch package (or of a libtorch); default: asked from Python
#   PRISM_TORCH_PYTHON     the Python to ask; default: .venv/bin/python of the source tree, python3
#
# Sets TorchLite_FOUND, TorchLite_VERSION, TorchLite_TAG (major and minor: 211 for 2.11) and
# TorchLite_REASON when not found. Targets: TorchLite::torch_cpu (with TorchLite::c10).
set(TorchLite_REASON)
if(NOT PRISM_TORCH_ROOT)
  if(NOT PRISM_TORCH_PYTHON)
    if(EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
      set(PRISM_TORCH_PYTHON ${PROJECT_SOURCE_DIR}/.venv/bin/python)
    else()
      find_program(PRISM_TORCH_PYTHON python3)
    endif()
  endif()
  if(PRISM_TORCH_PYTHON)
    execute_process(
      COMMAND ${PRISM_TORCH_PYTHON} -c
        "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE TorchLite_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT TorchLite_ROOT)
      set(TorchLite_REASON "${PRISM_TORCH_PYTHON} has no torch")
    endif()
  else()
    set(TorchLite_REASON "there is no python3")
  endif()
else()
  set(TorchLite_ROOT ${PRISM_TORCH_ROOT})
endif()

set(TorchLite_VERSION)
if(TorchLite_ROOT)
  set(header ${TorchLite_ROOT}/include/torch/headeronly/version.h)
  if(NOT EXISTS ${header})
    set(header ${TorchLite_ROOT}/include/torch/csrc/api/include/torch/version.h)
  endif()
  if(EXISTS ${header})
    file(READ ${header} text)
    foreach(part MAJOR MINOR PATCH)
      if(text MATCHES "#define TORCH_VERSION_${part} ([0-9]+)")
        set(TorchLite_${part} ${CMAKE_MATCH_1})
      endif()
    endforeach()
    set(TorchLite_VERSION ${TorchLite_MAJOR}.${TorchLite_MINOR}.${TorchLite_PATCH})
    set(TorchLite_TAG ${TorchLite_MAJOR}${TorchLite_MINOR})
  endif()
  set(TorchLite_CPU ${TorchLite_ROOT}/lib/libtorch_cpu.so)
  set(TorchLite_C10 ${TorchLite_ROOT}/lib/libc10.so)
  if(NOT TorchLite_VERSION OR NOT EXISTS ${TorchLite_CPU} OR NOT EXISTS ${TorchLite_C10})
    set(TorchLite_REASON "${TorchLite_ROOT} lacks include/torch/**/version.h, lib/libtorch_cpu.so or lib/libc10.so")
    set(TorchLite_VERSION)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TorchLite
  REQUIRED_VARS TorchLite_ROOT TorchLite_VERSION VERSION_VAR TorchLite_VERSION
  REASON_FAILURE_MESSAGE "${TorchLite_REASON}")

if(TorchLite_FOUND AND NOT TARGET TorchLite::torch_cpu)
  add_library(TorchLite::c10 SHARED IMPORTED)
  add_library(TorchLite::torch_cpu SHARED IMPORTED)
  set_target_properties(TorchLite::c10 PROPERTIES IMPORTED_LOCATION ${TorchLite_C10}
    INTERFACE_INCLUDE_DIRECTORIES
    "${TorchLite_ROOT}/include;${TorchLite_ROOT}/include/torch/csrc/api/include")
  set_target_properties(TorchLite::torch_cpu PROPERTIES IMPORTED_LOCATION ${TorchLite_CPU}
    INTERFACE_LINK_LIBRARIES TorchLite::c10)
endif()
