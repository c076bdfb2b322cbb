// SPDX-License-Identifier: Apache-2.0
//
// Counts what this program asks the C library's heap for, Swift's objects and arrays included: the program's own
// definitions go before the C library's, which stay reachable under other names.

#include "cfloor.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_bool is_counting;
static _Atomic uint64_t count;

static inline void note(void) {
    if (atomic_load_explicit(&is_counting, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    }
}

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
    note();
    return __libc_calloc(items, size);
}

void *realloc(void *block, size_t size) {
    note();
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    note();
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) {
        return EINVAL;
    }
    void *fresh = __libc_memalign(alignment, size);
    if (fresh == NULL) {
        return ENOMEM;
    }
    *block = fresh;
    return 0;
}

void cfloor_allocations_begin(void) {
    atomic_store(&count, 0);
    atomic_store(&is_counting, true);
}

uint64_t cfloor_allocations_end(void) {
    atomic_store(&is_counting, false);
    return atomic_load(&count);
}
