#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A node of ESPHome with serial ports, made of aioesphomeapi's messages and the noise library: nothing of it is ours.

    node.py [--key BASE64] [--minor N] [--usb] [--port NAME=TERMINAL ...]

Prints its port. Each line of its input is a command: "unplug", "plug", "leave", "drop".
"""

import argparse
import asyncio
import base64
import os
import sys
import termios
import tty

from aioesphomeapi import api_pb2 as pb
from aioesphomeapi.core import MESSAGE_TYPE_TO_PROTO
from noise.connection import NoiseConnection

ID_OF = {proto: number for number, proto in MESSAGE_TYPE_TO_PROTO.items()}
OK, ERROR, NOT_SUPPORTED, IN_USE, INVALID = 0, 2, 4, 5, 6


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


class Port:
    def __init__(self, name, path):
        self.name, self.owner, self.pins, self.settings, self.there = name, None, 3, None, True
        self.descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.descriptor, termios.TCSANOW)

    def watch(self, loop, index):
        def ready():
            data = os.read(self.descriptor, 256)
            if self.owner:
                self.owner.send(pb.SerialProxyDataReceived(instance=index, data=data))
        loop.add_reader(self.descriptor, ready)


class Connection:
    def __init__(self, node, reader, writer):
        self.node, self.reader, self.writer = node, reader, writer
        self.noise, self.wants_identity, self.is_ready = None, False, False

    # --- Frames

    def frame(self, body):
        self.writer.write(b"\x01" + len(body).to_bytes(2, "big") + body)

    def send(self, message):
        number, payload = ID_OF[type(message)], message.SerializeToString()
        if self.noise:
            self.frame(self.noise.encrypt(number.to_bytes(2, "big") + len(payload).to_bytes(2, "big") + payload))
        else:
            self.writer.write(b"\0" + varint(len(payload)) + varint(number) + payload)

    async def noise_frame(self):
        head = await self.reader.readexactly(3)
        if head[0] != 1:
            self.frame(b"\x01Bad indicator byte")
            raise ConnectionError("not encrypted")
        return await self.reader.readexactly(int.from_bytes(head[1:], "big"))

    async def handshake(self):
        hello = await self.noise_frame()
        self.frame(b"\x01node\x00020304050607\x00")
        noise = NoiseConnection.from_name(b"Noise_NNpsk0_25519_ChaChaPoly_SHA256")
        noise.set_as_responder()
        noise.set_psks(self.node.key)
        noise.set_prologue(b"NoiseAPIInit" + len(hello).to_bytes(2, "big") + hello)
        noise.start_handshake()
        message = await self.noise_frame()
        try:
            noise.read_message(message[1:])
        except Exception:
            self.frame(b"\x01Handshake MAC failure")
            raise ConnectionError("another key") from None
        self.frame(b"\x00" + noise.write_message())
        self.noise = noise

    async def number(self):
        value = shift = 0
        while True:
            byte = (await self.reader.readexactly(1))[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    async def receive(self):
        if self.noise:
            plain = self.noise.decrypt(await self.noise_frame())
            return int.from_bytes(plain[:2], "big"), plain[4:]
        first = (await self.reader.readexactly(1))[0]
        if first != 0:
            self.writer.write(b"\0\0\0")
            raise ConnectionError("encrypted")
        length = await self.number()
        number = await self.number()
        return number, await self.reader.readexactly(length)

    # --- Messages

    async def run(self):
        try:
            if self.node.key:
                await self.handshake()
            while True:
                number, payload = await self.receive()
                kind = MESSAGE_TYPE_TO_PROTO.get(number)
                if kind is None:
                    continue
                message = kind()
                message.ParseFromString(payload)
                if self.take(message):
                    break
                await self.writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            print("ended:", error, file=sys.stderr, flush=True)
        finally:
            for port in self.node.ports:
                if port.owner is self:
                    port.owner = None
            self.node.connections.discard(self)
            try:
                await self.writer.drain()
                self.writer.close()
            except ConnectionError:
                pass

    def reply(self, message, kind, status, text=""):
        if self.node.minor >= 16:
            self.send(pb.SerialProxyRequestResponse(
                instance=message.instance, type=kind, status=status, error_message=text))

    def take(self, message):
        node, kind = self.node, type(message).__name__
        if kind == "PingRequest":
            self.send(pb.PingResponse())
        elif kind == "HelloRequest":
            self.is_ready = True
            self.send(pb.HelloResponse(
                api_version_major=1, api_version_minor=node.minor, server_info="node.py", name="node"))
        elif not self.is_ready:
            raise ConnectionError(f"{kind} before the hello")
        elif kind == "DeviceInfoRequest":
            self.send(pb.DeviceInfoResponse(name="node", mac_address="02:03:04:05:06:07", serial_proxies=node.proxies()))
        elif kind == "DeviceCapabilitiesRequest":
            self.send(pb.DeviceCapabilitiesResponse(serial_proxies=node.proxies()))
        elif kind == "DisconnectRequest":
            self.send(pb.DisconnectResponse())
            return True
        elif kind == "SubscribeSerialProxyIdentityRequest":
            self.wants_identity = True
            node.tell_identities([self])
        elif kind.startswith("SerialProxy"):
            self.take_serial(kind, message)
        return False

    def take_serial(self, kind, message):
        if message.instance >= len(self.node.ports):
            return self.reply(message, 0, INVALID)
        port = self.node.ports[message.instance]
        if kind == "SerialProxyRequest":
            if message.type == 0:
                if not port.there:
                    return self.reply(message, 0, ERROR, "nothing is plugged in")
                if port.owner not in (None, self):
                    return self.reply(message, 0, IN_USE)
                port.owner = self
            elif message.type == 1 and port.owner is self:
                port.owner = None
            return self.reply(message, message.type, OK)
        if kind == "SerialProxyGetModemPinsRequest":
            return self.send(pb.SerialProxyGetModemPinsResponse(instance=message.instance, line_states=port.pins))
        types = {"SerialProxyConfigureRequest": 3, "SerialProxySetModemPinsRequest": 4, "SerialProxySetModeRequest": 5}
        if port.owner is not self:
            return self.reply(message, types[kind], IN_USE) if kind in types else None
        if kind == "SerialProxyWriteRequest":
            os.write(port.descriptor, message.data)
            return None
        if kind == "SerialProxyConfigureRequest":
            if message.flow_control:
                return self.reply(message, 3, NOT_SUPPORTED)
            port.settings = (message.baudrate, message.data_size, message.parity, message.stop_bits)
            print("configured", *port.settings, flush=True)
        elif kind == "SerialProxySetModemPinsRequest":
            port.pins = message.line_states
            print("pins", port.pins, flush=True)
        return self.reply(message, types[kind], OK)


class Node:
    def __init__(self, options):
        self.key = base64.b64decode(options.key) if options.key else None
        self.minor, self.is_usb, self.connections = options.minor, options.usb, set()
        self.ports = [Port(*text.split("=", 1)) for text in options.port]

    def proxies(self):
        return [pb.SerialProxyInfo(name=port.name, port_type=0, configured_line_states=3) for port in self.ports]

    def tell_identities(self, connections):
        for connection in connections:
            for index, port in enumerate(self.ports):
                flags = 1 if self.is_usb and port.there else 0
                connection.send(pb.SerialProxyIdentity(instance=index, source=2 if self.is_usb else 0, flags=flags))

    def command(self, word):
        told = [one for one in self.connections if one.wants_identity]
        for port in self.ports:
            port.there = {"unplug": False, "plug": True}.get(word, port.there)
        if word in ("plug", "unplug"):
            self.tell_identities(told)
            for port in self.ports:
                port.owner = port.owner if port.there else None
        for connection in list(self.connections) if word in ("leave", "drop") else []:
            if word == "leave":
                connection.send(pb.DisconnectRequest())
            else:
                connection.writer.transport.abort()

    async def connected(self, reader, writer):
        connection = Connection(self, reader, writer)
        self.connections.add(connection)
        await connection.run()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--key")
    parser.add_argument("--minor", type=int, default=18)
    parser.add_argument("--usb", action="store_true")
    parser.add_argument("--port", action="append", default=[])
    node = Node(parser.parse_args())
    loop = asyncio.get_running_loop()
    for index, port in enumerate(node.ports):
        port.watch(loop, index)
    server = await asyncio.start_server(node.connected, "127.0.0.1", 0)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    loop.add_reader(0, lambda: node.command(os.read(0, 64).decode().strip()))
    async with server:
        await server.serve_forever()


asyncio.run(main())
