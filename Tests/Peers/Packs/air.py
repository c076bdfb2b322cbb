#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares as compare.py does, over the air of the Bluetooth lab (Tests/Lab/Bluetooth/packs): each pack is a peripheral made with bumble,
aiobmsble's class reads it by bleak, and our program by its address.

    air.py BRIDGE-CLI PATIENCE [FAMILY ...]

Descriptor 9 is the lab's control port."""

import asyncio
import importlib
import json
import os
import sys

from bleak import BleakScanner

import compare


class Lab:
    """The peripheral outside of the guest."""

    def __init__(self):
        self.port = os.fdopen(os.dup(9), "r+b", buffering=0)
        self.number = 0

    def offer(self, kind, answers, pushed, description):
        """A new pack in the place of the last one. Returns its name."""
        self.number += 1
        air, ready = description["bluetooth"], compare.READY.get(kind, "")
        pack = {
            # What is advertised isn't always the service that has the characteristics.
            "name": f"Pack{self.number}", "services": their(kind).uuid_services(), "write": air.get("write"),
            "notify": air.get("notify"), "answers": {sent.hex(): answer.hex() for sent, answer in answers.items()},
            "pushed": [frame.hex() for frame in pushed], "ready": ready,
        }
        self.port.write(b"pack " + json.dumps(pack, separators=(",", ":")).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self.port.read(4096)
        if answer != b"ok\n":
            raise RuntimeError(answer.decode())
        return pack["name"]


def their(kind):
    """aiobmsble's class."""
    return importlib.import_module(f"aiobmsble.bms.{compare.FAMILIES[kind]}_bms").BMS


async def theirs(kind, device, limit):
    """What aiobmsble's class reads."""
    bms = their(kind)(device)
    try:
        async with asyncio.timeout(limit):
            return await bms.async_update(), None
    except Exception as error:  # whatever the foreign class throws is shown
        return None, f"{type(error).__name__} {error}"
    finally:
        try:
            async with asyncio.timeout(limit):
                await bms.disconnect()
        except Exception as error:
            print(f"{kind}: {error!r}", file=sys.stderr)


async def main(program, patience, names):
    lab, table = Lab(), compare.Table()
    for kind, number, answers, pushed, is_mixed, description in compare.scenarios(names):
        name = lab.offer(kind, answers, pushed, description)
        device = await BleakScanner.find_device_by_name(name, timeout=30 * patience)
        if device is None:
            table.failed(kind, number, "not found")
            continue
        result, error = await theirs(kind, device, 40 * patience)
        if not result:
            table.failed(kind, number, error)
            continue
        known = compare.ours(program, kind, "ble:" + device.address, 60 * patience)
        table.add(kind, number, result, known, is_mixed)
    return table.end()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:] or sorted(compare.FAMILIES))))
