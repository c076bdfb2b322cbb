// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// The outcome of a control request.
enum ControlOutcome: Sendable, Hashable {
  /// The request was carried out. These bytes go to the host, if it asked for data.
  case done([UInt8] = [])
  /// The request was carried out. Its data is for the accessory.
  case received([UInt8])
  /// The request isn't supported.
  case stall
  /// The device doesn't answer, until the host gives up.
  case silence
}

/// How bytes to the host are divided into packets.
enum PacketStyle: Sendable, Hashable {
  /// Without structure. A short or an empty packet ends a transfer.
  case stream
  /// With these bytes at the beginning of each packet.
  case prefixed([UInt8])
  /// Full packets only, padded with zeros.
  case reports
  case messages
}

/// The specific part of a simulated device: what it has beyond every USB device's endpoint 0.
protocol USBFunction: Sendable {
  /// The device's class.
  var code: USBClass { get }
  var interfaces: [SimulatedUSBInterface] { get }
  /// The endpoint for bytes to the host.
  var input: SimulatedUSBEndpoint { get }
  /// The endpoint for bytes from the host.
  var output: SimulatedUSBEndpoint { get }
  var style: PacketStyle { get }
  /// Whether each transfer is one message.
  var keepsMessages: Bool { get }
  /// The report descriptor of a HID interface; nil for other devices.
  var reportDescriptor: [UInt8]? { get }
  /// The serial settings that the host has requested; nil when the device has no serial line.
  var line: HostLineSettings? { get }
  /// Answers a class-specific or vendor-specific request.
  mutating func control(_ setup: USBSetup, _ data: [UInt8]) -> ControlOutcome
  /// A notification that is sent when the device was configured, with its endpoint; nil for none.
  var notification: (endpoint: UInt8, bytes: [UInt8])? { get }
  /// What of the accessory's message goes to the host at the input endpoint; nothing for a message to the function itself.
  mutating func sent(_ message: [UInt8]) -> [UInt8]
  /// The host has configured the device, as it does after a plug and after a reset. Returns a message to the accessory, if any.
  mutating func configured() -> [UInt8]?
}

extension USBFunction {
  var code: USBClass { USBClass(code: 0) }
  var style: PacketStyle { .stream }
  var keepsMessages: Bool { style == .reports || style == .messages }
  var reportDescriptor: [UInt8]? { nil }
  var line: HostLineSettings? { nil }
  var notification: (endpoint: UInt8, bytes: [UInt8])? { nil }
  func sent(_ message: [UInt8]) -> [UInt8] { message }
  func configured() -> [UInt8]? { nil }
}

/// A vendor-specific interface with a pair of bulk endpoints.
struct BulkFunction: USBFunction {
  let input = SimulatedUSBEndpoint(address: 0x81, kind: .bulk, maximumPacket: 512)
  let output = SimulatedUSBEndpoint(address: 0x01, kind: .bulk, maximumPacket: 512)
  var interfaces: [SimulatedUSBInterface] {
    [SimulatedUSBInterface(number: 0, code: USBClass(code: USBClass.vendorSpecific), endpoints: [input, output])]
  }

  mutating func control(_ setup: USBSetup, _ data: [UInt8]) -> ControlOutcome { .stall }
}

/// A HID interface with vendor-specific reports of 1024 bytes in both directions, the largest size there is.
struct ReportFunction: USBFunction {
  static let size = 1_024
  let input = SimulatedUSBEndpoint(address: 0x81, kind: .interrupt, maximumPacket: size, interval: 4)
  let output = SimulatedUSBEndpoint(address: 0x01, kind: .interrupt, maximumPacket: size, interval: 4)
  let style = PacketStyle.reports
  let reportDescriptor: [UInt8]? = USBDescriptor.hidReports(of: size)
  private var idleRate: UInt8 = 0
  private var protocolNumber: UInt8 = 1

  var interfaces: [SimulatedUSBInterface] {
    let hid = USBDescriptor.hid(reportDescriptorLength: reportDescriptor?.count ?? 0)
    return [
      SimulatedUSBInterface(number: 0, code: USBClass(code: 3), endpoints: [input, output], classDescriptors: hid)
    ]
  }

  /// Answers the class-specific requests (HID 1.11, 7.2).
  mutating func control(_ setup: USBSetup, _ data: [UInt8]) -> ControlOutcome {
    guard setup.kind == .classSpecific, setup.index == 0 else { return .stall }
    switch (setup.requestType, setup.request) {
    case (0xA1, 0x02): return .done([idleRate])
    case (0xA1, 0x03): return .done([protocolNumber])
    // An output report (type 2) can also arrive on endpoint 0.
    case (0x21, 0x09) where setup.value == 0x0200: return .received(data)
    case (0x21, 0x0A):
      idleRate = UInt8(setup.value >> 8)
      return .done()
    case (0x21, 0x0B) where setup.value <= 1:
      protocolNumber = UInt8(setup.value)
      return .done()
    default: return .stall
    }
  }
}
