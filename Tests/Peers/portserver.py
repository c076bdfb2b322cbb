# SPDX-License-Identifier: Apache-2.0
"""pyserial's RFC 2217 server at a port of pyserial's own that sends everything back: portserver.py."""

import socket
import sys
import threading
import time

import serial
import serial.rfc2217

port = serial.serial_for_url("loop://", timeout=0.05)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    client, _ = listener.accept()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    class Connection:
        lock = threading.Lock()

        def write(self, data):
            with self.lock:
                client.sendall(data)

    manager = serial.rfc2217.PortManager(port, Connection())
    alive = True

    def pass_on():
        while alive:
            data = port.read(port.in_waiting or 1)
            if data:
                Connection.write(Connection, b"".join(manager.escape(data)))
            manager.check_modem_lines()

    thread = threading.Thread(target=pass_on)
    thread.start()
    try:
        while data := client.recv(4096):
            port.write(b"".join(manager.filter(data)))
    except OSError:
        pass
    alive = False
    thread.join()
    client.close()
