// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Glibc
import TestSupport

@testable import AccessoryFleet

/// Debian's mosquitto on a port of its own, with what a test wants of it.
final class TestBroker: Sendable {
  /// How clients connect.
  enum Access: String, Sendable, CaseIterable {
    case open
    /// TLS with a CA of the test's own, and a user with a password.
    case encrypted
  }

  let port: Int
  let access: Access
  private let directory: TemporaryDirectory
  private let program = Locked<Program?>(nil)

  init(_ directory: TemporaryDirectory, _ access: Access = .open, isPersistent: Bool = false) async throws {
    (self.directory, self.access) = (directory, access)
    port = try Self.freePort()
    var lines = ["listener \(port) 127.0.0.1", "user root"]
    switch access {
    case .open: lines.append("allow_anonymous true")
    case .encrypted:
      try await makeCertificates()
      try directory.write(Array("secret\n".utf8), to: "password")
      try directory.write([], to: "users")
      try await tool(["mosquitto_passwd", "-b", "users", "attic", "secret"])
      lines += ["allow_anonymous false", "password_file \(directory.path)/users", "cafile \(directory.path)/ca.pem"]
      lines += ["certfile \(directory.path)/broker.pem", "keyfile \(directory.path)/broker.key"]
    }
    if isPersistent {
      lines += ["persistence true", "persistence_location \(directory.path)/"]
    }
    try directory.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "mosquitto.conf")
    try start()
  }

  /// The broker's address and the options with which a program connects.
  var options: [String] {
    switch access {
    case .open: ["--broker", "mqtt://127.0.0.1:\(port)"]
    case .encrypted:
      ["--broker", "mqtts://attic@localhost:\(port)", "--ca", "ca.pem", "--password-file", "password"]
    }
  }

  /// Settings for a client in this process.
  func settings(_ clientID: String) throws -> MQTTSettings {
    var settings = MQTTSettings(
      try BrokerAddress(access == .open ? "mqtt://127.0.0.1:\(port)" : "mqtts://attic@localhost:\(port)"),
      clientID: clientID)
    if access == .encrypted {
      (settings.caFile, settings.passwordFile) = (directory.path + "/ca.pem", directory.path + "/password")
    }
    settings.keepalive = 5
    return settings
  }

  func start() throws {
    let new = try Program(
      ["mosquitto", "-c", directory.path + "/mosquitto.conf"], environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
      directory: directory.path, limit: .seconds(240))
    program.withLock { $0 = new }
  }

  /// Ends the broker; it writes what it keeps first, if it is persistent.
  func stop() async throws {
    let running = program.withLock { $0 }
    running?.signal(SIGTERM)
    _ = try await running?.end()
  }

  /// Stops the broker without closing a connection, as if the network were cut, or has it go on.
  func freeze(_ isFrozen: Bool) { program.withLock { $0 }?.signal(isFrozen ? SIGSTOP : SIGCONT) }

  private func makeCertificates() async throws {
    try directory.write(Array("subjectAltName=DNS:localhost\n".utf8), to: "names")
    let key = ["-newkey", "rsa:2048", "-nodes"]
    try await tool(
      ["openssl", "req", "-x509"] + key + ["-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test CA"])
    try await tool(
      ["openssl", "req"] + key + ["-keyout", "broker.key", "-out", "broker.csr", "-subj", "/CN=localhost"])
    try await tool([
      "openssl", "x509", "-req", "-in", "broker.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
      "broker.pem", "-days", "2", "-extfile", "names",
    ])
  }

  private func tool(_ words: [String]) async throws {
    let end = try await Program(words, environment: ["PATH": "/usr/bin:/bin"], directory: directory.path).end()
    guard end.status == 0 else { throw AccessoryError(.ioFailure, "\(words): \(end.errorText)") }
  }

  private static func freePort() throws -> Int {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, size) | getsockname(socket, $0, &size)
      }
    }
    guard result == 0 else { throw AccessoryError(.ioFailure, "there is no free port") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}

/// Looks at everything that is on a broker.
final class Onlooker: Sendable {
  /// What has been seen.
  struct Seen: Sendable {
    /// The latest message of each topic, as text; retained ones are removed by empty messages.
    var latest: [String: String] = [:]
    /// How many messages have come, by topic.
    var counts: [String: Int] = [:]
    var total: Int { counts.values.reduce(0, +) }
  }

  let seen = Watched(Seen())
  let client: MQTTClient
  private let work: Task<Void, Never>

  init(_ broker: TestBroker) throws {
    client = MQTTClient(try broker.settings("onlooker"))
    work = Task { [client, seen] in
      await client.start()
      while let event = await client.next() {
        switch event {
        case .connected:
          // What a broker has forgotten isn't there any more.
          seen.update { $0.latest = [:] }
          await client.subscribe("#")
        case .message(let message):
          seen.update { seen in
            seen.counts[message.topic, default: 0] += 1
            seen.latest[message.topic] =
              message.payload.isEmpty ? nil : String(decoding: message.payload, as: UTF8.self)
          }
        default: break
        }
      }
    }
  }

  deinit { work.cancel() }

  func end() async {
    await client.stop()
    await work.value
  }

  /// Waits until the latest message of a topic contains a text.
  func wait(_ topic: String, _ text: String) async throws {
    try await seen.wait { $0.latest[topic]?.contains(text) == true }
  }

  /// Waits until a topic has no message.
  func waitForNone(_ topic: String) async throws { try await seen.wait { $0.latest[topic] == nil } }
}

/// A machine with simulated accessories, the service and a publisher, all as processes.
final class TestGateway: Sendable {
  let name: String
  let directory: TemporaryDirectory
  private let runtime: TemporaryDirectory
  private let programs = Locked<[Program]>([])

  init(_ name: String, directory: TemporaryDirectory) throws {
    (self.name, self.directory, runtime) = (name, directory, try TemporaryDirectory())
  }

  private static let binaries =
    "/" + (linkTarget("/proc/self/exe") ?? "").split(separator: "/").dropLast().joined(separator: "/")

  @discardableResult
  func start(_ program: String, _ arguments: [String]) throws -> Program {
    var environment = [
      "XDG_RUNTIME_DIR": runtime.path, "PATH": "/usr/bin:/bin", "ACCESSORY_BRIDGE_SOURCES": "simulator",
      "ACCESSORY_BRIDGE_PROFILES": directory.path + "/profiles", "XDG_CONFIG_HOME": directory.path + "/config",
    ]
    for name in ["LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"] {
      if let value = getenv(name) { environment[name] = String(cString: value) }
    }
    let new = try Program(
      [Self.binaries + "/" + program] + arguments, environment: environment, directory: directory.path,
      limit: .seconds(240))
    programs.withLock { $0.append(new) }
    return new
  }

  /// Plugs a simulated accessory in.
  func plug(_ arguments: String...) async throws -> Program {
    let simulator = try start("bridge-cli", ["simulate", "framed"] + arguments)
    try await simulator.line(containing: "is plugged in")
    return simulator
  }

  func serve() throws { try start("bridge-cli", ["serve", "--reconnect-tries", "forever"]) }

  func publish(_ broker: TestBroker, _ arguments: String...) throws -> Program {
    try start("bridge-fleet", ["publish", "--gateway", name, "--keepalive", "5"] + broker.options + arguments)
  }

  func topic(_ rest: String) -> String { "accessory-bridge/\(name)/\(rest)" }

  func end() async {
    for program in programs.withLock({ $0 }) {
      program.signal(SIGKILL)
      _ = try? await program.end()
    }
  }
}
