// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibusb
import Glibc
import SystemPackage

extension AccessoryError {
  /// The error of a libusb call that failed with `code`. `action` describes what was tried ("claiming interface 0 of
  /// …").
  init(libusb code: CInt, _ action: String, label: String) {
    let kind: Kind
    let summary: String
    switch libusb_error(rawValue: code) {
    case LIBUSB_ERROR_NO_DEVICE:
      self = .disconnected(label, code: .libusb(code))
      return
    case LIBUSB_ERROR_ACCESS: (kind, summary) = (.permissionDenied, "permission denied")
    case LIBUSB_ERROR_NOT_FOUND: (kind, summary) = (.notFound, "the device has no such interface or endpoint")
    case LIBUSB_ERROR_BUSY: (kind, summary) = (.busy, "it is in use")
    case LIBUSB_ERROR_TIMEOUT: (kind, summary) = (.timedOut, "the device does not answer")
    case LIBUSB_ERROR_PIPE: (kind, summary) = (.refused, "the device refuses (stall)")
    case LIBUSB_ERROR_OVERFLOW: (kind, summary) = (.badData, "the device sent more than was requested")
    case LIBUSB_ERROR_NOT_SUPPORTED: (kind, summary) = (.unsupported, "the system doesn't support it")
    case LIBUSB_ERROR_INVALID_PARAM: (kind, summary) = (.misconfigured, "not found on the device")
    case LIBUSB_ERROR_NO_MEM:
      (kind, summary) = (
        .ioFailure, "no memory for USB transfers: raise /sys/module/usbcore/parameters/usbfs_memory_mb"
      )
    default: (kind, summary) = (.ioFailure, "input/output error")
    }
    self.init(kind, code: .libusb(code), "\(action): \(summary)")
  }
}
