// SPDX-License-Identifier: Apache-2.0
//
// libusb-1.0 for Swift, with what Swift can't call: a variadic function.

#ifndef C_LIBUSB_SHIM_H
#define C_LIBUSB_SHIM_H

#include <libusb-1.0/libusb.h>

// Contexts that are made from now on neither look for devices nor start a thread that does. Must be said on the null
// context, before libusb_init: said later of one context it succeeds and changes nothing.
static inline int shim_libusb_no_discovery(void) {
    return libusb_set_option(NULL, LIBUSB_OPTION_NO_DEVICE_DISCOVERY);
}

#endif
