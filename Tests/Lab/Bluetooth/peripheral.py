#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peripheral.py FOLDER [MTU]: an HM-10 and a battery manager by JBD without a radio, made with bumble, and the adapters that the
guest's kernel gets.

It runs outside of the guest: emulated, Python is twenty times as slow. FOLDER has QEMU's sockets of the virtio ports: `hci` and
`hci2` are the adapters', and commands come by `control`. The HM-10 has the service FFE0 with the characteristic FFE1 (write
without response, notify), and sends back what is written, but for `bye` and `last N`; the battery manager has FF00 with FF01 and FF02, and answers with a
recording. Each command is a line, and so is its answer:

  mtu N          the largest packet of GATT for connections from now on
  disconnect     the HM-10 ends the connection, and advertises again
  vanish         all are silent at once, and the adapter reports the loss after the supervision timeout; answers this time in ms
  return         they are heard again
  piece N        the most bytes of a notification; 0, at first: as many as a packet takes
  sink, echo     what is written is only counted, from 0; is sent back
  stats          the number of bytes and of writes that the HM-10 got, and of bytes and notifications that it sent
  digest         the number of bytes and the SHA-256 of what was written since `sink`
  stream N RATE  the HM-10 sends what `seq N` prints, RATE bytes a second
  listeners      1 while somebody listens to the HM-10, or 0
  early N        from now on, the HM-10 sends N notifications as soon as somebody listens, and thinks of nothing else
  crowd N        N further HM-10, whose names are Crowd1, Crowd2 …
  heard          what was written since `sink`, in hexadecimal
  gadgets        a Bluno, and a second HM-10 with the name Other
  drop           the battery manager ends the connection
  connections    how often the battery managers were connected, all together
  strength N D   the device with the name N is heard with D dBm
  told           what the Bluno was told by DFB2, and what its robot heard
  patience N     every limit of time from now on is one of a quiet machine times this
  packs N        N further battery managers, whose names are Pack1, Pack2 …
  tired          from now on, a battery manager ends the connection as soon as it has told its charge; `awake`: no longer
  neighbour J    a device as the JSON J says: see Neighbour
  touched NAME   how often the devices with this name were connected, and how many bytes were written to them
  advertisers    what the guest's adapters tell everybody, where something isn't found
  quitter N S    a device with the name N that ends each connection after S seconds
  links N        how often the device with the name N was connected
  guarded N KIND a battery manager with the name N for paired devices only: KIND is `works` (it asks nothing), `compare` (both show a
                 number) or `passkey` (it shows a number)
  shown          the number that such a device shows, and forgets it; `none` where it shows none
  person yes|no  what a person at such a device says to a number, at first yes
  unpair         such devices forget whom they were paired with
  response N     an HM-10 with the name N, which it tells only who asks (by a scan response)
  central …      what a central does that uses the guest's services: see central.py
