// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// The problems that would prevent opening a port, found without opening it.
public struct PortReport: Sendable, Hashable {
  /// The result of one check.
  public struct Finding: Sendable, Hashable {
    /// How serious a finding is.
    public enum Severity: String, Sendable, Hashable {
      /// No problem.
      case ok
      /// May prevent opening or use.
      case warning
      /// Prevents opening or use.
      case problem
    }

    /// What was checked: "permission", "holder", …
    public var subject: String
    /// How serious it is.
    public var severity: Severity
    /// What was found, and what to do about it.
    public var message: String
    /// The kind of error with which opening would fail; nil when this finding wouldn't make it fail.
    public var kind: AccessoryError.Kind?
  }

  /// The device's address as a text: the path of its node, or a network address.
  public var path: String
  /// The results, in the order in which opening would meet them.
  public var findings: [Finding]

  /// Checks the port, the usbfs node, or the socket at `address`. May block: call it on a thread that may wait. With
  /// `isSimulated`, it is normal that the simulator has the port open.
  public init(_ address: DeviceAddress, isSimulated: Bool = false) {
    path = address.description
    findings = []
    guard let place = address.file else {
      if address.transport.isBluetooth {
        add("device", .ok, "\(path) is a Bluetooth device: whether it answers is known only after connecting")
        return
      }
      if let files = address.files {
        add("device", .ok, "\(path) is only read, from \(files.folder)\(files.name), which every user may do")
        return
      }
      add("device", .ok, "\(path) is a network address: whether something listens there is known only after connecting")
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
        add("device", .problem, "\(path) is not a socket", .misconfigured)
        return
      }
      add("device", .ok, "\(path) exists: whether something listens there is known only after connecting")
      lookAtPermission(place)
      return
    }
    guard file.st_mode & S_IFMT == S_IFCHR else {
      add("device", .problem, "\(path) is not a serial port or another terminal", .unsupported)
      return
    }
    add("device", .ok, "\(path) exists")
    lookAtPermission(place)
    lookAtHolder(file, isSimulated: isSimulated)
    if address.transport == .terminal { lookAtLockFile() }
  }

  /// A report without findings, on something that has no address.
  package init(named path: String) { (self.path, findings) = (path, []) }

  /// A report on a device that isn't there.
  package init(missing path: String, _ message: String) {
    (self.path, findings) = (path, [])
    add("device", .problem, message, .notFound)
  }

  /// Adds a finding.
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

  /// Replaces the finding about the holder, for a port that a service of this project has open, which is no problem.
  /// `message` names the service.
  package mutating func replaceHolder(_ message: String) {
    let index = findings.firstIndex { $0.subject == "holder" }
    findings.removeAll { $0.subject == "holder" }
    findings.insert(
      Finding(subject: "holder", severity: .ok, message: message, kind: nil), at: index ?? findings.endIndex)
  }

  private mutating func lookAtHolder(_ file: stat, isSimulated: Bool) {
    if let holder = ProcessTable.lockHolder(of: file) {
      add("holder", .problem, "\(holder) has it open: end that program, or wait until it ends", .busy)
    } else if isSimulated {
      add("holder", .ok, "only its simulator has it open")
    } else if let opener = ProcessTable.opener(of: file) {
      add("holder", .warning, "\(opener) has it open, without locking it")
    } else {
      add("holder", .ok, "no program that you can see has it open")
    }
  }

  /// Looks for UUCP lock files, which a few programs still use. Their name is `LCK..` and the node's name; they contain
  /// the owner's pid in ten characters (Filesystem Hierarchy Standard, /var/lock).
  private mutating func lookAtLockFile() {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    for directory in ["/var/lock", "/run/lock", "/run/lock/lockdev"] {
      let lock = "\(directory)/LCK..\(name)"
      guard let bytes = try? SmallFile.read(lock, limit: 64) else { continue }
      let text = String(decoding: bytes.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      if let pid = CInt(text), pid > 0, kill(pid, 0) == 0 || errno == EPERM {
        add("lock file", .warning, "by the lock file \(lock), process \(pid) uses it; this program ignores lock files")
      } else {
        add("lock file", .warning, "\(lock) was left by a process that has ended: rm \(lock)")
      }
      return
    }
    add("lock file", .ok, "there is none")
  }

  /// Whether a program of this name runs, as far as this user can see.
  package static func isRunning(_ program: String) -> Bool { ProcessTable.process(named: program) != nil }
}
