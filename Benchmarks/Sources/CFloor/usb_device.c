// SPDX-License-Identifier: Apache-2.0

// A USB device in a process of its own, at the end of a socket that vhci_hcd has the other end of; the messages are those
// of Documentation/usb/usbip_protocol.rst.

#define _GNU_SOURCE
#include "cfloor_usb.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SUBMIT = 1, UNLINK = 2, HEADER = 48, MOST_PARKED = 64 };

static const uint8_t device_descriptor[] = {18, 1, 0, 2, 0, 0, 0, 64, 0x09, 0x12, 0xBE, 0, 0, 1, 0, 0, 0, 1};
static const uint8_t configuration[] = {9,   2, 32,   0, 1, 1, 0, 0x80, 50, 9, 4,    0, 0, 2, 0xFF, 0,
                                        0,   0, 7,    5, 0x81, 2, 0, 2, 0,  7, 5, 0x01, 2, 0, 2,    0};

struct parked { uint32_t sequence, length; };

struct state {
    int fd;
    enum cfloor_usb_role role;
    size_t total, taken, held;
    struct parked parked[MOST_PARKED];
    size_t parkedCount;
    uint8_t unsent[CFLOOR_FRAME_LIMIT * 2];
    size_t unsentCount;
};

static uint8_t data[1 << 20], held[CFLOOR_FRAME_LIMIT], answer[CFLOOR_FRAME_LIMIT];

static int write_all(int fd, const void *bytes, size_t count) {
    for (const char *next = bytes; count > 0;) {
        ssize_t written = send(fd, next, count, MSG_NOSIGNAL);
        if (written < 0 && errno != EINTR) return -1;
        if (written > 0) next += written, count -= (size_t)written;
    }
    return 0;
}

static int read_all(int fd, void *bytes, size_t count) {
    for (char *next = bytes; count > 0;) {
        ssize_t got = recv(fd, next, count, MSG_WAITALL);
        if (got <= 0) return -1;
        next += got, count -= (size_t)got;
    }
    return 0;
}

static int reply(struct state *state, uint32_t sequence, int status, const void *bytes, size_t count, int isInput) {
    static uint8_t message[HEADER + (1 << 20)];
    uint32_t head[12] = {htonl(3), htonl(sequence), 0, 0, 0, htonl((uint32_t)status), htonl((uint32_t)count)};
    memcpy(message, head, HEADER);
    if (isInput && count) memcpy(message + HEADER, bytes, count);
    return write_all(state->fd, message, HEADER + (isInput ? count : 0));
}

static int control(struct state *state, uint32_t sequence, const uint8_t *setup) {
    size_t most = (size_t)(setup[6] | setup[7] << 8);
    const void *bytes = NULL;
    size_t count = 0;
    static const uint8_t one = 1, zeros[2];
    if (setup[0] == 0x80 && setup[1] == 6 && setup[3] == 1) bytes = device_descriptor, count = sizeof device_descriptor;
    else if (setup[0] == 0x80 && setup[1] == 6 && setup[3] == 2) bytes = configuration, count = sizeof configuration;
    else if (setup[0] == 0x80 && setup[1] == 8) bytes = &one, count = 1;
    else if ((setup[0] & 0x9F) == 0x80 && setup[1] == 0) bytes = zeros, count = 2;
    else if (setup[0] & 0x80) return reply(state, sequence, -EPIPE, NULL, 0, 0);
    return reply(state, sequence, 0, bytes, count < most ? count : most, setup[0] & 0x80);
}

// Gives transfers that wait what there is to send.
static int fill(struct state *state) {
    while (state->parkedCount && (state->unsentCount || state->role == CFLOOR_USB_SOURCE)) {
        struct parked first = state->parked[0];
        size_t count = first.length;
        if (count > sizeof data) count = sizeof data;
        if (state->role != CFLOOR_USB_SOURCE && count > state->unsentCount) count = state->unsentCount;
        const uint8_t *bytes = state->role == CFLOOR_USB_SOURCE ? data : state->unsent;
        if (reply(state, first.sequence, 0, bytes, count, 1)) return -1;
        memmove(state->parked, state->parked + 1, --state->parkedCount * sizeof *state->parked);
        if (state->role != CFLOOR_USB_SOURCE) {
            state->unsentCount -= count;
            memmove(state->unsent, state->unsent + count, state->unsentCount);
        }
    }
    return 0;
}

static void take(struct state *state, size_t count) {
    if (state->role == CFLOOR_USB_SINK) {
        state->taken += count;
        if (state->taken >= state->total) {
            state->taken -= state->total;
            state->unsent[state->unsentCount++] = 1;
        }
        return;
    }
    static const uint8_t hello[] = {0x01, 0xEE, 0xFF, 0xC0, 0x00, 0x10, 0x01, 0x00};
    memcpy(held + state->held, data, count);
    state->held += count;
    ssize_t length;
    while ((length = cfloor_frame_length(held, state->held)) > 0) {
        size_t payload = (size_t)(held[6] | held[7] << 8);
        uint16_t number = (uint16_t)(held[4] | held[5] << 8);
        size_t size = held[3] == CFLOOR_HELLO ? cfloor_frame(answer, 2, held[3], number, hello, sizeof hello)
                                              : cfloor_frame(answer, 2, held[3], number, held + CFLOOR_HEADER, payload);
        memcpy(state->unsent + state->unsentCount, answer, size);
        state->unsentCount += size;
        state->held -= (size_t)length;
        memmove(held, held + length, state->held);
    }
    if (length < 0) state->held = 0;
}

