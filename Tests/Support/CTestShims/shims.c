// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CTestShims.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int test_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int test_openpt(char *path, size_t size) {
  int other = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (other >= 0 && (grantpt(other) != 0 || unlockpt(other) != 0 || ptsname_r(other, path, size) != 0)) {
    close(other);
    return -1;
  }
  return other;
}

int test_spawn_in(posix_spawn_file_actions_t *actions, const char *directory) {
  return posix_spawn_file_actions_addchdir_np(actions, directory);
}

int test_spawn_closing(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
