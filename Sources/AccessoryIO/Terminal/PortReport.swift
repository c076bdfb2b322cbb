// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// The problems that opening a port would meet, found out without opening it.
public struct PortReport: Sendable, Hashable {
  /// One thing that was looked at.
  public struct Finding: Sendable, Hashable {
    /// How bad it is.
    public enum Severity: String, Sendable, Hashable {
      /// As it should be.
      case ok
      /// May be in the way.
      case warning
      /// Is in the way.
      case problem
    }

    /// What was looked at: "permission", "holder", …
    public var subject: String
    /// How bad it is.
    public var severity: Severity
    /// What was found, and what to do.
    public var message: String
    /// The kind of error that opening would give; nil when it would give none for this.
    public var kind: AccessoryError.Kind?
  }

  /// Where the device is opened, as a text: the path of its node, or its address.
  public var path: String
  /// What was found, in the order in which opening would meet it.
  public var findings: [Finding]

  /// Looks at the port, the node of usbfs, or the socket at `address`. May block: call it where that is allowed. A simulated port is
  /// one that its simulator has open, which is as it should be.
  public init(_ address: DeviceAddress, isSimulated: Bool = false) {
    path = address.description
    findings = []
    guard let place = address.file else {
      add("device", .ok, "\(path) is a place on the network: only opening it tells whether somebody is there")
      return
    }
    var file = stat()
    guard stat(place, &file) == 0 else {
      let error = PortDiagnosis.error(opening: place, label: path, Errno(rawValue: errno), isReport: true)
      add("device", .problem, error.message, error.kind)
      return
    }
    if case .unix = address {
      guard file.st_mode & S_IFMT == S_IFSOCK else {
        add("device", .problem, "\(path) is no socket", .misconfigured)
        return
      }
      add("device", .ok, "\(path) is there: only opening it tells whether somebody listens")
      lookAtPermission(place)
      return
    }
    guard file.st_mode & S_IFMT == S_IFCHR else {
      add("device", .problem, "\(path) is not a serial port or another terminal", .unsupported)
      return
    }
    add("device", .ok, "\(path) is there")
    lookAtPermission(place)
    lookAtHolder(file, isSimulated: isSimulated)
    if address.transport == .terminal { lookAtLockFile() }
  }

  /// A report on what isn't there.
  package init(missing path: String, _ message: String) {
    (self.path, findings) = (path, [])
    add("device", .problem, message, .notFound)
  }

  /// Adds what was found.
  package mutating func add(
    _ subject: String, _ severity: Finding.Severity, _ message: String, _ kind: AccessoryError.Kind? = nil
  ) {
    findings.append(Finding(subject: subject, severity: severity, message: message, kind: kind))
  }

  private mutating func lookAtPermission(_ place: String) {
    if access(place, R_OK | W_OK) == 0 {
      add("permission", .ok, "you may read and write it")
    } else {
      let error = PortDiagnosis.error(opening: place, label: path, Errno(rawValue: errno), isReport: true)
      add("permission", .problem, error.message, error.kind)
    }
  }

  /// A service of this project has it: that is as it should be. `message` says which, in place of what the system tells.
  package mutating func replaceHolder(_ message: String) {
    let index = findings.firstIndex { $0.subject == "holder" }
    findings.removeAll { $0.subject == "holder" }
    findings.insert(
      Finding(subject: "holder", severity: .ok, message: message, kind: nil), at: index ?? findings.endIndex)
  }

  private mutating func lookAtHolder(_ file: stat, isSimulated: Bool) {
    if let holder = ProcessTable.lockHolder(of: file) {
      add("holder", .problem, "\(holder) holds it: end that, or wait for it", .busy)
    } else if isSimulated {
      add("holder", .ok, "nobody but its simulator holds it")
    } else if let opener = ProcessTable.opener(of: file) {
      add("holder", .warning, "\(opener) has it open, without a lock")
    } else {
      add("holder", .ok, "nobody that you can see has it open")
    }
  }

  /// UUCP lock files, which a few programs still use: `LCK..` and the node's name, in them the owner's pid in ten
  /// characters (Filesystem Hierarchy Standard, /var/lock).
  private mutating func lookAtLockFile() {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    for directory in ["/var/lock", "/run/lock", "/run/lock/lockdev"] {
      let lock = "\(directory)/LCK..\(name)"
      guard let bytes = try? SmallFile.read(lock, limit: 64) else { continue }
      let text = String(decoding: bytes.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      if let pid = CInt(text), pid > 0, kill(pid, 0) == 0 || errno == EPERM {
        add("lock file", .warning, "\(lock) says that process \(pid) uses it; this program does not heed lock files")
      } else {
        add("lock file", .warning, "\(lock) was left behind by a process that is gone: rm \(lock)")
      }
      return
    }
    add("lock file", .ok, "there is none")
  }

  /// Whether a program of this name runs, as far as one can see.
  package static func isRunning(_ program: String) -> Bool { ProcessTable.process(named: program) != nil }
}
