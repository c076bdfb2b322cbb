// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySimulator
import CommandOutput

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

  init(_ news: SimulatorNews, serial: String, seed: UInt64, link: String?) {
    (event, self.serial, self.seed) = (news.event, serial, String(seed))
    (path, self.link) = (news.path, news.path == nil ? nil : link)
    (text, hex) = (news.text, news.bytes.map { Hexadecimal.string($0) })
    (number, unit) = (news.number, news.unit)
    (line, file) = (news.state.map { Line($0) }, news.file.map { File($0) })
  }

  /// A file that the host has sent.
  struct File: Encodable {
    let name: String
    let size_bytes: Int?
    let crc32: String?

    init(_ file: SimulatorNews.File) {
      (name, size_bytes, crc32) = (file.name, file.size, file.checksum.map { Hexadecimal.string($0) })
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