"""
import asyncio
import hashlib
import json
import os
import sys
import time

from bumble import data_types, hci
from bumble.controller import Controller
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import (
    GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR, Characteristic, CharacteristicValue, Descriptor, Service)
from bumble.link import LocalLink
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport

import central

FEATURES = hci.LeFeatureMask
SCAN_RESPONSE = hci.HCI_LE_Advertising_Report_Event.EventType.SCAN_RSP


class Adapter(Controller):
    """What the kernel needs of a controller and bumble 0.0.236 hasn't."""

    timeout = 0.42
    # With data length extension. It is told when the adapter is plugged in.
    le_acl_data_packet_length = 251

    def __init__(self, *words, **named):
        super().__init__(*words, **named)
        # With either of these the kernel waits for an event that bumble never sends (bumble, issue 841).
        self.le_features &= ~(FEATURES.LL_PRIVACY | FEATURES.LE_EXTENDED_ADVERTISING)

    def on_hci_le_create_connection_command(self, command):
        self.timeout = command.supervision_timeout * 0.01
        return super().on_hci_le_create_connection_command(command)

    def on_hci_le_create_connection_cancel_command(self, command):
        # bumble keeps the connection that isn't made; every later one would be refused.
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending:
            event = hci.HCI_LE_Connection_Complete_Event(
                status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=hci.Role.CENTRAL,
                peer_address_type=pending.peer_address_type, peer_address=pending.peer_address, connection_interval=0,
                peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0)
            asyncio.get_running_loop().call_soon(self.send_hci_packet, event)
        return super().on_hci_le_create_connection_cancel_command(command)

    def on_hci_reset_command(self, command):
        # A new adapter: what there was is over. bumble keeps it, and no connection would succeed again.
        self.le_scan_enable, self.pending_le_connection = False, None
        self.le_legacy_advertiser.stop()
        for connection in list(self.le_connections.values()):
            asyncio.get_running_loop().call_later(self.timeout, self.leave, connection)
        self.le_connections.clear()
        return super().on_hci_reset_command(command)

    # How strong each device is heard, by its name for bumble; the others with bumble's -50 dBm.
    strengths: dict = {}
    heard = None

    def on_advertising_pdu(self, pdu):
        self.heard = pdu.advertiser_address
        super().on_advertising_pdu(pdu)

    def send_hci_packet(self, packet):
        for report in getattr(packet, 'reports', []):
            report.rssi = self.strengths.get(self.heard, report.rssi)
            if report.event_type == SCAN_RESPONSE:
                response = self.scan_response()
                report.data = report.data if response is None else response
        super().send_hci_packet(packet)

    def scan_response(self):
        """What the advertiser that was heard tells who asks; bumble repeats its advertisement instead."""
        for controller in self.link.controllers:
            # The guest's adapters have the legacy one; bumble's own devices have sets.
            for advertiser in [controller.le_legacy_advertiser, *controller.advertising_sets.values()]:
                if advertiser.enabled and advertiser.address == self.heard:
                    return bytes(advertiser.scan_response_data)

    def leave(self, connection):
        """The other side learns that this one is gone."""
        for controller in self.link.controllers:
            theirs = controller.le_connections.get(connection.self_address)
            if controller is not self and theirs and theirs.self_address == connection.peer_address:
                controller.on_le_disconnected(theirs, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)


class Air(LocalLink):
    """A link that can fall silent."""

    silent = False

    def send_acl_data(self, sender, destination, transport, data):
        # bumble takes the sender's random address for the source, though the kernel may have connected by the public one.
        connection, receiver = sender.le_connections.get(destination), self.find_le_controller(destination)
        if connection and receiver and not self.silent:
            loop = asyncio.get_running_loop()
            loop.call_soon(receiver.on_link_acl_data, connection.self_address, transport, data)

    def send_advertising_pdu(self, *words):
        if not self.silent:
            super().send_advertising_pdu(*words)

    def send_ll_control_pdu(self, *words, **named):
        if not self.silent:
            super().send_ll_control_pdu(*words, **named)


