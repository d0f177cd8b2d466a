# SPDX-License-Identifier: Apache-2.0
# prism_skip_plugin(ID REASON): a plugin is left out of the build because its dependency is missing.
# One line, at every configuration; scripts/build.sh repeats it.
function(prism_skip_plugin id reason)
  message(NOTICE "prism: skipped plugin '${id}': ${reason}")
endfunction()
