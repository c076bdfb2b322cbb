#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what our descriptions of batteries by Bluetooth read with what aiobmsble's own classes read from the same bytes.

    compare.py BRIDGE-CLI [FAMILY …]

The bytes are those of the examples in Sources/CDescriptions/Descriptions. A pretended pack answers what it is asked with them: each class
of aiobmsble reads it over a pretended connection, and our program over a pseudo-terminal. The table has every field of
aiobmsble's result, also those that it calculates from others. The
exit status is 1 if a field differs. Where a request has fewer examples than another one, the answers are of two packs."""

import asyncio
import importlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import threading
import time
import tty

import yaml
from bleak import BleakClient
from bleak.backends.characteristic import BleakGATTCharacteristic
from bleak.backends.device import BLEDevice
from bleak.backends.service import BleakGATTService, BleakGATTServiceCollection
from bleak.exc import BleakCharacteristicNotFoundError
from bleak.uuids import normalize_uuid_str

import aiobmsble.basebms

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")

# Our description, aiobmsble's module, and the names of packs: some classes take something from it.
FAMILIES = {
    "abc-bms": "abc", "ant": "ant", "ant-legacy": "ant_leg", "braunpwr": "braunpwr", "buknuwo": "buknuwo", "cbt": "cbtpwr",
    "daly-d2": "daly", "ecoworthy": "ecoworthy", "eg4": "eg4", "ej": "ej", "felicity": "felicity", "gobel": "gobel",
    "humsienk": "humsienk", "jbd": "jbd", "jk02": "jikong", "lipower": "lipower", "litime": "redodo", "neey": "neey",
    "pace": "pace", "pro-bms": "pro", "renogy-battery": "renogy", "renogy-pro": "renogy_pro", "roypow": "roypow",
    "seplos2": "seplos_v2", "seplos3": "seplos", "seplos3-rack": "seplos", "tdt": "tdt", "tianpwr": "tianpwr",
    "topband": "topband", "vatrer": "vatrer",
}

# What aiobmsble asks, too, and our descriptions don't; also bytes of its tests.
MORE = {
    "braunpwr": {"7BF4007D": "7BF4030203017D", "7BF5007D": "7BF50202397D"},
    "humsienk": {"AA00000000": "AA00000000"},
    "pace": {
        "9A00000A0100000201011B9C9D": "9A00000A0100002B02FE8014B61CFF271027104A6400EF0000000000000000"
        "14D70000030B8E010B890B930B9C0A0CF0100CECA4B49D"
    },
    "tianpwr": {"55048AAA": "55148A00000000000000000000000000000000AA"},
}

# What one class of aiobmsble reads and two descriptions of ours do.
TOGETHER = {"seplos3": "seplos3-rack", "seplos3-rack": "seplos3"}

# What a pack says after its answers when it is ready.
READY = {"jk02": "AA5590EBC801010000000000000000000000004441540D0A"}

# Our name of each field of aiobmsble's.
FIELDS = {
    "voltage": "battery.voltage", "current": "battery.current", "battery_level": "battery.percent",
    "cycle_charge": "battery.remaining", "design_capacity": ["design_capacity", "battery.full"], "cycles": "battery.cycles",
    "battery_health": "battery.health", "cell_voltages": "battery.cells", "chrg_mosfet": "charge_mosfet",
    "dischrg_mosfet": "discharge_mosfet", "heater": "heater", "delta_voltage": "cell_difference",
    "balance_current": "balance_current", "total_charge": "total_charge", "cell_count": "cell_count",
    "temp_sensors": "sensor_count", "pack_count": "pack_count", "heater_current": "heater_current",
}
# What aiobmsble itself calculates from its other fields.
DERIVED = {"power", "cycle_capacity", "runtime", "temperature"}


def plain(value):
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    for name in ("value", "temp", "temperature"):
        if hasattr(value, name) and not isinstance(value, (int, float)):
            return plain(getattr(value, name))
    return value if isinstance(value, int) else float(value)


class Examples:
    """The examples of a description: what is sent, what is received, and what it means."""

    def __init__(self, name):
        with open(f"{ROOT}/Sources/CDescriptions/Descriptions/{name}.yaml", encoding="utf-8") as file:
            # Bytes look like numbers to YAML, and `on` like a truth.
            self.description = yaml.load(file, yaml.BaseLoader)
        self.list = [e for e in self.description["examples"] if e.get("refused") != "true" and "expect" in e]

    @staticmethod
    def bytes(text):
        if isinstance(text, list):
            return b"".join(Examples.bytes(part) for part in text)
        digits = re.sub(r"\s", "", text)
        if re.fullmatch(r"([0-9A-Fa-f]{2})+", digits):
            return bytes.fromhex(digits)
        return text.encode("latin-1")

    def scenarios(self):
        """For each request its first example, then its second one …; for pushed messages likewise."""
        first_sent = {}
        groups = {}
        for example in self.list:
            request = example.get("request")
            key = str(request) if request else "pushed " + example["received"][:4]
            if request and "sent" in example:
                first_sent.setdefault(key, self.bytes(example["sent"]))
            groups.setdefault(key, []).append(example)
        for number in range(max(len(group) for group in groups.values())):
            chosen = [(key, group[min(number, len(group) - 1)]) for key, group in groups.items()]
            answers = {}
            pushed = []
            for key, example in chosen:
                received = self.bytes(example["received"])
                if key.startswith("pushed "):
                    pushed.append(received)
                elif key in first_sent:
                    answers[self.bytes(example["sent"]) if "sent" in example else first_sent[key]] = received
            is_mixed = number > 0 and any(len(group) <= number for group in groups.values()) or len(pushed) > 2
            yield number, answers, pushed, is_mixed


def collection(description):
    """The services of a pack, as its description has them."""
    air = description["bluetooth"]
    made = BleakGATTServiceCollection()
    device = BleakGATTService(None, 1, normalize_uuid_str("180a"))
    made.add_service(device)
    own = BleakGATTService(None, 10, normalize_uuid_str(air.get("service", "fff0")))
    made.add_service(own)
    names = {air.get("write"): ["write-without-response"], air.get("notify"): ["notify"]}
    if air.get("write") == air.get("notify"):
        names = {air.get("write"): ["write-without-response", "notify"]}
    for number_, (name, properties) in enumerate(names.items()):
        if name:
            made.add_characteristic(
                BleakGATTCharacteristic(
                    None, 11 + 2 * number_, normalize_uuid_str(name), properties, lambda: 512, own))
    return made


class Line:
    """A pack on a pseudo-terminal."""

    def __init__(self, answers, pushed):
        self.answers, self.pushed = answers, pushed
        self.ours, self.theirs = pty.openpty()
        tty.setraw(self.ours)
        tty.setraw(self.theirs)
        self.path = os.ttyname(self.theirs)
        self.ends = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        kept = b""
        while not self.ends:
            if not select.select([self.ours], [], [], 0.25)[0]:
                kept = b""
                for frame in self.pushed:
                    os.write(self.ours, frame)
                continue
            kept += os.read(self.ours, 4096)
            found = True
            while found:
                found = False
                for sent, answer in self.answers.items():
                    if sent and kept.startswith(sent):
                        kept, found = kept[len(sent) :], True
                        os.write(self.ours, answer)

    def close(self):
        self.ends = True
        self.thread.join()
        os.close(self.ours)
        os.close(self.theirs)


def ours_by_line(program, kind, answers, pushed):
    """What our program reads of a pack on a pseudo-terminal."""
    line = Line(answers, pushed)
    try:
        return ours(program, kind, line.path)
    finally:
        line.close()


def ours(program, kind, device, limit=60):
    """What our program reads of a device, by the names of the description."""
    found = {}
    for what in ("values", "battery"):
        command = [program, what, device, "--driver", kind, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        if done.returncode == 0:
            found[what] = json.loads(done.stdout)
        else:
            print(f"{kind}: {what}: {done.stderr.strip()}", file=sys.stderr)
    known = {}
    for value in (found.get("values") or {}).get("values") or []:
        for form in ("number", "flag", "text"):
            if value.get(form) is not None:
                known[value["name"]] = value[form]
                break
    battery = (found.get("battery") or {}).get("battery") or {}
    names = {
        "voltage": "voltage_mv", "current": "current_ma", "remaining": "remaining_mah", "full": "full_mah", "percent": "percent",
        "cycles": "cycles", "health": "health_percent", "charging": "charge", "faults": "faults", "cells": "cells_mv",
    }
    for name, key in names.items():
        value = battery.get(key)
        if value is None:
            continue
        if key.endswith(("_mv", "_ma", "_mah")):
            value = [one / 1000 if one is not None else None for one in value] if isinstance(value, list) else value / 1000
        known["battery." + name] = value
    if battery.get("temperatures"):
        known["battery.temperatures"] = [one["temperature_mc"] / 1000 for one in battery["temperatures"]]
    return known


def client_class(answers, pushed, chunk, found, ready):
    asked = []

    class Client(BleakClient):
        def __init__(self, device, disconnected_callback=None, services=None, **_):
            super().__init__(device.address)
            self.device, self.callback, self.connected = device, {}, False

        name = property(lambda self: self.device.name)
        address = property(lambda self: self.device.address)

        @property
        def services(self):
            return found

        @property
        def is_connected(self):
            if self.connected and self.callback:
                asyncio.get_running_loop().call_soon(self.push)
            return self.connected

        def push(self):
            for frame in pushed:
                self.notify(frame)

        def notify(self, frame):
            for start in range(0, len(frame), chunk):
                for callback in list(self.callback.values()):
                    callback(None, bytearray(frame[start : start + chunk]))

        async def connect(self, **_):
            self.connected = True

        async def disconnect(self, **_):
            self.connected = False

        async def start_notify(self, characteristic, callback, **_):
            self.callback[str(characteristic)] = callback
            self.push()

        async def stop_notify(self, characteristic):
            self.callback.pop(str(characteristic), None)

        async def write_gatt_char(self, characteristic, data, response=None):
            data = bytes(data)
            asked.append(data)
            answer = answers.get(data)
            if answer is None:
                known = [sent for sent in answers if data.startswith(sent) or sent.startswith(data)]
                answer = answers[known[0]] if known else None
            if answer is not None:
                asyncio.get_running_loop().call_soon(self.notify, answer)
                if ready:
                    asyncio.get_running_loop().call_later(0.1, self.notify, ready)

        async def read_gatt_char(self, characteristic, **_):
            raise BleakCharacteristicNotFoundError(characteristic)

    return Client, asked


async def read(module, answers, pushed, names, found, ready):
    """What aiobmsble's class reads, and what it asked in vain."""
    last = None
    for chunk in (4096, 20, 128):
        client, asked = client_class(answers, pushed, chunk, found, ready)
        aiobmsble.basebms.BleakClient = client

        async def connect(client_class, device, **rest):
            made = client(device, **rest)
            await made.connect()
            return made

        aiobmsble.basebms.establish_connection = connect
        kind = importlib.import_module(f"aiobmsble.bms.{module}_bms").BMS
        kind.TIMEOUT = 0.3
        try:
            bms = kind(BLEDevice("C8:47:8C:11:22:33", names, {"path": ""}))
            async with asyncio.timeout(8):
                result = await bms.async_update()
            await bms.disconnect()
            if result:
                return result, None
            last = "nothing"
        except Exception as error:  # whatever the foreign class throws is shown
            last = f"{type(error).__name__} {error}"
        unknown = [data.hex() for data in asked if data not in answers]
    return None, f"{last}; it asked {unknown[:3]}"


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def same(theirs, ours):
    """same, rounded (equal to what aiobmsble rounds to), or different."""
    if isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours):
            return "different"
        each = {same(a, b) for a, b in zip(theirs, ours)}
        return "different" if "different" in each else "rounded" if "rounded" in each else "same"
    if isinstance(theirs, bool):
        return "same" if bool(ours) == theirs else "different"
    if ours == "none" and theirs == 0:
        return "same"
    a, b = number(theirs), number(ours)
    if a is None or b is None:
        return "same" if theirs == ours else "different"
    if abs(a - b) < 1e-9:
        return "same"
    # aiobmsble rounds to three digits, and capacities to whole ampere hours; our charge is in whole percent.
    digits = len(str(a).partition(".")[2]) if a != int(a) else 0
    near = abs(a - b) <= 0.5 * 10**-digits or abs(a - int(b)) < 1e-9
    return "rounded" if near or isinstance(ours, int) and abs(a - b) <= 0.5 or abs(a - b) <= 0.0005 else "different"


