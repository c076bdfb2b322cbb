// SPDX-License-Identifier: Apache-2.0
#include "CDescriptions.h"

// A C compiler embeds 130 KB in milliseconds. SwiftPM's embedInCode writes a Swift array of as many numbers, which takes the
// compiler 10 seconds in a debug build, and 20 in a release build.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t daly[] = {
#embed "Descriptions/daly.yaml"
};
static const uint8_t elm327[] = {
#embed "Descriptions/elm327.yaml"
};
static const uint8_t epever[] = {
#embed "Descriptions/epever.yaml"
};
static const uint8_t jbd[] = {
#embed "Descriptions/jbd.yaml"
};
static const uint8_t jk[] = {
#embed "Descriptions/jk.yaml"
};
static const uint8_t megatec[] = {
#embed "Descriptions/megatec.yaml"
};
static const uint8_t pi30[] = {
#embed "Descriptions/pi30.yaml"
};
static const uint8_t pylontech[] = {
#embed "Descriptions/pylontech.yaml"
};
static const uint8_t renogy[] = {
#embed "Descriptions/renogy.yaml"
};
static const uint8_t sdm120[] = {
#embed "Descriptions/sdm120.yaml"
};
static const uint8_t srne[] = {
#embed "Descriptions/srne.yaml"
};
static const uint8_t vedirect[] = {
#embed "Descriptions/vedirect.yaml"
};
static const uint8_t vesc[] = {
#embed "Descriptions/vesc.yaml"
};

#define DESCRIPTION(name) {#name, name, sizeof name}

static const struct embedded_description descriptions[] = {
    DESCRIPTION(daly), DESCRIPTION(elm327), DESCRIPTION(epever), DESCRIPTION(jbd), DESCRIPTION(jk),
    DESCRIPTION(megatec), DESCRIPTION(pi30), DESCRIPTION(pylontech), DESCRIPTION(renogy), DESCRIPTION(sdm120),
    DESCRIPTION(srne), DESCRIPTION(vedirect), DESCRIPTION(vesc),
};

const struct embedded_description *embedded_description_at(size_t index) {
  return index < sizeof descriptions / sizeof descriptions[0] ? &descriptions[index] : NULL;
}
