#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has bridge-cli use serial ports of a node (node.py), with simulated accessories behind them. `run` calls it."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
CLI = os.path.join(ROOT, ".build", "release", "bridge-cli")
if not os.path.exists(CLI):
    CLI = os.path.join(ROOT, ".build", "debug", "bridge-cli")
KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OTHER = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="


class Failed(Exception):
    pass


class Program:
    def __init__(self, *arguments):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=self.log, stderr=subprocess.STDOUT, env=ENVIRONMENT)

    def text(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def wait_for(self, pattern, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.text())
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise Failed(f"no {pattern!r}: {self.text()[-400:]}")

    def tell(self, word):
        self.process.stdin.write(word.encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()


class Setup:
    """A simulated pack, and a node that has it at a port."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="esphome-")
        self.programs = []

    def start(self, *arguments):
        program = Program(*arguments)
        self.programs.append(program)
        return program

    def pack(self, *kind):
        place = os.path.join(self.folder, f"tty{len(self.programs)}")
        self.start(CLI, "simulate", *(kind or ("jbd", "--percent", "57")), "--link", place).wait_for("is plugged in at")
        return place

    def node(self, *options, pack=None):
        node = self.start(sys.executable, os.path.join(HERE, "node.py"), "--port", f"Battery={pack or self.pack()}", *options)
        return node, int(node.wait_for(r"port (\d+)").group(1))

    def key(self, text=KEY, mode=0o600):
        path = os.path.join(self.folder, f"key-{len(os.listdir(self.folder))}")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, mode), "w") as file:
            file.write(text + "\n")
        return path

    def end(self):
        for program in reversed(self.programs):
            program.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def run(*arguments, seconds=60):
    done = subprocess.run([CLI, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=ENVIRONMENT, timeout=seconds)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def battery(port, *options, place="0"):
    status, out, err = run("battery", f"esphome://127.0.0.1:{port}" + (f"/{place}" if place else ""), "--driver", "jbd",
                           "--json", *options)
    if status != 0:
        raise Failed(f"status {status}: {err}")
    percent = json.loads(out)["battery"]["percent"]
    if percent != 57:
        raise Failed(f"{percent} %")
    return f"{percent} %"


def refused(port, words, *options, place="/0"):
    status, _, err = run("battery", f"esphome://127.0.0.1:{port}{place}", "--driver", "jbd", *options)
    if status == 0 or not re.search(words, err):
        raise Failed(f"status {status}: {err!r} hasn't {words!r}")
    return err.strip()


def case_plain(setup):
    node, port = setup.node()
    for place in ["0", "Battery", ""]:
        battery(port, place=place)
    node.wait_for("configured 9600 8 0 1")
    return "57 %, by number, by name, and as the only one, at 9600 baud"


def case_noise(setup):
    _, port = setup.node("--key", KEY)
    return battery(port, "--key-file", setup.key())


def case_older(setup):
    pack = setup.pack()
    for minor in range(14, 20):
        node, port = setup.node("--minor", str(minor), pack=pack)
        battery(port)
        node.end()
        setup.programs.remove(node)
    return "1.14 to 1.19"


def case_keys(setup):
    pack = setup.pack()
    _, port = setup.node("--key", KEY, pack=pack)
    refused(port, "key of .* is wrong", "--key-file", setup.key(OTHER))
    refused(port, "its key is missing.*--key-file")
    refused(port, "may be read or written by everybody", "--key-file", setup.key(mode=0o644))
    _, plain = setup.node(pack=pack)
    return refused(plain, "doesn't encrypt", "--key-file", setup.key())


def case_ports(setup):
    pack = setup.pack()
    _, port = setup.node("--port", f"P1 meter={pack}", pack=pack)
    refused(port, r"several serial ports.*0 \(Battery\), 1 \(P1 meter\)", place="")
    return refused(port, r"has no such serial port; it has 0 \(Battery\), 1 \(P1 meter\)", place="/7")


def case_in_use(setup):
    _, port = setup.node()
    bridge = setup.start(CLI, "bridge", f"esphome://127.0.0.1:{port}/0", "--driver", "jbd", "--tcp", "0")
    bridge.wait_for(r"tcp:127.0.0.1:\d+ is open")
    bridge.wait_for(r"/0\)? is open")
    return refused(port, "in use by another client")


def case_unplug(setup):
    node, port = setup.node("--usb")
    place = f"esphome://127.0.0.1:{port}/0"
    service = setup.start(CLI, "serve", "--device", place)
    service.wait_for("is attached|is open")
    node.tell("unplug")
    service.wait_for("disconnected")
    node.tell("plug")
    service.wait_for("(?s)disconnected.*(is attached|is open)")
    for word in ["leave", "drop"]:
        before = len(re.findall("is attached|is open", service.text()))
        node.tell(word)
        service.wait_for("(?s)" + ".*(is attached|is open)" * (before + 1))
    return "unplugged, told to leave and cut off: attached again each time"


def case_bytes(setup):
    _, port = setup.node("--key", KEY, pack=setup.pack("loopback"))
    bridge = setup.start(
        CLI, "bridge", f"esphome://127.0.0.1:{port}/Battery", "--tcp", "0", "--key-file", setup.key())
    raw = int(bridge.wait_for(r"tcp:127.0.0.1:(\d+) is open").group(1))
    bridge.wait_for(r"Battery\)? is open")
    data = bytes(range(256)) * 256
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", raw), 10) as client:
        client.settimeout(20)
        back = b""
        for start in range(0, len(data), 4096):
            client.sendall(data[start:start + 4096])
            while len(back) < start + 4096:
                piece = client.recv(65536)
                if not piece:
                    raise Failed("the connection ended")
                back += piece
    if back != data:
        raise Failed("other bytes came back")
    return f"{len(data) >> 10} KiB of all bytes there and back in {time.monotonic() - began:.1f} s, encrypted"


def case_info(setup):
    _, port = setup.node()
    status, out, err = run("info", f"esphome://127.0.0.1:{port}/0", "--driver", "jbd")
    if status != 0:
        raise Failed(f"status {status}: {err}")
    return " ".join(out.split())[:160]


def main():
    global CLI, ENVIRONMENT
    words = sys.argv[1:]
    if words[:1] == ["--cli"]:
        CLI, words = os.path.abspath(words[1]), words[2:]
    home = tempfile.mkdtemp(prefix="esphome-home-")
    ENVIRONMENT = dict(os.environ, XDG_RUNTIME_DIR=home, HOME=home, XDG_CONFIG_HOME=home, XDG_STATE_HOME=home, NO_COLOR="1",
                       PYTHONUNBUFFERED="1")
    failed = 0
    try:
        for name, body in list(globals().items()):
            if not name.startswith("case_") or words and name[5:] not in words:
                continue
            setup = Setup()
            try:
                result, word = body(setup), "ok"
            except (Failed, OSError, KeyError, subprocess.SubprocessError) as error:
                result, word, failed = str(error), "FAILED", failed + 1
            finally:
                setup.end()
            print(f"{word:6}  {name[5:]:8}  {result}", flush=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    sys.exit(1 if failed else 0)


ENVIRONMENT = dict(os.environ)
main()
