#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the streams in Corpus, with which the fuzzer begins: a directory for each target, a few small files in each."""
import binascii, os, random, struct, sys, zlib


def af1(number, payload=b"", flags=0x11, command=0x7E):
    head = struct.pack("<2sBBHH", b"\x0f\xf0", flags, command, number, len(payload))
    tail = struct.pack("<I", zlib.crc32(payload)) if payload else b""
    return head + struct.pack("<H", binascii.crc_hqx(head, 0xFFFF)) + payload + tail


def ubx(number, payload=b""):
    body = struct.pack("<BBH", 1, number & 0xFF, len(payload)) + payload
    first = second = 0
    for byte in body:
        first = first + byte & 0xFF
        second = second + first & 0xFF
    return b"\xb5\x62" + body + bytes([first, second])


def length_prefixed(number, payload=b""):
    return struct.pack("<H", len(payload)) + payload


def line(number, payload=b""):
    return payload.hex().encode() + b"\r\n"


def slip(number, payload=b""):
    return b"\xc0" + payload.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"


def cobs(number, payload=b""):
    return b"".join(bytes([len(part) + 1]) + part for part in payload.split(b"\0")) + b"\0"


def window(number, payload=b""):
    return bytes([number & 0x3F, number & 0x7F, 0x3A, 0x3A])


def reply(number, payload=b""):
    return random.choice([b"OK", b"OK+CONN", b"OK+CONNA", b"OK+Get:100", b"OK+NAME:HM\r\n", b"OK+CONN:001122AABBCC"])


# What makes a frame, and the choices that the target's first byte makes.
targets = {
    "AF1": (af1, [0x03, 0x83, 0x04, 0x85]),
    "Header": (None, [24, 25, 19, 146]),
    "LengthPrefixed": (length_prefixed, [0x11, 0x15, 0x19, 0x38]),
    "Delimited": (line, [20, 22, 23, 24]),
    "SLIP": (slip, [8, 9, 10, 14]),
    "COBS": (cobs, [8, 9, 10, 14]),
    "Window": (window, [0, 1, 2, 3]),
    "Reply": (reply, [3, 4, 5, 6]),
}

random.seed(1)
root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "Corpus")
for name, (make, choices) in targets.items():
    os.makedirs(os.path.join(root, name), exist_ok=True)
    for index, choice in enumerate(choices):
        frame = make or [af1, ubx][choice % 2]
        stream = bytes([choice])
        for number in range(5):
            inner = b"".join(frame(100 + k, random.randbytes(random.randrange(9))) for k in range(random.randrange(3)))
            wire = frame(number, random.choice([inner, random.randbytes(random.randrange(30)), b""]))
            cut = random.randrange(len(wire))
            stream += random.choice([wire, wire, wire[:cut], wire[:cut] + wire[cut + 1:], random.randbytes(5)])
        with open(os.path.join(root, name, f"seed{index}"), "wb") as file:
            file.write(stream)


def usbip(command, sequence, endpoint=0, length=0, setup=b"", data=b"", target=0):
    inwards = endpoint >> 7 if command == 1 else 0
    words = [command, sequence, 0x10002, inwards, endpoint & 15, target, length or len(data), 0, 0, 0]
    return struct.pack(">10I", *words) + setup.ljust(8, b"\0") + data


def control(sequence, kind, request, value, index, length=0, data=b""):
    setup = struct.pack("<BBHHH", kind, request, value, index, length or len(data))
    return usbip(1, sequence, kind & 0x80, length, setup, data)


# A kernel meets a device: descriptors, configuration, what the device's class is asked, transfers, one taken back.
os.makedirs(os.path.join(root, "USBIP"), exist_ok=True)
for choice in range(4):
    stream = bytes([choice])
    for value, length in [(0x100, 18), (0x200, 255), (0x300, 255), (0x303, 255), (0x600, 10), (0x2200, 255)]:
        stream += control(1, 0x80, 6, value, 0, length)
    stream += control(2, 0, 9, 1, 0) + control(3, 0x21, 0x22, 3, 0) + control(4, 0x40, 3, 0x4138, 0)
    stream += control(5, 0x21, 0x20, 0, 0, data=bytes([0, 0xC2, 1, 0, 0, 0, 8])) + control(6, 0x21, 9, 0x200, 0, data=b"x")
    stream += usbip(1, 7, 0x81, 512) + usbip(1, 8, 0x81, 100) + usbip(2, 9, target=8) + usbip(1, 10, 0x01, data=b"hello")
    stream += usbip(1, 11, 0x81, 64) + control(12, 2, 1, 0, 0x81) + usbip(1, 13, 0x82, 16)
    with open(os.path.join(root, "USBIP", f"seed{choice}"), "wb") as file:
        file.write(stream)

