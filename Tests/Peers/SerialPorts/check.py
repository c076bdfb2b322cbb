# SPDX-License-Identifier: Apache-2.0
"""Has clients of ESPHome's native API use a serial port of `bridge-cli export home-assistant`.

The device is a pseudo-terminal that this program plays. Prints a line for each case; the exit status is 1 where one failed.
"""

import argparse
import asyncio
import base64
import errno
import fcntl
import importlib.metadata
import os
import pty
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import tty

CLIENT = """
import asyncio, sys, serialx
async def main():
    reader, writer = await serialx.open_serial_connection(sys.argv[1], baudrate=9600)
    print("open", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


class Device:
    """A pseudo-terminal with a link, as a serial adapter is plugged in and out."""

    def __init__(self, folder):
        self.link = os.path.join(folder, "line")
        self.master = None
        self.received = bytearray()
        self.pause = None
        self.plug()

    def plug(self):
        self.master, terminal = pty.openpty()
        tty.setraw(terminal)
        if os.path.lexists(self.link):
            os.unlink(self.link)
        os.symlink(os.ttyname(terminal), self.link)
        os.close(terminal)
        self.received.clear()

    def unplug(self):
        os.close(self.master)
        self.master = None

    def speed(self):
        """What a program has set: any number, by TCGETS2."""
        return struct.unpack("I", fcntl.ioctl(self.master, 0x802C542A, bytes(44))[40:])[0]

    def read(self, count, seconds=60, rate=None):
        """Reads so many bytes, as fast as the line is."""
        os.set_blocking(self.master, False)
        end = time.monotonic() + seconds
        while len(self.received) < count and time.monotonic() < end:
            try:
                piece = os.read(self.master, min(count - len(self.received), rate // 10 if rate else 65536))
                self.received += piece
                if rate:
                    time.sleep(len(piece) / rate)
            except (BlockingIOError, OSError):
                time.sleep(0.002)
        return bytes(self.received)

    def write(self, data):
        os.set_blocking(self.master, True)
        while data:
            data = data[os.write(self.master, data[:4096]) :]


class Server:
    """The program that is checked."""

    def __init__(self, command, folder, device, key):
        probe = socket.create_server(("127.0.0.1", 0))
        self.port = probe.getsockname()[1]
        probe.close()
        state = os.path.join(folder, "state")
        os.makedirs(state, 0o700, exist_ok=True)
        if key:
            with open(os.open(f"{state}/home-assistant.key", os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                file.write(key + "\n")
        words = {"PORT": str(self.port), "DEVICE": device, "KEY": key or "plain", "STATE": state, "PLAIN": "" if key else "--plain"}
        self.log = open(os.path.join(folder, "server.log"), "a")
        environment = dict(os.environ)
        for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            environment[name] = os.path.join(folder, name.lower())
            os.makedirs(environment[name], 0o700, exist_ok=True)
        environment["ACCESSORY_BRIDGE_SOCKET"] = os.path.join(folder, "no-service.sock")
        filled = [word.format(**words) for word in command]
        self.process = subprocess.Popen(
            [word for word in filled if word], stdout=self.log, stderr=self.log, env=environment
        )
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.process.kill()
        with open(self.log.name) as log:
            raise SystemExit("the server doesn't listen:\n" + log.read())

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)


def pattern(count):
    return bytes((index ^ index >> 8 ^ index >> 16) & 0xFF for index in range(count))


class Case:
    def __init__(self, server, device, key):
        import serialx

        self.serialx = serialx
        self.server, self.device, self.key = server, device, key
        quoted = "" if key is None else "&key=" + key.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
        self.url = f"esphome://127.0.0.1:{server.port}/?port_name=line{quoted}"

    async def open(self, baudrate=115200, **settings):
        return await self.serialx.open_serial_connection(self.url, baudrate=baudrate, **settings)

    async def close(self, writer):
        writer.close()
        try:
            await writer.wait_closed()
        except OSError:
            pass

    async def lists_the_port(self):
        from aioesphomeapi import APIClient

        client = APIClient("127.0.0.1", self.server.port, None, noise_psk=self.key)
        await client.connect(login=True)
        info = await client.device_info()
        assert [port.name for port in info.serial_proxies] == ["line"], info.serial_proxies
        await client.disconnect()

    async def writes_a_megabyte(self):
        reader, writer = await self.open()
        data = pattern(1 << 20)
        taking = asyncio.get_running_loop().run_in_executor(None, self.device.read, len(data))
        for start in range(0, len(data), 32768):
            writer.write(data[start : start + 32768])
            await writer.drain()
        assert await taking == data, "other bytes"
        await self.close(writer)
        self.device.received.clear()

    async def reads_a_megabyte(self):
        reader, writer = await self.open()
        data = pattern(1 << 20)
        giving = asyncio.get_running_loop().run_in_executor(None, self.device.write, data)
        got = await asyncio.wait_for(reader.readexactly(len(data)), 60)
        await giving
        assert got == data, "other bytes"
        await self.close(writer)

    async def sets_the_speed(self):
        for rate in (57600, 300, 250000):
            reader, writer = await self.open(baudrate=rate)
            speed = self.device.speed()
            await self.close(writer)
            assert speed == rate, f"{rate}: {speed}"

    async def refuses_a_second_client(self):
        reader, writer = await self.open()
        try:
            await self.open()
            raise AssertionError("a second client has it, too")
        except OSError as error:
            assert error.errno == errno.EBUSY, error
        await self.close(writer)
        reader, writer = await self.open()
        await self.close(writer)

    async def frees_the_port_of_a_killed_client(self):
        client = subprocess.Popen([sys.executable, "-c", CLIENT, self.url], stdout=subprocess.PIPE)
        assert client.stdout.readline() == b"open\n"
        client.kill()
        client.wait()
        for _ in range(50):
            try:
                reader, writer = await self.open()
                break
            except OSError:
                await asyncio.sleep(0.1)
        else:
            raise AssertionError("it is still taken")
        await self.close(writer)

    async def tells_an_unplug(self):
        reader, writer = await self.open()
        self.device.unplug()
        try:
            await asyncio.wait_for(reader.readexactly(1), 10)
            raise AssertionError("a byte")
        except OSError as error:
            assert error.errno == errno.ENXIO, error
        await self.close(writer)
        try:
            await self.open()
            raise AssertionError("it opens without a device")
        except (OSError, self.serialx.SerialException):
            pass
        self.device.plug()
        for _ in range(100):
            try:
                reader, writer = await self.open()
                break
            except (OSError, self.serialx.SerialException):
                await asyncio.sleep(0.1)
        else:
            raise AssertionError("it doesn't come back")
        writer.write(b"again")
        assert await asyncio.to_thread(self.device.read, 5) == b"again"
        await self.close(writer)
        self.device.received.clear()

    async def bears_a_slow_line(self, seconds):
        reader, writer = await self.open()
        data = pattern(6 << 20)

        async def send():
            for start in range(0, len(data), 16384):
                writer.write(data[start : start + 16384])
                await writer.drain()

        sending = asyncio.create_task(send())
        before = self.server.memory()
        end = time.monotonic() + seconds
        reading = asyncio.get_running_loop().run_in_executor(None, self.device.read, len(data), seconds, 1200)
        while time.monotonic() < end:
            await asyncio.sleep(min(5, seconds))
            assert not (sending.done() and sending.exception()), sending.exception()
        await reading
        grown = self.server.memory() - before
        assert grown < 4096, f"{grown} KiB more"
        got = await asyncio.to_thread(self.device.read, len(data), 120)
        await sending
        assert got == data, f"{len(got)} of {len(data)} bytes, or others"
        await self.close(writer)
        self.device.received.clear()


async def old(server, device, key):
    """A client from before there were serial ports: it sees the device."""
    from aioesphomeapi import APIClient

    client = APIClient("127.0.0.1", server.port, None, noise_psk=key)
    await client.connect(login=True)
    info = await client.device_info()
    assert info.mac_address, info
    await client.list_entities_services()
    await client.disconnect()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slow", type=int, default=120, help="seconds of the slow line")
    parser.add_argument("--only", default="", help="a word of the cases' names")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    versions = []
    for name in ("aioesphomeapi", "serialx"):
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            pass
    failed = False
    for key in (None, base64.b64encode(bytes(range(32))).decode()):
        with tempfile.TemporaryDirectory() as folder:
            device = Device(folder)
            server = Server(options.command, folder, device.link, key)
            if len(versions) < 2:
                cases = [("sees_the_device", lambda: old(server, device, key))]
            else:
                case = Case(server, device, key)
                cases = [(name, getattr(case, name)) for name in (
                    "lists_the_port", "writes_a_megabyte", "reads_a_megabyte", "sets_the_speed",
                    "refuses_a_second_client", "frees_the_port_of_a_killed_client", "tells_an_unplug")]
                cases.append(("bears_a_slow_line", lambda: case.bears_a_slow_line(options.slow)))
            for name, run in cases:
                if options.only not in name:
                    continue
                begin = time.monotonic()
                try:
                    asyncio.run(asyncio.wait_for(run(), options.slow + 200))
                    result = "ok"
                except (Exception, AssertionError) as error:
                    failed = True
                    result = f"FAILED: {type(error).__name__} {error}"
                kind = "plain" if key is None else "Noise"
                print(f"{', '.join(versions)}, {kind}: {name.replace('_', ' ')}: {result} ({time.monotonic() - begin:.1f} s)", flush=True)
            server.end()
            if failed:
                print(open(server.log.name).read()[-2000:])
    sys.exit(failed)


if __name__ == "__main__":
    main()
