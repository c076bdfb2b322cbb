// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

extension AccessoryError {
  /// The error of a system call that failed on a file, a folder or something else on this machine. The errno decides
  /// the kind, which is never `disconnected`. `action` describes what was tried ("writing to backup.bin").
  public init(errno: Errno, _ action: String) {
    self.init(Kind(errno), code: .errno(errno.rawValue), "\(action): \(errno.summary)")
  }

  /// The error of a system call that failed on an accessory's device node or on a connection to it. The errno decides
  /// the kind. `action` describes what was tried ("opening /dev/ttyUSB0").
  public init(device errno: Errno, _ action: String) {
    self.init(Kind(device: errno), code: .errno(errno.rawValue), "\(action): \(errno.summary)")
  }

  /// The error of a failed attempt to watch files. `EMFILE` means that the process has too many open files or that the
  /// user has too many inotify instances.
  package init(watching errno: Errno, _ action: String) {
    let isFull = errno == .tooManyOpenFiles
    let limits = "; or this user's programs have too many inotify instances: see sysctl fs.inotify.max_user_instances"
    self.init(Kind(errno), code: .errno(errno.rawValue), "\(action): \(errno.summary)\(isFull ? limits : "")")
  }
}

extension AccessoryError.Kind {
  /// The kind of a failed call on an accessory's device node, or on a connection to it. It is `disconnected` when the
  /// accessory is gone or the peer can't be reached.
  public init(device errno: Errno) { self = Self.saysGone(errno) ? .disconnected : Self(errno) }

  /// The kind of a failed call on an open stream of an accessory's bytes. There, only TCP reports `ETIMEDOUT`, for a
  /// peer that no longer answers, so it becomes `disconnected`.
  init(stream errno: Errno) { self = errno == .timedOut ? .disconnected : Self(device: errno) }

  /// The kind of a failed call on something on this machine: a file, a folder, a socket of a local service. Here, `EIO`
  /// means a failing disk, not an unplugged accessory.
  public init(_ errno: Errno) {
    switch errno {
    case .resourceBusy, .wouldBlock, .addressInUse: self = .busy
    case .permissionDenied, .notPermitted: self = .permissionDenied
    case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels: self = .notFound
    case .timedOut: self = .timedOut
    case .inappropriateIOCTLForDevice, .notSupported, .isDirectory: self = .unsupported
    case .invalidArgument: self = .misconfigured
    default: self = .ioFailure
    }
  }

  /// True when the errno means that a device, or a peer on the network, is no longer there.
  private static func saysGone(_ errno: Errno) -> Bool {
    switch errno.rawValue {
    case EIO, ENXIO, ENODEV, ESHUTDOWN: true  // terminals and USB devices
    case EPIPE, ECONNRESET, ECONNABORTED, ENOTCONN: true  // connections
    case EHOSTUNREACH, EHOSTDOWN, ENETUNREACH, ENETDOWN, ENETRESET: true  // routes to a peer
    default: false
    }
  }
}

extension Errno {
  /// The text of strerror(3) beginning with a lower-case letter, for use within a sentence.
  var summary: String {
    let text = description
    guard let first = text.first else { return "errno \(rawValue)" }
    return first.lowercased() + text.dropFirst()
  }
}
