// SPDX-License-Identifier: Apache-2.0

// Devices that are as fast as they are let: sources, sinks, and ticks that end transfers.

#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { PIECE = 65536, PERIOD = 251 };

void copy_source(void *bytes, size_t position, size_t count) {
    static unsigned char pattern[PIECE + PERIOD];
    if (!pattern[1]) for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (unsigned char)(i % PERIOD);
    for (size_t done = 0, piece; done < count; done += piece) {
        piece = count - done < PIECE ? count - done : PIECE;
        memcpy((char *)bytes + done, pattern + (position + done) % PERIOD, piece);
    }
}

// Copied as usbfs does it, so that what is measured here takes as long as it has to.
void swallow(fake_usb_device *device, struct endpoint *endpoint, const void *bytes, size_t count) {
    static unsigned char stomach[PIECE];
    for (size_t done = 0, piece; done < count; done += piece) {
        piece = count - done < PIECE ? count - done : PIECE;
        memcpy(stomach, (const char *)bytes + done, piece);
        __asm__ volatile("" : : "r"(stomach) : "memory"); // nobody reads them: copied all the same
    }
    size_t answers = (endpoint->position + count) / endpoint->swallowed - endpoint->position / endpoint->swallowed;
    endpoint->position += count;
    while (answers--) push(endpoint_of(device, endpoint->answer), "!", 1, 0);
}

void fake_usb_source(fake_usb_device *device, uint8_t in) { LOCKED(endpoint_of(device, in)->isSource = 1); }

void fake_usb_sink(fake_usb_device *device, uint8_t out, size_t total, uint8_t in) {
    LOCKED(endpoint_of(device, out)->swallowed = total; endpoint_of(device, out)->answer = in);
}

// MARK: - Ticks

// The oldest transfer of each endpoint goes as far as it can.
static void tick(fake_usb_device *device) {
    unsigned seen = 0;
    for (struct urb *urb = device->pending, *next; urb; urb = next) {
        next = urb->next;
        unsigned bit = 1u << ((urb->user->endpoint & 15) | (urb->user->endpoint & 0x80 ? 16 : 0));
        if (!(seen & bit)) carry(device, urb);
        seen |= bit;
    }
}

static void *run(void *argument) {
    fake_usb_device *device = argument;
    struct timespec next;
    prctl(PR_SET_TIMERSLACK, 1);
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int isTicking = 1; isTicking;) {
        next.tv_nsec += device->interval;
        while (next.tv_nsec >= 1000000000) next.tv_nsec -= 1000000000, next.tv_sec++;
        // Where this thread is late its ticks are made up for: a bus doesn't wait for a processor.
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        void (*onOutput)(void *) = NULL;
        void *context = NULL;
        pthread_mutex_lock(&fake_usb_lock);
        isTicking = device->isTicking;
        if (isTicking) tick(device);
        if (device->hasOutput) {
            onOutput = device->onOutput;
            context = device->onOutputContext;
            device->hasOutput = 0;
        }
        pthread_mutex_unlock(&fake_usb_lock);
        if (onOutput) onOutput(context);
    }
    return NULL;
}

int fake_usb_tick(fake_usb_device *device, long nanoseconds) {
    int result;
    LOCKED(device->interval = nanoseconds; device->isTicking = 1;
           result = pthread_create(&device->ticker, NULL, run, device);
           if (result) device->interval = device->isTicking = 0);
    if (!result) return 0;
    errno = result;
    return -1;
}

void stop_ticking(fake_usb_device *device) {
    int isTicking;
    LOCKED(isTicking = device->isTicking; device->isTicking = 0);
    if (isTicking) pthread_join(device->ticker, NULL);
}