# The EV3's messages: batteries, motors, a batch with texts, system commands and replies.
os.makedirs(os.path.join(root, "EV3"), exist_ok=True)
messages = [
    "0E002A0000090081016081026481126 8".replace(" ", ""), "11002D0000000000AE0002050F813C0F01AA0002",
    "2D00020080000094028164842E2E2F70726A732F61636874656E2F436F6E6E65637400A4810081038 1CEA681008103".replace(" ", ""),
    "1E002A000199F4032F686F6D652F726F6F742F6C6D73323031322F7379732F00", "14002A000399080A0000000073657474696E67732F0A",
    "0C002A00027C03F14040073B3E64", "2400ABAB800020C00801802E2E2F617070732F7473742F7473742E7262660040440301404400",
    "0D002A00819E0461626300020001020300CCCC04", "15002A0000200099 1C0002812101086064686C7074787C".replace(" ", ""),
]
for number, message in enumerate(messages):
    with open(os.path.join(root, "EV3", f"seed{number}"), "wb") as file:
        file.write(bytes.fromhex(message))
with open(os.path.join(root, "EV3", "listing"), "wb") as file:
    file.write(b"../\n0123456789ABCDEF0123456789ABCDEF 0000001F a b.rbf\nx/\n")

# What the HM-10 and the Bluno are sent and say, and what moves the HM-1X.
small = {
    "HM10": [
        b"\x00OK+DISCSOK+DIS0:A6D73C040381OK+RSSI:-066OK+NAME:L3250 Series\r\nOK+DIS0:D43639A63BC4OK+RSSI:-062OK+DISCE",
        b"\x02OK+DISISOK+DISC:4C000215:74278BDAB64445208F0C720EAF059935:FFE0FFE1C5:78A5048CECAC:-053OK+DISCE",
        b"\x04OK+DISASOK+DISA:A6D73C040381\x00\xc4\x03\x02\x01\x06\r\nOK+DISC:D43639A63BC4OK+DISCE",
        b"\x00OK+CONNAOK+CONN:001122334455OK+LOSTOK+Get:100OK+Get:0xFFE0OK+BATT:057OK+Set:x", b"\x01+LADDR=1\r\nOK\r\n",
        b"\x00AT+NAMErobot", b"\x00PIN001234", b"\x000017EA090909", b"\x00UUID0xFFE0", b"\x00SCAN3", b"\x00\x00~OK+DI!OK+LOST",
    ],
    "HM10Line": [
        b"\x00OK+CONNAOK+CONN\xffhello OK+LOST!\xffOK+LOST\xffOK+NAME:x\r\n", b"\x00OK+CONN:001122334455OK+LOST:001122334455\xff",
        b"\x02OK+DISCSOK+DIS0:A6D73C040381OK+NAME:x\r\nOK+DISCE\r\nOK+DIS0:D43639A63BC4OK+NAME:y\r\nOK+CONN\r\nOK+DISCE\xff",
        b"\x01OK+CONN\r\nOK+LOST\xff", b"\x02OOK+DIS0:00OK+RSSI:-066",
    ],
    "Bluno": [
        b"\x00f<128>s1\xc3\xa9<-5>", b"\x01<12x8f<999999999>", b"\x00Enter AT Mode\r\nOK\r\n115200,8,N,1\r\n-06\r\n",
        b"\x00BIND=0x0017ea9397e1\r\n", b"\x00AT+NAME=Bluno\r\n", b"\x00TXPOWER=-23", b"\x00+++", b"\x00UART=115200",
    ],
    "HM1X": [b"\x00" + bytes.fromhex("0000003A0D7F7F3A003A003A043A003A0500003A3200013A3A3A3A3A"), b"\x00\x3a\x00\x00\x3b"],
}
for name, inputs in small.items():
    os.makedirs(os.path.join(root, name), exist_ok=True)
    for number, content in enumerate(inputs):
        with open(os.path.join(root, name, f"seed{number}"), "wb") as file:
            file.write(content)

# What is typed at a console, and what comes: escape sequences of several terminals, characters of all lengths, damage.
os.makedirs(os.path.join(root, "Console"), exist_ok=True)
for number, content in enumerate([
    b"\x00hello\r\x1b[A\x1b[1;5C\x1bOP\x1b[15~\x1b[[A\x1b[3~\x7f\x01\x05\x15\x0b\x17", b"\x03\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82e\xcc\x81\xff\xed\xa0\x80\xc2\x9b",
    b"\x05login: \x1b[2J\x07\r\nab\tcd\r\r\n\n\xe2\x80\xae\xe6\x97\xa5\xe6\x9c\xac", b"\x01\x1b\x1b[\x1b[1;\r\x1bO\x1b[99999999999999999999999999999999999~",
]):
    with open(os.path.join(root, "Console", f"seed{number}"), "wb") as file:
        file.write(content)
