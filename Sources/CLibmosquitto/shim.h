// SPDX-License-Identifier: Apache-2.0

#if !__has_include(<mosquitto.h>)
#error "bridge-fleet needs libmosquitto, version 2: apt-get install libmosquitto-dev"
#endif

#include <mosquitto.h>
