#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""beside.py ADDRESS ROUNDS BYTES | hold ADDRESS SECONDS | try ADDRESS: bleak at the HM-10, for comparison with plain.c and BluetoothEcho,
and as another program that uses the device beside us."""
import asyncio
import sys
import time

from bleak import BleakClient, BleakScanner

PORT = '0000ffe1-0000-1000-8000-00805f9b34fb'


class Line:
    """The serial port, as a program with bleak uses it."""

    def __init__(self, client):
        self.client, self.got = client, asyncio.Queue()

    async def open(self):
        await self.client.start_notify(PORT, lambda _, value: self.got.put_nowait(value))

    async def write(self, value):
        await self.client.write_gatt_char(PORT, value, response=False)


async def client_of(address):
    device = await BleakScanner.find_device_by_address(address, timeout=30)
    if not device:
        raise SystemExit('bleak: the device is not found')
    return BleakClient(device)


async def measure(address, rounds, size):
    client = await client_of(address)
    begin = time.monotonic()
    async with client:
        line = Line(client)
        await line.open()
        connected, times = time.monotonic() - begin, []
        for number in range(rounds):
            start = time.monotonic()
            await line.write(bytes([number & 255]) * 20)
            await line.got.get()
            times.append(time.monotonic() - start)
        times.sort()
        print(f'bleak: connect {connected:.2f} s, {rounds} echoes of 20 bytes, median {times[rounds // 2] * 1000:.2f} ms, '
              f'p95 {times[rounds * 95 // 100] * 1000:.2f} ms', flush=True)
        if size:
            await client._backend._acquire_mtu()
            packet = min(512, client.mtu_size - 3)
            await line.write(b'last %d\n' % size)
            await line.got.get()
            start = time.monotonic()
            for sent in range(0, size, packet):
                await line.write(b'U' * min(packet, size - sent))
            await line.got.get()
            seconds = time.monotonic() - start
            print(f'bleak: {size} bytes in {seconds:.2f} s: {size / seconds / 1000:.1f} kB/s', flush=True)


async def hold(address, seconds):
    gone = asyncio.Event()
    client = BleakClient((await client_of(address)).address, disconnected_callback=lambda _: gone.set())
    async with client:
        line = Line(client)
        await line.open()
        print('bleak: holds it', flush=True)
        end = time.monotonic() + seconds
        while time.monotonic() < end and not gone.is_set():
            try:
                await line.write(b'bleak')
                print('bleak: got', bytes(await asyncio.wait_for(line.got.get(), 5)), flush=True)
            except Exception as error:
                print(f'bleak: {error!r}', flush=True)
            await asyncio.sleep(1)
        if gone.is_set():
            print('bleak: was disconnected', flush=True)


async def attempt(address):
    client = BleakClient(await BleakScanner.find_device_by_address(address, timeout=10) or address)
    try:
        await client.connect()
    except Exception as error:
        print(f'bleak: connect: {error!r}', flush=True)
        return
    print('bleak: is connected', flush=True)
    line = Line(client)
    for what, action in ('listens', line.open), ('writes', lambda: line.write(b'bleak')):
        try:
            await action()
            print(f'bleak: {what}', flush=True)
        except Exception as error:
            print(f'bleak: {what}: {error}', flush=True)
    await client.disconnect()
    print('bleak: disconnected it', flush=True)


words = sys.argv[1:]
if words[0] == 'hold':
    asyncio.run(hold(words[1], float(words[2])))
elif words[0] == 'try':
    asyncio.run(attempt(words[1]))
else:
    asyncio.run(measure(words[0], int(words[1]), int(words[2])))
