# SPDX-License-Identifier: Apache-2.0
"""Sets all that pyserial can set at a port, and compares what the port says then: settings.py URL [no-lines] [no-sizes]."""

import sys
import time

import serial

url, with_lines = sys.argv[1], "no-lines" not in sys.argv[2:]
port = serial.serial_for_url(url, timeout=3)
time.sleep(0.3)


def check(what, value, wanted):
    if value != wanted:
        sys.exit(f"{what} is {value!r}, not {wanted!r}")


def change(what, *values):
    for value in values:
        try:
            setattr(port, what, value)
        except (serial.SerialException, ValueError) as error:
            sys.exit(f"{what} = {value!r}: {error}")


change("baudrate", 300, 9600, 19200, 57600, 115200)
if "no-sizes" not in sys.argv[2:]:
    change("bytesize", 7, 8)
    change("parity", "E", "O", "N")
change("stopbits", 2, 1)
change("rtscts", True, False)
change("xonxoff", True, False)


def wait(what, wanted):
    end = time.monotonic() + 3
    while getattr(port, what) != wanted and time.monotonic() < end:
        time.sleep(0.02)
    check(what, getattr(port, what), wanted)


if with_lines:
    # The plug has wires from RTS to CTS and from DTR to DSR.
    for state in (False, True, False, True):
        change("rts", state)
        wait("cts", state)
        change("dtr", state)
        wait("dsr", state)
port.send_break(0.05)
change("break_condition", True, False)
port.reset_input_buffer()
port.reset_output_buffer()
everything = bytes(range(256)) * 16
port.write(everything)
check("what comes back", port.read(len(everything)), everything)
port.close()
print("speeds, " + ("" if "no-sizes" in sys.argv else "sizes, parities, ") + "stop bits, flow control, " + ("modem lines, " if with_lines else "") + "break, purge, 4 KiB of all bytes")
