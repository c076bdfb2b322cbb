// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

extension AccessoryError {
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

  /// The error of a failed attempt to watch files. The kernel reports two different limits with the same errno.
  package init(watching errno: Errno, _ action: String) {
    let isFull = errno == .tooManyOpenFiles
    let limits = "; or this user's programs watch too many already: sysctl fs.inotify.max_user_instances"
    self.init(Kind(errno), code: .errno(errno.rawValue), "\(action): \(errno.summary)\(isFull ? limits : "")")
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
