// SPDX-License-Identifier: Apache-2.0

/// What went wrong with an accessory: the one error type of all transports, links and drivers.
public struct AccessoryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the error, for programs that act on it.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The accessory is gone, or restarted and lost what it was doing; or a service on the way to it doesn't run.
    case disconnected
    /// Another program is using the device, or too many requests are waiting already.
    case busy
    /// The system doesn't allow this user to open the device.
    case permissionDenied = "permission_denied"
    /// There is no such device.
    case notFound = "not_found"
    /// No reply came in time.
    case timedOut = "timed_out"
    /// The caller cancelled, or closed the link.
    case cancelled
    /// The accessory refused the request.
    case refused
    /// The accessory sent data that makes no sense, or a file contains such data.
    case badData = "bad_data"
    /// The device or the system can't do what was asked.
    case unsupported
    /// A setting is wrong.
    case misconfigured
    /// The system failed in a way that has no better name.
    case ioFailure = "io_failure"
  }

  /// The error code of the layer that failed.
  public enum Code: Hashable, Sendable {
    /// An errno of the kernel.
    case errno(CInt)
    /// The reason byte of an accessory's refusal.
    case refusal(UInt8)
    /// An error code of libusb; negative.
    case libusb(CInt)
  }

  /// The kind of the error, for programs that act on it.
  public var kind: Kind
  /// The error code of the layer that failed; nil where there is none.
  public var code: Code?
  /// What happened, to which device, and what to do; for people.
  public var message: String

  /// An error with this kind, code and message.
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

  /// The error of an operation that was going on when this program closed the link.
  public static func closed(_ label: String) -> AccessoryError {
    AccessoryError(.cancelled, "\(label) was closed")
  }

  /// A device on the air that was searched for in vain. `hint` is the part of the sentence about the adapter; empty where
  /// there is only one.
  package static func notOnTheAir(_ address: BluetoothAddress, _ hint: String = "") -> AccessoryError {
    AccessoryError(
      .notFound,
      "the Bluetooth device \(address) isn't there\(hint): is it on, near enough, and not connected to another device?")
  }
}
