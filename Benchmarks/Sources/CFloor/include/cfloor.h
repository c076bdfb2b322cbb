// SPDX-License-Identifier: Apache-2.0
//
// What a plain C program needs for the same work: the floor that the figures are compared with. The devices are C
// processes, and serve the C and the Swift host alike.

#ifndef CFLOOR_H
#define CFLOOR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// All functions return -1 with `errno` set when they fail, unless said otherwise.

// A pseudo-terminal: a device process has the one end, hosts open the other by its path.
struct cfloor_terminal {
    int device;
    int keeper;
    char path[64];
};
int cfloor_terminal_open(struct cfloor_terminal *terminal);
void cfloor_terminal_close(struct cfloor_terminal *terminal);
// Opens the host's end as a C program would: raw, non-blocking.
int cfloor_host_open(const char *path);

// A device process. It ends with the process that started it, or by `cfloor_device_end`.
struct cfloor_device {
    pid_t pid;
    int go;
};
// Writes `total` bytes in writes of `piece` bytes, each time that `cfloor_device_go` is called.
int cfloor_device_source(const struct cfloor_terminal *terminal, size_t total, size_t piece,
                         struct cfloor_device *device);
// Reads `total` bytes and answers with one byte, again and again.
int cfloor_device_sink(const struct cfloor_terminal *terminal, size_t total, struct cfloor_device *device);
// Answers AF1 frames: HELLO as an accessory does, all else with the frame's own payload.
int cfloor_device_echo(const struct cfloor_terminal *terminal, struct cfloor_device *device);
// Answers AF1 frames on `count` pseudo-terminals in one process, which waits in epoll.
int cfloor_device_crowd(const struct cfloor_terminal *terminals, size_t count, struct cfloor_device *device);
int cfloor_device_go(const struct cfloor_device *device);
void cfloor_device_end(struct cfloor_device *device);

// The hosts. They return 0.
// Reads `total` bytes.
int cfloor_host_receive(int fd, size_t total);
// Writes `total` bytes in writes of `piece` bytes and waits for the sink's answer.
int cfloor_host_send(int fd, size_t total, size_t piece);
// Makes `count` ECHO requests one after another, checks each reply, and notes how long each took.
int cfloor_host_echo(int fd, size_t payload, size_t count, int64_t *nanoseconds);

// AF1 frames, as the framing's specification has them.
enum { CFLOOR_HEADER = 10, CFLOOR_TRAILER = 4, CFLOOR_HELLO = 0x00, CFLOOR_ECHO = 0x7E, CFLOOR_FRAME_LIMIT = 66000 };
uint16_t cfloor_crc16(const uint8_t *bytes, size_t count);
uint32_t cfloor_crc32(const uint8_t *bytes, size_t count);
// Fills `frame`, which has room for it, and returns its length.
size_t cfloor_frame(uint8_t *frame, uint8_t flags, uint8_t command, uint16_t number, const uint8_t *payload,
                    size_t count);
// The length of the whole frame that begins `bytes`; 0 when more bytes are needed, -1 when it is none.
ssize_t cfloor_frame_length(const uint8_t *bytes, size_t count);

// Runs a program to its end with its output thrown away; returns its wall time in nanoseconds, and its exit status.
int64_t cfloor_run(const char *path, char *const arguments[], int *status);
// Starts a program whose standard output is `*output`; returns its process.
pid_t cfloor_spawn(const char *path, char *const arguments[], int *output);
// As `cfloor_spawn`; `*output` is its standard error, and its standard output is thrown away.
pid_t cfloor_spawn_noting(const char *path, char *const arguments[], int *output);
// Waits for a process that was started here to end by itself.
int cfloor_wait(pid_t pid, int *status);
// Ends a process that was started here, and waits for it.
void cfloor_end(pid_t pid);
int64_t cfloor_now(void);

// Counts what all threads of this program allocate on the heap from here on.
void cfloor_allocations_begin(void);
// Ends that, and returns how many blocks were asked for by all but libdispatch.
uint64_t cfloor_allocations_end(void);
// How many libdispatch asked for meanwhile: items for its queues, of which it keeps a few for each thread.
uint64_t cfloor_allocations_of_dispatch(void);

#endif