def derived(field, theirs, known):
    """Our counterpart of what is called or formed otherwise."""
    cells = known.get("battery.cells")
    if field == "battery_charging":
        word = known.get("battery.charging")
        return None if word is None else word == "charging"
    if field == "cell_count" and "cell_count" not in known and cells is not None:
        return len(cells)
    if field == "delta_voltage" and "cell_difference" not in known and cells:
        return max(cells) - min(cells)
    if field == "temp_values":
        rest = [known[name] for name in known if name.endswith("_temperature") or name.startswith("more_temperatures")]
        own = known.get("battery.temperatures", []) + [
            item for value in rest for item in (value if isinstance(value, list) else [value])]
        # The same sensors; we have those of the MOSFETs and of the room apart.
        left = list(own)
        for value in theirs:
            match = next((one for one in left if same(value, one) != "different"), None)
            if match is None:
                return own
            left.remove(match)
        return theirs
    if field in ("problem_code", "problem"):
        for name in ("fault_bits", "battery.faults", "status.fault", "fault_number", "faults", "warning_bits"):
            if name in known:
                value = known[name]
                return bool(value) and (not isinstance(value, str) or value.strip("0") != "")
    if field == "balancer":
        for name in ("balancing", "balanced_cells", "balancing_cells"):
            if name in known:
                return known[name]
    return None


