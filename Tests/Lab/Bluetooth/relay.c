// SPDX-License-Identifier: Apache-2.0
//
// relay PORT: makes a Bluetooth adapter of the kernel (/dev/vhci) out of a controller at the other end of a port. The port
// is a stream; the kernel wants one whole packet of HCI with each write, and gives one with each read.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The length of the packet that begins here, 0 where it isn't complete (Bluetooth Core, volume 4, part A: H4).
static int whole(const uint8_t *packet, int count) {
  int kind = packet[0], head = kind == 2 ? 5 : kind == 4 ? 3 : 4;
  if (count < head) return 0;
  int body = kind == 2 ? packet[3] | packet[4] << 8 : kind == 4 ? packet[2] : packet[3];
  return count < head + body ? 0 : head + body;
}

static int put(int descriptor, const uint8_t *bytes, int count) {
  while (count > 0) {
    int written = write(descriptor, bytes, count);
    if (written < 0) {
      if (errno != EAGAIN && errno != EINTR) return -1;
      struct pollfd wait = {descriptor, POLLOUT, 0};
      poll(&wait, 1, -1);
      continue;
    }
    bytes += written;
    count -= written;
  }
  return 0;
}

int main(int count, char **words) {
  static uint8_t in[65536], out[4096];
  const uint8_t make[] = {0xff, 0x00};
  int have = 0;
  if (count != 2) return 64;
  int port = open(words[1], O_RDWR), adapter = open("/dev/vhci", O_RDWR);
  if (port < 0 || adapter < 0 || write(adapter, make, sizeof make) != sizeof make) {
    perror("relay");
    return 1;
  }
  for (;;) {
    struct pollfd wait[2] = {{port, POLLIN, 0}, {adapter, POLLIN, 0}};
    poll(wait, 2, -1);
    if (wait[1].revents) {
      int read_count = read(adapter, out, sizeof out);
      if (read_count <= 0) return 0;
      // 0xFF is the kernel's answer to the adapter's making, and not for the controller.
      if (out[0] != 0xff && put(port, out, read_count)) return 0;
    }
    if (wait[0].revents) {
      int read_count = read(port, in + have, sizeof in - have), at = 0, length;
      if (read_count <= 0) return 0;
      for (have += read_count; at < have && (length = whole(in + at, have - at)) > 0; at += length)
        if (put(adapter, in + at, length)) perror("relay: an HCI packet");
      memmove(in, in + at, have -= at);
    }
  }
}
