#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a few streams of AF1 frames into the directory given, for the fuzzer to begin with."""
import binascii, os, random, struct, sys, zlib


def frame(number, payload=b"", flags=0x11, command=0x7E):
    head = struct.pack("<2sBBHH", b"\x0f\xf0", flags, command, number, len(payload))
    tail = struct.pack("<I", zlib.crc32(payload)) if payload else b""
    return head + struct.pack("<H", binascii.crc_hqx(head, 0xFFFF)) + payload + tail


random.seed(1)
os.makedirs(sys.argv[1], exist_ok=True)
for index in range(40):
    stream = bytes([index * 5 & 0xFF])
    for number in range(random.randrange(1, 8)):
        inner = b"".join(frame(100 + k, random.randbytes(random.randrange(9))) for k in range(random.randrange(4)))
        wire = frame(number, random.choice([inner, random.randbytes(random.randrange(30)), b""]))
        cut = random.randrange(len(wire))
        stream += random.choice([wire, wire, wire[:cut], wire[:cut] + wire[cut + 1:], random.randbytes(5)])
    with open(os.path.join(sys.argv[1], f"seed{index:02}"), "wb") as file:
        file.write(stream)
