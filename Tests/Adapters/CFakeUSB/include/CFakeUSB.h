// SPDX-License-Identifier: Apache-2.0

// USB devices without USB: usbfs as libusb sees it, made up in this process.
//
// libusb's own calls of ioctl, read, lseek and readlink are redirected, by its relocation table; the rest of the process
// keeps libc's. A device's node is one end of a socket pair, whose readiness follows usbfs: writable when a transfer is
// finished, in error when the device is gone. Nodes are told by inode, so closing and duplicating need no redirection.
// All functions may be called by any thread.

#ifndef C_FAKE_USB_H
#define C_FAKE_USB_H

#include <stddef.h>
#include <stdint.h>

typedef struct fake_usb_device fake_usb_device;

/// Redirects libusb's calls. Before libusb_init. Returns how many of the calls were found; all four must be.
int fake_usb_install(void);

/// Plugs a device in whose node reads as these bytes: its device and configuration descriptors.
fake_usb_device *fake_usb_plug(const uint8_t *descriptors, size_t count);
/// Stands for opening the node; once. The descriptor is the caller's. -1 with errno.
int fake_usb_open(fake_usb_device *device);
/// Frees what was unplugged. The node must be closed.
void fake_usb_free(fake_usb_device *device);

/// How a device goes.
enum fake_usb_gone {
    /// Transfers end with ESHUTDOWN, the node is in error and hung up: what the kernel does.
    FAKE_USB_GONE_AT_ONCE,
    /// Transfers end with EPROTO first; the node follows later, by the call with FAKE_USB_GONE_SILENTLY.
    FAKE_USB_GONE_FAILING,
    /// The node is in error; transfers stay pending.
    FAKE_USB_GONE_SILENTLY,
    /// The node is hung up but not in error, so that libusb sees nothing; transfers stay pending.
    FAKE_USB_GONE_HUNG_UP,
};
void fake_usb_unplug(fake_usb_device *device, enum fake_usb_gone how);

/// What is written to `out` comes back on `in`, a message a transfer.
void fake_usb_echo(fake_usb_device *device, uint8_t out, uint8_t in);
/// The device sends one message.
void fake_usb_feed(fake_usb_device *device, uint8_t in, const void *bytes, size_t count);
/// Takes the next transfer that went to `out`, where there is no echo; -1 when there is none. `flags` are its usbfs flags.
long fake_usb_next_output(fake_usb_device *device, uint8_t out, void *bytes, size_t size, unsigned *flags);
/// Calls `body` after each transfer that goes to an endpoint without echo, on the thread that submitted it.
void fake_usb_on_output(fake_usb_device *device, void (*body)(void *context), void *context);
/// `in` always has bytes, and fills each transfer: the byte at position n of all it sends is n % 251.
void fake_usb_source(fake_usb_device *device, uint8_t in);
/// What goes to `out` is swallowed, and each `total` bytes of it are answered with one byte on `in`.
void fake_usb_sink(fake_usb_device *device, uint8_t out, size_t total, uint8_t in);
/// From now on transfers end at ticks only, so many nanoseconds apart: the oldest of each endpoint that can, as on a bus
/// that takes that long for each. `onOutput` is then called by the thread that ticks. Once, before the node is opened;
/// -1 with errno.
int fake_usb_tick(fake_usb_device *device, long nanoseconds);
/// While held, transfers of the endpoint stay pending: the device answers NAK.
void fake_usb_hold(fake_usb_device *device, uint8_t endpoint, int isHeld);
/// Ends the oldest pending transfer of the endpoint with -errno after `count` of its bytes. 0 when none is pending.
int fake_usb_finish(fake_usb_device *device, uint8_t endpoint, int status, size_t count);
/// Ends the next `times` transfers of the endpoint, pending or to come, with -errno. EPIPE halts it until it is cleared.
void fake_usb_fail(fake_usb_device *device, uint8_t endpoint, int status, int times);
/// The kernel's driver `name` has the interface; the empty name takes it away.
void fake_usb_bind(fake_usb_device *device, unsigned interface, const char *name);
/// Another process has, or no longer has, the interface.
void fake_usb_take(fake_usb_device *device, unsigned interface, int isTaken);
/// The next claim, or alternate setting, fails with -errno.
void fake_usb_fail_claim(fake_usb_device *device, int status);
/// From now on resets on the bus end with -errno; 0: they succeed.
void fake_usb_fail_reset(fake_usb_device *device, int status);

/// What a test wants to know.
int fake_usb_is_open(fake_usb_device *device);
int fake_usb_pending(fake_usb_device *device, uint8_t endpoint);
int fake_usb_is_claimed(fake_usb_device *device, unsigned interface);
int fake_usb_is_bound(fake_usb_device *device, unsigned interface);
int fake_usb_cleared_halts(fake_usb_device *device);
int fake_usb_resets(fake_usb_device *device);
int fake_usb_alternate(fake_usb_device *device, unsigned interface);
/// Transfers that were submitted, and the most that were pending at once, of this endpoint.
int fake_usb_submitted(fake_usb_device *device, uint8_t endpoint);
int fake_usb_most_pending(fake_usb_device *device, uint8_t endpoint);
/// Bytes of the longest transfer that was submitted, and of the latest, of this endpoint.
int fake_usb_longest(fake_usb_device *device, uint8_t endpoint);
int fake_usb_latest(fake_usb_device *device, uint8_t endpoint);

#endif
