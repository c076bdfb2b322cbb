// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An error as JSON documents and gateways publish it.
package struct PublishedError: Codable, Sendable, Hashable, CheckedReply {
  /// The name of a kind of `AccessoryError`, or "usage".
  package let kind: String?
  /// The message for people, unescaped.
  package let message: String
  /// The code of the layer that failed; at most one isn't nil.
  package let errno, libusb: CInt?
  package let refusal: UInt8?
  /// The exit status of a command that ends with this error.
  package let exit_status: CInt?

  package init(kind: String, _ message: String, code: AccessoryError.Code? = nil, exitStatus: CInt) {
    (self.kind, self.message, exit_status) = (kind, message, exitStatus)
    errno = if case .errno(let number)? = code { number } else { nil }
    libusb = if case .libusb(let number)? = code { number } else { nil }
    refusal = if case .refusal(let reason)? = code { reason } else { nil }
  }

  package init(_ error: AccessoryError) {
    self.init(kind: error.kind.rawValue, error.message, code: error.code, exitStatus: error.kind.exitStatus)
  }

  /// The error; one of a kind that this version doesn't know is an `ioFailure`.
  package var error: AccessoryError {
    let code =
      errno.map { AccessoryError.Code.errno($0) } ?? libusb.map { .libusb($0) } ?? refusal.map { .refusal($0) }
    return AccessoryError(kind.flatMap(AccessoryError.Kind.init) ?? .ioFailure, code: code, message)
  }

  /// The longest message, in bytes.
  private static let messageBytes = 2_048

  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(length: message, Self.messageBytes, "message")
    try ReplyLimits.check(errno.map { Int($0) }, 0...Int(CInt.max), "errno")
    try ReplyLimits.check(libusb.map { Int($0) }, Int(CInt.min)...0, "libusb")
  }
}
