// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "cfloor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int64_t cfloor_run(const char *path, char *const arguments[], int *status) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    int64_t start = cfloor_now();
    int error = posix_spawn(&pid, path, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        errno = error;
        return -1;
    }
    while (waitpid(pid, status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return cfloor_now() - start;
}

static pid_t spawn(const char *path, char *const arguments[], int kept, int *output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (kept != STDOUT_FILENO) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    posix_spawn_file_actions_adddup2(&actions, ends[1], kept);
    pid_t pid;
    int error = posix_spawn(&pid, path, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        errno = error;
        return -1;
    }
    *output = ends[0];
    return pid;
}

pid_t cfloor_spawn(const char *path, char *const arguments[], int *output) {
    return spawn(path, arguments, STDOUT_FILENO, output);
}

pid_t cfloor_spawn_noting(const char *path, char *const arguments[], int *output) {
    return spawn(path, arguments, STDERR_FILENO, output);
}

int cfloor_wait(pid_t pid, int *status) {
    while (waitpid(pid, status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return 0;
}

void cfloor_end(pid_t pid) {
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}
