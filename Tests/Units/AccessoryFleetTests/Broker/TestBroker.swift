// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Glibc
import TestSupport

@testable import AccessoryFleet

/// Debian's mosquitto on a port of its own, with what a test wants of it.
final class TestBroker: Sendable {
  /// How clients connect.
  enum Access: Sendable, Hashable {
    case open
    /// TLS with a CA of the test's own, and users with passwords.
    case encrypted
    /// TLS with certificates of the clients, whose names are those of the users.
    case certificates
    /// Users with passwords, of whom a list says who may use which topics.
    case listed(acl: String)

    var usesTLS: Bool { self == .encrypted || self == .certificates }
    var usesPasswords: Bool {
      switch self {
      case .encrypted, .listed: true
      case .open, .certificates: false
      }
    }
  }

  /// The port that it listens on.
  let port: Int
  let access: Access
  private let directory: TemporaryDirectory
  private let program = Locked<Program?>(nil)

  /// The users, and their passwords.
  static let users = ["attic", "cellar", "homeassistant", "viewer", "onlooker"]

  init(_ directory: TemporaryDirectory, _ access: Access = .open, isPersistent: Bool = false) async throws {
    (self.directory, self.access) = (directory, access)
    // Its own limit of 1,000 messages for a client is lower than what some tests publish at once.
    var lines = ["user root", "max_queued_messages 100000"]
    let secrets = TestSecrets(directory)
    if access == .open { lines.append("allow_anonymous true") }
    if access.usesTLS {
      try await secrets.makeAuthority()
      try await secrets.makeCertificate("broker", commonName: "localhost")
      lines += ["cafile \(directory.path)/ca.pem", "certfile \(directory.path)/broker.pem"]
      lines += ["keyfile \(directory.path)/broker.key"]
    }
    if access.usesPasswords {
      try await secrets.makePasswords(Self.users)
      lines += ["allow_anonymous false", "password_file \(directory.path)/users"]
    }
    if access == .certificates {
      for user in ["attic", "onlooker"] { try await secrets.makeCertificate(user, commonName: user) }
      lines += ["require_certificate true", "use_identity_as_username true", "allow_anonymous false"]
    }
    if case .listed(let acl) = access {
      // Somebody who looks on sees everything.
      try directory.write(Array((acl + "\nuser onlooker\ntopic readwrite #\n").utf8), to: "acl")
      lines.append("acl_file \(directory.path)/acl")
    }
    if isPersistent { lines += ["persistence true", "persistence_location \(directory.path)/"] }
    var (tries, isRunning, free) = (0, false, 0)
    // Somebody else may take the port before the broker does.
    repeat {
      free = try LocalPort.free()
      let all = ["listener \(free) 127.0.0.1"] + lines
      try directory.write(Array((all.joined(separator: "\n") + "\n").utf8), to: "mosquitto.conf")
      let new = try Self.launch(directory)
      program.withLock { $0 = new }
      isRunning = try await Self.isRunning(new)
      tries += 1
    } while !isRunning && tries < 5
    port = free
    guard isRunning else {
      throw AccessoryError(.ioFailure, program.withLock { $0?.transcript.value.errorText } ?? "")
    }
  }

  private var usesTLS: Bool { access.usesTLS }
  private var usesPasswords: Bool { access.usesPasswords }

  private func address(of user: String, port: Int) -> String {
    "mqtt\(usesTLS ? "s" : "")://\(usesPasswords ? user + "@" : "")localhost:\(port)"
  }

  /// The broker's address and the options with which a program connects; with another port if something is between them.
  func options(of user: String = "attic", port other: Int? = nil) -> [String] {
    var options = ["--broker", address(of: user, port: other ?? port)]
    if usesTLS { options += ["--ca", "ca.pem"] }
    if usesPasswords { options += ["--password-file", "password-\(user)"] }
    if access == .certificates { options += ["--certificate", "\(user).pem", "--key", "\(user).key"] }
    return options
  }

  /// Settings for a client in this process.
  func settings(_ clientID: String, of user: String = "onlooker") throws -> MQTTSettings {
    var settings = MQTTSettings(try BrokerAddress(address(of: user, port: port)), clientID: clientID)
    if usesTLS { settings.caFile = directory.path + "/ca.pem" }
    if usesPasswords { settings.passwordFile = directory.path + "/password-\(user)" }
    if access == .certificates {
      settings.certificateFile = "\(directory.path)/\(user).pem"
      settings.keyFile = "\(directory.path)/\(user).key"
    }
    settings.keepalive = 5
    return settings
  }

  /// Starts it again.
  func start() async throws {
    let new = try Self.launch(directory)
    program.withLock { $0 = new }
    guard try await Self.isRunning(new) else { throw AccessoryError(.ioFailure, new.transcript.value.errorText) }
  }

  private static func launch(_ directory: TemporaryDirectory) throws -> Program {
    try Program(
      ["mosquitto", "-c", directory.path + "/mosquitto.conf"], environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
      directory: directory.path, limit: .seconds(240))
  }

  /// Waits until the broker answers. Returns false when it ends instead.
  private static func isRunning(_ broker: Program) async throws -> Bool {
    try await broker.transcript.wait { $0.status != nil || $0.errorText.contains(" running") }.status == nil
  }

  /// Ends the broker; it writes what it keeps first, if it is persistent.
  func stop() async throws {
    let running = program.withLock { $0 }
    running?.signal(SIGTERM)
    running?.signal(SIGCONT)
    _ = try await running?.end()
  }

  /// Stops the broker without closing a connection, as if its machine hung; or lets it run again.
  func freeze(_ isFrozen: Bool) { program.withLock { $0 }?.signal(isFrozen ? SIGSTOP : SIGCONT) }
}

/// Ports of this machine.
enum LocalPort {
  /// A port that nobody listens on.
  static func free() throws -> Int {
    let (descriptor, port) = try listen(backlog: nil)
    close(descriptor)
    return port
  }

  /// A socket on a port of its own, which listens unless `backlog` is nil.
  static func listen(backlog: CInt?) throws -> (descriptor: CInt, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = LocalPort.address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) | getsockname(descriptor, $0, &size)
      }
    }
    guard result == 0, backlog.map({ Glibc.listen(descriptor, $0) == 0 }) ?? true else {
      close(descriptor)
      throw AccessoryError(.ioFailure, "there is no free port")
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// A socket that is connected with a port; nil where nobody listens.
  static func connect(_ port: Int) -> CInt? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = LocalPort.address(port)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  private static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    address.sin_port = in_port_t(UInt16(port)).bigEndian
    return address
  }
}
