#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has a running Home Assistant (2026.2 or later) use `bridge-cli export home-assistant`, as its user would.

    native.py --cli PATH [--discover ADDRESS --prefix WORDS]

It needs Home Assistant and what its integration ESPHome requires, in the Python that runs it. It starts a service with two
simulated packs, a server, and Home Assistant without a network of its own; types a wrong key and the right one into its flow, and
looks at devices, entities and states, also after an unplug, a restart, another key. Anything that Home Assistant warns of is a
fault. The exit status is the number of faults.

With --discover Home Assistant must find the server by itself: `--prefix` runs our programs in another network namespace, like
"nsenter -t PID -n", where Avahi runs and the server has ADDRESS.
"""

import argparse
import asyncio
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from homeassistant import bootstrap, config_entries, runner
from homeassistant.const import __version__
from homeassistant.helpers import area_registry, device_registry, entity_registry

FAULTS = []
# What Home Assistant says of itself in a test, and not of us.
IGNORED = ("bluetooth", "We found a custom integration", "dhcp", "go2rtc", "ffmpeg", "mobile_app", "usb", "Backup", "cloud", "hardware", "aiohttp", "MainThread", "util.loop", "zeroconf")


def expect(what: str, holds: bool, seen: object = "") -> None:
    print(("ok      " if holds else "FAULT   ") + what + (f": {seen}" if seen != "" and not holds else ""), flush=True)
    if not holds:
        FAULTS.append(what)


class Warnings(logging.Handler):
    """Gathers what Home Assistant warns of, of this integration and of entities."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = f"{record.name}: {record.getMessage()}"
        if not any(word in text for word in IGNORED):
            self.lines.append(text)


class Bridge:
    """The programs, in folders of their own."""

    def __init__(self, cli: str, folder: Path, prefix: list[str], address: str) -> None:
        self.cli, self.folder, self.prefix, self.address = cli, folder, prefix, address
        self.environment = os.environ | {
            "XDG_RUNTIME_DIR": str(folder / "run"), "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"), "NO_COLOR": "1",
        }
        for name in ("run", "state", "config/accessory-bridge"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "config/accessory-bridge/service.yaml").write_text(
            "commands:\n- driver: jbd\n  command: basic\n")
        self.running: dict[str, subprocess.Popen] = {}

    def start(self, name: str, *words: str) -> None:
        log = open(self.folder / f"{name}.log", "w")
        self.running[name] = subprocess.Popen([*self.prefix, self.cli, *words], env=self.environment, stdout=log, stderr=log)

    def stop(self, name: str) -> None:
        process = self.running.pop(name)
        process.terminate()
        process.wait(20)

    def run(self, *words: str) -> str:
        return subprocess.run([*self.prefix, self.cli, *words], env=self.environment, capture_output=True, text=True, timeout=60).stdout.strip()

    def log(self, name: str) -> str:
        # Home Assistant complains about `open` on its thread.
        file = os.open(self.folder / f"{name}.log", os.O_RDONLY)
        try:
            return os.read(file, 1 << 20).decode()
        finally:
            os.close(file)

    def serve_home_assistant(self, port: int) -> None:
        allow = [] if self.address == "127.0.0.1" else ["--allow", "10.0.0.0/8"]
        self.start("server", "export", "home-assistant", "--listen", f"{self.address}:{port}", *allow)

    def end(self) -> None:
        for name in list(self.running):
            self.stop(name)


