// SPDX-License-Identifier: Apache-2.0

#if !__has_include(<mosquitto.h>)
#error "bridge-fleet needs the headers of libmosquitto, version 2: apt-get install libmosquitto-dev"
#endif

#include <mosquitto.h>

// Loads libmosquitto. NULL when all functions of forward.c are there, or else what the loader says. Call it once, before these.
const char *shim_load_libmosquitto(void);
