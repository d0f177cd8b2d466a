# SPDX-License-Identifier: Apache-2.0
# `cpack -G "DEB;TZST"` in a build tree: a Debian package, and an archive that can be unpacked
# anywhere.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
set(CPACK_PACKAGE_NAME prism)
set(CPACK_PACKAGE_VENDOR "the authors of Prism")
set(CPACK_PACKAGE_CONTACT "the authors of Prism")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_GENERATOR DEB TZST)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the authors of Prism <none@example.com>")
find_program(PRISM_SHLIBDEPS dpkg-shlibdeps)
if(PRISM_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6, libstdc++6")
endif()
# Jobs run with the Python of the user; building plugins is up to who wants to.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, cmake, g++")
include(CPack)
