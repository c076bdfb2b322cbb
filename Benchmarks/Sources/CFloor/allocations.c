// SPDX-License-Identifier: Apache-2.0
//
// Counts what this program asks the C library's heap for, Swift's objects and arrays included: the program's own
// definitions go before the C library's, which stay reachable under other names.

#define _GNU_SOURCE
#include "cfloor.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_bool is_counting;
static _Atomic uint64_t count, count_of_dispatch;
// Where libdispatch lies, whose items for its queues are not this project's: none where it is linked statically.
static uintptr_t dispatch_start, dispatch_end;

static inline void note(const void *caller) {
    if (atomic_load_explicit(&is_counting, memory_order_relaxed)) {
        bool is_dispatch = (uintptr_t)caller >= dispatch_start && (uintptr_t)caller < dispatch_end;
        atomic_fetch_add_explicit(is_dispatch ? &count_of_dispatch : &count, 1, memory_order_relaxed);
    }
}

static int find_dispatch(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    (void)context;
    const char *name = strrchr(object->dlpi_name, '/');
    if (!name || strncmp(name, "/libdispatch.so", 15) != 0) return 0;
    dispatch_start = object->dlpi_addr;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        uintptr_t end = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && end > dispatch_end) dispatch_end = end;
    }
    return 1;
}

void *malloc(size_t size) {
    note(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
    note(__builtin_return_address(0));
    return __libc_calloc(items, size);
}

void *realloc(void *block, size_t size) {
    note(__builtin_return_address(0));
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    note(__builtin_return_address(0));
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
    if (dispatch_end == 0) dl_iterate_phdr(find_dispatch, NULL);
    atomic_store(&count, 0);
    atomic_store(&count_of_dispatch, 0);
    atomic_store(&is_counting, true);
}

uint64_t cfloor_allocations_end(void) {
    atomic_store(&is_counting, false);
    return atomic_load(&count);
}

uint64_t cfloor_allocations_of_dispatch(void) { return atomic_load(&count_of_dispatch); }
