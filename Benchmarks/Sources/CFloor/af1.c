// SPDX-License-Identifier: Apache-2.0

#include "cfloor.h"

#include <string.h>

static uint16_t table16[256];
static uint32_t table32[256];

__attribute__((constructor)) static void make_tables(void) {
    for (unsigned index = 0; index < 256; index++) {
        uint16_t forward = (uint16_t)(index << 8);
        uint32_t reflected = index;
        for (int bit = 0; bit < 8; bit++) {
            forward = (uint16_t)(forward & 0x8000 ? forward << 1 ^ 0x1021 : forward << 1);
            reflected = reflected & 1 ? reflected >> 1 ^ 0xEDB88320u : reflected >> 1;
        }
        table16[index] = forward;
        table32[index] = reflected;
    }
}

uint16_t cfloor_crc16(const uint8_t *bytes, size_t count) {
    uint16_t value = 0xFFFF;
    while (count--) value = (uint16_t)(value << 8 ^ table16[(value >> 8 ^ *bytes++) & 0xFF]);
    return value;
}

uint32_t cfloor_crc32(const uint8_t *bytes, size_t count) {
    uint32_t value = 0xFFFFFFFFu;
    while (count--) value = value >> 8 ^ table32[(value ^ *bytes++) & 0xFF];
    return ~value;
}

static void put16(uint8_t *bytes, uint16_t value) {
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
}

size_t cfloor_frame(uint8_t *frame, uint8_t flags, uint8_t command, uint16_t number, const uint8_t *payload,
                    size_t count) {
    frame[0] = 0x0F;
    frame[1] = 0xF0;
    frame[2] = (uint8_t)(0x10 | flags);
    frame[3] = command;
    put16(frame + 4, number);
    put16(frame + 6, (uint16_t)count);
    put16(frame + 8, cfloor_crc16(frame, 8));
    if (count == 0) return CFLOOR_HEADER;
    memmove(frame + CFLOOR_HEADER, payload, count);
    uint32_t check = cfloor_crc32(frame + CFLOOR_HEADER, count);
    put16(frame + CFLOOR_HEADER + count, (uint16_t)check);
    put16(frame + CFLOOR_HEADER + count + 2, (uint16_t)(check >> 16));
    return CFLOOR_HEADER + count + CFLOOR_TRAILER;
}

ssize_t cfloor_frame_length(const uint8_t *bytes, size_t count) {
    if (count < CFLOOR_HEADER) return 0;
    if (bytes[0] != 0x0F || bytes[1] != 0xF0) return -1;
    if (cfloor_crc16(bytes, 8) != (bytes[8] | bytes[9] << 8)) return -1;
    size_t payload = (size_t)(bytes[6] | bytes[7] << 8);
    size_t whole = payload == 0 ? CFLOOR_HEADER : CFLOOR_HEADER + payload + CFLOOR_TRAILER;
    if (count < whole) return 0;
    if (payload > 0) {
        const uint8_t *end = bytes + CFLOOR_HEADER + payload;
        uint32_t stated = end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;
        if (cfloor_crc32(bytes + CFLOOR_HEADER, payload) != stated) return -1;
    }
    return (ssize_t)whole;
}
