// SPDX-License-Identifier: Apache-2.0

/// What went wrong with an accessory: the one error type of all transports, links and drivers.
public struct AccessoryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What a program can decide on.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The accessory is gone, or restarted and lost what it was doing.
    case disconnected
    /// Somebody else has it, or too much is waiting already.
    case busy
    /// The system doesn't let this user.
    case permissionDenied = "permission_denied"
    /// There is no such device.
    case notFound = "not_found"
    /// No answer in time.
    case timedOut = "timed_out"
    /// The caller cancelled, or closed the link.
    case cancelled
    /// The accessory answered no.
    case refused
    /// What came makes no sense.
    case badData = "bad_data"
    /// The device or the system can't do this.
    case unsupported
    /// A setting is wrong.
    case misconfigured
    /// The system failed in a way that has no better name.
    case ioFailure = "io_failure"
  }

  /// Where a kind came from.
  public enum Code: Hashable, Sendable {
    /// The kernel's errno.
    case errno(CInt)
    /// The reason byte of an accessory's refusal.
    case refusal(UInt8)
    /// An error of libusb, negative.
    case libusb(CInt)
  }

  /// What a program can decide on.
  public var kind: Kind
  /// The number behind it, where there is one.
  public var code: Code?
  /// What happened, to which device, and what to do; for people.
  public var message: String

  /// An error of these parts.
  public init(_ kind: Kind, code: Code? = nil, _ message: String) {
    self.kind = kind
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }

  /// The error of an accessory that was unplugged.
  public static func disconnected(_ label: String, code: Code? = nil) -> AccessoryError {
    AccessoryError(.disconnected, code: code, "\(label) was disconnected")
  }

  /// The error of an operation whose owner closed the link meanwhile.
  public static func closed(_ label: String) -> AccessoryError {
    AccessoryError(.cancelled, "\(label) was closed")
  }
}
