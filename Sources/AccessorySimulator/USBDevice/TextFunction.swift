// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

/// A HID interface whose reports of 8 bytes carry text: the host sends output reports by endpoint 0, and reads input reports from an
/// interrupt endpoint.
struct TextFunction: USBFunction {
  let input = SimulatedUSBEndpoint(address: 0x81, kind: .interrupt, maximumPacket: HIDText.reportSize, interval: 4)
  // The host never uses it: a device must have one, and no interface lists it.
  let output = SimulatedUSBEndpoint(
    address: 0x01, kind: .interrupt, maximumPacket: HIDText.reportSize, interval: 4)
  let style = PacketStyle.reports
  let keepsMessages = false
  let reportDescriptor: [UInt8]? = USBDescriptor.hidReports(of: HIDText.reportSize)

  var interfaces: [SimulatedUSBInterface] {
    let hid = USBDescriptor.hid(reportDescriptorLength: reportDescriptor?.count ?? 0)
    return [SimulatedUSBInterface(number: 0, code: USBClass(code: 3), endpoints: [input], classDescriptors: hid)]
  }

  /// Answers the class-specific requests (HID 1.11, 7.2): an output report is type 2, and without a number.
  mutating func control(_ setup: USBSetup, _ data: [UInt8]) -> ControlOutcome {
    guard setup.kind == .classSpecific, setup.index == 0 else { return .stall }
    switch (setup.requestType, setup.request) {
    case (0x21, 0x09) where setup.value == 0x0200: return .received(Array(data.prefix(HIDText.textCount(in: data))))
    case (0x21, 0x0A): return .done()
    default: return .stall
    }
  }
}
