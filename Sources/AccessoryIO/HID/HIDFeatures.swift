// SPDX-License-Identifier: Apache-2.0

import SystemPackage

/// How the feature reports of an open device are read and written. The functions may wait for the device.
package protocol HIDFeatures: Sendable {
  /// Asks for the report `number`, of `size` bytes with its number.
  func get(_ number: UInt8, size: Int) throws(Errno) -> [UInt8]
  /// Sends a report, which begins with its number.
  func set(_ report: [UInt8]) throws(Errno)
}

/// The feature reports of a hidraw node, by the kernel.
struct KernelHIDFeatures: HIDFeatures {
  let file: FileDescriptor

  func get(_ number: UInt8, size: Int) throws(Errno) -> [UInt8] {
    try SystemCall.ioctl(HIDRequest.GetFeature(number: number, size: size), on: file)
  }

  func set(_ report: [UInt8]) throws(Errno) {
    try SystemCall.ioctl(HIDRequest.SetFeature(report: report), on: file)
  }
}
