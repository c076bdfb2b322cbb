// SPDX-License-Identifier: Apache-2.0
// The shims for Swift's tasks. They aren't in the header because they need a variable.
#include "CLinuxShims.h"

// The runtime's hook (swift/Runtime/Concurrency.h), and the function that runs a job. An executor is two words; both
// are 0 for a job that belongs to no actor.
typedef __attribute__((swiftcall)) void (*task_enqueuer)(void *job);
extern __attribute__((swiftcall)) void (*swift_task_enqueueGlobal_hook)(void *job, task_enqueuer original);
extern __attribute__((swiftcall)) void swift_job_run(void *job, void *executor, uintptr_t implementation);

static void (*task_taker)(void *job);

__attribute__((swiftcall)) static void take_task(void *job, task_enqueuer original) {
    (void)original;
    task_taker(job);
}

void shim_redirect_tasks(void (*take)(void *job)) {
    task_taker = take;
    swift_task_enqueueGlobal_hook = take_task;
}

void shim_run_task_job(void *job) { swift_job_run(job, 0, 0); }
