#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""classic.py FOLDER: a Bluetooth Classic device with a serial port, made with bumble.

It runs outside of the guest, on a controller that btvirt emulates in the guest; FOLDER has QEMU's sockets of two virtio ports:
`classic` is the controller's, and commands come by `classic-control`. The device tells its serial port by SDP, has it at channel
1, and sends back what it gets; after `ev3` the bytes go to FOLDER/ev3, a simulated brick's terminal, and come from there. Each
command is a line, and so is its answer:

  begin        the controller is there; answers its address
  ev3          the brick is at its serial port from now on
  guard        the device refuses its serial port from now on to who isn't paired, and refuses to be paired
  pairing      it can be paired from now on
  unguard      it refuses nobody, and forgets who was paired, as guard does
  disconnect   the device closes its serial port
  drop         the device ends the connection
  stats        the number of bytes that it got
  tones        the frequencies of the tones that it was told to play, and forgets them
"""
import asyncio
import os
import re
import struct
import sys
import tty

from bumble import hci, l2cap, rfcomm
from bumble.core import UUID
from bumble.device import Device, DeviceConfiguration
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport


# opSOUND(TONE, volume, frequency, …): the volume in one or two bytes, the frequency in three.
TONE = re.compile(rb'\x94\x01(?:\x81.|[\x00-\x3f])\x82(..)', re.DOTALL)


class Port:
    """The serial port's other side: an echo, or a terminal."""

    def __init__(self):
        self.bytes, self.channel, self.line, self.all = 0, None, None, b''

    def attach(self, line):
        self.line = os.open(line, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.line)
        asyncio.get_running_loop().add_reader(self.line, self.answered)

    def opened(self, channel):
        self.channel, channel.sink = channel, self.received

    def received(self, data):
        self.bytes += len(data)
        if self.line:
            self.all += data
            os.write(self.line, data)
        else:
            self.channel.write(data)

    def answered(self):
        data = os.read(self.line, 4096)
        if self.channel:
            self.channel.write(data)

    def tones(self):
        text = ' '.join(str(struct.unpack('<H', tone)[0]) for tone in TONE.findall(self.all))
        self.all = b''
        return text


class Guard(PairingDelegate):
    """A device that wants to be paired: it refuses RFCOMM over a link that isn't encrypted, and pairing unless it is told to take part."""

    def __init__(self, device):
        super().__init__()
        self.is_up, self.pairs, self.manager = False, True, device.l2cap_channel_manager
        self.unguarded, self.manager.on_l2cap_connection_request = self.manager.on_l2cap_connection_request, self.requested
        device.pairing_config_factory = lambda _: PairingConfig(delegate=self)

    async def confirm(self, auto=False):
        return self.pairs

    async def compare_numbers(self, number, digits):
        return self.pairs

    def requested(self, connection, cid, request):
        if not self.is_up or request.psm != rfcomm.RFCOMM_PSM or connection.is_encrypted:
            return self.unguarded(connection, cid, request)
        answer = l2cap.L2CAP_Connection_Response
        self.manager.send_control_frame(
            connection, cid,
            answer(
                identifier=request.identifier, destination_cid=0, source_cid=request.source_cid,
                result=answer.Result.CONNECTION_REFUSED_SECURITY_BLOCK, status=0))


class Classic:
    async def start(self, folder):
        self.folder, self.serial, self.connection = folder, Port(), None
        controller = await open_transport(f'unix:{folder}/classic')
        self.device = Device.from_config_with_hci(
            DeviceConfiguration(
                name='EV3', le_enabled=False, classic_enabled=True, class_of_device=0x000804,
                address=hci.Address('F0:F1:F2:F3:F4:F5')), controller.source, controller.sink)
        self.device.on('connection', lambda connection: setattr(self, 'connection', connection))
        self.guard = Guard(self.device)
        channel = rfcomm.Server(self.device).listen(self.serial.opened, 1)
        record = rfcomm.make_service_sdp_records(0x00010001, channel, UUID.from_16_bits(0x1101, 'Serial Port'))
        self.device.sdp_service_records = {0x00010001: record}

    async def do(self, command):
        if command == 'begin':
            await self.device.power_on()
            await self.device.set_discoverable(True)
            await self.device.set_connectable(True)
            return str(self.device.public_address).split('/')[0]
        if command == 'ev3':
            self.serial.attach(self.folder + '/ev3')
        elif command in ('guard', 'pairing', 'unguard'):
            self.guard.is_up, self.guard.pairs = command != 'unguard', command != 'guard'
            # A link that is there is encrypted already.
            if command == 'guard':
                await self.connection.disconnect()
            if command != 'pairing' and self.device.keystore:
                await self.device.keystore.delete_all()
        elif command == 'disconnect':
            await self.serial.channel.disconnect()
        elif command == 'drop':
            await self.connection.disconnect()
        elif command == 'stats':
            return f'{self.serial.bytes} bytes'
        elif command == 'tones':
            return self.serial.tones()
        else:
            return 'unknown command'
        return 'ok'


async def meet(folder):
    """Until the guest is gone."""
    classic = Classic()
    await classic.start(folder)
    reader, writer = await asyncio.open_unix_connection(folder + '/classic-control')
    while command := (await reader.readline()).decode().strip():
        try:
            answer = await classic.do(command)
        except Exception as error:
            answer = f'error {error!r}'
        writer.write((answer + '\n').encode())
        await writer.drain()


async def main(folder):
    # A guest whose clock is wrong is booted again, with new sockets.
    while True:
        try:
            if all(os.path.exists(f'{folder}/{name}') for name in ('classic', 'classic-control')):
                await meet(folder)
        except OSError:
            pass
        await asyncio.sleep(0.05)


asyncio.run(main(*sys.argv[1:]))
