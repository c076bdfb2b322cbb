// SPDX-License-Identifier: Apache-2.0
//
// Made by Tests/Checks/Descriptions/list --renew (make format) from the files in Descriptions.
#include "CDescriptions.h"

// A C compiler embeds 200 KB in milliseconds. SwiftPM's embedInCode writes a Swift array of as many numbers, which takes the
// compiler 10 seconds in a debug build, and 20 in a release build.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t abc_bms[] = {
#embed "Descriptions/abc-bms.yaml"
};
static const uint8_t ant[] = {
#embed "Descriptions/ant.yaml"
};
static const uint8_t ant_legacy[] = {
#embed "Descriptions/ant-legacy.yaml"
};
static const uint8_t braunpwr[] = {
#embed "Descriptions/braunpwr.yaml"
};
static const uint8_t buknuwo[] = {
#embed "Descriptions/buknuwo.yaml"
};
static const uint8_t cbt[] = {
#embed "Descriptions/cbt.yaml"
};
static const uint8_t daly[] = {
#embed "Descriptions/daly.yaml"
};
static const uint8_t daly_81[] = {
#embed "Descriptions/daly-81.yaml"
};
static const uint8_t daly_d2[] = {
#embed "Descriptions/daly-d2.yaml"
};
static const uint8_t ecoworthy[] = {
#embed "Descriptions/ecoworthy.yaml"
};
static const uint8_t eg4[] = {
#embed "Descriptions/eg4.yaml"
};
static const uint8_t ej[] = {
#embed "Descriptions/ej.yaml"
};
static const uint8_t elm327[] = {
#embed "Descriptions/elm327.yaml"
};
static const uint8_t epever[] = {
#embed "Descriptions/epever.yaml"
};
static const uint8_t felicity[] = {
#embed "Descriptions/felicity.yaml"
};
static const uint8_t gobel[] = {
#embed "Descriptions/gobel.yaml"
};
static const uint8_t humsienk[] = {
#embed "Descriptions/humsienk.yaml"
};
static const uint8_t jbd[] = {
#embed "Descriptions/jbd.yaml"
};
static const uint8_t jk[] = {
#embed "Descriptions/jk.yaml"
};
static const uint8_t jk02[] = {
#embed "Descriptions/jk02.yaml"
};
static const uint8_t jk04[] = {
#embed "Descriptions/jk04.yaml"
};
static const uint8_t lipower[] = {
#embed "Descriptions/lipower.yaml"
};
static const uint8_t litime[] = {
#embed "Descriptions/litime.yaml"
};
static const uint8_t megatec[] = {
#embed "Descriptions/megatec.yaml"
};
static const uint8_t neey[] = {
#embed "Descriptions/neey.yaml"
};
static const uint8_t pace[] = {
#embed "Descriptions/pace.yaml"
};
static const uint8_t pi30[] = {
#embed "Descriptions/pi30.yaml"
};
static const uint8_t pro_bms[] = {
#embed "Descriptions/pro-bms.yaml"
};
static const uint8_t pylontech[] = {
#embed "Descriptions/pylontech.yaml"
};
static const uint8_t renogy[] = {
#embed "Descriptions/renogy.yaml"
};
static const uint8_t renogy_battery[] = {
#embed "Descriptions/renogy-battery.yaml"
};
static const uint8_t renogy_pro[] = {
#embed "Descriptions/renogy-pro.yaml"
};
static const uint8_t roypow[] = {
#embed "Descriptions/roypow.yaml"
};
static const uint8_t sdm120[] = {
#embed "Descriptions/sdm120.yaml"
};
static const uint8_t seplos2[] = {
#embed "Descriptions/seplos2.yaml"
};
static const uint8_t seplos3[] = {
#embed "Descriptions/seplos3.yaml"
};
static const uint8_t seplos3_rack[] = {
#embed "Descriptions/seplos3-rack.yaml"
};
static const uint8_t srne[] = {
#embed "Descriptions/srne.yaml"
};
static const uint8_t tdt[] = {
#embed "Descriptions/tdt.yaml"
};
static const uint8_t tianpwr[] = {
#embed "Descriptions/tianpwr.yaml"
};
static const uint8_t topband[] = {
#embed "Descriptions/topband.yaml"
};
static const uint8_t vatrer[] = {
#embed "Descriptions/vatrer.yaml"
};
static const uint8_t vedirect[] = {
#embed "Descriptions/vedirect.yaml"
};
static const uint8_t vesc[] = {
#embed "Descriptions/vesc.yaml"
};
static const uint8_t victron_ble[] = {
#embed "Descriptions/victron-ble.yaml"
};

#define DESCRIPTION(bytes, name) {name, bytes, sizeof bytes}

static const struct embedded_description descriptions[] = {
    DESCRIPTION(abc_bms, "abc-bms"),
    DESCRIPTION(ant, "ant"),
    DESCRIPTION(ant_legacy, "ant-legacy"),
    DESCRIPTION(braunpwr, "braunpwr"),
    DESCRIPTION(buknuwo, "buknuwo"),
    DESCRIPTION(cbt, "cbt"),
    DESCRIPTION(daly, "daly"),
    DESCRIPTION(daly_81, "daly-81"),
    DESCRIPTION(daly_d2, "daly-d2"),
    DESCRIPTION(ecoworthy, "ecoworthy"),
    DESCRIPTION(eg4, "eg4"),
    DESCRIPTION(ej, "ej"),
    DESCRIPTION(elm327, "elm327"),
    DESCRIPTION(epever, "epever"),
    DESCRIPTION(felicity, "felicity"),
    DESCRIPTION(gobel, "gobel"),
    DESCRIPTION(humsienk, "humsienk"),
    DESCRIPTION(jbd, "jbd"),
    DESCRIPTION(jk, "jk"),
    DESCRIPTION(jk02, "jk02"),
    DESCRIPTION(jk04, "jk04"),
    DESCRIPTION(lipower, "lipower"),
    DESCRIPTION(litime, "litime"),
    DESCRIPTION(megatec, "megatec"),
    DESCRIPTION(neey, "neey"),
    DESCRIPTION(pace, "pace"),
    DESCRIPTION(pi30, "pi30"),
    DESCRIPTION(pro_bms, "pro-bms"),
    DESCRIPTION(pylontech, "pylontech"),
    DESCRIPTION(renogy, "renogy"),
    DESCRIPTION(renogy_battery, "renogy-battery"),
    DESCRIPTION(renogy_pro, "renogy-pro"),
    DESCRIPTION(roypow, "roypow"),
    DESCRIPTION(sdm120, "sdm120"),
    DESCRIPTION(seplos2, "seplos2"),
    DESCRIPTION(seplos3, "seplos3"),
    DESCRIPTION(seplos3_rack, "seplos3-rack"),
    DESCRIPTION(srne, "srne"),
    DESCRIPTION(tdt, "tdt"),
    DESCRIPTION(tianpwr, "tianpwr"),
    DESCRIPTION(topband, "topband"),
    DESCRIPTION(vatrer, "vatrer"),
    DESCRIPTION(vedirect, "vedirect"),
    DESCRIPTION(vesc, "vesc"),
    DESCRIPTION(victron_ble, "victron-ble"),
};

const struct embedded_description *embedded_description_at(size_t index) {
  return index < sizeof descriptions / sizeof descriptions[0] ? &descriptions[index] : NULL;
}
