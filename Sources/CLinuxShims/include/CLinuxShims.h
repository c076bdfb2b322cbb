// SPDX-License-Identifier: Apache-2.0
//
// The parts of Linux that Swift can't import: functions that Glibc's module map leaves out, variadic ioctl calls, and
// request numbers that are C macros. All functions here are stateless except those for Swift's tasks, which shims.c
// defines.

#ifndef C_LINUX_SHIMS_H
#define C_LINUX_SHIMS_H

#ifndef __linux__
#error "This needs Linux: epoll, termios2 and usbfs"
#endif

#include <errno.h>
#include <linux/hidraw.h>
#include <linux/serial.h>
#include <linux/usbdevice_fs.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <unistd.h>

#if defined(__mips__) || defined(__powerpc__) || defined(__sparc__) || defined(__alpha__)
#error "termios2 has another layout on this architecture; see <asm/termbits.h>"
#endif

// The kernel's `struct termios2` (asm-generic/termbits.h). <asm/termbits.h> can't be included: it defines
// `struct termios` a second time, differently from Glibc's.
struct shim_termios2 {
    uint32_t c_iflag;
    uint32_t c_oflag;
    uint32_t c_cflag;
    uint32_t c_lflag;
    uint8_t c_line;
    uint8_t c_cc[19];
    uint32_t c_ispeed;
    uint32_t c_ospeed;
};
_Static_assert(sizeof(struct shim_termios2) == 44, "struct termios2 of asm-generic/termbits.h");

// Request numbers of asm-generic/ioctls.h. Swift doesn't import _IOR and _IOW macros.
#define SHIM_TCGETS2 _IOR('T', 0x2A, struct shim_termios2)
#define SHIM_TCSETS2 _IOW('T', 0x2B, struct shim_termios2)
#define SHIM_TIOCGEXCL _IOR('T', 0x40, int)

// c_cflag bits of asm-generic/termbits.h. With BOTHER, the baud rate is the number in c_ospeed.
enum { SHIM_BOTHER = 0010000, SHIM_CBAUD = 0010017, SHIM_IBSHIFT = 16 };
static const uint32_t SHIM_CMSPAR = 010000000000;
static const uint32_t SHIM_CRTSCTS = 020000000000;

// Flags of <linux/serial.h>. Swift doesn't import macros with shifts.
static const int SHIM_LOW_LATENCY = ASYNC_LOW_LATENCY;
static const uint32_t SHIM_RS485_ENABLED = SER_RS485_ENABLED;
static const uint32_t SHIM_RS485_RTS_ON_SEND = SER_RS485_RTS_ON_SEND;
static const uint32_t SHIM_RS485_RTS_AFTER_SEND = SER_RS485_RTS_AFTER_SEND;
static const uint32_t SHIM_RS485_RX_DURING_TX = SER_RS485_RX_DURING_TX;

static inline int shim_tcgets2(int fd, struct shim_termios2 *settings) { return ioctl(fd, SHIM_TCGETS2, settings); }
static inline int shim_tcsets2(int fd, const struct shim_termios2 *settings) {
    return ioctl(fd, SHIM_TCSETS2, settings);
}
static inline int shim_tiocexcl(int fd) { return ioctl(fd, TIOCEXCL); }
static inline int shim_tiocnxcl(int fd) { return ioctl(fd, TIOCNXCL); }
static inline int shim_tiocgexcl(int fd, int *exclusive) { return ioctl(fd, SHIM_TIOCGEXCL, exclusive); }
static inline int shim_tcflush(int fd, int queue) { return ioctl(fd, TCFLSH, queue); }

