// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryLink
import AccessorySimulator

// What `--json` prints. Names are in snake case with their units; what isn't known is null, never left out. Fields may
// be added under the same schema name; a change of meaning gets a new one.

let schemaName = "accessory-bridge/1"

/// A value, or null: synthesised coding would leave it out.
struct OrNull<Value: Encodable>: Encodable {
  let value: Value?

  init(_ value: Value?) { self.value = value }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let value { try container.encode(value) } else { try container.encodeNil() }
  }
}

extension OrNull: Sendable where Value: Sendable {}

struct ListDocument: Encodable {
  let schema = schemaName
  let devices: [DeviceDocument]
}

struct WatchDocument: Encodable {
  let schema = schemaName
  let event: String
  let time: Double
  let device: DeviceDocument
}

struct BatteryDocument: Encodable {
  let schema = schemaName
  let device: DeviceDocument
  let battery: WithNulls<Bridge.Battery>
  /// How old the reading is, where it isn't of now: while another program has the accessory. Left out otherwise.
  var age_ms: Int?
}

struct StatusDocument: Encodable {
  let schema = schemaName
  let device: DeviceDocument
  let status: WithNulls<Bridge.Status>
  let identity: Bridge.Identity
  /// As that of `BatteryDocument`.
  var age_ms: Int?
}

struct LineDocument: Encodable {
  let baud: UInt32
  let data_bits, stop_bits: Int
  let parity, flow_control: String
  let lowers_lines_on_close: Bool
  let modem_lines: OrNull<[String: Bool]>
  let low_latency, rs485: OrNull<Bool>
  let latency_timer_ms: OrNull<Int>

  init(_ line: Bridge.Line) {
    baud = line.baud
    data_bits = line.data_bits
    stop_bits = line.stop_bits
    parity = line.parity
    flow_control = line.flow_control
    lowers_lines_on_close = line.lowers_lines_on_close
    modem_lines = OrNull(line.modem_lines)
    low_latency = OrNull(line.low_latency)
    rs485 = OrNull(line.rs485)
    latency_timer_ms = OrNull(line.latency_timer_ms)
  }
}

struct InfoDocument: Encodable {
  struct ProtocolDetails: Encodable {
    let name: String
    let boot_id: OrNull<String>
    let largest_payload_bytes: Int
    let window: Int

    init(_ details: Bridge.ProtocolDetails) {
      name = details.name
      boot_id = OrNull(details.boot_id)
      largest_payload_bytes = details.largest_payload_bytes
      window = details.window
    }
  }

  let schema = schemaName
  let device: DeviceDocument
  let line: OrNull<LineDocument>
  let `protocol`: OrNull<ProtocolDetails>
  let identity: OrNull<Bridge.Identity>
}

struct RequestDocument: Encodable {
  struct Reply: Encodable {
    let payload_hex: String
    let payload_bytes: Int
  }

  let schema = schemaName
  let device: DeviceDocument
  let command: String
  let command_byte: UInt8
  let reply: Reply
}

struct AttachDocument: Encodable {
  let schema = schemaName
  let device: DeviceDocument
  let state: String
  let was_attached: Bool

  init(_ accessory: Bridge.Accessory, wasAttached: Bool) {
    device = DeviceDocument(accessory.device)
    state = accessory.state.rawValue
    was_attached = wasAttached
  }
}

struct DetachDocument: Encodable {
  let schema = schemaName
  let device: DeviceDocument
}

struct SimulatorDocument: Encodable {
  let schema = schemaName
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

struct SerialSimulatorDocument: Encodable {
  let schema = schemaName
  let event: String
  let path, link, text, hex: OrNull<String>
  let seed: UInt64
}

struct ErrorDocument: Encodable {
  struct Details: Encodable {
    let kind, message: String
    let errno: OrNull<CInt>
    let refusal: OrNull<UInt8>
    let exit_status: CInt

    init(kind: String, message: String, exitStatus: CInt) {
      self.kind = kind
      self.message = message
      errno = OrNull(nil)
      refusal = OrNull(nil)
      exit_status = exitStatus
    }

    init(_ error: AccessoryError, exitStatus: CInt) {
      kind = error.kind.rawValue
      message = error.message
      exit_status = exitStatus
      if case .errno(let number)? = error.code { errno = OrNull(number) } else { errno = OrNull(nil) }
      if case .refusal(let reason)? = error.code { refusal = OrNull(reason) } else { refusal = OrNull(nil) }
    }
  }

  let schema = schemaName
  let error: Details
}
