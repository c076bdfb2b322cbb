// SPDX-License-Identifier: Apache-2.0

// Calls that Swift doesn't see because they are GNU's. What defines _GNU_SOURCE stays out of the header, where it would
// change the types that Swift knows.

#ifndef C_TEST_SHIMS_H
#define C_TEST_SHIMS_H

#include <spawn.h>
#include <stddef.h>

/// As pipe2(2), closed on exec.
int test_pipe(int ends[2]);
/// Opens a new terminal's other end, closed on exec, and writes the terminal's path.
int test_openpt(char *path, size_t size);
/// As posix_spawn_file_actions_addchdir_np(3).
int test_spawn_in(posix_spawn_file_actions_t *actions, const char *directory);
/// As posix_spawn_file_actions_addclosefrom_np(3).
int test_spawn_closing(posix_spawn_file_actions_t *actions, int first);

#endif