// Human interface devices: hidraw(4) in the kernel's Documentation/hid/hidraw.rst. The size is a part of the request's number.
// `bytes` has room for HID_MAX_DESCRIPTOR_SIZE of them. Returns how many were read, or -1. In Swift the kernel's structure is a
// tuple of 4,096 numbers, and the compiler needs half a minute for a function with one.
static inline int shim_hid_descriptor(int fd, void *bytes) {
  struct hidraw_report_descriptor reports = {0};
  int size = 0;
  if (ioctl(fd, HIDIOCGRDESCSIZE, &size) < 0) return -1;
  if (size < 0) size = 0;
  reports.size = size < HID_MAX_DESCRIPTOR_SIZE ? size : HID_MAX_DESCRIPTOR_SIZE;
  if (ioctl(fd, HIDIOCGRDESC, &reports) < 0) return -1;
  int count = reports.size < HID_MAX_DESCRIPTOR_SIZE ? reports.size : HID_MAX_DESCRIPTOR_SIZE;
  memcpy(bytes, reports.value, count);
  return count;
}
static inline int shim_hid_get_feature(int fd, void *report, int size) {
  return ioctl(fd, HIDIOCGFEATURE(size), report);
}
static inline int shim_hid_set_feature(int fd, void *report, int size) {
  return ioctl(fd, HIDIOCSFEATURE(size), report);
}

// usbfs. A control transfer of one setup packet of 8 bytes and the data behind it, of up to 64 KiB; USBDEVFS_CONTROL takes no more than a
// page. Returns the number of bytes of data, or -1. Nothing else may be with the kernel by this descriptor.
static inline int shim_usb_control(int fd, unsigned char *packet, int size, int milliseconds) {
  struct usbdevfs_urb urb = {0}, *done = 0;
  urb.type = USBDEVFS_URB_TYPE_CONTROL;
  urb.buffer = packet;
  urb.buffer_length = size;
  if (ioctl(fd, USBDEVFS_SUBMITURB, &urb) < 0) return -1;
  struct pollfd ready = {.fd = fd, .events = POLLOUT};
  int count;
  do count = poll(&ready, 1, milliseconds);
  while (count < 0 && errno == EINTR);
  if (count <= 0) ioctl(fd, USBDEVFS_DISCARDURB, &urb);
  // The kernel has the transfer until it gives it back, which a device that is gone does not prevent.
  int result;
  do result = ioctl(fd, USBDEVFS_REAPURB, &done);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -1;
  if (urb.status == 0) return urb.actual_length;
  errno = count <= 0 ? ETIMEDOUT : -urb.status;
  return -1;
}
static inline int shim_usb_claim(int fd, unsigned interface) { return ioctl(fd, USBDEVFS_CLAIMINTERFACE, &interface); }

// Modem lines, break, and requests that only some drivers support.
static inline int shim_tiocmget(int fd, int *lines) { return ioctl(fd, TIOCMGET, lines); }
static inline int shim_tiocmbis(int fd, int lines) { return ioctl(fd, TIOCMBIS, &lines); }
static inline int shim_tiocmbic(int fd, int lines) { return ioctl(fd, TIOCMBIC, &lines); }
static inline int shim_tiocmset(int fd, int lines) { return ioctl(fd, TIOCMSET, &lines); }
static inline int shim_tiocsbrk(int fd) { return ioctl(fd, TIOCSBRK); }
static inline int shim_tioccbrk(int fd) { return ioctl(fd, TIOCCBRK); }
static inline int shim_tiocoutq(int fd, int *waiting) { return ioctl(fd, TIOCOUTQ, waiting); }
static inline int shim_tiocgicount(int fd, struct serial_icounter_struct *counts) { return ioctl(fd, TIOCGICOUNT, counts); }
static inline int shim_tiocgserial(int fd, struct serial_struct *serial) { return ioctl(fd, TIOCGSERIAL, serial); }
static inline int shim_tiocsserial(int fd, const struct serial_struct *serial) {
    return ioctl(fd, TIOCSSERIAL, serial);
}

