// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "cfloor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

// The processes are forks without an exec of a process that has threads: all they may use is memory of their own and
// system calls.

static int write_all(int fd, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno != EINTR) return -1;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return 0;
}

static uint8_t buffer[CFLOOR_FRAME_LIMIT];
static uint8_t answer[CFLOOR_FRAME_LIMIT];

static void run_source(int fd, int go, size_t total, size_t piece) {
    for (size_t index = 0; index < sizeof buffer; index++) buffer[index] = (uint8_t)(index * 31 + 7);
    char start;
    while (read(go, &start, 1) == 1) {
        for (size_t left = total; left > 0;) {
            size_t count = left < piece ? left : piece;
            if (write_all(fd, buffer, count) != 0) return;
            left -= count;
        }
    }
}

static void run_sink(int fd, size_t total) {
    while (1) {
        for (size_t got = 0; got < total;) {
            ssize_t count = read(fd, buffer, sizeof buffer);
            if (count <= 0) return;
            got += (size_t)count;
        }
        uint8_t done = 1;
        if (write_all(fd, &done, 1) != 0) return;
    }
}

// Answers the whole frames of `*held` bytes in `buffer`, and keeps the rest there.
static int answer_frames(int fd, size_t *held) {
    static const uint8_t hello[] = {0x01, 0xEE, 0xFF, 0xC0, 0x00, 0x10, 0x01, 0x00};
    ssize_t length;
    while ((length = cfloor_frame_length(buffer, *held)) > 0) {
        size_t payload = (size_t)(buffer[6] | buffer[7] << 8);
        uint16_t number = (uint16_t)(buffer[4] | buffer[5] << 8);
        size_t size = buffer[3] == CFLOOR_HELLO
                          ? cfloor_frame(answer, 2, buffer[3], number, hello, sizeof hello)
                          : cfloor_frame(answer, 2, buffer[3], number, buffer + CFLOOR_HEADER, payload);
        if (write_all(fd, answer, size) != 0) return -1;
        *held -= (size_t)length;
        memmove(buffer, buffer + length, *held);
    }
    if (length < 0) *held = 0;
    return 0;
}

static void run_echo(int fd) {
    size_t held = 0;
    while (1) {
        ssize_t count = read(fd, buffer + held, sizeof buffer - held);
        if (count <= 0) return;
        held += (size_t)count;
        if (answer_frames(fd, &held) != 0) return;
    }
}

// Frames come whole: requests are a few bytes, written in one call. What is left of one is dropped.
static void run_crowd(const struct cfloor_terminal *terminals, size_t count) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) return;
    for (size_t index = 0; index < count; index++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = terminals[index].device};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, terminals[index].device, &event) != 0) return;
    }
    while (1) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, -1);
        if (ready < 0 && errno != EINTR) return;
        for (int index = 0; index < ready; index++) {
            ssize_t got = read(events[index].data.fd, buffer, sizeof buffer);
            if (got <= 0) return;
            size_t held = (size_t)got;
            if (answer_frames(events[index].data.fd, &held) != 0) return;
        }
    }
}

enum role { SOURCE, SINK, ECHO, CROWD };

static int belongs(int fd, const struct cfloor_terminal *terminals, size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (fd == terminals[index].device || fd == terminals[index].keeper) return 1;
    }
    return 0;
}

static int start(enum role role, const struct cfloor_terminal *terminals, size_t count, size_t total, size_t piece,
                 struct cfloor_device *device) {
    int go[2];
    if (pipe2(go, O_CLOEXEC) != 0) return -1;
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0) {
        close(go[0]);
        close(go[1]);
        return -1;
    }
    if (pid == 0) {
        alarm(600);  // not PR_SET_PDEATHSIG: that means the thread that forked, which a pool lets go when it idles
        if (getppid() != parent) _exit(1);
        // What else the parent has open must not live on here: locks and terminals among it.
        for (int fd = 3; fd < 4096; fd++) {
            if (fd != go[0] && !belongs(fd, terminals, count)) close(fd);
        }
        switch (role) {
        case SOURCE: run_source(terminals->device, go[0], total, piece); break;
        case SINK: run_sink(terminals->device, total); break;
        case ECHO: run_echo(terminals->device); break;
        case CROWD: run_crowd(terminals, count); break;
        }
        _exit(1);
    }
    close(go[0]);
    device->pid = pid;
    device->go = go[1];
    return 0;
}

int cfloor_device_source(const struct cfloor_terminal *terminal, size_t total, size_t piece,
                         struct cfloor_device *device) {
    return start(SOURCE, terminal, 1, total, piece, device);
}

int cfloor_device_sink(const struct cfloor_terminal *terminal, size_t total, struct cfloor_device *device) {
    return start(SINK, terminal, 1, total, 0, device);
}

int cfloor_device_echo(const struct cfloor_terminal *terminal, struct cfloor_device *device) {
    return start(ECHO, terminal, 1, 0, 0, device);
}

int cfloor_device_crowd(const struct cfloor_terminal *terminals, size_t count, struct cfloor_device *device) {
    return start(CROWD, terminals, count, 0, 0, device);
}

int cfloor_device_go(const struct cfloor_device *device) { return write(device->go, "g", 1) == 1 ? 0 : -1; }

void cfloor_device_end(struct cfloor_device *device) {
    close(device->go);
    cfloor_end(device->pid);
    device->pid = -1;
}
