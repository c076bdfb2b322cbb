# SPDX-License-Identifier: Apache-2.0
"""Centrals without a radio, made with bumble, which use the services that the guest offers. peripheral.py has them outside of the
guest, on the air of its adapters. They do what the command `central NAME VERB …` says; the first one with a name makes it. UUIDs
are four digits, or the first eight:

  find DEVICE           the services that the device with this name advertises
  connect DEVICE [MTU]  it is found, connected, asked for packets of this size (185), and discovered; answers with its characteristics
  subscribe UUID        what it sends is heard from now on
  ask UUID TEXT         a line is written, and what is heard up to its end is the answer
  write UUID TEXT       a line is written, with an answer of the other side, which is told
  read UUID             its value, in hexadecimal
  stream UUID LINES     what `seq 1 LINES` prints is written, so that the other side keeps up
  heard COUNT           how many bytes were heard since `forget`, and their SHA-256; once they are so many, or none has come for long
  forget                nothing was heard
  values                what was heard, one value a word, in hexadecimal
  leave                 the connection is ended
  ended                 waits until the other side has ended it, and tells the reason

Each waits as long as a quiet machine may take, times `patience`, and then tells what is missing.
"""
import asyncio
import hashlib
import time

from bumble import hci
from bumble.att import ATT_Error
from bumble.core import AdvertisingData
from bumble.device import Device, DeviceConfiguration, Peer


# How many times as slow as a quiet machine the guest is.
patience = 1


async def until(condition, seconds):
    """Waits for it. Returns false where that takes longer than a quiet machine may, times `patience`."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > seconds * patience:
            return False
        await asyncio.sleep(0.05)
    return True


class Central:
    def __init__(self, name, controller):
        self.device = Device.from_config_with_hci(
            DeviceConfiguration(name=name, address=hci.Address.generate_static_address()), controller, controller)
        self.seen, self.connection, self.peer, self.reason = {}, None, None, None
        self.forget()
        self.device.on('advertisement', self.saw)

    def forget(self):
        self.count, self.digest, self.last, self.values, self.time = 0, hashlib.sha256(), b'', [], time.monotonic()
        return 'ok'

    def saw(self, advertisement):
        name = advertisement.data.get(AdvertisingData.COMPLETE_LOCAL_NAME)
        if not name:
            return
        kinds = (
            AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS,
            AdvertisingData.INCOMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS,
            AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS)
        uuids = [uuid for kind in kinds for uuid in advertisement.data.get(kind) or []]
        self.seen[name] = advertisement.address, ' '.join(short(uuid) for uuid in uuids)

    async def start(self):
        await self.device.power_on()

    async def look(self, name):
        self.seen.pop(name, None)
        await self.device.start_scanning(filter_duplicates=False)
        try:
            if await until(lambda: name in self.seen, 60):
                return self.seen[name]
            raise LookupError(f'{name} is not found, only {sorted(self.seen)}')
        finally:
            await self.device.stop_scanning()

    async def find(self, name):
        return (await self.look(name))[1]

    async def connect(self, name, size='185'):
        address, _ = await self.look(name)
        # bluetoothd asks, too.
        self.device.gatt_server.max_mtu = int(size)
        self.connection = await self.device.connect(address, timeout=20 * patience)
        self.reason = None
        self.connection.on('disconnection', self.lost)
        self.peer = Peer(self.connection)
        self.size = await self.peer.request_mtu(int(size))
        await self.peer.discover_services()
        await self.peer.discover_characteristics()
        return f'MTU {self.size}: ' + ', '.join(
            short(service.uuid) + ' ' + ' '.join(short(found.uuid) for found in service.characteristics)
            for service in self.peer.services)

    def lost(self, reason):
        self.reason = hci.HCI_Constant.error_name(reason)

    def characteristic(self, uuid):
        return next(found for service in self.peer.services for found in service.characteristics if short(found.uuid) == uuid)

    def hear(self, value):
        self.count += len(value)
        self.digest.update(value)
        self.last = (self.last + value)[-400:]
        self.values = self.values[-99:] + [value.hex()]
        self.time = time.monotonic()

    async def subscribe(self, uuid):
        await self.peer.subscribe(self.characteristic(uuid), self.hear)
        return 'ok'

    async def ask(self, uuid, *words):
        self.forget()
        await self.characteristic(uuid).write_value((' '.join(words) + '\n').encode())
        await until(lambda: self.last.endswith(b'\n'), 10)
        return repr(self.last.decode(errors='replace'))

    async def write(self, uuid, *words):
        await self.characteristic(uuid).write_value((' '.join(words) + '\n').encode(), with_response=True)
        return 'ok'

    async def read(self, uuid):
        return (await self.characteristic(uuid).read_value()).hex()

    async def stream(self, uuid, lines):
        port, size = self.characteristic(uuid), min(512, self.size - 3)
        text = ''.join(f'{number}\n' for number in range(1, int(lines) + 1)).encode()
        for number, start in enumerate(range(0, len(text), size)):
            # The kernel throws away what bluetoothd is too slow for. A real phone is slower than this one.
            await port.write_value(text[start:start + size], with_response=number % 16 == 15)
        return 'ok'

    async def heard(self, wanted):
        self.time = time.monotonic()
        while self.count < int(wanted) and time.monotonic() < self.time + 15 * patience:
            await asyncio.sleep(0.05)
        return f'{self.count} {self.digest.hexdigest()}'

    async def leave(self):
        await self.connection.disconnect()
        return 'ok'

    async def ended(self):
        return self.reason if await until(lambda: self.reason, 30) else 'still connected'


def short(uuid):
    """Four digits, or the first eight of 32."""
    return uuid.to_hex_str().lower()[:8]


class Centrals:
    def __init__(self, make):
        self.make, self.all = make, {}

    async def do(self, name, verb, *words):
        if name not in self.all:
            central = Central(name, self.make(name))
            await central.start()
            self.all[name] = central
        central = self.all[name]
        if verb == 'forget':
            return central.forget()
        if verb == 'values':
            return ' '.join(central.values)
        try:
            return await getattr(central, verb)(*words)
        except ATT_Error as error:
            return f'refused with {error.error_code:#x}'
