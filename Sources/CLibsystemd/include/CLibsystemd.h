// SPDX-License-Identifier: Apache-2.0

// sd-bus, which is loaded by the first call: see sdbus.c.

#pragma once

#include <systemd/sd-bus.h>
