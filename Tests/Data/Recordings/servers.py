#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Foreign programs at the accessory's end of a line: `servers.py NAME PORT` answers at PORT until it is ended."""
import struct
import sys

import serial


def floats(*values):
    return [word for value in values for word in struct.unpack(">HH", struct.pack(">f", value))]


def modbus_tk(port, blocks):
    from modbus_tk import modbus_rtu
    server = modbus_rtu.RtuServer(serial.Serial(port, 9600))
    slave = server.add_slave(1)
    for number, (kind, start, words) in enumerate(blocks):
        slave.add_block(str(number), kind, start, len(words))
        slave.set_values(str(number), start, words)
    server.start()
    server._thread.join()


def modbus_tk_sdm120(port):
    modbus_tk(port, [(4, 0, floats(*[230.5 + i for i in range(190)]))])


def modbus_tk_epever(port):
    modbus_tk(port, [(4, 0x3000, [100 + i for i in range(0x400)]), (3, 0x9000, [1] * 0x80)])


def pymodbus(port, first, holding):
    from pymodbus.datastore import ModbusDeviceContext, ModbusSequentialDataBlock, ModbusServerContext
    from pymodbus.server import StartSerialServer
    block = ModbusSequentialDataBlock(1, first)
    device = ModbusDeviceContext(hr=block, ir=block, di=block, co=block)
    StartSerialServer(ModbusServerContext(devices=device, single=True), port=port, baudrate=9600)


def pymodbus_sdm120(port):
    pymodbus(port, floats(*[229.25 + i / 4 for i in range(200)]), False)


def pymodbus_srne(port):
    pymodbus(port, [i % 250 for i in range(0x300)], True)


def umodbus_srne(port):
    from umodbus.server.serial import get_server
    from umodbus.server.serial.rtu import RTUServer
    line = serial.Serial(port, 9600, timeout=0.05)
    server = get_server(RTUServer, line)

    @server.route(slave_ids=[1], function_codes=[3, 4], addresses=list(range(0x400)))
    def read(slave_id, function_code, address):
        return address % 200

    server.serve_forever()


def elm327(port):
    """An adapter of a few commands, by pyserial."""
    answers = {b"ATZ": b"ELM327 v1.5", b"ATI": b"ELM327 v1.5", b"ATRV": b"12.4V", b"ATDP": b"AUTO", b"ATDPN": b"A0"}
    line, command = serial.Serial(port, 38400), b""
    while True:
        byte = line.read(1)
        if byte != b"\r":
            command += byte
            continue
        command = command.replace(b" ", b"").upper()
        line.write(answers.get(command, b"OK" if command.startswith(b"AT") else b"NO DATA") + b"\r\r>")
        command = b""


def megatec(port):
    """A UPS that knows Q1, F and I, by pyserial."""
    answers = {
        b"Q1": b"(230.1 230.0 229.8 012 50.0 13.6 25.0 00001000\r", b"F": b"#230.0 004 12.00 50.0\r",
        b"I": b"#Foreign UPS     Model 1    1.0       \r",
    }
    line, command = serial.Serial(port, 2400), b""
    while True:
        byte = line.read(1)
        if byte != b"\r":
            command += byte
            continue
        line.write(answers.get(command, command + b"\r"))
        command = b""


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
