// SPDX-License-Identifier: Apache-2.0

// What usbfs answers: Documentation/driver-api/usb/usb.rst and drivers/usb/core/devio.c say how.

#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

static void append(struct urb **list, struct urb *urb) {
    while (*list) list = &(*list)->next;
    urb->next = NULL;
    *list = urb;
}

void finish(fake_usb_device *device, struct urb *urb, int status) {
    urb->status = status;
    append(&device->done, urb);
    set_ready(device, -1, 1);
}

// Control requests that libusb makes on its own: which configuration, and strings.
static int control(const unsigned char *setup, unsigned char *reply) {
    if (setup[0] == 0x80 && setup[1] == 8) return reply[0] = 1, 1;
    if (!(setup[0] & 0x80)) return setup[6] | setup[7] << 8;
    return -EPIPE;
}

static int submit(fake_usb_device *device, struct usbdevfs_urb *user) {
    struct urb *urb = calloc(1, sizeof *urb);
    urb->user = user;
    if (user->type == USBDEVFS_URB_TYPE_CONTROL) {
        unsigned char reply[4096];
        const unsigned char *setup = user->buffer;
        int count = control(setup, reply);
        urb->actual = count > 0 ? count : 0;
        if (count > 0 && setup[0] & 0x80) {
            urb->input = malloc((size_t)count);
            memcpy(urb->input, reply, (size_t)count);
        }
        finish(device, urb, count < 0 ? count : 0);
        return 0;
    }
    struct endpoint *endpoint = endpoint_of(device, user->endpoint);
    int isClaimed = 0;
    for (int i = 0; i < INTERFACES; i++) isClaimed |= device->interfaces[i].isClaimed;
    if (!isClaimed) return free(urb), -ENOENT;
    endpoint->submitted++;
    endpoint->pending++;
    if (endpoint->pending > endpoint->mostPending) endpoint->mostPending = endpoint->pending;
    endpoint->latest = user->buffer_length;
    if (endpoint->latest > endpoint->longest) endpoint->longest = endpoint->latest;
    append(&device->pending, urb);
    pump(device);
    return 0;
}

static int discard(fake_usb_device *device, void *user) {
    for (struct urb **link = &device->pending; *link; link = &(*link)->next)
        if ((*link)->user == user) {
            struct urb *urb = *link;
            *link = urb->next;
            endpoint_of(device, urb->user->endpoint)->pending--;
            finish(device, urb, -ENOENT);
            return 0;
        }
    return -EINVAL;
}

static int reap(fake_usb_device *device, int client, void **result) {
    struct urb *urb = device->done;
    if (!urb) return device->isGone ? -ENODEV : -EAGAIN;
    device->done = urb->next;
    urb->user->status = urb->status;
    urb->user->actual_length = urb->actual;
    if (urb->isFromSource) {
        copy_source(urb->user->buffer, urb->position, (size_t)urb->actual);
    } else if (urb->input) {
        int offset = urb->user->type == USBDEVFS_URB_TYPE_CONTROL ? 8 : 0;
        memcpy((char *)urb->user->buffer + offset, urb->input, (size_t)urb->actual);
    }
    *result = urb->user;
    free(urb->input);
    free(urb);
    if (!device->done) set_ready(device, client, 0);
    return 0;
}

static int claim(fake_usb_device *device, unsigned number) {
    if (device->claimFailure) {
        int failure = device->claimFailure;
        device->claimFailure = 0;
        return failure;
    }
    if (number >= INTERFACES) return -EINVAL;
    struct interface *interface = &device->interfaces[number];
    if (interface->isTaken || interface->driver[0]) return -EBUSY;
    interface->isClaimed = 1;
    return 0;
}

static int disconnect_claim(fake_usb_device *device, struct usbdevfs_disconnect_claim *wanted) {
    if (wanted->interface >= INTERFACES) return -EINVAL;
    struct interface *interface = &device->interfaces[wanted->interface];
    if (interface->isTaken) return -EBUSY; // its driver is usbfs, which is excepted
    interface->driver[0] = 0;
    return claim(device, wanted->interface);
}

