#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares by what they advertise aiobmsble knows batteries, and our descriptions do.

    matchers.py [KIND …]

The advertisements are those of aiobmsble's tests, and for each of its matchers some that are made from it. Each is given to
aiobmsble's own function and to our descriptions, as the page of the language says how `bluetooth` is meant. Prints a row for each kind
that both know. The exit status is 1 if one differs without a reason that is given here."""

import importlib
import itertools
import json
import os
import re
import sys

import yaml
from bleak.backends.scanner import AdvertisementData
from bleak.uuids import normalize_uuid_str

import aiobmsble.test_data
import aiobmsble.utils
from compare import FAMILIES, ROOT

# Ours and aiobmsble's names; what has two descriptions there is one here. The second kind of a rack tells nothing of its own.
MODULES = {kind: module for kind, module in FAMILIES.items() if kind != "seplos3-rack"}

# Why an advertisement is known by one side alone: the kind, which side, a pattern of the name, and why.
REASONS = [
    ("cbt", "theirs", r".*", "the service ffe5 alone: lamps and other gadgets have it, too"),
    ("topband", "ours", r".*", "theirs wants no data of a service, which BlueZ may tell late"),
    ("jbd", "ours", r"xiaoxiang.*", "the name that JBD's own app gives"),
    ("ant", "ours", r"ANT.BLE20.*", "boards of 20 cells with the newer protocol"),
    ("vatrer", "ours", r".*", "`?` stands for more digits than theirs"),
    ("gobel", "ours", r".*", "`*` and `?` stand for more characters than theirs"),
    ("ej", "ours", r"G-.*", "`*` and `?` stand for more characters than theirs"),
]


class Description:
    """What a description of ours says of advertisements."""

    def __init__(self, kind):
        with open(f"{ROOT}/Sources/CDescriptions/Descriptions/{kind}.yaml", encoding="utf-8") as file:
            air = yaml.load(file, yaml.BaseLoader)["bluetooth"]
        several = lambda value: value if isinstance(value, list) else [value]
        self.looks = several(air.get("looks", []))
        if "name" in air or "manufacturer" in air:
            self.looks.insert(0, {key: air[key] for key in ("name", "manufacturer", "service") if key in air})
        self.looks = [{key: value if key in ("service", "data") else several(value) for key, value in look.items()} for look in self.looks]

    def fits(self, told, address):
        return any(self.look_fits(look, told, address) for look in self.looks)

    @staticmethod
    def look_fits(look, told, address):
        pattern = lambda name: "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in name)
        if "name" in look and not any(re.fullmatch(pattern(name), told.local_name or "", re.S) for name in look["name"]):
            return False
        if "address" in look and not any(address.upper().startswith(begin) for begin in look["address"]):
            return False
        data = bytes.fromhex(look.get("data", ""))
        companies = [int(number, 0) for number in look.get("manufacturer", [])]
        if companies and not any(number in told.manufacturer_data and told.manufacturer_data[number].startswith(data) for number in companies):
            return False
        return "service" not in look or normalize_uuid_str(look["service"]) in told.service_uuids


def advertisement(name, services=(), makers=None, service_data=None):
    return AdvertisementData(name, makers or {}, service_data or {}, list(services), None, -60, ())


def names(pattern):
    """Some names that fit a pattern of theirs."""
    parts = re.findall(r"\[[^\]]*\]|.", pattern, re.S)
    choices = []
    for part in parts:
        if part == "*":
            choices.append(["", "7A"])
        elif part == "?":
            choices.append(["0"])
        elif part.startswith("["):
            inside = part[1:-1]
            choices.append([inside[0], inside[-1]])
        else:
            choices.append([part])
    return ["".join(letters) for letters in itertools.islice(itertools.product(*choices), 64)]


def made(matcher):
    """Advertisements that a matcher of theirs fits, and the same without the service."""
    address = (matcher.get("oui") or "C8:47:8C") + ":11:22:33"
    makers = {}
    if "manufacturer_id" in matcher:
        makers[matcher["manufacturer_id"]] = bytes(matcher.get("manufacturer_data_start") or b"\x01\x02")
    services = [matcher["service_uuid"]] if "service_uuid" in matcher else []
    data = {matcher["service_data_uuid"]: b"\x01"} if matcher.get("service_data_uuid") else {}
    for name in names(matcher["local_name"]) if "local_name" in matcher else ["Nobody"]:
        yield advertisement(name, services, makers, data), address
        if services:
            yield advertisement(name, [], makers, data), address
        if makers:
            yield advertisement(name, services, {}, data), address


def recorded():
    """The advertisements of aiobmsble's tests."""
    folder = os.path.dirname(aiobmsble.test_data.__file__)
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".json"):
            continue
        with open(f"{folder}/{file}", encoding="utf-8") as text:
            for entry in json.load(text):
                told = entry["advertisement"]
                makers = {int(number): bytes.fromhex(data) for number, data in (told.get("manufacturer_data") or {}).items()}
                data = {uuid: bytes.fromhex(value) for uuid, value in (told.get("service_data") or {}).items()}
                yield (
                    advertisement(told.get("local_name"), told.get("service_uuids") or [], makers, data),
                    entry.get("mac_address") or entry.get("address") or "C8:47:8C:11:22:33",
                )


def main(kinds):
    theirs = {kind: importlib.import_module(f"aiobmsble.bms.{module}_bms").BMS.matcher_dict_list() for kind, module in MODULES.items()}
    others = [
        matcher
        for module in aiobmsble.utils.load_bms_plugins()
        for matcher in module.BMS.matcher_dict_list()
        if module.__name__.split(".")[-1] not in {f"{name}_bms" for name in MODULES.values()}
    ]
    samples = list(recorded())
    for matcher in [matcher for list_ in theirs.values() for matcher in list_] + others:
        samples += list(made(matcher))
    print("| kind | their matchers | advertisements that one side knows | known by both | theirs alone | ours alone | why |")
    print("|---|---|---|---|---|---|---|")
    unexplained = 0
    for kind in kinds or sorted(MODULES):
        description = Description(kind)
        both, alone, reasons = 0, {"theirs": 0, "ours": 0}, []
        for told, address in samples:
            is_theirs = any(aiobmsble.utils._advertisement_matches(matcher, told, address) for matcher in theirs[kind])
            is_ours = description.fits(told, address)
            both += is_theirs and is_ours
            if is_theirs == is_ours:
                continue
            side = "theirs" if is_theirs else "ours"
            alone[side] += 1
            why = [reason for name, where, pattern, reason in REASONS if (name, where) == (kind, side) and re.fullmatch(pattern, told.local_name or "", re.S)]
            if why:
                if why[0] not in reasons:
                    reasons.append(why[0])
            else:
                unexplained += 1
                print(f"{kind}: {side} alone: {told.local_name!r} {[uuid[4:8] for uuid in told.service_uuids]} {told.manufacturer_data} {address}", file=sys.stderr)
        print(f"| {kind} | {len(theirs[kind])} | {both + sum(alone.values())} | {both} | {alone['theirs']} | {alone['ours']} | {'; '.join(reasons) or 'equal'} |")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
