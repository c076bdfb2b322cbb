#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Foreign programs at the host's end of a line: `hosts.py NAME PORT` talks to the accessory at PORT for a moment.

Each is a library that others have written for the accessory, or pyserial with the bytes of the protocol's document.
"""
import struct
import sys
import time
import zlib

import serial


def line(port, baud=115200, timeout=0.5):
    return serial.Serial(port, baud, timeout=timeout)


def say(port, *pieces, pause=0.2, baud=115200):
    """Sends each piece and reads what comes within the pause."""
    with line(port, baud, pause) as s:
        for piece in pieces:
            s.write(piece if isinstance(piece, bytes) else piece.encode())
            print(s.read(4096))


# AF1, as Documentation/af1.md has it.

def af1_frame(command, number, payload=b"", flags=1):
    head = struct.pack("<BBBBHH", 0x0F, 0xF0, 0x10 | flags, command, number, len(payload))
    crc = 0xFFFF
    for byte in head:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    frame = head + struct.pack("<H", crc) + payload
    return frame + struct.pack("<I", zlib.crc32(payload)) if payload else frame


def af1(port):
    say(port, *[af1_frame(c, 1 + i, p) for i, (c, p) in enumerate(
        [(0, b"\1\2\3\4"), (1, b""), (2, b""), (3, b""), (0x7E, b"hello"), (0x55, b"")])])


def af1_retry(port):
    """Asks again until there is an answer, with the same number."""
    with line(port, timeout=0.15) as s:
        for number, command in enumerate([0, 3, 2, 1, 3], 7):
            frame = af1_frame(command, number, b"abcd" if command == 0 else b"")
            for _ in range(4):
                s.write(frame)
                answer = s.read(200)
                if len(answer) >= 10 and struct.unpack_from("<H", answer, 4)[0] == number:
                    break


def af1_pieces(port):
    """A request that comes byte by byte, noise, and two at once."""
    with line(port) as s:
        for byte in af1_frame(0, 1, b"wxyz"):
            s.write(bytes([byte]))
            time.sleep(0.002)
        s.read(34)
        s.write(b"noise" + af1_frame(3, 2))
        s.read(19)
        s.write(af1_frame(2, 3) + af1_frame(3, 4))
        s.read(100)


# EV3: direct and system commands as LEGO's documents have them.

def ev3(port):
    say(port, bytes.fromhex("08002a00000100811260"), bytes.fromhex("08002b00000400811060"),
        bytes.fromhex("09002c000001000094018101"), pause=0.15)


def ev3_files(port):
    body = struct.pack("<HBBH", 50, 1, 0x99, 200) + b"/home/root/lms2012/prjs/\0"
    say(port, struct.pack("<H", len(body)) + body, pause=0.3)


def hm10(port):
    say(port, "AT", "AT+NAME?", "AT+BATT?", "AT+VERS?", "AT+ADDR?", pause=0.3, baud=9600)


def bluno(port):
    say(port, "1", "2", "U", "s100\n", pause=0.1)


def bluno_radio(port):
    with line(port) as s:
        s.write(b"+++")
        time.sleep(0.3)
        for command in [b"AT+VERSION=?\r\n", b"AT+NAME=?\r\n", b"AT+MAC=?\r\n", b"AT+EXIT\r\n"]:
            s.write(command)
            print(s.read(60))


def hm1x(port):
    say(port, "S+100:A+200:", "S-255:A-50:", "L1:", "X", pause=0.15)


# MAVLink

def mavlink(port, version="20", asks=True):
    import os
    os.environ["MAVLINK20"] = "1" if version == "20" else ""
    from pymavlink import mavutil
    link = mavutil.mavlink_connection(port, baud=57600, source_system=255)
    print(link.wait_heartbeat(timeout=3))
    link.mav.heartbeat_send(mavutil.mavlink.MAV_TYPE_GCS, mavutil.mavlink.MAV_AUTOPILOT_INVALID, 0, 0, 0)
    if asks:
        for message in (mavutil.mavlink.MAVLINK_MSG_ID_BATTERY_STATUS, mavutil.mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION):
            link.mav.command_long_send(
                link.target_system, link.target_component, mavutil.mavlink.MAV_CMD_REQUEST_MESSAGE, 0, message,
                0, 0, 0, 0, 0, 0)
    end = time.monotonic() + 0.8
    while time.monotonic() < end:
        link.recv_match(blocking=True, timeout=0.2)


def mavlink1(port):
    mavlink(port, "10")


def mavlink_listen(port):
    mavlink(port, asks=False)


# Batteries and chargers

def jbd(port):
    say(port, bytes.fromhex("dda50300fffd77"), bytes.fromhex("dda50400fffc77"), bytes.fromhex("dda50500fffb77"), baud=9600)


def daly(port):
    from dalybms import DalyBMS
    bms = DalyBMS(request_retries=1)
    bms.connect(port)
    for get in (bms.get_soc, bms.get_cell_voltage_range, bms.get_temperature_range, bms.get_mosfet_status, bms.get_status,
                bms.get_cell_voltages, bms.get_temperatures, bms.get_errors):
        try:
            print(get())
        except Exception as error:
            print(type(error), error)


def jk(port):
    say(port, bytes.fromhex("4e5700130000000006030000000000006800000129"), pause=0.6)


def vedirect(port):
    with line(port, 19200, 1.2) as s:
        s.write(b":154\n")
        print(s.read(300))


def vedirect_library(port):
    import signal
    import vedirect as module
    signal.alarm(3)
    print(module.VEDirect(port).battery_volts)


def pylontech(port):
    from pylontech import Pylontech
    stack = Pylontech(port, 115200)
    for get in (stack.get_protocol_version, stack.get_manufacturer_info, stack.get_system_parameters,
                lambda: stack.get_management_info(2), lambda: stack.get_values_single(2)):
        try:
            print(get())
        except Exception as error:
            print(type(error), error)


def xmodem(payload):
    crc = 0
    for byte in payload:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def vesc(port):
    """The version, the values, the values of the setup."""
    say(port, *[b"\2\1" + bytes([command]) + struct.pack(">H", xmodem(bytes([command]))) + b"\3" for command in (0, 4, 47)])


def elm327_library(port):
    import obd
    obd.logger.setLevel(obd.logging.ERROR)
    car = obd.OBD(port, baudrate=38400, fast=False, timeout=1, check_voltage=False)
    print(car.status(), car.query(obd.commands.ELM_VOLTAGE))
    car.close()


def elm327(port):
    say(port, "ATZ\r", "ATE0\r", "ATI\r", "ATRV\r", pause=0.4, baud=38400)


def megatec(port):
    say(port, "Q1\r", "F\r", "I\r", pause=0.3, baud=2400)


# Modbus

def instrument(port, unit=1, baud=9600):
    import minimalmodbus
    device = minimalmodbus.Instrument(port, unit)
    device.serial.baudrate = baud
    device.serial.timeout = 0.5
    return device


def attempt(*calls):
    for call in calls:
        try:
            print(call())
        except Exception as error:
            print(type(error), error)


def epever_library(port):
    from epevermodbus.driver import EpeverChargeController
    c = EpeverChargeController(port, 1)
    attempt(c.get_solar_voltage, c.get_battery_voltage, c.get_battery_state_of_charge, c.get_battery_current,
            c.get_battery_temperature, c.get_load_power)


def epever_minimalmodbus(port):
    i = instrument(port, baud=115200)
    attempt(lambda: i.read_registers(0x3100, 4, 4), lambda: i.read_register(0x311A, 0, 4), lambda: i.read_register(0x9999, 0, 3))


def sdm120_minimalmodbus(port):
    i = instrument(port)
    attempt(lambda: i.read_float(0, 4), lambda: i.read_float(6, 4), lambda: i.read_float(0x46, 4))


def modbus_tk(port, register=0, count=2, function=4):
    import modbus_tk.defines
    from modbus_tk import modbus_rtu
    master = modbus_rtu.RtuMaster(serial.Serial(port, 9600))
    master.set_timeout(0.5)
    attempt(lambda: master.execute(1, function, register, count), lambda: master.execute(1, function, register + 6, count))


def srne_modbus_tk(port):
    modbus_tk(port, 0x100, 4, 3)


def umodbus(port, register=0x100, count=3, function=3):
    from umodbus.client.serial import rtu
    with line(port, 9600, 0.5) as s:
        read = rtu.read_holding_registers if function == 3 else rtu.read_input_registers
        attempt(lambda: rtu.send_message(read(1, register, count), s))


def epever_umodbus(port):
    umodbus(port, 0x3100, 4, 4)


def renogy_library(port):
    from renogymodbus import RenogyChargeController
    c = RenogyChargeController(port, 1)
    attempt(c.get_solar_voltage, c.get_battery_voltage, c.get_battery_state_of_charge, c.get_controller_temperature)


def pymodbus(port, register, count, holding=True):
    from pymodbus.client import ModbusSerialClient
    client = ModbusSerialClient(port, baudrate=9600, timeout=0.5, retries=1)
    client.connect()
    read = client.read_holding_registers if holding else client.read_input_registers
    print(read(register, count=count, device_id=1))
    client.close()


def srne_pymodbus(port):
    pymodbus(port, 0x100, 4)


def sdm120_pymodbus(port):
    pymodbus(port, 0, 2, holding=False)


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
