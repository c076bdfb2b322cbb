// SPDX-License-Identifier: Apache-2.0

// A device with a bulk pair on the faked usbfs of the tests: in this process, without a kernel's USB.

#include "cfloor_usb.h"

#include <CFakeUSB.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 0x81, OUT = 0x01 };

struct cfloor_usb_fake {
    fake_usb_device *device;
    size_t held;
    uint8_t bytes[CFLOOR_FRAME_LIMIT], answer[CFLOOR_FRAME_LIMIT];
};

// The device, its configuration, a vendor-specific interface, and two bulk endpoints with packets of 512 bytes.
const uint8_t cfloor_usb_fake_descriptors[cfloor_usb_fake_descriptors_size] = {
    18, 1, 0, 2, 0, 0, 0, 64, 0x09, 0x12, 0xBE, 0, 0, 1, 1, 2, 3, 1,
    9, 2, 32, 0, 1, 1, 0, 0x80, 50,
    9, 4, 0, 0, 2, 0xFF, 0, 0, 0,
    7, 5, IN, 2, 0, 2, 0,
    7, 5, OUT, 2, 0, 2, 0,
};

// Answers AF1 frames with their own payload, and HELLO as an accessory does. Frames come whole.
static void answer(void *context) {
    static const uint8_t hello[] = {0x01, 0xEE, 0xFF, 0xC0, 0x00, 0x10, 0x01, 0x00};
    struct cfloor_usb_fake *fake = context;
    uint8_t *held = fake->bytes;
    unsigned flags;
    long count;
    while ((count = fake_usb_next_output(fake->device, OUT, held + fake->held, sizeof fake->bytes - fake->held, &flags))
           >= 0) {
        fake->held += (size_t)count;
        ssize_t length = 0;
        while (fake->held <= sizeof fake->bytes && (length = cfloor_frame_length(held, fake->held)) > 0) {
            size_t payload = (size_t)(held[6] | held[7] << 8);
            uint16_t number = (uint16_t)(held[4] | held[5] << 8);
            size_t size = held[3] == CFLOOR_HELLO
                              ? cfloor_frame(fake->answer, 2, held[3], number, hello, sizeof hello)
                              : cfloor_frame(fake->answer, 2, held[3], number, held + CFLOOR_HEADER, payload);
            fake_usb_feed(fake->device, IN, fake->answer, size);
            fake->held -= (size_t)length;
            memmove(held, held + length, fake->held);
        }
        if (length < 0 || fake->held >= sizeof fake->bytes) fake->held = 0;
    }
}

int cfloor_usb_fake_install(void) {
    if (fake_usb_install() == 4) return 0;
    errno = ENOTSUP;
    return -1;
}

struct cfloor_usb_fake *cfloor_usb_fake_plug(enum cfloor_usb_role role, size_t total, long interval) {
    struct cfloor_usb_fake *fake = calloc(1, sizeof *fake);
    if (fake) fake->device = fake_usb_plug(cfloor_usb_fake_descriptors, sizeof cfloor_usb_fake_descriptors);
    if (!fake || !fake->device) return free(fake), NULL;
    switch (role) {
    case CFLOOR_USB_SOURCE: fake_usb_source(fake->device, IN); break;
    case CFLOOR_USB_SINK: fake_usb_sink(fake->device, OUT, total, IN); break;
    case CFLOOR_USB_ECHO: fake_usb_on_output(fake->device, answer, fake); break;
    }
    if (interval && fake_usb_tick(fake->device, interval)) {
        int error = errno;
        cfloor_usb_fake_unplug(fake);
        errno = error;
        return NULL;
    }
    return fake;
}

int cfloor_usb_fake_open(struct cfloor_usb_fake *fake) { return fake_usb_open(fake->device); }

void cfloor_usb_fake_unplug(struct cfloor_usb_fake *fake) {
    fake_usb_free(fake->device);
    free(fake);
}
