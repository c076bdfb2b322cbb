#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has Home Assistant's own code check the discovery messages in Tests/Units/AccessoryFleetTests/Snapshots.

Each message goes through the schema of device discovery, then each of its entities through the schema of its platform, as
Home Assistant does it. Home Assistant only logs a unit or a state class that doesn't fit a device class, and drops options
that it doesn't know, so these are compared here. Templates are rendered with what simulated accessories have told.

Messages with a mistake each, made from a good one, must be refused: else the check would check nothing.
"""

import copy
import json
import logging
import sys
from pathlib import Path

import energy
import voluptuous as vol
from homeassistant.components.mqtt import binary_sensor, button, number, select, sensor, text
from homeassistant.components.mqtt.const import CONF_COMPONENTS
from homeassistant.components.mqtt.discovery import TOPIC_MATCHER, _replace_all_abbreviations
from homeassistant.components.mqtt.schemas import DEVICE_DISCOVERY_SCHEMA, SHARED_OPTIONS
from homeassistant.components.mqtt.util import valid_publish_topic
from homeassistant.components.sensor.const import DEVICE_CLASS_STATE_CLASSES, DEVICE_CLASS_UNITS
from homeassistant.const import __version__
from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import Template
from homeassistant.util.json import json_loads_object

TESTS = Path(__file__).resolve().parents[2] / "Units" / "AccessoryFleetTests"
PLATFORMS = {
    "sensor": sensor, "binary_sensor": binary_sensor, "button": button, "number": number, "select": select, "text": text,
}


class Mistake(Exception):
    """What Home Assistant would accept, or only log, and is wrong all the same."""


def check(document: dict) -> dict[str, dict]:
    """Checks a message; returns its entities as Home Assistant has read them."""
    prefix, topic = document["topic"].split("/", 1)
    match = TOPIC_MATCHER.match(topic)
    if prefix != "homeassistant" or not match or match.group(1) != "device":
        raise Mistake(f"{document['topic']} is no topic of device discovery")
    valid_publish_topic(document["topic"])
    payload = json_loads_object(json.dumps(document["payload"]))
    _replace_all_abbreviations(payload)
    discovered = DEVICE_DISCOVERY_SCHEMA(payload)
    shared = {key: discovered[key] for key in SHARED_OPTIONS if discovered.get(key) is not None}
    entities = {}
    for key, component in discovered[CONF_COMPONENTS].items():
        platform = component["platform"]
        options = {name: value for name, value in component.items() if name != "platform"}
        if not options:
            continue
        try:
            entities[key] = entity(platform, {**shared, **options, "device": discovered["device"]}, options)
        except (vol.Invalid, Mistake) as error:
            raise type(error)(f"{key}: {error}") from error
    return entities


def entity(platform: str, options: dict, own: dict) -> dict:
    read = PLATFORMS[platform].DISCOVERY_SCHEMA(options)
    unknown = [name for name in own if name not in read]
    if unknown:
        raise Mistake(f"{platform} has no options {', '.join(unknown)}")
    if platform == "sensor":
        device_class, unit, state_class = (
            read.get(name) for name in ("device_class", "unit_of_measurement", "state_class"))
        # These two are refused when the entity is added, and not by the schema.
        if device_class == "enum" and not read.get("options"):
            raise Mistake("enum has no options")
        if read.get("entity_category") == "config":
            raise Mistake("sensors can't be of the category config")
        if device_class in DEVICE_CLASS_UNITS and unit not in DEVICE_CLASS_UNITS[device_class]:
            raise Mistake(f"{device_class} can't be in {unit}")
        if state_class and state_class not in DEVICE_CLASS_STATE_CLASSES.get(device_class, {state_class}):
            raise Mistake(f"{device_class} can't have the state class {state_class}")
    return {"platform": platform, **read}


# MARK: - What the templates make of readings


def render(entities: dict[str, dict], kind: dict, hass: HomeAssistant) -> dict[str, str]:
    """The states of a kind's entities."""
    states = {}
    for key, read in entities.items():
        template = read.get("value_template")
        if template is None or read["platform"] not in ("sensor", "binary_sensor"):
            continue
        document = kind["values"] if read["state_topic"].endswith("/values") else kind["state"]
        template = Template(template.template, hass)
        state = template.async_render_with_possible_json_value(json.dumps(document), error_value=None)
        if state is None:
            raise Mistake(f"{key}: the template fails: {template.template}")
        state = str(state)
        states[key] = state
        if state == "None":
            continue
        if read["platform"] == "binary_sensor" and state not in ("ON", "OFF"):
            raise Mistake(f"{key}: {state!r} is neither ON nor OFF")
        if read.get("options") and state not in read["options"]:
            raise Mistake(f"{key}: {state!r} is none of {read['options']}")
        if read.get("unit_of_measurement") or read.get("state_class"):
            float(state)
        if len(state) > 255 or state == "":
            raise Mistake(f"{key}: a state of {len(state)} characters")
    return states


