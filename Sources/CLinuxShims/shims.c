// SPDX-License-Identifier: Apache-2.0
// SwiftPM wants a source file in a C target; the shims themselves are header only.
#include "CLinuxShims.h"
