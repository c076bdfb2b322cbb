// SPDX-License-Identifier: Apache-2.0

// Rewrites the slots through which libusb-1.0.so calls libc (ELF with RELA: x86-64, aarch64, riscv64).

#define _GNU_SOURCE
#include "redirect.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_CALL_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_CALL_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#elif defined(__riscv)
#define IS_CALL_SLOT(type) ((type) == R_RISCV_JUMP_SLOT || (type) == R_RISCV_64)
#else
#error "the relocation types of this architecture are missing"
#endif

struct search {
    const struct fake_calls *fake;
    unsigned found; // a bit for each of the four
};

static void *replacement(const struct search *search, const char *name, unsigned *bit) {
    const struct fake_calls *fake = search->fake;
    if (!strcmp(name, "ioctl")) return *bit = 1, (void *)fake->ioctl;
    if (!strcmp(name, "read")) return *bit = 2, (void *)fake->read;
    if (!strcmp(name, "lseek") || !strcmp(name, "lseek64")) return *bit = 4, (void *)fake->lseek;
    if (!strcmp(name, "readlink")) return *bit = 8, (void *)fake->readlink;
    return NULL;
}

static void patch(struct search *search, ElfW(Addr) base, const ElfW(Rela) *table, size_t count,
                  const ElfW(Sym) *symbols, const char *names) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < count; i++) {
        if (!IS_CALL_SLOT(ELF64_R_TYPE(table[i].r_info))) continue;
        unsigned bit = 0;
        void *function = replacement(search, names + symbols[ELF64_R_SYM(table[i].r_info)].st_name, &bit);
        if (!function) continue;
        void **slot = (void **)(base + table[i].r_offset);
        // The table is read-only after loading; its page holds nothing else that matters.
        if (mprotect((void *)((uintptr_t)slot & ~(page - 1)), page, PROT_READ | PROT_WRITE)) continue;
        __atomic_store_n(slot, function, __ATOMIC_RELEASE);
        search->found |= bit;
    }
}

static int visit(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    struct search *search = context;
    const char *name = strrchr(object->dlpi_name, '/');
    if (!name || strncmp(name, "/libusb-1.0.so", 14)) return 0;
    const ElfW(Dyn) *entry = NULL;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    const ElfW(Rela) *calls = NULL, *data = NULL;
    size_t callsSize = 0, dataSize = 0;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    for (; entry && entry->d_tag != DT_NULL; entry++) switch (entry->d_tag) {
        case DT_JMPREL: calls = (const void *)entry->d_un.d_ptr; break;
        case DT_PLTRELSZ: callsSize = entry->d_un.d_val; break;
        case DT_RELA: data = (const void *)entry->d_un.d_ptr; break;
        case DT_RELASZ: dataSize = entry->d_un.d_val; break;
        case DT_SYMTAB: symbols = (const void *)entry->d_un.d_ptr; break;
        case DT_STRTAB: names = (const void *)entry->d_un.d_ptr; break;
        default: break;
        }
    if (!symbols || !names) return 0;
    patch(search, object->dlpi_addr, calls, callsSize / sizeof *calls, symbols, names);
    patch(search, object->dlpi_addr, data, dataSize / sizeof *data, symbols, names);
    return 1;
}

int redirect_libusb(const struct fake_calls *fake) {
    struct search search = {fake, 0};
    dl_iterate_phdr(visit, &search);
    return __builtin_popcount(search.found);
}