def availability(entities: dict[str, dict], kind: dict, hass: HomeAssistant) -> None:
    """Readings must be available while the state is fresh, and not when it is stale; commands and connections don't depend on it."""
    for key, read in entities.items():
        freshness = [entry for entry in read.get("availability") or [] if entry["topic"].endswith("/state")]
        is_reading = read["platform"] in ("sensor", "binary_sensor") and key not in ("connected", "alarm", "alarms")
        if bool(freshness) != is_reading:
            raise Mistake(f"{key}: {len(freshness)} of its availabilities are the state's")
        if read.get("availability") and len(read["availability"]) > 1 and read.get("availability_mode") != "all":
            raise Mistake(f"{key}: one available topic would be enough")
        for entry in freshness:
            for stale, payload in ((False, "payload_available"), (True, "payload_not_available")):
                template = Template(entry["value_template"].template, hass)
                told = template.async_render_with_possible_json_value(json.dumps({**kind["state"], "stale": stale}))
                if told != entry[payload]:
                    raise Mistake(f"{key}: {told!r} where the state's stale is {stale}")


def placed(entities: dict[str, dict]) -> list[str]:
    """What people look for is with the sensors, and what they seldom want is disabled."""
    wrong = []
    for key in ("battery", "voltage", "current", "power", "charging", "state"):
        if key in entities and (entities[key].get("entity_category") or not entities[key].get("enabled_by_default", True)):
            wrong.append(f"{key} is not among the sensors")
    for key, entity in entities.items():
        if key.startswith("cell_") and key[5:].isdigit() and entity.get("enabled_by_default", True):
            wrong.append(f"{key} is enabled")
        if entity.get("unit_of_measurement") in ("mA", "mAh"):
            wrong.append(f"{key} is in {entity['unit_of_measurement']}")
    return wrong


def gateway(entities: dict[str, dict], hass: HomeAssistant) -> None:
    """A gateway tells its version and its accessories, also none, and when it was last heard."""
    for accessories in (0, 3, None):
        document = {"time": 1790000000.5, "version": "1.2", "accessories": accessories, "attached": accessories}
        told = {
            key: Template(entities[key]["value_template"].template, hass).async_render_with_possible_json_value(
                json.dumps(document), error_value=None, parse_result=False)
            for key in ("version", "accessories", "attached", "last_contact")
        }
        counts = "None" if accessories is None else str(accessories)
        if told != {"version": "1.2", "accessories": counts, "attached": counts, "last_contact": "2026-09-21T14:13:20Z"}:
            raise Mistake(f"the gateway tells {told}")


def expected(kind: dict) -> dict[str, str]:
    """States that a person would expect, from the documents themselves."""
    states = {}
    battery, status = kind["state"]["battery"], kind["state"]["status"]
    if battery:
        for key, field, factor in (("voltage", "voltage_mv", 1000), ("current", "current_ma", 1000), ("cycles", "cycles", None)):
            if battery[field] is not None:
                states[key] = str(battery[field] / factor if factor else battery[field])
        if battery["percent"] is not None:
            tenths = battery["percent_tenths"]
            states["battery"] = str(battery["percent"] if tenths is None else tenths / 10)
        if battery["power_mw"] is None and None not in (battery["voltage_mv"], battery["current_ma"]):
            states["power"] = str(round(battery["voltage_mv"] * battery["current_ma"] / 1e6, 3))
        for number, cell in enumerate(battery["cells_mv"] or []):
            if cell is not None:
                states[f"cell_{number + 1}"] = str(cell / 1000)
        cells = [cell for cell in battery["cells_mv"] or [] if cell is not None]
        if cells:
            states["cell_spread"] = str(max(cells) - min(cells))
        for number, temperature in enumerate(battery["temperatures"] or []):
            if temperature["temperature_mc"] is not None:
                states[f"temperature_{number + 1}"] = str(temperature["temperature_mc"] / 1000)
    if status and status["state"] not in (None, "not_initialized"):
        states["state"] = status["state"]
    for value in kind["values"]["values"]:
        if value["kind"] == "number" and value["number"] is not None:
            number = value["number"] / 1000 if value["unit"] in ("mV", "mA", "mAh") else value["number"]
            states[f"value_{value['name']}"] = str(number)
        if value["kind"] == "flag" and value["flag"] is not None:
            states[f"value_{value['name']}"] = "ON" if value["flag"] else "OFF"
        if value["kind"] in ("text", "choice") and value["text"] is not None:
            states[f"value_{value['name']}"] = value["text"][:255]
    return states


