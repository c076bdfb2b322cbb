// SPDX-License-Identifier: Apache-2.0
//
// Made by Tests/Checks/Descriptions/list --renew (make format) from the files in Descriptions.
#include "CDescriptions.h"

// A C compiler embeds 200 KB in milliseconds. SwiftPM's embedInCode writes a Swift array of as many numbers, which takes the
// compiler 10 seconds in a debug build, and 20 in a release build.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct embedded_description descriptions[] = {
    {"abc-bms", (const char[]){
#embed "Descriptions/abc-bms.yaml" suffix(, 0)
    }},
    {"ant", (const char[]){
#embed "Descriptions/ant.yaml" suffix(, 0)
    }},
    {"ant-legacy", (const char[]){
#embed "Descriptions/ant-legacy.yaml" suffix(, 0)
    }},
    {"braunpwr", (const char[]){
#embed "Descriptions/braunpwr.yaml" suffix(, 0)
    }},
    {"buknuwo", (const char[]){
#embed "Descriptions/buknuwo.yaml" suffix(, 0)
    }},
    {"cbt", (const char[]){
#embed "Descriptions/cbt.yaml" suffix(, 0)
    }},
    {"daly", (const char[]){
#embed "Descriptions/daly.yaml" suffix(, 0)
    }},
    {"daly-81", (const char[]){
#embed "Descriptions/daly-81.yaml" suffix(, 0)
    }},
    {"daly-d2", (const char[]){
#embed "Descriptions/daly-d2.yaml" suffix(, 0)
    }},
    {"ecoworthy", (const char[]){
#embed "Descriptions/ecoworthy.yaml" suffix(, 0)
    }},
    {"eg4", (const char[]){
#embed "Descriptions/eg4.yaml" suffix(, 0)
    }},
    {"ej", (const char[]){
#embed "Descriptions/ej.yaml" suffix(, 0)
    }},
    {"elm327", (const char[]){
#embed "Descriptions/elm327.yaml" suffix(, 0)
    }},
    {"epever", (const char[]){
#embed "Descriptions/epever.yaml" suffix(, 0)
    }},
    {"felicity", (const char[]){
#embed "Descriptions/felicity.yaml" suffix(, 0)
    }},
    {"gobel", (const char[]){
#embed "Descriptions/gobel.yaml" suffix(, 0)
    }},
    {"humsienk", (const char[]){
#embed "Descriptions/humsienk.yaml" suffix(, 0)
    }},
    {"jbd", (const char[]){
#embed "Descriptions/jbd.yaml" suffix(, 0)
    }},
    {"jk", (const char[]){
#embed "Descriptions/jk.yaml" suffix(, 0)
    }},
    {"jk02", (const char[]){
#embed "Descriptions/jk02.yaml" suffix(, 0)
    }},
    {"jk04", (const char[]){
#embed "Descriptions/jk04.yaml" suffix(, 0)
    }},
    {"lipower", (const char[]){
#embed "Descriptions/lipower.yaml" suffix(, 0)
    }},
    {"litime", (const char[]){
#embed "Descriptions/litime.yaml" suffix(, 0)
    }},
    {"megatec", (const char[]){
#embed "Descriptions/megatec.yaml" suffix(, 0)
    }},
    {"neey", (const char[]){
#embed "Descriptions/neey.yaml" suffix(, 0)
    }},
    {"pace", (const char[]){
#embed "Descriptions/pace.yaml" suffix(, 0)
    }},
    {"pi30", (const char[]){
#embed "Descriptions/pi30.yaml" suffix(, 0)
    }},
    {"pro-bms", (const char[]){
#embed "Descriptions/pro-bms.yaml" suffix(, 0)
    }},
    {"pylontech", (const char[]){
#embed "Descriptions/pylontech.yaml" suffix(, 0)
    }},
    {"renogy", (const char[]){
#embed "Descriptions/renogy.yaml" suffix(, 0)
    }},
    {"renogy-battery", (const char[]){
#embed "Descriptions/renogy-battery.yaml" suffix(, 0)
    }},
    {"renogy-pro", (const char[]){
#embed "Descriptions/renogy-pro.yaml" suffix(, 0)
    }},
    {"roypow", (const char[]){
#embed "Descriptions/roypow.yaml" suffix(, 0)
    }},
    {"sdm120", (const char[]){
#embed "Descriptions/sdm120.yaml" suffix(, 0)
    }},
    {"seplos2", (const char[]){
#embed "Descriptions/seplos2.yaml" suffix(, 0)
    }},
    {"seplos3", (const char[]){
#embed "Descriptions/seplos3.yaml" suffix(, 0)
    }},
    {"seplos3-rack", (const char[]){
#embed "Descriptions/seplos3-rack.yaml" suffix(, 0)
    }},
    {"srne", (const char[]){
#embed "Descriptions/srne.yaml" suffix(, 0)
    }},
    {"tdt", (const char[]){
#embed "Descriptions/tdt.yaml" suffix(, 0)
    }},
    {"tianpwr", (const char[]){
#embed "Descriptions/tianpwr.yaml" suffix(, 0)
    }},
    {"topband", (const char[]){
#embed "Descriptions/topband.yaml" suffix(, 0)
    }},
    {"vatrer", (const char[]){
#embed "Descriptions/vatrer.yaml" suffix(, 0)
    }},
    {"vedirect", (const char[]){
#embed "Descriptions/vedirect.yaml" suffix(, 0)
    }},
    {"vesc", (const char[]){
#embed "Descriptions/vesc.yaml" suffix(, 0)
    }},
    {"victron-ble", (const char[]){
#embed "Descriptions/victron-ble.yaml" suffix(, 0)
    }},
};

const struct embedded_description *embedded_description_at(size_t index) {
  return index < sizeof descriptions / sizeof descriptions[0] ? &descriptions[index] : NULL;
}