def row(field, theirs, known):
    theirs = plain(theirs)
    mine = derived(field, theirs, known)
    names = FIELDS.get(field)
    for name in names if isinstance(names, list) else [names] if names else []:
        if mine is None and name in known:
            mine = known[name]
    if mine is None:
        return None, "theirs alone" if field in DERIVED else "not in ours"
    if isinstance(mine, bool) and not isinstance(theirs, bool):
        # A number of theirs, of which we have whether it is 0.
        return mine, "same" if bool(theirs) == mine else "different"
    return mine, same(theirs, mine)


def short(value):
    if isinstance(value, list):
        return f"{len(value)}: " + " ".join(short(one) for one in value)
    return str(value)


class Table:
    """The rows as they are printed, and how many there are of each sort."""

    def __init__(self):
        self.counts = {}
        print("| kind | example | aiobmsble's field | aiobmsble | ours | |\n|---|---|---|---|---|---|", flush=True)

    def count(self, how):
        self.counts[how] = self.counts.get(how, 0) + 1

    def failed(self, name, number_, error):
        print(f"| {name} | {number_ + 1} | | {error} | | not read |", flush=True)
        self.count("not read")

    def add(self, name, number_, result, known, is_mixed):
        for field, theirs in result.items():
            if field == "packs":
                continue
            mine, how = row(field, theirs, known)
            if how == "different" and is_mixed:
                how = "of two packs"
            self.count(how)
            text = "" if mine is None else short(mine)
            print(f"| {name} | {number_ + 1} | {field} | {short(plain(theirs))} | {text} | {how} |", flush=True)

    def end(self):
        print("\n" + ", ".join(f"{count} {how}" for how, count in sorted(self.counts.items())), file=sys.stderr)
        return 1 if self.counts.get("different") else 0


def scenarios(names):
    """All examples of these kinds, as packs: kind, number, answers, what is pushed, whether the answers are of two packs, the description."""
    for name in names:
        examples = Examples(name)
        for number_, answers, pushed, is_mixed in examples.scenarios():
            answers = {bytes.fromhex(k): bytes.fromhex(v) for k, v in MORE.get(name, {}).items()} | answers
            if name in TOGETHER:
                for other in Examples(TOGETHER[name]).scenarios():
                    answers = other[1] | answers
            yield name, number_, answers, pushed, is_mixed, examples.description


async def main(program, names):
    table = Table()
    for name, number_, answers, pushed, is_mixed, description in scenarios(names):
        ready = bytes.fromhex(READY.get(name, ""))
        result, error = await read(FAMILIES[name], answers, pushed, "Pack", collection(description), ready)
        if result is None:
            table.failed(name, number_, error)
        else:
            table.add(name, number_, result, ours_by_line(program, name, answers, pushed), is_mixed)
    return table.end()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:] or sorted(FAMILIES))))
