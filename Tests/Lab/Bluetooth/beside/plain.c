// SPDX-License-Identifier: Apache-2.0
//
// plain ADDRESS ROUNDS BYTES: what a plain C program does with the sockets that bluetoothd hands out, for comparison: connects the
// HM-10, measures echoes of 20 bytes, and writes BYTES. The device must be known to bluetoothd.
//
// plain through ROUNDS BYTES PROGRAM WORD...: measures the same through another program's standard input and output.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

static sd_bus *bus;
static char device[64], port[128];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void check(int result, const char *what) {
  if (result >= 0) return;
  fprintf(stderr, "plain: %s: %s\n", what, strerror(-result));
  exit(1);
}

// The path of FFE1 below the device.
static int find(void) {
  sd_bus_message *objects = NULL;
  const char *path, *interface, *name, *uuid;
  check(sd_bus_call_method(bus, "org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", NULL, &objects, ""),
        "GetManagedObjects");
  sd_bus_message_enter_container(objects, 'a', "{oa{sa{sv}}}");
  while (sd_bus_message_enter_container(objects, 'e', "oa{sa{sv}}") > 0) {
    sd_bus_message_read(objects, "o", &path);
    sd_bus_message_enter_container(objects, 'a', "{sa{sv}}");
    while (sd_bus_message_enter_container(objects, 'e', "sa{sv}") > 0) {
      sd_bus_message_read(objects, "s", &interface);
      sd_bus_message_enter_container(objects, 'a', "{sv}");
      while (sd_bus_message_enter_container(objects, 'e', "sv") > 0) {
        sd_bus_message_read(objects, "s", &name);
        if (!strcmp(name, "UUID") && !strcmp(interface, "org.bluez.GattCharacteristic1") &&
            sd_bus_message_read(objects, "v", "s", &uuid) > 0) {
          if (!strncmp(uuid, "0000ffe1", 8) && !strncmp(path, device, strlen(device))) snprintf(port, sizeof port, "%s", path);
        } else {
          sd_bus_message_skip(objects, "v");
        }
        sd_bus_message_exit_container(objects);
      }
      sd_bus_message_exit_container(objects);
      sd_bus_message_exit_container(objects);
    }
    sd_bus_message_exit_container(objects);
    sd_bus_message_exit_container(objects);
  }
  sd_bus_message_unref(objects);
  return *port != 0;
}

static int acquire(const char *method, int *size) {
  sd_bus_message *reply = NULL;
  int descriptor;
  uint16_t mtu;
  check(sd_bus_call_method(bus, "org.bluez", port, "org.bluez.GattCharacteristic1", method, NULL, &reply, "a{sv}", 0), method);
  check(sd_bus_message_read(reply, "hq", &descriptor, &mtu), method);
  *size = mtu - 3 > 512 ? 512 : mtu - 3;
  descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  sd_bus_message_unref(reply);
  return descriptor;
}

// Waits for `count` bytes, in one packet or several.
static void answer(int from, int count) {
  char bytes[512];
  while (count > 0) {
    struct pollfd wait = {from, POLLIN, 0};
    poll(&wait, 1, -1);
    int got = read(from, bytes, sizeof bytes);
    if (got <= 0) check(-ENOTCONN, "read");
    count -= got;
  }
}

static int order(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

// Starts a program whose standard input and output are pipes.
static pid_t start(char **words, int *from, int *to) {
  int in[2], out[2];
  check(pipe(in) | pipe(out) ? -errno : 0, "pipe");
  pid_t child = fork();
  if (child == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    for (int *end = in; end; end = end == in ? out : NULL) close(end[0]), close(end[1]);
    execv(words[0], words);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  *from = out[0];
  *to = in[1];
  return child;
}

static void measure(const char *name, double begin, int rounds, int bytes, int from, int to, int size) {
  char packet[4096];
  double *times = calloc(rounds + 1, sizeof *times), connected = 0;
  // The first echo comes when the device is connected.
  for (int round = -1; round < rounds; round++) {
    memset(packet, 'a' + (round & 15), 20);
    double from_now = now();
    check(write(to, packet, 20) == 20 ? 0 : -EIO, "write");
    answer(from, 20);
    if (round < 0) connected = now() - begin;
    else times[round] = now() - from_now;
  }
  qsort(times, rounds, sizeof *times, order);
  printf("%s: connect %.2f s, %d echoes of 20 bytes, median %.2f ms, p95 %.2f ms\n", name, connected, rounds,
         times[rounds / 2] * 1000, times[rounds * 95 / 100] * 1000);
  if (bytes > 0) {
    int length = snprintf(packet, sizeof packet, "last %d\n", bytes);
    check(write(to, packet, length) == length ? 0 : -EIO, "write");
    answer(from, 2);
    double begin_bytes = now();
    memset(packet, 0x55, sizeof packet);
    for (int sent = 0; sent < bytes;) {
      int part = bytes - sent < size ? bytes - sent : size, done = write(to, packet, part);
      if (done > 0) {
        sent += done;
      } else {
        struct pollfd wait = {to, POLLOUT, 0};
        poll(&wait, 1, -1);
      }
    }
    answer(from, 3);
    printf("%s: %d bytes in %.2f s: %.1f kB/s\n", name, bytes, now() - begin_bytes, bytes / (now() - begin_bytes) / 1000);
  }
  fflush(stdout);
}

int main(int count, char **words) {
  int size, from, to;
  double begin = now();
  signal(SIGPIPE, SIG_IGN);
  if (count > 4 && !strcmp(words[1], "through")) {
    pid_t child = start(words + 4, &from, &to);
    measure("ours, through two pipes", begin, atoi(words[2]), atoi(words[3]), from, to, sizeof(char[4096]));
    close(to);
    waitpid(child, NULL, 0);
    return 0;
  }
  if (count != 4) return 64;
  snprintf(device, sizeof device, "/org/bluez/hci0/dev_%s", words[1]);
  for (char *at = device; *at; at++)
    if (*at == ':') *at = '_';
  check(sd_bus_open_system(&bus), "the system bus");
  check(sd_bus_call_method(bus, "org.bluez", device, "org.bluez.Device1", "Connect", NULL, NULL, ""), "Connect");
  for (int resolved = 0; !resolved; usleep(resolved ? 0 : 10000))
    check(sd_bus_get_property_trivial(bus, "org.bluez", device, "org.bluez.Device1", "ServicesResolved", NULL, 'b', &resolved),
          "ServicesResolved");
  if (!find()) check(-ENOENT, "FFE1");
  from = acquire("AcquireNotify", &size);
  to = acquire("AcquireWrite", &size);
  measure("C", begin, atoi(words[2]), atoi(words[3]), from, to, size);
  sd_bus_call_method(bus, "org.bluez", device, "org.bluez.Device1", "Disconnect", NULL, NULL, "");
  return 0;
}