class Peripheral:
    """A device with a service, a characteristic that is written, and one that sends. Both may be the same."""

    # Which kind of access the values take.
    permissions = Characteristic.READABLE | Characteristic.WRITEABLE

    def __init__(self, air, name, service, write, notify, answer=None, tells_name=True):
        self.name, self.answer, self.connection, self.piece, self.early = name, answer or self.echo, None, 0, 0
        self.bytes = self.writes = self.sent = self.notifications = self.listeners = self.left = 0
        self.digest, self.last, self.connections = hashlib.sha256(), b'', 0
        self.controller = Controller(name, link=air)
        self.controller.le_acl_data_packet_length = 251
        # A new address each time: bluetoothd remembers tables by address.
        self.device = Device.from_config_with_hci(
            DeviceConfiguration(
                name=name, address=hci.Address.generate_static_address(), advertising_interval_min=100,
                advertising_interval_max=100), self.controller, self.controller)
        properties, value = Characteristic.Properties, CharacteristicValue(read=lambda _: b'', write=self.written)
        permissions = self.permissions
        writes = properties.READ | properties.WRITE_WITHOUT_RESPONSE
        if write == notify:
            self.port = Characteristic(write, writes | properties.NOTIFY, permissions, value)
            characteristics = [self.port]
        else:
            self.port = Characteristic(notify, properties.NOTIFY, permissions, b'')
            characteristics = [self.port, Characteristic(write, writes, permissions, value)]
        self.device.add_services([Service(service, characteristics + self.further())])
        flags, uuid = AdvertisingData.Flags, UUID(service)
        listed = data_types.IncompleteListOf16BitServiceUUIDs if len(uuid.to_bytes()) == 2 \
            else data_types.IncompleteListOf128BitServiceUUIDs
        told = [data_types.Flags(flags.LE_GENERAL_DISCOVERABLE_MODE | flags.BR_EDR_NOT_SUPPORTED), listed([uuid])]
        named = [data_types.CompleteLocalName(name)]
        self.device.advertising_data = bytes(AdvertisingData(told + named if tells_name else told))
        self.device.scan_response_data = b'' if tells_name else bytes(AdvertisingData(named))
        self.device.on('connection', self.connected)
        self.port.on('subscription', self.listened)

    def further(self):
        """What else the service has."""
        return []

    async def start(self, mtu):
        self.device.gatt_server.max_mtu = mtu
        await self.device.power_on()
        await self.device.start_advertising(auto_restart=True)

    def connected(self, connection):
        self.connection, self.listeners, self.left = connection, 0, 0
        self.connections += 1

    def echo(self, value):
        """The HM-10's answer. `last N` has it answer once, after N more bytes; at `bye` it ends the connection."""
        if self.left:
            self.left = max(0, self.left - len(value))
            return b'' if self.left else b'all'
        if value.startswith(b'last '):
            self.left = int(value.split()[1])
            return b'ok'
        if value == b'bye\n':
            asyncio.ensure_future(self.connection.disconnect())
            return b''
        return value

    def written(self, bearer, value):
        self.bytes += len(value)
        self.writes += 1
        self.digest.update(value)
        self.last = (self.last + value)[-200:]
        if self.answer:
            asyncio.ensure_future(self.send(bearer, self.answer(value)))

    def listened(self, bearer, notify, indicate):
        self.listeners = int(notify)
        if notify:
            for number in range(self.early):
                asyncio.ensure_future(self.send(bearer, b'early %d\n' % number))

    async def send(self, bearer, value, rate=0):
        size, begin = self.piece or bearer.att_mtu - 3, time.monotonic()
        for start in range(0, len(value), size):
            piece = value[start:start + size]
            self.sent += len(piece)
            self.notifications += 1
            await self.device.notify_subscriber(bearer, self.port, piece)
            if rate:
                await asyncio.sleep(max(0, begin + start / rate - time.monotonic()))


class Bluno(Peripheral):
    """A Bluno's radio with a robot behind it. Who hasn't told the password by DFB2 isn't heard at DFB1."""

    def __init__(self, air):
        self.told, self.heard = b'', b''
        super().__init__(air, 'Bluno', 'DFB0', 'DFB1', 'DFB1', self.robot)

    def further(self):
        properties, value = Characteristic.Properties, CharacteristicValue(read=lambda _: b'', write=self.commanded)
        return [Characteristic('DFB2', properties.READ | properties.WRITE, Characteristic.READABLE | Characteristic.WRITEABLE, value)]

    def connected(self, connection):
        super().connected(connection)
        self.told = b''

    def commanded(self, bearer, value):
        self.told += value

    def robot(self, value):
        if b'AT+PASSWOR=DFRobot\r\n' not in self.told:
            return b''
        self.heard += value
        return b'Status: fine\n' if value.startswith(b'0') else b''


# What a real battery manager by JBD has said (Tests/Recordings/jbd-battery.trace).
JBD = {
    'dda50300fffd77': 'dd03001b1700000002d003e8000020780000000000001039030f020b760b82fc0e77',
    'dda50400fffc77': 'dd04001e0f660f630f630f640f3e0f630f370f5b0f650f3b0f630f630f3c0f660f3df9f977',
}


class Battery(Peripheral):
    """A battery manager by JBD."""

    # Whether it ends the connection when it has told its charge.
    is_tired = False

    def __init__(self, air, name):
        super().__init__(air, name, 'FF00', 'FF02', 'FF01', lambda value: bytes.fromhex(JBD.get(value.hex(), '')))

    async def send(self, bearer, value, rate=0):
        await super().send(bearer, value, rate)
        if self.is_tired and value.startswith(b'\xdd\x03') and self.connection:
            await self.connection.disconnect()


