// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc

/// The ioctl requests to the hidraw driver (Documentation/hid/hidraw.rst of the kernel). Those for feature reports wait for the device,
/// up to five seconds.
package enum HIDRequest {
  /// HIDIOCGRDESC: what the device says of its reports. The kernel keeps at most 4,096 bytes of it.
  package struct Descriptor: Ioctl {
    package init() {}

    package func call(on descriptor: CInt) -> (result: CInt, reply: [UInt8]) {
      var bytes = [UInt8](repeating: 0, count: Int(HID_MAX_DESCRIPTOR_SIZE))
      let count = bytes.withUnsafeMutableBytes { shim_hid_descriptor(descriptor, $0.baseAddress) }
      return count < 0 ? (-1, []) : (0, Array(bytes.prefix(Int(count))))
    }
  }

  /// HIDIOCGFEATURE: asks for a feature report. The reply begins with the report's number, also where that is 0.
  package struct GetFeature: Ioctl {
    /// The report's number.
    package var number: UInt8
    /// How many bytes it has, with its number.
    package var size: Int

    package func call(on descriptor: CInt) -> (result: CInt, reply: [UInt8]) {
      var report = [UInt8](repeating: 0, count: max(1, size))
      report[0] = number
      let count = report.withUnsafeMutableBytes {
        shim_hid_get_feature(descriptor, $0.baseAddress, CInt(clamping: $0.count))
      }
      guard count >= 0 else { return (-1, []) }
      return (0, Array(report.prefix(Int(count))))
    }
  }

  /// HIDIOCSFEATURE: sends a feature report, which begins with its number.
  package struct SetFeature: Ioctl {
    package var report: [UInt8]

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      var report = report
      let count = report.withUnsafeMutableBytes {
        shim_hid_set_feature(descriptor, $0.baseAddress, CInt(clamping: $0.count))
      }
      return (count < 0 ? -1 : 0, ())
    }
  }
}
