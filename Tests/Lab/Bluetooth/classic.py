#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""classic.py HCI CONTROL [LINE]: a Bluetooth Classic device with a serial port, made with bumble.

It runs outside of the guest, on a controller that btvirt emulates in the guest; HCI and CONTROL are QEMU's sockets of two virtio
ports. It tells its serial port by SDP, has it at channel 1, and sends back what it gets; with LINE, the path of a terminal, the
bytes go there and come from there. Commands come by CONTROL, a line each, and each is answered by a line:

  begin        the controller is there; answers its address
  disconnect   the device closes its serial port
  drop         the device ends the connection
  stats        the number of bytes that it got
"""
import asyncio
import os
import sys
import tty

from bumble import hci, rfcomm
from bumble.core import UUID
from bumble.device import Device, DeviceConfiguration
from bumble.transport import open_transport


class Port:
    """The serial port's other side: an echo, or a terminal."""

    def __init__(self, line):
        self.bytes, self.channel, self.line = 0, None, None
        if line:
            self.line = os.open(line, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            tty.setraw(self.line)
            asyncio.get_running_loop().add_reader(self.line, self.answered)

    def opened(self, channel):
        self.channel, channel.sink = channel, self.received

    def received(self, data):
        self.bytes += len(data)
        if self.line:
            os.write(self.line, data)
        else:
            self.channel.write(data)

    def answered(self):
        data = os.read(self.line, 4096)
        if self.channel:
            self.channel.write(data)


async def main(port, control, line=None):
    while not (os.path.exists(port) and os.path.exists(control)):
        await asyncio.sleep(0.05)
    controller = await open_transport('unix:' + port)
    device = Device.from_config_with_hci(
        DeviceConfiguration(
            name='EV3', le_enabled=False, classic_enabled=True, class_of_device=0x000804,
            address=hci.Address('F0:F1:F2:F3:F4:F5')), controller.source, controller.sink)
    serial, connection = Port(line), None

    def connected(new):
        nonlocal connection
        connection = new

    device.on('connection', connected)
    channel = rfcomm.Server(device).listen(serial.opened, 1)
    record = rfcomm.make_service_sdp_records(0x00010001, channel, UUID.from_16_bits(0x1101, 'Serial Port'))
    device.sdp_service_records = {0x00010001: record}
    reader, writer = await asyncio.open_unix_connection(control)
    while command := (await reader.readline()).decode().strip():
        answer = 'ok'
        try:
            if command == 'begin':
                await device.power_on()
                await device.set_discoverable(True)
                await device.set_connectable(True)
                answer = str(device.public_address).split('/')[0]
            elif command == 'disconnect':
                await serial.channel.disconnect()
            elif command == 'drop':
                await connection.disconnect()
            elif command == 'stats':
                answer = f'{serial.bytes} bytes'
            else:
                answer = 'unknown command'
        except Exception as error:
            answer = f'error {error!r}'
        writer.write((answer + '\n').encode())
        await writer.drain()


asyncio.run(main(*sys.argv[1:]))
