// SPDX-License-Identifier: Apache-2.0

// Programs as they are written for iOS, in Swift 5 mode: each asks the AF1 accessory for its battery, prints the
// reply's bytes and ends.

import ExternalAccessory

let framed = "com.accessorybridge.framed"
/// The request for the battery, number 1, to the byte.
let batteryRequest: [UInt8] = [0x0F, 0xF0, 0x11, 0x03, 0x01, 0x00, 0x00, 0x00, 0x26, 0x00]

func show(_ reply: [UInt8]) {
  print(reply.map { String(format: "%02X", $0) }.joined(separator: " "))
  fflush(stdout)
}

/// The whole reply at the start of `bytes`: header, payload and its checksum.
func reply(in bytes: [UInt8]) -> [UInt8]? {
  guard bytes.count >= 10 else { return nil }
  let count = 10 + Int(bytes[6]) + Int(bytes[7]) << 8 + 4
  return bytes.count >= count ? Array(bytes[..<count]) : nil
}

switch CommandLine.arguments.dropFirst().first {
case "controller": runControllerClient()
case "queues": runQueueClient()
case "thread": runThreadClient()
default: exit(64)
}