class Quitter(Peripheral):
    """A device that ends each connection."""

    def __init__(self, air, name, seconds):
        self.seconds = seconds
        super().__init__(air, name, 'FFE0', 'FFE1', 'FFE1')

    def connected(self, connection):
        super().connected(connection)
        asyncio.ensure_future(self.quit(connection))

    async def quit(self, connection):
        await asyncio.sleep(self.seconds)
        if self.connection is connection:
            await connection.disconnect()


class Person(PairingDelegate):
    """Who pairs a guarded device."""

    says, shown = True, None

    async def compare_numbers(self, number, digits):
        Person.shown = number
        return Person.says

    async def display_number(self, number, digits):
        Person.shown = number


class Guarded(Battery):
    """A battery manager by JBD with a Battery Service, both of which are for paired devices only."""

    ABILITIES = {
        'works': PairingDelegate.NO_OUTPUT_NO_INPUT, 'compare': PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
        'passkey': PairingDelegate.DISPLAY_OUTPUT_ONLY}

    def __init__(self, air, name, kind):
        writes, reads = Characteristic.WRITE_REQUIRES_ENCRYPTION, Characteristic.READ_REQUIRES_ENCRYPTION
        if kind != 'works':
            writes, reads = writes | Characteristic.WRITE_REQUIRES_AUTHENTICATION, reads | Characteristic.READ_REQUIRES_AUTHENTICATION
        self.permissions = Battery.permissions | writes | reads
        super().__init__(air, name)
        properties = Characteristic.Properties
        self.device.add_services([Service('180F', [
            Characteristic('2A19', properties.READ | properties.NOTIFY, self.permissions, bytes([57]))])])
        for attribute in self.device.gatt_server.attributes:
            if attribute.type == GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR:
                attribute.permissions |= writes
        self.device.pairing_config_factory = lambda connection: PairingConfig(
            mitm=kind != 'works', delegate=Person(self.ABILITIES[kind]))

    async def forget(self):
        if self.device.keystore:
            await self.device.keystore.delete_all()


class Pack(Peripheral):
    """A battery that answers what it is asked with given bytes, and says others by itself (Tests/Peers/Packs/air.py)."""

    def __init__(self, air, pack):
        self.answers = {bytes.fromhex(sent): bytes.fromhex(answer) for sent, answer in pack['answers'].items()}
        self.pushed, self.kept = [bytes.fromhex(frame) for frame in pack['pushed']], b''
        self.ready = bytes.fromhex(pack['ready'])
        write, notify = pack['write'] or pack['notify'], pack['notify']
        # Some are written in one service, and send in another.
        *other, service = pack['services']
        super().__init__(air, pack['name'], service, notify if other else write, notify, self.reply)
        if other:
            properties, value = Characteristic.Properties, CharacteristicValue(read=lambda _: b'', write=self.written)
            self.device.add_services([Service(other[0], [Characteristic(
                write, properties.READ | properties.WRITE_WITHOUT_RESPONSE, Characteristic.READABLE | Characteristic.WRITEABLE,
                value)])])

    def connected(self, connection):
        super().connected(connection)
        self.kept = b''

    def reply(self, value):
        self.kept += value
        answer = b''
        while sent := next((sent for sent in self.answers if sent and self.kept.startswith(sent)), None):
            self.kept, answer = self.kept[len(sent):], answer + self.answers[sent]
        if not any(sent.startswith(self.kept) for sent in self.answers):
            self.kept = b''
        return answer

    def written(self, bearer, value):
        super().written(bearer, value)
        if self.ready:
            asyncio.ensure_future(self.say_ready(bearer))

    async def say_ready(self, bearer):
        await asyncio.sleep(0.1)
        await self.send(bearer, self.ready)

    def listened(self, bearer, notify, indicate):
        super().listened(bearer, notify, indicate)
        if notify and self.pushed:
            asyncio.ensure_future(self.push(bearer, self.connection))

    async def push(self, bearer, connection):
        while self.connection is connection and self.listeners:
            for frame in self.pushed:
                await self.send(bearer, frame)
            await asyncio.sleep(0.5)

    async def leave(self):
        self.listeners = 0
        await self.device.stop_advertising()
        await self.device.power_off()


