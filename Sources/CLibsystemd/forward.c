// SPDX-License-Identifier: Apache-2.0
//
// The functions of sd-bus that this package uses. Each calls the one of the same name in libsystemd, which is loaded for the
// first of them: with the six libraries that libsystemd needs, loading takes a twentieth of the whole start of bridge-cli, and
// most starts have nothing to do with Bluetooth. They are hidden, so that libsystemd's own calls of them don't come here.

#include "CLibsystemd.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

// Only the I/O thread calls these functions.
static void *find(const char *name) {
  static void *library;
  if (library == NULL) library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
  return library == NULL ? NULL : dlsym(library, name);
}

#define HIDDEN __attribute__((visibility("hidden")))

// A function that returns `missing` where there is no libsystemd.
#define FORWARD(result, name, parameters, arguments, missing) \
  HIDDEN result name parameters {                             \
    static result(*real) parameters;                          \
    if (real == NULL) real = find(#name);                     \
    return real == NULL ? missing : real arguments;           \
  }

#define CALL(name, parameters, arguments) FORWARD(int, name, parameters, arguments, -ENOPKG)
#define TEXT(name) FORWARD(const char *, name, (sd_bus_message * message), (message), NULL)

CALL(sd_bus_new, (sd_bus * *bus), (bus))
CALL(sd_bus_set_address, (sd_bus * bus, const char *address), (bus, address))
CALL(sd_bus_set_bus_client, (sd_bus * bus, int is_client), (bus, is_client))
CALL(sd_bus_negotiate_fds, (sd_bus * bus, int wanted), (bus, wanted))
CALL(sd_bus_start, (sd_bus * bus), (bus))
CALL(sd_bus_get_fd, (sd_bus * bus), (bus))
CALL(sd_bus_get_events, (sd_bus * bus), (bus))
CALL(sd_bus_get_timeout, (sd_bus * bus, uint64_t *time), (bus, time))
CALL(sd_bus_process, (sd_bus * bus, sd_bus_message **message), (bus, message))
CALL(sd_bus_add_match_async,
     (sd_bus * bus, sd_bus_slot **slot, const char *rule, sd_bus_message_handler_t callback,
      sd_bus_message_handler_t installed, void *context),
     (bus, slot, rule, callback, installed, context))
FORWARD(sd_bus_slot *, sd_bus_slot_unref, (sd_bus_slot * slot), (slot), NULL)
CALL(sd_bus_call_async,
     (sd_bus * bus, sd_bus_slot **slot, sd_bus_message *message, sd_bus_message_handler_t callback, void *context,
      uint64_t time),
     (bus, slot, message, callback, context, time))
CALL(sd_bus_add_object,
     (sd_bus * bus, sd_bus_slot **slot, const char *path, sd_bus_message_handler_t callback, void *context),
     (bus, slot, path, callback, context))
CALL(sd_bus_add_fallback,
     (sd_bus * bus, sd_bus_slot **slot, const char *prefix, sd_bus_message_handler_t callback, void *context),
     (bus, slot, prefix, callback, context))
CALL(sd_bus_send, (sd_bus * bus, sd_bus_message *message, uint64_t *cookie), (bus, message, cookie))
CALL(sd_bus_reply_method_error, (sd_bus_message * call, const sd_bus_error *error), (call, error))
FORWARD(sd_bus *, sd_bus_unref, (sd_bus * bus), (bus), NULL)

HIDDEN void sd_bus_close(sd_bus *bus) {
  static void (*real)(sd_bus *);
  if (real == NULL) real = find("sd_bus_close");
  if (real != NULL) real(bus);
}

CALL(sd_bus_message_new_method_call,
     (sd_bus * bus, sd_bus_message **message, const char *destination, const char *path, const char *interface,
      const char *member),
     (bus, message, destination, path, interface, member))
CALL(sd_bus_message_new_signal,
     (sd_bus * bus, sd_bus_message **message, const char *path, const char *interface, const char *member),
     (bus, message, path, interface, member))
CALL(sd_bus_message_get_expect_reply, (sd_bus_message * message), (message))
CALL(sd_bus_message_new_method_return, (sd_bus_message * call, sd_bus_message **message), (call, message))
FORWARD(sd_bus_message *, sd_bus_message_ref, (sd_bus_message * message), (message), NULL)
FORWARD(sd_bus_message *, sd_bus_message_unref, (sd_bus_message * message), (message), NULL)
CALL(sd_bus_message_append_basic, (sd_bus_message * message, char type, const void *value), (message, type, value))
CALL(sd_bus_message_append_array, (sd_bus_message * message, char type, const void *bytes, size_t count),
     (message, type, bytes, count))
CALL(sd_bus_message_open_container, (sd_bus_message * message, char type, const char *contents),
     (message, type, contents))
CALL(sd_bus_message_close_container, (sd_bus_message * message), (message))
CALL(sd_bus_message_read_basic, (sd_bus_message * message, char type, void *value), (message, type, value))
CALL(sd_bus_message_read_array, (sd_bus_message * message, char type, const void **bytes, size_t *count),
     (message, type, bytes, count))
CALL(sd_bus_message_enter_container, (sd_bus_message * message, char type, const char *contents),
     (message, type, contents))
CALL(sd_bus_message_exit_container, (sd_bus_message * message), (message))
CALL(sd_bus_message_peek_type, (sd_bus_message * message, char *type, const char **contents), (message, type, contents))
FORWARD(const sd_bus_error *, sd_bus_message_get_error, (sd_bus_message * message), (message), NULL)
TEXT(sd_bus_message_get_sender)
TEXT(sd_bus_message_get_path)
TEXT(sd_bus_message_get_interface)
TEXT(sd_bus_message_get_member)
