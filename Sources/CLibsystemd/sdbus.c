// SPDX-License-Identifier: Apache-2.0

// sd-bus without linking it: libsystemd and the five libraries that it needs cost each start of the program 800,000
// instructions, and few starts have to do with Bluetooth. It is loaded by the first call. Where it is missing, the first call
// (sd_bus_new) fails with ENOTSUP, and no other is made.
//
// The functions have the names and the declarations of sd-bus.h. They are hidden: libsystemd's own calls don't come here.

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <systemd/sd-bus.h>

static void *library;

static void load(void) { library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL); }

static void *find(const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return library ? dlsym(library, name) : NULL;
}

// Looks a function up by its first call; more than one thread may do so, with the same result.
#define FORWARD(result, name, parameters, arguments, otherwise)                                                        \
    __attribute__((visibility("hidden"))) result name parameters {                                                     \
        static _Atomic(__typeof__(&name)) known;                                                                       \
        __typeof__(&name) function = known;                                                                            \
        if (!function) known = function = (__typeof__(&name))find(#name);                                              \
        return function ? function arguments : otherwise;                                                              \
    }

FORWARD(int, sd_bus_new, (sd_bus **bus), (bus), -ENOTSUP)
FORWARD(int, sd_bus_set_address, (sd_bus *bus, const char *address), (bus, address), -ENOTSUP)
FORWARD(int, sd_bus_set_bus_client, (sd_bus *bus, int yes), (bus, yes), -ENOTSUP)
FORWARD(int, sd_bus_negotiate_fds, (sd_bus *bus, int yes), (bus, yes), -ENOTSUP)
FORWARD(int, sd_bus_start, (sd_bus *bus), (bus), -ENOTSUP)
FORWARD(int, sd_bus_get_fd, (sd_bus *bus), (bus), -ENOTSUP)
FORWARD(int, sd_bus_get_events, (sd_bus *bus), (bus), -ENOTSUP)
FORWARD(int, sd_bus_get_timeout, (sd_bus *bus, uint64_t *microseconds), (bus, microseconds), -ENOTSUP)
FORWARD(int, sd_bus_process, (sd_bus *bus, sd_bus_message **message), (bus, message), -ENOTSUP)
FORWARD(int, sd_bus_add_match_async, (sd_bus *bus, sd_bus_slot **slot, const char *match, sd_bus_message_handler_t callback, sd_bus_message_handler_t installed, void *context), (bus, slot, match, callback, installed, context), -ENOTSUP)
FORWARD(int, sd_bus_call_async, (sd_bus *bus, sd_bus_slot **slot, sd_bus_message *message, sd_bus_message_handler_t callback, void *context, uint64_t microseconds), (bus, slot, message, callback, context, microseconds), -ENOTSUP)
FORWARD(int, sd_bus_message_new_method_call, (sd_bus *bus, sd_bus_message **message, const char *destination, const char *path, const char *interface, const char *member), (bus, message, destination, path, interface, member), -ENOTSUP)
FORWARD(int, sd_bus_message_append_basic, (sd_bus_message *message, char type, const void *value), (message, type, value), -ENOTSUP)
FORWARD(int, sd_bus_message_append_array, (sd_bus_message *message, char type, const void *values, size_t size), (message, type, values, size), -ENOTSUP)
FORWARD(int, sd_bus_message_open_container, (sd_bus_message *message, char type, const char *contents), (message, type, contents), -ENOTSUP)
FORWARD(int, sd_bus_message_close_container, (sd_bus_message *message), (message), -ENOTSUP)
FORWARD(int, sd_bus_message_enter_container, (sd_bus_message *message, char type, const char *contents), (message, type, contents), -ENOTSUP)
FORWARD(int, sd_bus_message_exit_container, (sd_bus_message *message), (message), -ENOTSUP)
FORWARD(int, sd_bus_message_peek_type, (sd_bus_message *message, char *type, const char **contents), (message, type, contents), -ENOTSUP)
FORWARD(int, sd_bus_message_read_basic, (sd_bus_message *message, char type, void *value), (message, type, value), -ENOTSUP)
FORWARD(int, sd_bus_message_read_array, (sd_bus_message *message, char type, const void **values, size_t *size), (message, type, values, size), -ENOTSUP)
FORWARD(const sd_bus_error *, sd_bus_message_get_error, (sd_bus_message *message), (message), NULL)
FORWARD(const char *, sd_bus_message_get_interface, (sd_bus_message *message), (message), NULL)
FORWARD(const char *, sd_bus_message_get_member, (sd_bus_message *message), (message), NULL)
FORWARD(const char *, sd_bus_message_get_path, (sd_bus_message *message), (message), NULL)
FORWARD(const char *, sd_bus_message_get_sender, (sd_bus_message *message), (message), NULL)
FORWARD(sd_bus_message *, sd_bus_message_unref, (sd_bus_message *message), (message), NULL)
FORWARD(sd_bus *, sd_bus_unref, (sd_bus *bus), (bus), NULL)

__attribute__((visibility("hidden"))) void sd_bus_close(sd_bus *bus) {
    void (*function)(sd_bus *) = (void (*)(sd_bus *))find("sd_bus_close");
    if (function) function(bus);
}
