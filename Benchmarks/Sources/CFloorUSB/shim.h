// SPDX-License-Identifier: Apache-2.0
#include <libusb-1.0/libusb.h>