// A driver that was detached for the claim comes back when it is asked to.
static int connect_driver(fake_usb_device *device, unsigned number) {
    if (number >= INTERFACES) return -EINVAL;
    struct interface *interface = &device->interfaces[number];
    if (interface->driver[0] || interface->isClaimed) return -EBUSY;
    strcpy(interface->driver, "fakedrv");
    return 1;
}

static int get_driver(fake_usb_device *device, struct usbdevfs_getdriver *answer) {
    if (answer->interface >= INTERFACES) return -EINVAL;
    struct interface *interface = &device->interfaces[answer->interface];
    if (interface->isTaken || interface->isClaimed) return strcpy(answer->driver, "usbfs"), 0;
    if (!interface->driver[0]) return -ENODATA;
    strcpy(answer->driver, interface->driver);
    return 0;
}

int usbfs_ioctl(fake_usb_device *device, int client, unsigned long request, void *argument) {
    if (request == USBDEVFS_REAPURBNDELAY || request == USBDEVFS_REAPURB) return reap(device, client, argument);
    if (device->isGone) return -ENODEV; // even for what would only give back
    switch (request) {
    case USBDEVFS_CONNECTINFO: *(struct usbdevfs_connectinfo *)argument = (struct usbdevfs_connectinfo){5, 0}; return 0;
    case USBDEVFS_GET_SPEED: return 3; // high
    case USBDEVFS_GET_CAPABILITIES:
        *(uint32_t *)argument = USBDEVFS_CAP_ZERO_PACKET | USBDEVFS_CAP_BULK_CONTINUATION |
                                USBDEVFS_CAP_NO_PACKET_SIZE_LIM | USBDEVFS_CAP_BULK_SCATTER_GATHER |
                                USBDEVFS_CAP_REAP_AFTER_DISCONNECT;
        return 0;
    case USBDEVFS_CLAIMINTERFACE: return claim(device, *(unsigned *)argument);
    case USBDEVFS_DISCONNECT_CLAIM: return disconnect_claim(device, argument);
    case USBDEVFS_RELEASEINTERFACE: {
        unsigned number = *(unsigned *)argument;
        if (number >= INTERFACES || !device->interfaces[number].isClaimed) return -EINVAL;
        device->interfaces[number].isClaimed = 0;
        return 0;
    }
    case USBDEVFS_IOCTL: {
        struct usbdevfs_ioctl *inner = argument;
        if ((unsigned)inner->ioctl_code == USBDEVFS_CONNECT) return connect_driver(device, (unsigned)inner->ifno);
        if ((unsigned)inner->ioctl_code != USBDEVFS_DISCONNECT) return -ENOTTY;
        device->interfaces[inner->ifno & (INTERFACES - 1)].driver[0] = 0;
        return 0;
    }
    case USBDEVFS_GETDRIVER: return get_driver(device, argument);
    case USBDEVFS_SETINTERFACE: {
        struct usbdevfs_setinterface *wanted = argument;
        if (wanted->interface >= INTERFACES) return -EINVAL;
        device->interfaces[wanted->interface].alternate = (int)wanted->altsetting;
        return 0;
    }
    case USBDEVFS_CLEAR_HALT: {
        device->clearedHalts++;
        endpoint_of(device, (uint8_t) * (unsigned *)argument)->isHalted = 0;
        pump(device);
        return 0;
    }
    case USBDEVFS_RESET:
        device->resets++;
        return device->resetFailure;
    case USBDEVFS_CONTROL: {
        struct usbdevfs_ctrltransfer *wanted = argument;
        unsigned char setup[8] = {wanted->bRequestType, wanted->bRequest, wanted->wValue & 255, wanted->wValue >> 8,
                                  wanted->wIndex & 255, wanted->wIndex >> 8, wanted->wLength & 255, wanted->wLength >> 8};
        unsigned char reply[4096];
        int count = control(setup, reply);
        if (count > 0 && setup[0] & 0x80) memcpy(wanted->data, reply, (size_t)count);
        return count;
    }
    case USBDEVFS_SUBMITURB: return submit(device, argument);
    case USBDEVFS_DISCARDURB: return discard(device, argument);
    default: fprintf(stderr, "fake usbfs: no answer to ioctl %lx\n", request); return -ENOTTY;
    }
}
