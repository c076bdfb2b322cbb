// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "cfloor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

int64_t cfloor_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int make_raw(int fd) {
    struct termios settings;
    if (tcgetattr(fd, &settings) != 0) return -1;
    cfmakeraw(&settings);
    return tcsetattr(fd, TCSANOW, &settings);
}

int cfloor_terminal_open(struct cfloor_terminal *terminal) {
    terminal->keeper = -1;
    terminal->device = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal->device < 0) return -1;
    if (unlockpt(terminal->device) != 0 || ptsname_r(terminal->device, terminal->path, sizeof terminal->path) != 0) {
        cfloor_terminal_close(terminal);
        return -1;
    }
    // Kept open, so that the device's end isn't hung up between one host and the next.
    terminal->keeper = open(terminal->path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal->keeper < 0 || make_raw(terminal->keeper) != 0) {
        cfloor_terminal_close(terminal);
        return -1;
    }
    return 0;
}

void cfloor_terminal_close(struct cfloor_terminal *terminal) {
    int saved = errno;
    if (terminal->device >= 0) close(terminal->device);
    if (terminal->keeper >= 0) close(terminal->keeper);
    terminal->device = terminal->keeper = -1;
    errno = saved;
}

int cfloor_host_open(const char *path) {
    int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -1;
    if (make_raw(fd) != 0 || tcflush(fd, TCIOFLUSH) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}
