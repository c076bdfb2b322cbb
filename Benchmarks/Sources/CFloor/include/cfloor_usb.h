// SPDX-License-Identifier: Apache-2.0
//
// The same on USB: a device with a bulk pair, which is a C process that the kernel's vhci_hcd takes for real, and a plain
// program on libusb. Needs root and that module.

#ifndef CFLOOR_USB_H
#define CFLOOR_USB_H

#include "cfloor.h"

// All functions return -1 with `errno` set when they fail, unless said otherwise.

enum cfloor_usb_role {
    // Sends as much as the host asks for.
    CFLOOR_USB_SOURCE,
    // Takes `total` bytes and answers with one byte, again and again.
    CFLOOR_USB_SINK,
    // Answers AF1 frames with their own payload.
    CFLOOR_USB_ECHO,
};
struct cfloor_usb_device {
    pid_t pid;
    char node[64];
};
// Plugs a device in and waits for its node.
int cfloor_usb_plug(enum cfloor_usb_role role, size_t total, struct cfloor_usb_device *device);
void cfloor_usb_unplug(struct cfloor_usb_device *device);

// The same device on the faked usbfs of the tests, in this process. To be installed before libusb is used.
int cfloor_usb_fake_install(void);
struct cfloor_usb_fake;
// Plugs one in whose transfers end at once, or so many nanoseconds apart. NULL when that fails.
struct cfloor_usb_fake *cfloor_usb_fake_plug(enum cfloor_usb_role role, size_t total, long interval);
// What stands for opening its node: once. The descriptor is the caller's.
int cfloor_usb_fake_open(struct cfloor_usb_fake *fake);
// The node must be closed.
void cfloor_usb_fake_unplug(struct cfloor_usb_fake *fake);
// What its node reads as.
enum { cfloor_usb_fake_descriptors_size = 50 };
extern const uint8_t cfloor_usb_fake_descriptors[cfloor_usb_fake_descriptors_size];

// A plain program on a node that was opened; it closes it. NULL when that fails.
struct cfloor_usb_host;
struct cfloor_usb_host *cfloor_usb_open(int fd);
void cfloor_usb_close(struct cfloor_usb_host *host);
// With `cfloor_usb_flight` transfers at a time of the size that the transport has for a stream. They return 0.
enum { cfloor_usb_flight = 4, cfloor_usb_size = 65536 };
int cfloor_usb_receive(struct cfloor_usb_host *host, size_t total);
int cfloor_usb_send(struct cfloor_usb_host *host, size_t total);
int cfloor_usb_echo(struct cfloor_usb_host *host, size_t payload, size_t count, int64_t *nanoseconds);

#endif
