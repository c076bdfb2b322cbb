// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

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

  /// A system call that failed on a file, a folder or something else of this machine: the errno decides the kind, which is
  /// never `disconnected`. `action` says what was tried ("writing to backup.bin").
  public init(errno: Errno, _ action: String) {
    self.init(Kind(errno), code: .errno(errno.rawValue), "\(action): \(errno.summary)")
  }

  /// A system call that failed on an accessory's device node or on a connection to it: the errno decides the kind.
  /// `action` says what was tried ("opening /dev/ttyUSB0").
  public init(device errno: Errno, _ action: String) {
    self.init(Kind(device: errno), code: .errno(errno.rawValue), "\(action): \(errno.summary)")
  }

  /// What became of an attempt to watch files: the kernel says the same of two limits.
  package init(watching errno: Errno, _ action: String) {
    let isFull = errno == .tooManyOpenFiles
    let limits = "; or this user's programs watch too many already: sysctl fs.inotify.max_user_instances"
    self.init(Kind(errno), code: .errno(errno.rawValue), "\(action): \(errno.summary)\(isFull ? limits : "")")
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

extension AccessoryError.Kind {
  /// The kind that an errno stands for when the call was on an accessory: on its device node, or on a connection to it.
  /// An accessory that is gone, and a peer that can't be reached, are `disconnected`.
  public init(device errno: Errno) { self = Self.saysGone(errno) ? .disconnected : Self(errno) }

  /// The kind that an errno stands for when the call was on an open stream of an accessory's bytes. Nothing but TCP has
  /// a limit of time there, for a peer that answers no more: that is `disconnected`, too.
  init(stream errno: Errno) { self = errno == .timedOut ? .disconnected : Self(device: errno) }

  /// The kind that an errno stands for when the call was on something of this machine: a file, a folder, a socket of a
  /// local service. `EIO` is a failing disk there, and no accessory that was unplugged.
  public init(_ errno: Errno) {
    switch errno {
    case .resourceBusy, .wouldBlock: self = .busy
    case .permissionDenied, .notPermitted: self = .permissionDenied
    case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels: self = .notFound
    case .timedOut: self = .timedOut
    case .inappropriateIOCTLForDevice, .notSupported, .isDirectory: self = .unsupported
    case .invalidArgument: self = .misconfigured
    default: self = .ioFailure
    }
  }

  /// True for what the kernel says of a device, or of a peer on the network, that is no longer there.
  private static func saysGone(_ errno: Errno) -> Bool {
    switch errno.rawValue {
    case EIO, ENXIO, ENODEV, ESHUTDOWN: true  // a terminal or a device on USB
    case EPIPE, ECONNRESET, ECONNABORTED, ENOTCONN: true  // the connection
    case EHOSTUNREACH, EHOSTDOWN, ENETUNREACH, ENETDOWN, ENETRESET: true  // the way to the peer
    default: false
    }
  }
}

extension Errno {
  /// strerror's text without a capital, to stand within a sentence.
  var summary: String {
    let text = description
    guard let first = text.first else { return "errno \(rawValue)" }
    return first.lowercased() + text.dropFirst()
  }
}
