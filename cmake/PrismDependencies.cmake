# SPDX-License-Identifier: Apache-2.0
# Third-party libraries, all as SYSTEM. The program must start on a Linux other than the one that
# built it: spdlog, fmt and toml++ are header-only (each behind one .cpp), Program_options and zstd
# are the static archives.
set(Boost_USE_STATIC_LIBS ON)
set(Boost_NO_WARN_NEW_VERSIONS ON)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

add_library(prism_third_fmt INTERFACE)
target_link_libraries(prism_third_fmt INTERFACE fmt::fmt-header-only)

# spdlog::spdlog_header_only links the shared fmt of the distribution; take only its headers.
add_library(prism_third_spdlog INTERFACE)
get_target_property(PRISM_SPDLOG_INCLUDE spdlog::spdlog_header_only INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(prism_third_spdlog SYSTEM INTERFACE ${PRISM_SPDLOG_INCLUDE})
target_compile_definitions(prism_third_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
target_link_libraries(prism_third_spdlog INTERFACE prism_third_fmt Threads::Threads)

add_library(prism_third_toml INTERFACE)
target_include_directories(prism_third_toml SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIR})
target_compile_definitions(prism_third_toml INTERFACE TOML_HEADER_ONLY=1 TOML_EXCEPTIONS=0)

add_library(prism_third_xxhash INTERFACE)
target_include_directories(prism_third_xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})
target_compile_definitions(prism_third_xxhash INTERFACE XXH_INLINE_ALL)

find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
find_library(ZSTD_ARCHIVE libzstd.a REQUIRED)
add_library(prism_third_zstd INTERFACE)
target_include_directories(prism_third_zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIR})
target_link_libraries(prism_third_zstd INTERFACE ${ZSTD_ARCHIVE})

add_library(prism_third_dll INTERFACE)
target_link_libraries(prism_third_dll INTERFACE Boost::headers ${CMAKE_DL_LIBS})
target_compile_definitions(prism_third_dll INTERFACE BOOST_DLL_USE_STD_FS)

if(PRISM_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(PRISM_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
