// SPDX-License-Identifier: Apache-2.0

// The device's side: what it sends, takes, refuses, and how it goes; and the node, by which libusb sees it.

#define _GNU_SOURCE
#include "device.h"
#include "redirect.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

pthread_mutex_t fake_usb_lock = PTHREAD_MUTEX_INITIALIZER;
static fake_usb_device *all;

struct endpoint *endpoint_of(fake_usb_device *device, uint8_t address) {
    return &device->endpoints[(address & 15) | (address & 0x80 ? 16 : 0)];
}

// MARK: - The node

// Ready: the socket takes bytes. Not ready: more of its buffer than a quarter is full of bytes that the other end leaves
// there, in a block that is freed as a whole; one byte behind it is always left, so that closing the other end is an error
// for this one and not only a hang-up. Few calls: a kernel's usbfs has none for this.
void set_ready(fake_usb_device *device, int client, int isReady) {
    char bytes[FILLING + 1] = {0};
    if (device->isGone || device->isReady == isReady) return;
    device->isReady = isReady;
    if (isReady) {
        while (device->filled > 1) {
            ssize_t taken = recv(device->mine, bytes, device->filled - 1, MSG_DONTWAIT);
            if (taken <= 0) break;
            device->filled -= (size_t)taken;
        }
    } else {
        ssize_t block = send(client, bytes, FILLING, MSG_DONTWAIT | MSG_NOSIGNAL);
        ssize_t last = send(client, bytes, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        device->filled += (size_t)((block > 0 ? block : 0) + (last > 0 ? last : 0));
    }
}

static fake_usb_device *find(int descriptor) {
    struct stat file;
    if (!all || fstat(descriptor, &file) || !S_ISSOCK(file.st_mode)) return NULL;
    for (fake_usb_device *device = all; device; device = device->next)
        if (file.st_dev == device->device && file.st_ino == device->inode) return device;
    return NULL;
}

static int node_ioctl(int descriptor, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    pthread_mutex_lock(&fake_usb_lock);
    fake_usb_device *device = find(descriptor);
    int result = device ? usbfs_ioctl(device, descriptor, request, argument) : 0;
    void (*onOutput)(void *) = device && device->hasOutput ? device->onOutput : NULL;
    void *context = device ? device->onOutputContext : NULL;
    if (device) device->hasOutput = 0;
    pthread_mutex_unlock(&fake_usb_lock);
    if (onOutput) onOutput(context);
    if (!device) return ioctl(descriptor, request, argument);
    if (result >= 0) return result;
    errno = -result;
    return -1;
}

static ssize_t node_read(int descriptor, void *bytes, size_t size) {
    pthread_mutex_lock(&fake_usb_lock);
    fake_usb_device *device = find(descriptor);
    size_t count = 0;
    if (device && !device->isGone && (size_t)device->position < device->descriptorCount) {
        count = device->descriptorCount - (size_t)device->position;
        if (count > size) count = size;
        memcpy(bytes, device->descriptors + device->position, count);
        device->position += (off_t)count;
    }
    int isGone = device && device->isGone;
    pthread_mutex_unlock(&fake_usb_lock);
    if (!device) return read(descriptor, bytes, size);
    if (!isGone) return (ssize_t)count;
    errno = ENODEV;
    return -1;
}

static off_t node_lseek(int descriptor, off_t offset, int whence) {
    pthread_mutex_lock(&fake_usb_lock);
    fake_usb_device *device = find(descriptor);
    if (device) offset = device->position = offset + (whence == SEEK_CUR ? device->position : 0);
    pthread_mutex_unlock(&fake_usb_lock);
    return device ? offset : lseek(descriptor, offset, whence);
}

// libusb takes bus and address from where the descriptor leads.
static ssize_t node_readlink(const char *path, char *bytes, size_t size) {
    int descriptor;
    fake_usb_device *device = NULL;
    if (sscanf(path, "/proc/self/fd/%d", &descriptor) == 1) {
        pthread_mutex_lock(&fake_usb_lock);
        device = find(descriptor);
        pthread_mutex_unlock(&fake_usb_lock);
    }
    if (!device) return readlink(path, bytes, size);
    char node[64];
    int count = snprintf(node, sizeof node, "/dev/bus/usb/001/%03u", (unsigned)(device->inode % 127 + 1));
    memcpy(bytes, node, (size_t)count < size ? (size_t)count : size);
    return count;
}

int fake_usb_install(void) {
    static const struct fake_calls calls = {node_ioctl, node_read, node_lseek, node_readlink};
    return redirect_libusb(&calls);
}

// MARK: - Traffic

struct urb *take_pending(fake_usb_device *device, uint8_t address) {
    for (struct urb **link = &device->pending; *link; link = &(*link)->next)
        if ((*link)->user->endpoint == address) {
            struct urb *urb = *link;
            *link = urb->next;
            endpoint_of(device, address)->pending--;
            return urb;
        }
    return NULL;
}

void push(struct endpoint *endpoint, const void *bytes, size_t count, unsigned flags) {
    struct message *message = malloc(sizeof *message + count), **last = &endpoint->messages;
    message->next = NULL;
    message->flags = flags;
    message->count = count;
    message->taken = 0;
    if (count) memcpy(message->bytes, bytes, count);
    while (*last) last = &(*last)->next;
    *last = message;
}

static void drop_first(struct endpoint *endpoint) {
    struct message *message = endpoint->messages;
    endpoint->messages = message->next;
    free(message);
}

int carry(fake_usb_device *device, struct urb *urb) {
    uint8_t address = urb->user->endpoint;
    struct endpoint *endpoint = endpoint_of(device, address);
    int status = 0;
    if (endpoint->isHalted) {
        status = -EPIPE;
    } else if (endpoint->failures) {
        endpoint->failures--;
        status = endpoint->failure;
        if (status == -EPIPE) endpoint->isHalted = 1;
    } else if (endpoint->isHeld) {
        return 0;
    } else if (endpoint->isSource) {
        urb->isFromSource = 1;
        urb->position = endpoint->position;
        urb->actual = urb->user->buffer_length;
        endpoint->position += (size_t)urb->actual;
    } else if (address & 0x80) {
        struct message *message = endpoint->messages;
        if (!message) return 0;
        size_t count = message->count - message->taken, size = (size_t)urb->user->buffer_length;
        if (count > size) count = size;
        urb->input = malloc(count ? count : 1);
        memcpy(urb->input, message->bytes + message->taken, count);
        urb->actual = (int)count;
        message->taken += count;
        if (message->taken == message->count) drop_first(endpoint);
    } else if (endpoint->swallowed) {
        urb->actual = urb->user->buffer_length;
        swallow(device, endpoint, urb->user->buffer, (size_t)urb->actual);
    } else {
        struct endpoint *target = endpoint->echo ? endpoint_of(device, endpoint->echo) : endpoint;
        push(target, urb->user->buffer, (size_t)urb->user->buffer_length, urb->user->flags);
        device->hasOutput |= target == endpoint;
        urb->actual = urb->user->buffer_length;
    }
    take_pending(device, address);
    finish(device, urb, status);
    return 1;
}

void pump(fake_usb_device *device) {
    if (device->interval) return; // at the next tick
    // What was pending may be freed by its owner, once the device is gone.
    if (device->isGone) return;
    for (int isMoving = 1; isMoving;) {
        isMoving = 0;
        unsigned seen = 0; // endpoints whose oldest transfer waits: those behind it wait too
        for (struct urb *urb = device->pending, *next; urb; urb = next) {
            next = urb->next;
            unsigned bit = 1u << ((urb->user->endpoint & 15) | (urb->user->endpoint & 0x80 ? 16 : 0));
            if (seen & bit) continue;
            if (carry(device, urb)) isMoving = 1; else seen |= bit;
        }
    }
}

void fake_usb_echo(fake_usb_device *device, uint8_t out, uint8_t in) { LOCKED(endpoint_of(device, out)->echo = in); }

void fake_usb_feed(fake_usb_device *device, uint8_t in, const void *bytes, size_t count) {
    LOCKED(push(endpoint_of(device, in), bytes, count, 0); pump(device));
}

long fake_usb_next_output(fake_usb_device *device, uint8_t out, void *bytes, size_t size, unsigned *flags) {
    long count = -1;
    LOCKED(struct endpoint *endpoint = endpoint_of(device, out); if (endpoint->messages) {
        count = (long)endpoint->messages->count;
        *flags = endpoint->messages->flags;
        memcpy(bytes, endpoint->messages->bytes, (size_t)count < size ? (size_t)count : size);
        drop_first(endpoint);
    });
    return count;
}

void fake_usb_on_output(fake_usb_device *device, void (*body)(void *), void *context) {
    LOCKED(device->onOutput = body; device->onOutputContext = context);
}

void fake_usb_hold(fake_usb_device *device, uint8_t endpoint, int isHeld) {
    LOCKED(endpoint_of(device, endpoint)->isHeld = isHeld; if (!device->isGone) pump(device));
}

int fake_usb_finish(fake_usb_device *device, uint8_t endpoint, int status, size_t count) {
    int isFound = 0;
    LOCKED(struct urb *urb = take_pending(device, endpoint); if (urb) {
        isFound = 1;
        if (count > (size_t)urb->user->buffer_length) count = (size_t)urb->user->buffer_length;
        urb->actual = (int)count;
        if (endpoint & 0x80) urb->input = calloc(1, count ? count : 1);
        finish(device, urb, status);
    });
    return isFound;
}

void fake_usb_fail(fake_usb_device *device, uint8_t endpoint, int status, int times) {
    LOCKED(endpoint_of(device, endpoint)->failure = status; endpoint_of(device, endpoint)->failures = times; pump(device));
}

void fake_usb_bind(fake_usb_device *device, unsigned interface, const char *name) {
    LOCKED(snprintf(device->interfaces[interface].driver, sizeof device->interfaces[interface].driver, "%s", name));
}

void fake_usb_take(fake_usb_device *device, unsigned interface, int isTaken) {
    LOCKED(device->interfaces[interface].isTaken = isTaken);
}

void fake_usb_fail_claim(fake_usb_device *device, int status) { LOCKED(device->claimFailure = status); }

void fake_usb_fail_reset(fake_usb_device *device, int status) { LOCKED(device->resetFailure = -status); }

// MARK: - Coming and going

fake_usb_device *fake_usb_plug(const uint8_t *descriptors, size_t count) {
    int ends[2], size = 4096;
    struct stat file;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return NULL;
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    fstat(ends[1], &file);
    fake_usb_device *device = calloc(1, sizeof *device);
    device->mine = ends[0];
    device->theirs = ends[1];
    device->device = file.st_dev;
    device->inode = file.st_ino;
    device->isReady = 1;
    device->descriptors = malloc(count ? count : 1);
    memcpy(device->descriptors, descriptors, count);
    device->descriptorCount = count;
    set_ready(device, device->theirs, 0);
    LOCKED(device->next = all; all = device);
    return device;
}

int fake_usb_open(fake_usb_device *device) {
    int descriptor;
    LOCKED(descriptor = device->isGone ? -1 : device->theirs; device->theirs = -1);
    if (descriptor < 0) errno = ENOENT;
    return descriptor;
}

void fake_usb_unplug(fake_usb_device *device, enum fake_usb_gone how) {
    pthread_mutex_lock(&fake_usb_lock);
    if (how == FAKE_USB_GONE_AT_ONCE || how == FAKE_USB_GONE_FAILING)
        while (device->pending) {
            struct urb *urb = take_pending(device, device->pending->user->endpoint);
            finish(device, urb, how == FAKE_USB_GONE_FAILING ? -EPROTO : -ESHUTDOWN);
        }
    if (how == FAKE_USB_GONE_FAILING) {
        for (int i = 0; i < ENDPOINTS; i++) device->endpoints[i].failure = -EPROTO, device->endpoints[i].failures = 1 << 30;
    } else if (!device->isGone) {
        if (how == FAKE_USB_GONE_HUNG_UP) { // nothing unread: no error
            char bytes[4096];
            while (recv(device->mine, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
        }
        device->isGone = 1;
        close(device->mine);
        if (device->theirs >= 0) close(device->theirs);
        device->mine = device->theirs = -1;
    }
    pthread_mutex_unlock(&fake_usb_lock);
}

static void free_urbs(struct urb *urb) {
    while (urb) {
        struct urb *next = urb->next;
        free(urb->input);
        free(urb);
        urb = next;
    }
}

void fake_usb_free(fake_usb_device *device) {
    stop_ticking(device);
    fake_usb_unplug(device, FAKE_USB_GONE_SILENTLY);
    LOCKED(fake_usb_device **link = &all; while (*link && *link != device) link = &(*link)->next;
           if (*link) *link = device->next);
    free_urbs(device->pending);
    free_urbs(device->done);
    for (int i = 0; i < ENDPOINTS; i++) while (device->endpoints[i].messages) drop_first(&device->endpoints[i]);
    free(device->descriptors);
    free(device);
}

// MARK: - Questions

static int ask(int *value) {
    int result;
    LOCKED(result = *value);
    return result;
}

int fake_usb_is_open(fake_usb_device *device) {
    int isOpen;
    LOCKED(struct pollfd end = {.fd = device->mine}; if (device->mine >= 0) poll(&end, 1, 0);
           isOpen = device->theirs < 0 && device->mine >= 0 && !(end.revents & POLLHUP));
    return isOpen;
}
int fake_usb_pending(fake_usb_device *device, uint8_t endpoint) { return ask(&endpoint_of(device, endpoint)->pending); }
int fake_usb_is_claimed(fake_usb_device *device, unsigned n) { return ask(&device->interfaces[n].isClaimed); }
int fake_usb_is_bound(fake_usb_device *device, unsigned n) {
    int isBound;
    LOCKED(isBound = device->interfaces[n].driver[0] != 0);
    return isBound;
}
int fake_usb_cleared_halts(fake_usb_device *device) { return ask(&device->clearedHalts); }
int fake_usb_resets(fake_usb_device *device) { return ask(&device->resets); }
int fake_usb_alternate(fake_usb_device *device, unsigned n) { return ask(&device->interfaces[n].alternate); }
int fake_usb_submitted(fake_usb_device *device, uint8_t endpoint) {
    return ask(&endpoint_of(device, endpoint)->submitted);
}
int fake_usb_most_pending(fake_usb_device *device, uint8_t endpoint) {
    return ask(&endpoint_of(device, endpoint)->mostPending);
}
int fake_usb_longest(fake_usb_device *device, uint8_t endpoint) { return ask(&endpoint_of(device, endpoint)->longest); }
int fake_usb_latest(fake_usb_device *device, uint8_t endpoint) { return ask(&endpoint_of(device, endpoint)->latest); }