# MARK: - What must be refused


def without(*path):
    def change(document):
        target = document["payload"]
        for name in path[:-1]:
            target = target[name]
        del target[path[-1]]
    return change


def with_(value, *path):
    def change(document):
        target = document["payload"]
        for name in path[:-1]:
            target = target[name]
        target[path[-1]] = value
    return change


def topic(text):
    def change(document):
        document["topic"] = text
    return change


MISTAKES = {
    "no origin": without("origin"),
    "no name of the origin": without("origin", "name"),
    "no identifiers": without("device", "identifiers"),
    "no device": without("device"),
    "no unique id": without("components", "battery", "unique_id"),
    "no platform": without("components", "battery", "platform"),
    "an unknown platform": with_("toaster", "components", "battery", "platform"),
    "an unknown device class": with_("beauty", "components", "battery", "device_class"),
    "an unknown state class": with_("guess", "components", "battery", "state_class"),
    "options without enum": with_(["a"], "components", "battery", "options"),
    "enum with a unit": with_("%", "components", "state", "unit_of_measurement"),
    "no options of an enum": without("components", "state", "options"),
    "a wrong unit": with_("V", "components", "battery", "unit_of_measurement"),
    "a wrong state class": with_("total", "components", "battery", "state_class"),
    "an unknown option": with_("x", "components", "battery", "object_idea"),
    "a template that can't be read": with_("{{ value_json.", "components", "battery", "value_template"),
    "a wrong availability mode": with_("some", "availability_mode"),
    "a wildcard in a state topic": with_("a/#/b", "state_topic"),
    "a wildcard in a command topic": with_("a/+/set", "components", "command_beep", "command_topic"),
    "no command topic": without("components", "command_beep", "command_topic"),
    "minimum and maximum exchanged": with_(-1, "components", "command_set-volume", "max"),
    "a text that is too long": with_(256, "components", "command_rename", "max"),
    "no state topic": without("state_topic"),
    "an unknown key of the message": with_(1, "colour"),
    "a category that sensors can't have": with_("config", "components", "battery", "entity_category"),
    "a blank in the topic": topic("homeassistant/device/attic 1/SIM0001/config"),
    "a slash too many in the topic": topic("homeassistant/device/attic/SIM/0001/config"),
}


def main() -> int:
    logging.disable(logging.NOTSET)
    logged: list[str] = []

    class Heard(logging.Handler):
        def emit(self, record):
            logged.append(record.getMessage())

    logging.getLogger().addHandler(Heard(logging.WARNING))
    hass = HomeAssistant("/tmp")
    failures, count, rendered = 0, 0, 0
    snapshots = sorted(TESTS.glob("Snapshots/*.json"))
    for path in snapshots:
        logged.clear()
        try:
            entities = check(json.loads(path.read_text()))
            kind_path = TESTS / "Kinds" / path.name
            states = {}
            if kind_path.exists():
                kind = json.loads(kind_path.read_text())
                states = render(entities, kind, hass)
                availability(entities, kind, hass)
                wrong = energy.check(hass, path.stem, entities, states) + placed(entities)
                if wrong:
                    raise Mistake("; ".join(wrong))
                for key, state in expected(kind).items():
                    if states.get(key) != state:
                        raise Mistake(f"{key} is {states.get(key)!r}, not {state!r}")
                # Without readings nothing fails, and nothing is invented.
                empty = copy.deepcopy(kind)
                for name in ("battery", "status", "identity"):
                    empty["state"][name] = None
                empty["values"]["values"] = []
                for key, state in render(entities, empty, hass).items():
                    if state != "None":
                        raise Mistake(f"{key} is {state!r} without a reading")
            if path.stem == "gateway":
                gateway(entities, hass)
            if logged:
                raise Mistake("Home Assistant logs: " + "; ".join(logged))
            count, rendered = count + len(entities), rendered + len(states)
            print(f"{path.stem}: {len(entities)} entities, {len(states)} states")
        except (vol.Invalid, Mistake, ValueError) as error:
            failures += 1
            print(f"{path.stem}: {error}", file=sys.stderr)
    good = json.loads((TESTS / "Snapshots/commands.json").read_text())
    for name, change in MISTAKES.items():
        document = copy.deepcopy(good)
        change(document)
        try:
            check(document)
        except (vol.Invalid, Mistake):
            continue
        failures += 1
        print(f"not refused: {name}", file=sys.stderr)
    print(
        f"Home Assistant {__version__}: {len(snapshots)} messages with {count} entities and {rendered} states checked, "
        f"{len(MISTAKES)} mistakes tried, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    import asyncio

    async def run() -> int:
        return main()

    sys.exit(asyncio.run(run()))
