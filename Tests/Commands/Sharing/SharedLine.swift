// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// A `bridge` that runs, and where its clients find it.
struct SharedLine: Sendable {
  /// A way to it.
  enum Way: String, CaseIterable, Sendable {
    case pty, tcp, rfc2217, unix, stdio
  }

  let program: Program
  private let directory: String
  private let ports: [Way: UInt16]
  private let sendsByPipe: CInt?

  /// Starts `bridge DEVICE` with an endpoint of each of these kinds, and waits until it listens.
  init(_ box: Sandbox, _ device: String, _ ways: [Way], _ arguments: [String]) async throws {
    directory = box.directory.path
    var words = ["bridge", device] + arguments
    for way in ways {
      switch way {
      case .pty: words += ["--pty", "./shared"]
      case .unix: words += ["--unix", "./shared.sock"]
      case .tcp, .rfc2217: words += ["--\(way.rawValue)", "0"]
      case .stdio: words += ["--stdio"]
      }
    }
    var prefix: [String] = []
    if ways.contains(.stdio) {
      try #require(mkfifo(directory + "/typed", 0o600) == 0)
      prefix = ["sh", "-c", "exec \"$0\" \"$@\" <>typed"]
      sendsByPipe = Glibc.open(directory + "/typed", O_RDWR)
    } else {
      sendsByPipe = nil
    }
    program = try box.start(words, prefix: prefix, limit: .seconds(3_000))
    var ports: [Way: UInt16] = [:]
    for way in [Way.tcp, .rfc2217] where ways.contains(way) {
      let begin = "\(way.rawValue):127.0.0.1:"
      // With --stdio, what there is to say is on standard error.
      let text = try await Self.text(program, containing: begin, inErrors: ways.contains(.stdio))
      let digits = text.split(separator: begin).last?.prefix { $0.isNumber } ?? ""
      guard let port = UInt16(String(digits)) else { throw Hang("a port in \(text)") }
      ports[way] = port
    }
    if ways.contains(.pty), !ways.contains(.stdio) { try await program.line(containing: "./shared leads to") }
    self.ports = ports
    try await said("is open", times: 1)
  }

  private static func text(_ program: Program, containing text: String, inErrors: Bool) async throws -> String {
    let state = try await program.transcript.wait {
      $0.status != nil
        || (inErrors ? $0.errorText : $0.outputText).split(separator: "\n").contains { $0.contains(text) }
    }
    let all = inErrors ? state.errorText : state.outputText
    return String(all.split(separator: "\n").first { $0.contains(text) } ?? "")
  }

  /// Waits until it has said this so often on standard error of the device.
  func said(_ text: String, times: Int) async throws {
    try await program.transcript.wait { state in
      state.status != nil
        || state.errorText.split(separator: "\n").count(where: { $0.contains(text) && !$0.contains("tcp:127") })
          >= times
    }
    let errors = program.transcript.value.errorText
    let count = errors.split(separator: "\n").count { $0.contains(text) && !$0.contains("tcp:127") }
    #expect(count >= times, "\(errors)")
  }

  /// The port of its endpoint for TCP.
  var port: UInt16 { ports[.tcp] ?? 0 }
  /// The port of its endpoint for RFC 2217.
  var telnetPort: UInt16 { ports[.rfc2217] ?? 0 }

  /// Connects to it.
  func connect(_ way: Way) async throws -> any Transport {
    switch way {
    case .pty:
      return try await DescriptorTransport.open(TerminalConfiguration(path: directory + "/shared"))
    case .tcp: return try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: port))
    case .unix: return try await DescriptorTransport.open(unix: directory + "/shared.sock")
    case .rfc2217:
      let place = NetworkAddress(host: "127.0.0.1", port: telnetPort)
      return try await RFC2217Transport.open(
        place, TerminalConfiguration(path: DeviceAddress.rfc2217(place).description))
    case .stdio: throw AccessoryError(.unsupported, "standard input and output are there already")
    }
  }

  /// Sends by standard input.
  func type(_ bytes: [UInt8]) { _ = write(sendsByPipe ?? -1, bytes, bytes.count) }

  /// Ends it by Ctrl-C.
  func end() async throws {
    if let sendsByPipe { close(sendsByPipe) }
    program.signal(SIGINT)
    #expect(try await program.end().status == 0)
  }

  // MARK: - What it costs

  /// Its open descriptors.
  var descriptorCount: Int { Directory.names(in: "/proc/\(program.pid)/fd").count }
  /// Its threads.
  var threadCount: Int { Directory.names(in: "/proc/\(program.pid)/task").count }

  /// Waits until it has so many descriptors, as it closes them a little later than a client sees; and the socket that asks the kernel
  /// for clients that have left, which stays open from the first question on.
  func settled(descriptors: Int) async throws {
    try await eventually("\(descriptors) descriptors", within: .seconds(20)) { descriptorCount <= descriptors + 1 }
  }
}
