// SPDX-License-Identifier: Apache-2.0

#include "cfloor.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

// Longer than anything takes that works.
enum { PATIENCE = 20000 };

static int wait_for(int fd, short events) {
    struct pollfd entry = {.fd = fd, .events = events, .revents = 0};
    int count = poll(&entry, 1, PATIENCE);
    if (count == 0) errno = ETIMEDOUT;
    return count == 1 && (entry.revents & events) ? 0 : -1;
}

static int write_all(int fd, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (errno != EAGAIN || wait_for(fd, POLLOUT) != 0) {
            return -1;
        }
    }
    return 0;
}

int cfloor_host_receive(int fd, size_t total) {
    static uint8_t buffer[65536];
    for (size_t got = 0; got < total;) {
        if (wait_for(fd, POLLIN) != 0) return -1;
        ssize_t count = read(fd, buffer, sizeof buffer);
        if (count > 0) {
            got += (size_t)count;
        } else if (count == 0 || errno != EAGAIN) {
            return -1;
        }
    }
    return 0;
}

int cfloor_host_send(int fd, size_t total, size_t piece) {
    static uint8_t buffer[65536];
    for (size_t left = total; left > 0;) {
        size_t count = left < piece ? left : piece;
        if (write_all(fd, buffer, count) != 0) return -1;
        left -= count;
    }
    return cfloor_host_receive(fd, 1);
}

int cfloor_host_echo(int fd, size_t payload, size_t count, int64_t *nanoseconds) {
    static uint8_t request[CFLOOR_FRAME_LIMIT], reply[CFLOOR_FRAME_LIMIT], bytes[CFLOOR_FRAME_LIMIT];
    for (size_t index = 0; index < payload; index++) bytes[index] = (uint8_t)index;
    for (size_t turn = 0; turn < count; turn++) {
        int64_t start = cfloor_now();
        size_t size = cfloor_frame(request, 1, CFLOOR_ECHO, (uint16_t)turn, bytes, payload);
        if (write_all(fd, request, size) != 0) return -1;
        size_t held = 0;
        ssize_t length = 0;
        while (length == 0) {
            if (wait_for(fd, POLLIN) != 0) return -1;
            ssize_t got = read(fd, reply + held, sizeof reply - held);
            if (got <= 0 && errno != EAGAIN) return -1;
            if (got > 0) held += (size_t)got;
            length = cfloor_frame_length(reply, held);
        }
        uint16_t number = (uint16_t)(reply[4] | reply[5] << 8);
        if (length != (ssize_t)size || reply[2] != 0x12 || reply[3] != CFLOOR_ECHO || number != (uint16_t)turn
            || memcmp(reply + CFLOOR_HEADER, bytes, payload) != 0) {
            errno = EBADMSG;
            return -1;
        }
        nanoseconds[turn] = cfloor_now() - start;
    }
    return 0;
}
