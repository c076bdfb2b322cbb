// SPDX-License-Identifier: Apache-2.0

#ifndef C_FAKE_USB_REDIRECT_H
#define C_FAKE_USB_REDIRECT_H

#include <sys/types.h>

// What stands for usbfs, by the libc functions that libusb calls.
struct fake_calls {
    int (*ioctl)(int, unsigned long, ...);
    ssize_t (*read)(int, void *, size_t);
    off_t (*lseek)(int, off_t, int);
    ssize_t (*readlink)(const char *, char *, size_t);
};

// Puts `fake` in the place of libc's in libusb's relocation table. Returns how many of the four were found.
int redirect_libusb(const struct fake_calls *fake);

#endif
