// SPDX-License-Identifier: Apache-2.0

// A plain program on libusb: its own event loop, transfers that are submitted again where they end.

#include "cfloor_usb.h"

#include <errno.h>
#include <libusb-1.0/libusb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IN = 0x81, OUT = 0x01 };

struct cfloor_usb_host {
    libusb_context *context;
    libusb_device_handle *handle;
    int fd;
    struct libusb_transfer *in[cfloor_usb_flight], *out[cfloor_usb_flight];
    uint8_t buffersIn[cfloor_usb_flight][cfloor_usb_size], buffersOut[cfloor_usb_flight][cfloor_usb_size];
    int pendingIn, pendingOut, isFailed, isOver;
    size_t got, toSend;
    uint8_t reply[CFLOOR_FRAME_LIMIT];
};

static void ended_in(struct libusb_transfer *transfer) {
    struct cfloor_usb_host *host = transfer->user_data;
    host->pendingIn--;
    if (transfer->status == LIBUSB_TRANSFER_CANCELLED) return;
    if (transfer->status != LIBUSB_TRANSFER_COMPLETED) { host->isFailed = 1; return; }
    if (host->got + (size_t)transfer->actual_length <= sizeof host->reply)
        memcpy(host->reply + host->got, transfer->buffer, (size_t)transfer->actual_length);
    host->got += (size_t)transfer->actual_length;
    if (!host->isOver && libusb_submit_transfer(transfer) == 0) host->pendingIn++;
}

static int send_next(struct cfloor_usb_host *host, struct libusb_transfer *transfer) {
    if (host->toSend == 0) return 0;
    transfer->length = host->toSend < cfloor_usb_size ? (int)host->toSend : cfloor_usb_size;
    host->toSend -= (size_t)transfer->length;
    if (libusb_submit_transfer(transfer)) return -1;
    host->pendingOut++;
    return 0;
}

static void ended_out(struct libusb_transfer *transfer) {
    struct cfloor_usb_host *host = transfer->user_data;
    host->pendingOut--;
    if (transfer->status != LIBUSB_TRANSFER_COMPLETED || send_next(host, transfer)) host->isFailed = 1;
}

struct cfloor_usb_host *cfloor_usb_open(int fd) {
    if (fd < 0) return NULL;
    struct cfloor_usb_host *host = calloc(1, sizeof *host);
    libusb_set_option(NULL, LIBUSB_OPTION_NO_DEVICE_DISCOVERY);
    host->fd = fd;
    if (libusb_init(&host->context)) return NULL;
    if (libusb_wrap_sys_device(host->context, host->fd, &host->handle) || libusb_claim_interface(host->handle, 0))
        return NULL;
    for (int i = 0; i < cfloor_usb_flight; i++) {
        host->in[i] = libusb_alloc_transfer(0);
        libusb_fill_bulk_transfer(host->in[i], host->handle, IN, host->buffersIn[i], cfloor_usb_size, ended_in, host, 0);
        host->out[i] = libusb_alloc_transfer(0);
        libusb_fill_bulk_transfer(host->out[i], host->handle, OUT, host->buffersOut[i], cfloor_usb_size, ended_out, host,
                                  0);
        if (libusb_submit_transfer(host->in[i])) return NULL;
        host->pendingIn++;
    }
    return host;
}

void cfloor_usb_close(struct cfloor_usb_host *host) {
    host->isOver = 1;
    for (int i = 0; i < cfloor_usb_flight; i++) libusb_cancel_transfer(host->in[i]);
    while (host->pendingIn + host->pendingOut > 0 && libusb_handle_events(host->context) == 0) {}
    for (int i = 0; i < cfloor_usb_flight; i++) {
        libusb_free_transfer(host->in[i]);
        libusb_free_transfer(host->out[i]);
    }
    libusb_release_interface(host->handle, 0);
    libusb_close(host->handle);
    libusb_exit(host->context);
    close(host->fd);
    free(host);
}

static int until(struct cfloor_usb_host *host, size_t total) {
    while (host->got < total && !host->isFailed)
        if (libusb_handle_events(host->context)) return -1;
    errno = EIO;
    return host->isFailed ? -1 : 0;
}

int cfloor_usb_receive(struct cfloor_usb_host *host, size_t total) {
    host->got = 0;
    return until(host, total);
}

int cfloor_usb_send(struct cfloor_usb_host *host, size_t total) {
    host->got = 0;
    host->toSend = total;
    for (int i = 0; i < cfloor_usb_flight; i++) if (send_next(host, host->out[i])) return -1;
    return until(host, 1);
}

int cfloor_usb_echo(struct cfloor_usb_host *host, size_t payload, size_t count, int64_t *nanoseconds) {
    uint8_t bytes[1024];
    for (size_t i = 0; i < payload && i < sizeof bytes; i++) bytes[i] = (uint8_t)i;
    for (size_t turn = 0; turn < count; turn++) {
        int64_t start = cfloor_now();
        host->got = 0;
        size_t size = cfloor_frame(host->out[0]->buffer, 1, CFLOOR_ECHO, (uint16_t)turn, bytes, payload);
        host->toSend = size;
        if (send_next(host, host->out[0]) || until(host, size)) return -1;
        while (host->pendingOut > 0) if (libusb_handle_events(host->context)) return -1;
        if (cfloor_frame_length(host->reply, host->got) != (ssize_t)size ||
            memcmp(host->reply + CFLOOR_HEADER, bytes, payload)) {
            errno = EBADMSG;
            return -1;
        }
        nanoseconds[turn] = cfloor_now() - start;
    }
    return 0;
}