class Neighbour(Pack):
    """A device with an advertisement of its own: `company` and `data` of a maker, what of it comes in the scan response (`later`), an
    address with these beginnings (`address`), and the levels of its batteries by their names (`batteries`)."""

    def __init__(self, air, said):
        super().__init__(air, {'answers': {}, 'pushed': [], 'ready': '', 'write': None, **said})
        parts = {'services': data_types.IncompleteListOf16BitServiceUUIDs([UUID(uuid) for uuid in said['told']]),
                 'name': data_types.CompleteLocalName(said['name'])}
        if 'company' in said:
            data = int(said['company'], 16).to_bytes(2, 'little') + bytes.fromhex(said.get('data', '01'))
            parts['maker'] = data_types.ManufacturerSpecificData(
                company_identifier=int.from_bytes(data[:2], 'little'), data=data[2:])
        later = said.get('later', [])
        flags = AdvertisingData.Flags
        first = [data_types.Flags(flags.LE_GENERAL_DISCOVERABLE_MODE | flags.BR_EDR_NOT_SUPPORTED)]
        first += [part for name, part in parts.items() if name not in later]
        self.device.advertising_data = bytes(AdvertisingData(first))
        self.device.scan_response_data = bytes(AdvertisingData([part for name, part in parts.items() if name in later]))
        properties = Characteristic.Properties
        for name, level in said.get('batteries', []):
            self.device.add_services([Service('180F', [Characteristic(
                '2A19', properties.READ | properties.NOTIFY, Characteristic.READABLE, bytes([level]),
                [Descriptor('2901', Characteristic.READABLE, name.encode())])])])