// The address of a Bluetooth adapter, its last byte first. The kernel's header net/bluetooth/hci_sock.h isn't installed with
// libc: the request HCIGETDEVINFO fills a structure of 92 bytes, which begins with the number of the adapter and has the
// address behind its name.
static inline int shim_hci_address(int fd, unsigned short number, unsigned char address[6]) {
    union { unsigned short number; unsigned char bytes[128]; unsigned int alignment; } info = { .bytes = { 0 } };
    info.number = number;
    int result = ioctl(fd, _IOR('H', 211, int), &info);
    for (int i = 0; i < 6; i++) address[i] = info.bytes[10 + i];
    return result;
}

static inline int shim_tiocgrs485(int fd, struct serial_rs485 *rs485) { return ioctl(fd, TIOCGRS485, rs485); }
static inline int shim_tiocsrs485(int fd, const struct serial_rs485 *rs485) { return ioctl(fd, TIOCSRS485, rs485); }

static inline int shim_open(const char *path, int flags) { return open(path, flags); }
static inline int shim_tiocsptlck(int fd, int locked) { return ioctl(fd, TIOCSPTLCK, &locked); }
static inline int shim_tiocgptn(int fd, unsigned int *number) { return ioctl(fd, TIOCGPTN, number); }
// In Swift, the structure `flock` hides the function `flock`.
static inline int shim_flock(int fd, int operation) { return flock(fd, operation); }
static inline uint64_t shim_makedev(unsigned int major, unsigned int minor) { return makedev(major, minor); }
static inline unsigned int shim_major(uint64_t device) { return major(device); }
static inline unsigned int shim_minor(uint64_t device) { return minor(device); }
static inline int shim_gettid(void) { return (int)syscall(SYS_gettid); }
static inline int shim_tgkill(int thread, int signal) { return (int)syscall(SYS_tgkill, getpid(), thread, signal); }

// Without _GNU_SOURCE, glibc doesn't declare the credentials of a socket's peer (unix(7)).
struct shim_ucred {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};
static const int SHIM_SO_PEERCRED = SO_PEERCRED;
#ifdef SO_PEERGROUPS
static const int SHIM_SO_PEERGROUPS = SO_PEERGROUPS;
#else
static const int SHIM_SO_PEERGROUPS = 59;
#endif
// Without _GNU_SOURCE, glibc doesn't declare accept4 either.
static inline int shim_accept(int fd) {
    return (int)syscall(SYS_accept4, fd, (void *)0, (void *)0, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static inline int shim_thread_name(const char *name) { return prctl(PR_SET_NAME, name); }

// Starts a detached thread with a stack of `stack_size` bytes. Returns 0 or an errno.
static inline int shim_start_thread(void *(*body)(void *), void *context, size_t stack_size) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int result = pthread_create(&thread, &attributes, body, context);
    pthread_attr_destroy(&attributes);
    return result;
}

// Redirects Swift's tasks: from now on, `take` gets every job that belongs to no executor, and must have it run by
// shim_run_task_job.
void shim_redirect_tasks(void (*take)(void *job));
void shim_run_task_job(void *job);

// Sets M_ARENA_MAX of mallopt(3): each arena keeps the memory that its threads have freed. Does nothing with a C
// library other than glibc.
static inline void shim_limit_arenas(int count) {
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, count);
#else
    (void)count;
#endif
}

// malloc_trim(3). Does nothing with a C library other than glibc.
static inline void shim_trim_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

// A file in memory, closed on exec; -1 on failure. memfd_create(2) is declared only with _GNU_SOURCE.
static inline int shim_memory_file(const char *name) { return (int)syscall(SYS_memfd_create, name, 1u); }

// Reserves blocks for these bytes of a file, whose size stays (FALLOC_FL_KEEP_SIZE); -1 on failure. fallocate(2) is
// declared only with _GNU_SOURCE.
static inline int shim_reserve(int fd, long start, long count) {
    return (int)syscall(SYS_fallocate, fd, 1, start, count);
}

// A pipe whose ends are closed on exec; -1 on failure. pipe2(2) is declared only with _GNU_SOURCE.
static inline int shim_pipe(int ends[2]) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }

#endif
