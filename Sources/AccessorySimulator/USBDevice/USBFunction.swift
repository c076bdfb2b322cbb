// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// What a control request came to.
enum ControlOutcome: Sendable, Hashable {
  /// It is done; these bytes go to the host, if it asked for some.
  case done([UInt8] = [])
  /// It is done, and the data was for the accessory itself.
  case received([UInt8])
  /// There is no such thing.
  case stall
}

/// How bytes are cut into packets on the way to the host.
enum PacketStyle: Sendable, Hashable {
  /// As they come; a packet that isn't full, or one of nothing, ends a transfer.
  case stream
  /// Each packet begins with these bytes.
  case prefixed([UInt8])
  /// Always full ones, filled up with zeros behind the last byte there is.
  case reports
}

/// What one kind of simulated device has and does beyond what all USB devices do.
protocol USBFunction: Sendable {
  /// What the device is.
  var code: USBClass { get }
  var interfaces: [SimulatedUSBInterface] { get }
  /// The endpoint that the accessory's bytes leave by.
  var input: SimulatedUSBEndpoint { get }
  /// The endpoint that the host's bytes come by.
  var output: SimulatedUSBEndpoint { get }
  var style: PacketStyle { get }
  /// What a HID interface's reports look like.
  var reportDescriptor: [UInt8]? { get }
  /// The serial line, where there is one.
  var line: HostLineSettings? { get }
  /// A request of the class or the vendor.
  mutating func control(_ setup: USBSetup, _ data: [UInt8]) -> ControlOutcome
  /// What is to be told by an endpoint of its own as soon as the device is in use.
  var notification: (endpoint: UInt8, bytes: [UInt8])? { get }
}

extension USBFunction {
  var code: USBClass { USBClass(code: 0) }
  var style: PacketStyle { .stream }
  var reportDescriptor: [UInt8]? { nil }
  var line: HostLineSettings? { nil }
  var notification: (endpoint: UInt8, bytes: [UInt8])? { nil }
}

/// A vendor's own interface with a pair of bulk endpoints.
struct BulkFunction: USBFunction {
  let input = SimulatedUSBEndpoint(address: 0x81, kind: .bulk, maximumPacket: 512)
  let output = SimulatedUSBEndpoint(address: 0x01, kind: .bulk, maximumPacket: 512)
  var interfaces: [SimulatedUSBInterface] {
    [SimulatedUSBInterface(number: 0, code: USBClass(code: USBClass.vendorSpecific), endpoints: [input, output])]
  }

  mutating func control(_ setup: USBSetup, _ data: [UInt8]) -> ControlOutcome { .stall }
}

/// A HID interface whose reports, of a vendor's own kind, are 1024 bytes each way: the largest there are.
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

  /// HID 1.11, 7.2.
  mutating func control(_ setup: USBSetup, _ data: [UInt8]) -> ControlOutcome {
    guard setup.kind == .classSpecific, setup.index == 0 else { return .stall }
    switch (setup.requestType, setup.request) {
    case (0xA1, 0x02): return .done([idleRate])
    case (0xA1, 0x03): return .done([protocolNumber])
    // An output report (type 2) may come this way too.
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
