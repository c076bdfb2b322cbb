# SPDX-License-Identifier: Apache-2.0
"""Has esptool's own code reset a board into its boot loader, and restart it: edges.py URL."""

import sys
import time

import serial
from esptool.reset import ClassicReset, HardReset

port = serial.serial_for_url(sys.argv[1], timeout=3)
time.sleep(0.3)
ClassicReset(port)()
time.sleep(0.4)
HardReset(port)()
time.sleep(0.4)
port.write(b"boot")
answer = port.read(4)
port.close()
if answer != b"boot":
    sys.exit(f"{answer!r} came back")
