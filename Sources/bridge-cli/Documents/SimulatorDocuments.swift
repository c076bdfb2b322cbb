// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySimulator
import CommandOutput
import FamilyAF1

/// An event of a simulator.
struct SimulatorDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.simulatorEvent
  let event: String
  let time = WallClock.seconds
  let serial: String
  /// The simulated device's path, and the link to it.
  let path, link: String?
  /// The text, bytes or number of the event.
  let text, hex: String?
  let number: Int?
  /// The unit, if there are several on the line.
  let unit: Int?
  let line: Line?
  let file: File?
  /// The seed that repeats the simulator's random choices. In digits, since a JSON number can't hold 64 bits exactly.
  let seed: String

  init(
    _ event: String, serial: String, seed: UInt64, path: String? = nil, link: String? = nil, text: String? = nil,
    bytes: [UInt8]? = nil, number: Int? = nil, unit: Int? = nil, line: Line? = nil, file: File? = nil
  ) {
    (self.event, self.serial, self.seed) = (event, serial, String(seed))
    (self.path, self.link) = (path, path == nil ? nil : link)
    (self.text, hex) = (text, bytes.map { Hexadecimal.string($0) })
    (self.number, self.unit) = (number, unit)
    (self.line, self.file) = (line, file)
  }

  /// A file that the host has sent.
  struct File: Encodable {
    let name: String
    let size_bytes: Int?
    let crc32: String?

    init?(_ event: AF1Simulator.Event) {
      switch event {
      case .stored(let name, let size, let checksum):
        (self.name, size_bytes, crc32) = (name, size, Hexadecimal.string(checksum))
      case .damaged(let name): (self.name, size_bytes, crc32) = (name, nil, nil)
      case .aborted(let name, let offset): (self.name, size_bytes, crc32) = (name, offset, nil)
      default: return nil
      }
    }
  }

  /// The settings of the serial line that the host has made.
  struct Line: Encodable {
    let baud: UInt32
    let data_bits: UInt8
    let parity: String
    let stop_bits: Double
    let dtr, rts, `break`: Bool
    let breaks: Int
    let latency_timer_ms: Int?

    init(_ line: HostLineSettings) {
      baud = line.baudRate
      data_bits = line.dataBits
      parity = line.parity.rawValue
      stop_bits = line.stopBits
      (dtr, rts, `break`, breaks) = (line.dtr, line.rts, line.isBreak, line.breaks)
      latency_timer_ms = line.latencyTimer?.inMilliseconds
    }
  }
}