static int serve(struct state *state) {
    uint32_t head[12];
    while (read_all(state->fd, head, HEADER) == 0) {
        uint32_t sequence = ntohl(head[1]), isInput = ntohl(head[3]), endpoint = ntohl(head[4]);
        if (ntohl(head[0]) == UNLINK) {
            uint32_t target = ntohl(head[5]);
            int status = 0;
            for (size_t i = 0; i < state->parkedCount; i++)
                if (state->parked[i].sequence == target) {
                    memmove(state->parked + i, state->parked + i + 1, (--state->parkedCount - i) * sizeof *state->parked);
                    status = -ECONNRESET;
                    break;
                }
            uint32_t done[12] = {htonl(4), htonl(sequence), 0, 0, 0, htonl((uint32_t)status)};
            if (write_all(state->fd, done, HEADER)) return -1;
            continue;
        }
        size_t length = ntohl(head[6]);
        if (ntohl(head[0]) != SUBMIT || length > sizeof data) return -1;
        if (!isInput && length && read_all(state->fd, data, length)) return -1;
        if (endpoint == 0) {
            if (control(state, sequence, (const uint8_t *)&head[10])) return -1;
        } else if (isInput) {
            if (state->parkedCount == MOST_PARKED) return -1;
            state->parked[state->parkedCount++] = (struct parked){sequence, (uint32_t)length};
        } else {
            if (state->held + length > sizeof held) return -1;
            if (state->role != CFLOOR_USB_SOURCE) take(state, length);
            if (reply(state, sequence, 0, NULL, length, 0)) return -1;
        }
        if (fill(state)) return -1;
    }
    return 0;
}

// The lowest free high-speed port takes the socket. Returns it.
static int attach(int socket) {
    FILE *table = fopen("/sys/devices/platform/vhci_hcd.0/status", "re");
    if (!table) return -1;
    char line[128];
    int port = -1;
    unsigned number, status;
    while (port < 0 && fgets(line, sizeof line, table))
        if (sscanf(line, "hs %u %u", &number, &status) == 2 && status == 4) port = (int)number;
    fclose(table);
    int fd = open("/sys/devices/platform/vhci_hcd.0/attach", O_WRONLY | O_CLOEXEC);
    if (port < 0 || fd < 0) return -1;
    int count = snprintf(line, sizeof line, "%d %d %d 3", port, socket, 65536 + port + 1);
    ssize_t written = write(fd, line, (size_t)count);
    close(fd);
    return written == count ? port : -1;
}

// The node of the device that is configured and has our numbers.
static int find_node(char *node, size_t size) {
    for (int tries = 0; tries < 2000; tries++, usleep(10000)) {
        DIR *directory = opendir("/sys/bus/usb/devices");
        struct dirent *entry;
        while (directory && (entry = readdir(directory))) {
            char path[400];
            unsigned product = 0, bus = 0, address = 0, set = 0;
            const struct { const char *name, *format; unsigned *value; } facts[] = {
                {"idProduct", "%x", &product}, {"busnum", "%u", &bus}, {"devnum", "%u", &address},
                {"bConfigurationValue", "%u", &set}};
            for (size_t i = 0; i < 4; i++) {
                snprintf(path, sizeof path, "/sys/bus/usb/devices/%s/%s", entry->d_name, facts[i].name);
                FILE *file = fopen(path, "re");
                if (file && fscanf(file, facts[i].format, facts[i].value) != 1) *facts[i].value = 0;
                if (file) fclose(file);
            }
            snprintf(node, size, "/dev/bus/usb/%03u/%03u", bus, address);
            if (product == 0xBE && set == 1 && access(node, R_OK | W_OK) == 0) {
                closedir(directory);
                return 0;
            }
        }
        if (directory) closedir(directory);
    }
    errno = ENODEV;
    return -1;
}

int cfloor_usb_plug(enum cfloor_usb_role role, size_t total, struct cfloor_usb_device *device) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return -1;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(600);
        for (int fd = 3; fd < 4096; fd++) if (fd != ends[0]) close(fd);
        static struct state state;
        state.fd = ends[0], state.role = role, state.total = total;
        serve(&state);
        _exit(0);
    }
    close(ends[0]);
    int port = pid > 0 ? attach(ends[1]) : -1;
    close(ends[1]);
    if (pid > 0) device->pid = pid;
    if (port < 0 || find_node(device->node, sizeof device->node)) {
        int error = errno;
        if (pid > 0) cfloor_end(pid);
        errno = error;
        return -1;
    }
    return 0;
}

void cfloor_usb_unplug(struct cfloor_usb_device *device) { cfloor_end(device->pid); }
