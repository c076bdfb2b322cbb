#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peripheral.py HCI CONTROL [MTU]: an HM-10 and a battery manager by JBD without a radio, made with bumble, and the adapter
that the guest's kernel gets.

It runs outside of the guest: emulated, Python is twenty times as slow. HCI and CONTROL are QEMU's sockets of two virtio ports.
The HM-10 has the service FFE0 with the characteristic FFE1 (write without response, notify), and sends back what is written; the
battery manager has FF00 with FF01 and FF02, and answers with a recording. Commands come by CONTROL, a line each, and each is answered by a line:

  disconnect   the HM-10 ends the connection, and advertises again
  vanish       both are silent at once, and the adapter reports the loss after the supervision timeout
  return       they are heard again
  piece N      the most bytes of a notification, 20 at first
  stats        the number of bytes and of writes that the HM-10 got, and of bytes and notifications that it sent
"""
import asyncio
import os
import sys

from bumble import data_types, hci
from bumble.controller import Controller
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.link import LocalLink
from bumble.transport import open_transport

FEATURES = hci.LeFeatureMask


class Adapter(Controller):
    """What the kernel needs of a controller and bumble 0.0.236 hasn't."""

    timeout = 0.42

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

    def __init__(self, air, name, service, write, notify, answer):
        self.name, self.answer, self.connection, self.piece = name, answer, None, 20
        self.bytes = self.writes = self.sent = self.notifications = 0
        self.controller = Controller(name, link=air)
        # A new address each time: bluetoothd remembers tables by address.
        self.device = Device.from_config_with_hci(
            DeviceConfiguration(
                name=name, address=hci.Address.generate_static_address(), advertising_interval_min=100,
                advertising_interval_max=100), self.controller, self.controller)
        properties, value = Characteristic.Properties, CharacteristicValue(read=lambda _: b'', write=self.written)
        permissions = Characteristic.READABLE | Characteristic.WRITEABLE
        writes = properties.READ | properties.WRITE_WITHOUT_RESPONSE
        if write == notify:
            self.port = Characteristic(write, writes | properties.NOTIFY, permissions, value)
            characteristics = [self.port]
        else:
            self.port = Characteristic(notify, properties.NOTIFY, permissions, b'')
            characteristics = [self.port, Characteristic(write, writes, permissions, value)]
        self.device.add_services([Service(service, characteristics)])
        flags = AdvertisingData.Flags
        self.device.advertising_data = bytes(AdvertisingData([
            data_types.Flags(flags.LE_GENERAL_DISCOVERABLE_MODE | flags.BR_EDR_NOT_SUPPORTED),
            data_types.IncompleteListOf16BitServiceUUIDs([UUID(service)]), data_types.CompleteLocalName(name)]))
        self.device.on('connection', lambda connection: setattr(self, 'connection', connection))

    async def start(self, mtu):
        self.device.gatt_server.max_mtu = mtu
        await self.device.power_on()
        await self.device.start_advertising(auto_restart=True)

    def written(self, bearer, value):
        self.bytes += len(value)
        self.writes += 1
        asyncio.ensure_future(self.send(bearer, self.answer(value)))

    async def send(self, bearer, value):
        for start in range(0, len(value), self.piece):
            piece = value[start:start + self.piece]
            self.sent += len(piece)
            self.notifications += 1
            await self.device.notify_subscriber(bearer, self.port, piece)


# What a real battery manager by JBD has said (Tests/Recordings/jbd-battery.trace).
JBD = {
    'dda50300fffd77': 'dd03001b1700000002d003e8000020780000000000001039030f020b760b82fc0e77',
    'dda50400fffc77': 'dd04001e0f660f630f630f640f3e0f630f370f5b0f650f3b0f630f630f3c0f660f3df9f977',
}


class Neighbourhood:
    async def start(self, path, mtu):
        self.air = Air()
        self.guest = await open_transport('unix:' + path)
        self.adapter = Adapter(
            'adapter', host_source=self.guest.source, host_sink=self.guest.sink, link=self.air,
            public_address=hci.Address('00:AA:01:00:00:42', hci.Address.PUBLIC_DEVICE_ADDRESS))
        self.module = Peripheral(self.air, 'HMSoft', 'FFE0', 'FFE1', 'FFE1', lambda value: value)
        self.battery = Peripheral(
            self.air, 'JBD-SP15', 'FF00', 'FF02', 'FF01', lambda value: bytes.fromhex(JBD.get(value.hex(), '')))
        for peripheral in self.module, self.battery:
            await peripheral.start(mtu)

    def lose(self):
        """Both sides notice that the other one is gone."""
        for controller in self.adapter, self.module.controller, self.battery.controller:
            for connection in list(controller.le_connections.values()):
                controller.on_le_disconnected(connection, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

    async def do(self, command):
        if command == 'disconnect':
            await self.module.connection.disconnect()
        elif command == 'vanish':
            self.air.silent = True
            asyncio.get_running_loop().call_later(self.adapter.timeout, self.lose)
        elif command == 'return':
            self.air.silent = False
        elif command.startswith('piece '):
            self.module.piece = int(command.split()[1])
        elif command == 'stats':
            module = self.module
            return (f'{module.bytes} bytes in {module.writes} writes, and sent {module.sent} in {module.notifications} '
                    'notifications')
        else:
            return 'unknown command'
        return 'ok'


async def meet(port, control, mtu):
    """Until the guest is gone."""
    neighbourhood = Neighbourhood()
    await neighbourhood.start(port, int(mtu))
    reader, writer = await asyncio.open_unix_connection(control)
    while line := await reader.readline():
        try:
            answer = await neighbourhood.do(line.decode().strip())
        except Exception as error:
            answer = f'error {error!r}'
        writer.write((answer + '\n').encode())
        await writer.drain()


async def main(port, control, mtu='23'):
    # A guest whose clock is wrong is booted again, with new sockets.
    while True:
        try:
            if os.path.exists(port) and os.path.exists(control):
                await meet(port, control, mtu)
        except OSError:
            pass
        await asyncio.sleep(0.05)


asyncio.run(main(*sys.argv[1:]))
