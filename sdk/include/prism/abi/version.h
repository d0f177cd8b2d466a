/* SPDX-License-Identifier: Apache-2.0 */
/** Version of the plugin ABI. Additive change: minor + 1 and an entry in sdk/CHANGELOG.md. */
#pragma once

#define PRISM_ABI_MAJOR 1
#define PRISM_ABI_MINOR 0
