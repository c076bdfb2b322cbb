// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySimulator
import CommandOutput

/// Something that happened to a pretended accessory.
struct SimulatorDocument: Encodable {
  let schema = DocumentSchema.name
  let event: String
  let path: OrNull<String>
  let link: OrNull<String>
  let line: OrNull<Line>
  var file = OrNull<File>(nil)
  let seed: UInt64

  /// A file that the host sent.
  struct File: Encodable {
    let name: String
    let size_bytes: OrNull<Int>
    let crc32: OrNull<String>

    init?(_ event: FramedSimulator.Event) {
      switch event {
      case .stored(let name, let size, let checksum):
        (self.name, size_bytes, crc32) = (name, OrNull(size), OrNull(Hexadecimal.string(checksum)))
      case .damaged(let name): (self.name, size_bytes, crc32) = (name, OrNull(nil), OrNull(nil))
      case .aborted(let name, let offset): (self.name, size_bytes, crc32) = (name, OrNull(offset), OrNull(nil))
      default: return nil
      }
    }
  }

  /// What the host asked of the serial line.
  struct Line: Encodable {
    let baud_rate: UInt32
    let data_bits: UInt8
    let parity: String
    let stop_bits: Double
    let dtr, rts, `break`: Bool
    let breaks: Int
    let latency_timer_ms: OrNull<UInt8>

    init(_ line: LineState) {
      baud_rate = line.baudRate
      data_bits = line.dataBits
      parity = line.parity.rawValue
      stop_bits = line.stopBits
      (dtr, rts, `break`, breaks) = (line.dtr, line.rts, line.isBreak, line.breaks)
      latency_timer_ms = OrNull(line.latencyTimer)
    }
  }
}

/// Something that happened at a pretended line.
struct SerialSimulatorDocument: Encodable {
  let schema = DocumentSchema.name
  let event: String
  let path, link, text, hex: OrNull<String>
  let seed: UInt64
}
