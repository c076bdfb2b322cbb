// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// An FT232R serial adapter, for which the kernel creates a `/dev/ttyUSB`. The request numbers are those of the driver ftdi_sio.
struct FTDIFunction: USBFunction {
  let input = SimulatedUSBEndpoint(address: 0x81, kind: .bulk, maximumPacket: 64)
  let output = SimulatedUSBEndpoint(address: 0x02, kind: .bulk, maximumPacket: 64)
  private var state = HostLineSettings(latencyTimer: .milliseconds(16))

  /// Clear To Send, Data Set Ready and Carrier Detect are set, and the transmitter is empty.
  private static let status: [UInt8] = [0xB1, 0x60]

  let style = PacketStyle.prefixed(status)
  var line: HostLineSettings? { state }
  var interfaces: [SimulatedUSBInterface] {
    let code = USBClass(code: 0xFF, subclass: 0xFF, protocol: 0xFF)
    return [SimulatedUSBInterface(number: 0, code: code, endpoints: [input, output])]
  }

  mutating func control(_ setup: USBSetup, _ data: [UInt8]) -> ControlOutcome {
    switch (setup.requestType, setup.request) {
    case (0x40, 0), (0x40, 2), (0x40, 6), (0x40, 7): break  // reset, flow control, event and error characters
    case (0x40, 1): setModemLines(setup.value)
    case (0x40, 3): state.baudRate = Self.baudRate(setup.value, setup.index)
    case (0x40, 4): return setData(setup.value)
    case (0x40, 9): state.latencyTimer = .milliseconds(UInt8(truncatingIfNeeded: setup.value))
    case (0xC0, 5): return .done(Self.status)
    case (0xC0, 10): return .done([UInt8(clamping: state.latencyTimer?.inMilliseconds ?? 16)])
    case (0xC0, 0x90): return .done([0, 0])  // the EEPROM, which is empty
    default: return .stall
    }
    return .done()
  }

  /// The lower byte holds the states, the upper byte selects which of them to set.
  private mutating func setModemLines(_ value: UInt16) {
    if value & 0x0100 != 0 { state.dtr = value & 1 != 0 }
    if value & 0x0200 != 0 { state.rts = value & 2 != 0 }
  }

  private mutating func setData(_ value: UInt16) -> ControlOutcome {
    let parities: [HostLineSettings.Parity] = [.none, .odd, .even, .mark, .space]
    let stopBits = [1.0, 1.5, 2.0]
    let (parity, stop) = (Int(value >> 8 & 7), Int(value >> 11 & 3))
    guard parity < parities.count, stop < stopBits.count, (7...8).contains(value & 0xFF) else { return .stall }
    state.dataBits = UInt8(value & 0xFF)
    state.parity = parities[parity]
    state.stopBits = stopBits[stop]
    state.setBreak(value & 0x4000 != 0)
    return .done()
  }

  /// The baud rate of a divisor of 3 MHz, which has 14 integer bits and three bits that encode eighths. The divisors 0
  /// and 1 mean 3 and 2 megabaud.
  static func baudRate(_ value: UInt16, _ index: UInt16) -> UInt32 {
    let whole = UInt32(value & 0x3FFF)
    let eighths: [UInt32] = [0, 4, 2, 1, 3, 5, 6, 7]
    let fraction = eighths[Int(value >> 14 | (index & 1) << 2)]
    if fraction == 0, whole <= 1 { return whole == 0 ? 3_000_000 : 2_000_000 }
    let divisor = whole * 8 + fraction
    return (24_000_000 + divisor / 2) / divisor
  }
}
