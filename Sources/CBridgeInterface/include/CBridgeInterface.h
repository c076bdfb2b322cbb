// SPDX-License-Identifier: Apache-2.0
//
// The service's Varlink interface: the file accessorybridge.Bridge.varlink, which the compiler embeds.
#ifndef CBRIDGEINTERFACE_H
#define CBRIDGEINTERFACE_H

#include <stddef.h>
#include <stdint.h>

/// The first byte of the file.
const uint8_t *bridge_interface(void);
/// The number of its bytes.
size_t bridge_interface_count(void);

#endif
