// SPDX-License-Identifier: Apache-2.0
//
// The functions of libmosquitto that this package uses. Each calls the one of the same name in the library, which
// shim_load_libmosquitto has loaded: bridge-cli and bridge-fleet are one program in the packages, and bridge-cli does without
// libmosquitto and what that needs. They are hidden, so that libmosquitto's own calls of them don't come here.

#include "CLibmosquitto.h"

#include <dlfcn.h>
#include <stddef.h>

// A line for each: result, name, parameters, arguments.
#define FUNCTIONS(F)                                                                                                 \
  F(int, mosquitto_lib_init, (void), ())                                                                             \
  F(struct mosquitto *, mosquitto_new, (const char *id, bool clean_session, void *context), (id, clean_session, context)) \
  F(void, mosquitto_destroy, (struct mosquitto * client), (client))                                                  \
  F(int, mosquitto_int_option, (struct mosquitto * client, enum mosq_opt_t option, int value), (client, option, value)) \
  F(int, mosquitto_username_pw_set, (struct mosquitto * client, const char *user, const char *password),             \
    (client, user, password))                                                                                        \
  F(int, mosquitto_will_set,                                                                                         \
    (struct mosquitto * client, const char *topic, int count, const void *payload, int qos, bool retain),            \
    (client, topic, count, payload, qos, retain))                                                                    \
  F(int, mosquitto_tls_set,                                                                                          \
    (struct mosquitto * client, const char *ca_file, const char *ca_folder, const char *certificate, const char *key, \
     int (*password)(char *, int, int, void *)),                                                                     \
    (client, ca_file, ca_folder, certificate, key, password))                                                        \
  F(void, mosquitto_connect_callback_set, (struct mosquitto * client, void (*call)(struct mosquitto *, void *, int)), \
    (client, call))                                                                                                  \
  F(void, mosquitto_disconnect_callback_set,                                                                         \
    (struct mosquitto * client, void (*call)(struct mosquitto *, void *, int)), (client, call))                      \
  F(void, mosquitto_publish_callback_set, (struct mosquitto * client, void (*call)(struct mosquitto *, void *, int)), \
    (client, call))                                                                                                  \
  F(void, mosquitto_subscribe_callback_set,                                                                          \
    (struct mosquitto * client, void (*call)(struct mosquitto *, void *, int, int, const int *)), (client, call))    \
  F(void, mosquitto_message_callback_set,                                                                            \
    (struct mosquitto * client, void (*call)(struct mosquitto *, void *, const struct mosquitto_message *)),         \
    (client, call))                                                                                                  \
  F(void, mosquitto_log_callback_set,                                                                                \
    (struct mosquitto * client, void (*call)(struct mosquitto *, void *, int, const char *)), (client, call))        \
  F(int, mosquitto_connect_async, (struct mosquitto * client, const char *host, int port, int keepalive),            \
    (client, host, port, keepalive))                                                                                 \
  F(int, mosquitto_disconnect, (struct mosquitto * client), (client))                                                \
  F(int, mosquitto_socket, (struct mosquitto * client), (client))                                                    \
  F(bool, mosquitto_want_write, (struct mosquitto * client), (client))                                               \
  F(int, mosquitto_loop_read, (struct mosquitto * client, int packets), (client, packets))                           \
  F(int, mosquitto_loop_write, (struct mosquitto * client, int packets), (client, packets))                          \
  F(int, mosquitto_loop_misc, (struct mosquitto * client), (client))                                                 \
  F(int, mosquitto_publish,                                                                                          \
    (struct mosquitto * client, int *number, const char *topic, int count, const void *payload, int qos, bool retain), \
    (client, number, topic, count, payload, qos, retain))                                                            \
  F(int, mosquitto_subscribe, (struct mosquitto * client, int *number, const char *filter, int qos),                 \
    (client, number, filter, qos))                                                                                   \
  F(int, mosquitto_unsubscribe, (struct mosquitto * client, int *number, const char *filter),                        \
    (client, number, filter))                                                                                        \
  F(const char *, mosquitto_strerror, (int code), (code))                                                            \
  F(const char *, mosquitto_connack_string, (int code), (code))

#define FORWARD(result, name, parameters, arguments)                                                                 \
  static result(*real_##name) parameters;                                                                            \
  __attribute__((visibility("hidden"))) result name parameters { return real_##name arguments; }
FUNCTIONS(FORWARD)

const char *shim_load_libmosquitto(void) {
  void *library = dlopen("libmosquitto.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return dlerror();
#define FIND(result, name, parameters, arguments) \
  if ((real_##name = dlsym(library, #name)) == NULL) return dlerror();
  FUNCTIONS(FIND)
  return NULL;
}
