# SPDX-License-Identifier: Apache-2.0
# Finds NCCL: a system or toolkit installation, or the one that PyTorch's packages bring into .venv.
#
#   NCCL_ROOT     where to look first: the folder that holds include/nccl.h
#
# Sets NCCL_FOUND, NCCL_VERSION (2.28.9), NCCL_INCLUDE_DIR, NCCL_LIBRARY; target NCCL::nccl.
file(GLOB NCCL_IN_VENV ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/nccl)

# One place has to give both: a header and a library of different versions do not fit together.
find_path(NCCL_INCLUDE_DIR nccl.h
  HINTS ${NCCL_ROOT} ENV NCCL_ROOT ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include
  PATHS ${NCCL_IN_VENV})
get_filename_component(NCCL_PREFIX "${NCCL_INCLUDE_DIR}" DIRECTORY)
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 NAMES_PER_DIR
  HINTS ${NCCL_PREFIX} ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)

set(NCCL_VERSION)
if(NCCL_INCLUDE_DIR)
  file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h NCCL_DEFINES REGEX "#define NCCL_(MAJOR|MINOR|PATCH) ")
  foreach(part MAJOR MINOR PATCH)
    if(NCCL_DEFINES MATCHES "NCCL_${part} ([0-9]+)")
      list(APPEND NCCL_VERSION ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(JOIN NCCL_VERSION "." NCCL_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL
  REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR NCCL_VERSION VERSION_VAR NCCL_VERSION)
mark_as_advanced(NCCL_LIBRARY NCCL_INCLUDE_DIR)

if(NCCL_FOUND AND NOT TARGET NCCL::nccl)
  add_library(NCCL::nccl UNKNOWN IMPORTED)
  set_target_properties(NCCL::nccl PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${NCCL_INCLUDE_DIR})
endif()
