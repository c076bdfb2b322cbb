// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// A modem of the communications class, for which the kernel creates a `/dev/ttyACM` (CDC PSTN 1.2).
struct ModemFunction: USBFunction {
  let code = USBClass(code: 2)
  let input = SimulatedUSBEndpoint(address: 0x81, kind: .bulk, maximumPacket: 512)
  let output = SimulatedUSBEndpoint(address: 0x01, kind: .bulk, maximumPacket: 512)
  private let notices = SimulatedUSBEndpoint(address: 0x82, kind: .interrupt, maximumPacket: 16, interval: 8)
  private var state = HostLineSettings()

  var line: HostLineSettings? { state }

  var interfaces: [SimulatedUSBInterface] {
    [
      SimulatedUSBInterface(
        number: 0, code: USBClass(code: 2, subclass: 2, protocol: 1), endpoints: [notices],
        classDescriptors: USBDescriptor.modem),
      SimulatedUSBInterface(number: 1, code: USBClass(code: 10), endpoints: [input, output]),
    ]
  }

  /// SERIAL_STATE: Carrier Detect and Data Set Ready are set (6.5.4).
  var notification: (endpoint: UInt8, bytes: [UInt8])? {
    (notices.address, [0xA1, 0x20, 0, 0, 0, 0, 2, 0, 0x03, 0])
  }

  private static let parities: [HostLineSettings.Parity] = [.none, .odd, .even, .mark, .space]
  private static let stopBits = [1.0, 1.5, 2.0]

  mutating func control(_ setup: USBSetup, _ data: [UInt8]) -> ControlOutcome {
    guard setup.kind == .classSpecific, setup.index == 0 else { return .stall }
    switch (setup.requestType, setup.request) {
    case (0x21, 0x20): return setCoding(data)
    case (0xA1, 0x21): return .done(coding)
    case (0x21, 0x22):
      state.dtr = setup.value & 1 != 0
      state.rts = setup.value & 2 != 0
      return .done()
    // SEND_BREAK: a number of milliseconds, or FFFF for a break that ends with 0. The duration isn't simulated.
    case (0x21, 0x23):
      state.setBreak(setup.value != 0)
      if setup.value != 0xFFFF { state.setBreak(false) }
      return .done()
    default: return .stall
    }
  }

  private var coding: [UInt8] {
    let rate = withUnsafeBytes(of: state.baudRate.littleEndian) { Array($0) }
    let stop = UInt8(Self.stopBits.firstIndex(of: state.stopBits) ?? 0)
    return rate + [stop, UInt8(Self.parities.firstIndex(of: state.parity) ?? 0), state.dataBits]
  }

  private mutating func setCoding(_ data: [UInt8]) -> ControlOutcome {
    guard data.count == 7, Int(data[4]) < Self.stopBits.count, Int(data[5]) < Self.parities.count,
      [5, 6, 7, 8, 16].contains(data[6])
    else { return .stall }
    state.baudRate = data[..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    state.stopBits = Self.stopBits[Int(data[4])]
    state.parity = Self.parities[Int(data[5])]
    state.dataBits = data[6]
    return .done()
  }
}
