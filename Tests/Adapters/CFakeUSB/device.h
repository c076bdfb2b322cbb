// SPDX-License-Identifier: Apache-2.0

#ifndef C_FAKE_USB_DEVICE_H
#define C_FAKE_USB_DEVICE_H

#include "CFakeUSB.h"

#include <linux/usbdevice_fs.h>
#include <pthread.h>
#include <sys/types.h>

// A transfer that was submitted and not reaped.
struct urb {
    struct urb *next;
    struct usbdevfs_urb *user;
    int status;
    int actual;
    unsigned char *input; // copied to the user when it is reaped, as usbfs does
    int isFromSource;     // its bytes are those of a source instead, from here on
    size_t position;
};

// Bytes that go together.
struct message {
    struct message *next;
    unsigned flags;
    size_t count, taken;
    unsigned char bytes[];
};

struct endpoint {
    struct message *messages; // to the host, or from it where nothing echoes
    uint8_t echo;             // the endpoint that gives back what comes here; 0 for none
    int isHeld, isHalted;
    int isSource;                // always has bytes
    size_t position;             // how many it has sent or swallowed
    size_t swallowed;            // a sink answers when it has swallowed so many; 0 where it is none
    uint8_t answer;              // on this endpoint
    int failures, failure;
    int submitted, pending, mostPending, longest, latest;
};

struct interface {
    int isClaimed, isTaken, alternate;
    char driver[64];
};

enum { ENDPOINTS = 32, INTERFACES = 32, FILLING = 2048 };

struct fake_usb_device {
    struct fake_usb_device *next;
    int mine, theirs; // the two ends of the node's socket pair; theirs is -1 once it was opened
    dev_t device;
    ino_t inode;
    int isGone, isReady;
    size_t filled; // bytes in the socket's buffer
    off_t position;
    size_t descriptorCount;
    unsigned char *descriptors;
    struct urb *pending, *done;
    struct endpoint endpoints[ENDPOINTS];
    struct interface interfaces[INTERFACES];
    int clearedHalts, claimFailure, resets, resetFailure;
    long interval; // nanoseconds between two ticks at which transfers end; 0 where they end at once
    int isTicking;
    pthread_t ticker;
    void (*onOutput)(void *);
    void *onOutputContext;
    int hasOutput;
};

// One lock for all devices: what is faked is slow anyway.
extern pthread_mutex_t fake_usb_lock;
#define LOCKED(body) do { pthread_mutex_lock(&fake_usb_lock); body; pthread_mutex_unlock(&fake_usb_lock); } while (0)

// The calls below want the lock.

struct endpoint *endpoint_of(fake_usb_device *device, uint8_t address);
// Sees to it that the client's poll says what usbfs would. `client` is its descriptor, or -1 where that isn't known.
void set_ready(fake_usb_device *device, int client, int isReady);
// Carries what can be carried; with ticks, what can be carried now.
void pump(fake_usb_device *device);
// One transfer of this endpoint goes as far as it can. Returns whether it did.
int carry(fake_usb_device *device, struct urb *urb);
// A message to the host, or from it.
void push(struct endpoint *endpoint, const void *bytes, size_t count, unsigned flags);
void finish(fake_usb_device *device, struct urb *urb, int status);
// Takes the oldest pending transfer of the endpoint out of the list.
struct urb *take_pending(fake_usb_device *device, uint8_t address);
// What a source sends: `count` bytes from `position` on.
void copy_source(void *bytes, size_t position, size_t count);
// A sink swallows bytes.
void swallow(fake_usb_device *device, struct endpoint *endpoint, const void *bytes, size_t count);
// Ends the thread that ticks. Wants that the lock is free.
void stop_ticking(fake_usb_device *device);
// The answer to one ioctl of usbfs: what it returns, or -errno.
int usbfs_ioctl(fake_usb_device *device, int client, unsigned long request, void *argument);

#endif
