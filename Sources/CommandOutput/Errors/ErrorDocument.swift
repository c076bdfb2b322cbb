// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An error, for `--json`.
package struct ErrorDocument: Encodable {
  struct Details: Encodable {
    let kind, message: String
    let errno, libusb: CInt?
    let refusal: UInt8?
    let exit_status: CInt
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.error
  let error: Details

  /// The document of a report.
  package init(_ report: ErrorReport) {
    var (errno, libusb, refusal): (CInt?, CInt?, UInt8?)
    switch report.code {
    case .errno(let number): errno = number
    case .refusal(let reason): refusal = reason
    case .libusb(let number): libusb = number
    case nil: break
    }
    error = Details(
      kind: report.kind, message: report.message, errno: errno, libusb: libusb,
      refusal: refusal, exit_status: report.exitStatus)
  }
}
