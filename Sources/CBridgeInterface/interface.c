// SPDX-License-Identifier: Apache-2.0
#include "CBridgeInterface.h"

// A C compiler embeds the file in no time; as a Swift array of 20,000 numbers it takes seconds.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t bytes[] = {
#embed "accessorybridge.Bridge.varlink"
};

const uint8_t *bridge_interface(void) { return bytes; }
size_t bridge_interface_count(void) { return sizeof bytes; }
