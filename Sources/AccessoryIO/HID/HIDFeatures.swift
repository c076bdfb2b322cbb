// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
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

/// The feature reports of an interface that this program has claimed, by control transfers (HID 1.11, 7.2).
struct USBHIDFeatures: HIDFeatures {
  let file: FileDescriptor
  let interface: UInt8
  private static let feature: UInt16 = 0x0300

  /// A report without a number has none in front on the wire.
  func get(_ number: UInt8, size: Int) throws(Errno) -> [UInt8] {
    let isNumbered = number != 0
    let report = try SystemCall.ioctl(
      USBRequest.Control(
        requestType: 0xA1, request: 0x01, value: Self.feature | UInt16(number), interface: interface,
        data: [UInt8](repeating: 0, count: max(0, isNumbered ? size : size - 1))), on: file)
    return isNumbered ? report : [0] + report
  }

  func set(_ report: [UInt8]) throws(Errno) {
    let number = report.first ?? 0
    _ = try SystemCall.ioctl(
      USBRequest.Control(
        requestType: 0x21, request: 0x09, value: Self.feature | UInt16(number), interface: interface,
        data: number == 0 ? Array(report.dropFirst()) : report), on: file)
  }

  /// The report descriptor of this many bytes. A device may hand over fewer.
  func descriptor(length: Int) throws(Errno) -> [UInt8] {
    try SystemCall.ioctl(
      USBRequest.Control(
        requestType: 0x81, request: 0x06, value: 0x2200, interface: interface,
        data: [UInt8](repeating: 0, count: min(length, HIDReportDescriptor.sizeLimit))), on: file)
  }
}