async def until(what: str, condition, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            expect(what, True)
            return True
        await asyncio.sleep(0.2)
    expect(what, False, "not within %d s" % seconds)
    return False


async def run(function, *arguments):
    """Home Assistant permits no waiting on its thread."""
    return await asyncio.to_thread(function, *arguments)


async def use(bridge: Bridge, folder: Path, port: int) -> None:
    warnings = Warnings()
    logging.getLogger("homeassistant").addHandler(warnings)
    (folder / "configuration.yaml").write_text("zeroconf:\n")
    hass = await bootstrap.async_setup_hass(
        runner.RuntimeConfig(config_dir=str(folder), skip_pip=True, log_rotate_days=1, log_no_color=True))
    expect(f"Home Assistant {__version__} starts", hass is not None)
    await hass.async_start()
    key = await run(bridge.run, "export", "home-assistant", "--show-key")

    flow = hass.config_entries.flow
    if bridge.address == "127.0.0.1":
        result = await flow.async_init(
            "esphome", context={"source": config_entries.SOURCE_USER}, data={"host": bridge.address, "port": port})
    else:
        def found() -> list:
            return [one for one in flow.async_progress() if one["handler"] == "esphome"]

        if not await until("Home Assistant finds it by itself", lambda: bool(found())):
            return
        print("        " + str(found()[0]["context"].get("title_placeholders")))
        result = await flow.async_configure(found()[0]["flow_id"])
        while result.get("step_id") == "discovery_confirm":
            result = await flow.async_configure(result["flow_id"], {})
    expect("the key is asked for", result.get("step_id") == "encryption_key", result)
    wrong = "GDLtR04eR+HDTTMfqD77o6dsB/a5bpOuZH5W3oteDJ0="
    result = await flow.async_configure(result["flow_id"], {"noise_psk": wrong})
    expect("a wrong key is refused", result.get("errors", {}).get("base") == "invalid_psk", result)
    result = await flow.async_configure(result["flow_id"], {"noise_psk": key})
    expect("the right key makes an entry", result.get("type") == "create_entry", result)
    entry = hass.config_entries.async_entries("esphome")[0]
    await until("the entry is loaded", lambda: entry.state is config_entries.ConfigEntryState.LOADED)

    devices, entities = device_registry.async_get(hass), entity_registry.async_get(hass)

    def device(name: str):
        return next((d for d in devices.devices.values() if d.name == name), None)

    def state(device_name: str, name: str):
        found = device(device_name)
        for one in entities.entities.values():
            if found and one.device_id == found.id and one.original_name == name:
                value = hass.states.get(one.entity_id)
                return value.state if value else None
        return None

    if not await until("the pack is a device", lambda: device("House battery") is not None):
        return
    area = area_registry.async_get(hass).async_get_area(device("House battery").area_id or "")
    expect("its place is its area", area is not None and area.name == "Attic", area)
    await until("its charge is told", lambda: state("House battery", "Battery") in ("57", "57.0"))
    other = next(
        d.name for d in devices.devices.values()
        if entry.entry_id in d.config_entries and d.name != "House battery" and "Bridge" not in d.name)
    await until("it is connected", lambda: state("House battery", "Connected") == "on")
    count = len(entities.entities)
    print(f"        {len(devices.devices)} devices, {count} entities")
    for one in entities.entities.values():
        if one.original_name == "Battery":
            expect("the charge is a battery in %", one.original_device_class == "battery" and one.unit_of_measurement == "%")
    expect("cells are disabled", any(
        one.original_name == "Cell voltage 1" and one.disabled_by for one in entities.entities.values()))

    button = next((one for one in entities.entities.values() if one.domain == "button"), None)
    expect("the one permitted command is a button", button is not None)
    if button:
        await hass.services.async_call("button", "press", {"entity_id": button.entity_id}, blocking=True)
        await until("it is carried out", lambda: "basic for PACK1: done" in bridge.log("server"), 30)

    await run(bridge.stop, "pack")
    await until("an unplugged pack isn't connected", lambda: state("House battery", "Connected") == "off")
    expect("its readings are unknown", state("House battery", "Battery") == "unknown", state("House battery", "Battery"))
    expect("the other pack stays", state(other, "Battery") not in (None, "unknown", "unavailable"), state(other, "Battery"))
    await run(bridge.stop, "server")
    await run(bridge.serve_home_assistant, port)
    await until("it comes back after a restart", lambda: state(other, "Battery") not in ("unknown", "unavailable"), 90)
    expect("a restart removes nothing", len(entities.entities) == count, len(entities.entities))
    await run(bridge.start, "pack", "simulate", "jbd", "--serial", "PACK1", "--percent", "57")
    await until("a pack that is plugged in again is told", lambda: state("House battery", "Battery") in ("57", "57.0"), 90)

    await run(bridge.stop, "server")
    (bridge.folder / "state/accessory-bridge/home-assistant.key").unlink()
    await run(bridge.serve_home_assistant, port)
    await until("another key is asked for", lambda: any(
        one["context"].get("source") == "reauth" for one in flow.async_progress()), 90)
    again = next((one for one in flow.async_progress() if one["context"].get("source") == "reauth"), None)
    if again:
        key = await run(bridge.run, "export", "home-assistant", "--show-key")
        await flow.async_configure(again["flow_id"], {"noise_psk": key})
        await until("it comes back with the new key", lambda: state(other, "Battery") not in ("unknown", "unavailable"), 90)
    expect("nothing was removed", len(entities.entities) == count, len(entities.entities))
    told = [line for line in warnings.lines if "invalid_psk" not in line]
    print("\n".join("        warned: " + line[:300] for line in told))
    entity_warnings = [line for line in told if "Entity" in line or "sensor" in line and "device class" in line]
    expect("Home Assistant warns of no entity", not entity_warnings, entity_warnings[:3])
    await hass.async_stop()


def end(bridge: Bridge, folder: Path) -> None:
    bridge.end()
    print("\n".join("        server: " + line[:200] for line in bridge.log("server").splitlines()[-12:]))
    shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cli", required=True)
    parser.add_argument("--port", type=int, default=16053)
    parser.add_argument("--discover", metavar="ADDRESS", default="127.0.0.1")
    parser.add_argument("--prefix", default="")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    bridge = Bridge(options.cli, folder, options.prefix.split(), options.discover)
    try:
        bridge.start("pack", "simulate", "jbd", "--serial", "PACK1", "--percent", "57")
        bridge.start("second", "simulate", "daly", "--serial", "SECOND")
        bridge.start("service", "serve", "--poll", "2s")
        named = ""
        for _ in range(60):
            time.sleep(0.5)
            named = bridge.run("name", "PACK1", "House battery", "--area", "Attic") if "SECOND" in bridge.run("list") else ""
            if named:
                break
        print("        " + (named or "no service: " + bridge.log("service")))
        bridge.serve_home_assistant(options.port)
        for _ in range(60):
            time.sleep(0.5)
            if "is open" in bridge.log("server"):
                break
        (folder / "hass").mkdir()
        asyncio.run(use(bridge, folder / "hass", options.port))
    except Exception as error:
        expect("nothing fails", False, repr(error))
    finally:
        # Home Assistant has forbidden this thread to wait.
        ending = threading.Thread(target=end, args=(bridge, folder))
        ending.start()
        ending.join()
    print(f"{len(FAULTS)} faults")
    return len(FAULTS)


sys.exit(main())
