// SPDX-License-Identifier: Apache-2.0
//
// relay FROM [TO]: carries packets of HCI between two places, each the path of a port or of a stream socket. Without TO it makes
// a Bluetooth adapter of the kernel (/dev/vhci) out of the controller at FROM. Ports and sockets are streams; the kernel
// wants one whole packet with each write, and gives one with each read.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

static int place(const char *path) {
  struct stat about;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (stat(path, &about) || !S_ISSOCK(about.st_mode)) return open(path, O_RDWR);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  return connect(descriptor, (struct sockaddr *)&address, sizeof address) ? -1 : descriptor;
}

int main(int count, char **words) {
  static uint8_t in[65536], out[4096];
  const uint8_t make[] = {0xff, 0x00};
  int have = 0;
  if (count != 2 && count != 3) return 64;
  int port = place(words[1]), adapter = place(count == 3 ? words[2] : "/dev/vhci");
  if (port < 0 || adapter < 0 || (count == 2 && write(adapter, make, sizeof make) != sizeof make)) {
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
