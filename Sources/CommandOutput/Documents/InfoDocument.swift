// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The facts about a device, its line and its protocol.
package struct InfoDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.information
  let device: DeviceDocument
  let line: OrNull<LineDocument>
  let `protocol`: OrNull<ProtocolDetails>
  let identity: OrNull<AccessoryIdentity>

  /// The facts; nil for unknown ones, such as the line of a device that was not opened.
  package init(
    _ device: DeviceDocument, line: Bridge.Line? = nil, protocol details: ProtocolDetails? = nil,
    identity: AccessoryIdentity? = nil
  ) {
    self.device = device
    self.line = OrNull(line.map(LineDocument.init))
    `protocol` = OrNull(details)
    self.identity = OrNull(identity)
  }
}

/// A serial line's settings.
struct LineDocument: Encodable {
  let baud: UInt32
  let data_bits, stop_bits: Int
  let parity, flow_control: String
  let lowers_lines_on_close: Bool
  let modem_lines: OrNull<[String: Bool]>
  let low_latency, rs485: OrNull<Bool>
  let rs485_rts_on_send, rs485_rts_after_send, rs485_receives_while_sending: OrNull<Bool>
  let rs485_delay_before_ms, rs485_delay_after_ms: OrNull<UInt32>
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
    rs485_rts_on_send = OrNull(line.rs485_rts_on_send)
    rs485_rts_after_send = OrNull(line.rs485_rts_after_send)
    rs485_receives_while_sending = OrNull(line.rs485_receives_while_sending)
    rs485_delay_before_ms = OrNull(line.rs485_delay_before_ms)
    rs485_delay_after_ms = OrNull(line.rs485_delay_after_ms)
    latency_timer_ms = OrNull(line.latency_timer_ms)
  }
}
