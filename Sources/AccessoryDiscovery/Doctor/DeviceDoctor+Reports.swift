// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

extension DeviceDoctor {
  /// The longest report descriptor that the kernel takes (HID_MAX_DESCRIPTOR_SIZE). A device with a longer one gets no driver, and so no
  /// node.
  private static let longestDescriptor = 4_096

  /// Says why a human interface device has no node: its report descriptor may be too long for the kernel.
  static func lookAtReportDescriptor(_ device: Device, _ usb: USBIdentity, _ report: inout PortReport) {
    guard device.hid == nil,
      usb.interfaces.contains(where: { $0.description.function.code == USBClass.humanInterface && $0.driver == nil }),
      let bytes = try? SmallFile.read("/sys\(usb.devpath)/descriptors", limit: USBDescriptorReader.sizeLimit),
      let length = USBDescriptorReader.reportDescriptors(bytes).map(\.length).max(), length > longestDescriptor
    else { return }
    report.add(
      "report descriptor", .warning,
      "its report descriptor has \(Amount.bytes(length)), and the kernel takes at most \(longestDescriptor): so it has no node for its "
        + "reports. If it is a UPS, --driver hid-power asks it by its USB node")
  }
}