class Neighbourhood:
    pack = None

    async def plug(self, path, address):
        """An adapter for the guest."""
        guest = await open_transport('unix:' + path)
        return Adapter(
            'adapter', host_source=guest.source, host_sink=guest.sink, link=self.air,
            public_address=hci.Address(address, hci.Address.PUBLIC_DEVICE_ADDRESS))

    async def start(self, folder, mtu):
        self.air, self.mtu = Air(), mtu
        self.adapters = [await self.plug(folder + '/hci', '00:AA:01:00:00:42'), await self.plug(folder + '/hci2', '00:AA:01:00:00:43')]
        self.module = Peripheral(self.air, 'HMSoft', 'FFE0', 'FFE1', 'FFE1')
        self.battery = Battery(self.air, 'JBD-SP15')
        self.batteries = [self.battery]
        self.peripherals = [self.module, self.battery]
        for peripheral in self.peripherals:
            await peripheral.start(mtu)
        self.centrals = central.Centrals(lambda name: Adapter(name, link=self.air))

    async def add(self, peripheral):
        self.peripherals.append(peripheral)
        await peripheral.start(self.mtu)

    def lose(self):
        """Both sides notice that the other one is gone."""
        for controller in self.adapters + [peripheral.controller for peripheral in self.peripherals]:
            for connection in list(controller.le_connections.values()):
                controller.on_le_disconnected(connection, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

    async def do(self, command, *words):
        module = self.module
        if command == 'mtu':
            self.mtu = int(words[0])
            for peripheral in self.peripherals:
                peripheral.device.gatt_server.max_mtu = self.mtu
        elif command == 'disconnect':
            await module.connection.disconnect()
        elif command == 'vanish':
            self.air.silent = True
            timeout = self.adapters[0].timeout
            asyncio.get_running_loop().call_later(timeout, self.lose)
            return f'{timeout * 1000:.0f}'
        elif command == 'return':
            self.air.silent = False
        elif command == 'piece':
            module.piece = int(words[0])
        elif command == 'sink':
            module.answer, module.bytes, module.writes, module.digest = None, 0, 0, hashlib.sha256()
            module.last = b''
        elif command == 'echo':
            module.answer = module.echo
        elif command == 'stats':
            return (f'{module.bytes} bytes in {module.writes} writes, and sent {module.sent} in {module.notifications} '
                    'notifications')
        elif command == 'digest':
            return f'{module.bytes} {module.digest.hexdigest()}'
        elif command == 'drop':
            await self.battery.connection.disconnect()
        elif command == 'connections':
            return str(sum(battery.connections for battery in self.batteries))
        elif command == 'tired' or command == 'awake':
            Battery.is_tired = command == 'tired'
        elif command == 'patience':
            central.patience = int(words[0])
        elif command == 'advertisers':
            return '; '.join(
                f'{adapter.public_address}: ' + (
                    f'{advertiser.advertising_data.hex()} {advertiser.scan_response_data.hex()}' if advertiser.enabled
                    else 'silent')
                for adapter in self.adapters for advertiser in [adapter.le_legacy_advertiser])
        elif command == 'heard':
            return module.last.hex()
        elif command == 'gadgets':
            self.bluno = Bluno(self.air)
            for peripheral in self.bluno, Peripheral(self.air, 'Other', 'FFE0', 'FFE1', 'FFE1'):
                self.peripherals.append(peripheral)
                await peripheral.start(self.mtu)
        elif command == 'strength':
            for peripheral in self.peripherals:
                if peripheral.name == words[0]:
                    Adapter.strengths[peripheral.device.random_address] = int(words[1])
        elif command == 'told':
            return f'{self.bluno.told!r} {self.bluno.heard!r}'
        elif command == 'stream':
            text = ''.join(f'{number}\n' for number in range(1, int(words[0]) + 1))
            asyncio.ensure_future(module.send(module.connection, text.encode(), int(words[1])))
        elif command == 'listeners':
            return str(module.listeners)
        elif command == 'early':
            module.early = int(words[0])
        elif command == 'central':
            return await self.centrals.do(*words)
        elif command == 'crowd':
            for number in range(1, int(words[0]) + 1):
                await self.add(Peripheral(self.air, f'Crowd{number}', 'FFE0', 'FFE1', 'FFE1'))
        elif command == 'quitter':
            await self.add(Quitter(self.air, words[0], float(words[1])))
        elif command == 'links':
            return str(sum(peripheral.connections for peripheral in self.peripherals if peripheral.name == words[0]))
        elif command == 'guarded':
            await self.add(Guarded(self.air, *words))
        elif command == 'response':
            await self.add(Peripheral(self.air, words[0], 'FFE0', 'FFE1', 'FFE1', tells_name=False))
        elif command == 'shown':
            shown, Person.shown = Person.shown, None
            return 'none' if shown is None else f'{shown:06d}'
        elif command == 'person':
            Person.says = words[0] == 'yes'
        elif command == 'unpair':
            for peripheral in self.peripherals:
                if isinstance(peripheral, Guarded):
                    await peripheral.forget()
        elif command == 'packs':
            for number in range(1, int(words[0]) + 1):
                self.batteries.append(Battery(self.air, f'Pack{number}'))
                await self.add(self.batteries[-1])
        elif command == 'neighbour':
            neighbour = Neighbour(self.air, json.loads(words[0]))
            await self.add(neighbour)
            return str(neighbour.device.random_address).split('/')[0]
        elif command == 'touched':
            named = [one for one in self.peripherals if one.name == words[0]]
            return f'{sum(one.connections for one in named)} {sum(one.bytes for one in named)}'
        elif command == 'pack':
            if self.pack:
                await self.pack.leave()
                self.peripherals.remove(self.pack)
            self.pack = Pack(self.air, json.loads(words[0]))
            await self.add(self.pack)
        else:
            return 'unknown command'
        return 'ok'


async def meet(folder, mtu):
    """Until the guest is gone."""
    neighbourhood = Neighbourhood()
    await neighbourhood.start(folder, int(mtu))
    reader, writer = await asyncio.open_unix_connection(folder + '/control')
    while line := await reader.readline():
        try:
            answer = await neighbourhood.do(*line.decode().split())
        except Exception as error:
            answer = f'error {error!r}'
        writer.write((answer + '\n').encode())
        await writer.drain()


async def main(folder, mtu='23'):
    # A guest whose clock is wrong is booted again, with new sockets.
    while True:
        try:
            if all(os.path.exists(f'{folder}/{name}') for name in ('hci', 'hci2', 'control')):
                await meet(folder, mtu)
        except OSError:
            pass
        await asyncio.sleep(0.05)


asyncio.run(main(*sys.argv[1:]))
