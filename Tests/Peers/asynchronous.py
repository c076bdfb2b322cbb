# SPDX-License-Identifier: Apache-2.0
"""Exchanges bytes by serialx, with which Home Assistant opens ports: asynchronous.py URL."""

import asyncio
import sys

import serialx


async def main():
    reader, writer = await serialx.open_serial_connection(url=sys.argv[1], baudrate=57600)
    for size in (1, 100, 4096):
        data = bytes(i & 0xFF for i in range(size))
        writer.write(data)
        answer = await asyncio.wait_for(reader.readexactly(size), 10)
        if answer != data:
            sys.exit(f"{size} bytes came back otherwise")
    writer.close()
    print("1, 100 and 4096 bytes there and back")


asyncio.run(main())
