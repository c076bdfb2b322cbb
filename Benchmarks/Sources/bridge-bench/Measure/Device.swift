// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import CFloor
import Glibc

/// A device, which is a C process, at the other end of a pseudo-terminal.
final class Device {
  /// What the device does.
  enum Role {
    /// Writes `total` bytes, `piece` at a time, whenever `go` is called.
    case source(total: Int, piece: Int)
    /// Reads `total` bytes and answers with one byte, again and again.
    case sink(total: Int)
    /// Answers AF1 frames.
    case echo
  }

  let path: String
  private var device = cfloor_device()

  init(_ role: Role) throws(Failure) {
    var terminal = cfloor_terminal()
    try Failure.check(cfloor_terminal_open(&terminal), "making a pseudo-terminal")
    defer { cfloor_terminal_close(&terminal) }
    path = withUnsafeBytes(of: terminal.path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let result =
      switch role {
      case .source(let total, let piece): cfloor_device_source(&terminal, total, piece, &device)
      case .sink(let total): cfloor_device_sink(&terminal, total, &device)
      case .echo: cfloor_device_echo(&terminal, &device)
      }
    try Failure.check(result, "starting a device process")
  }

  deinit { cfloor_device_end(&device) }

  /// Lets a source write.
  func go() throws(Failure) { try Failure.check(cfloor_device_go(&device), "starting the device") }

  /// `go` for another thread, while the device is kept.
  var starter: @Sendable () throws(Failure) -> Void {
    let device = device
    return { () throws(Failure) in
      var copy = device
      try Failure.check(cfloor_device_go(&copy), "starting the device")
    }
  }

  /// Runs `body` with the terminal opened as a C program does it.
  func asCProgram<Result>(_ body: (CInt) throws -> Result) throws -> Result {
    let descriptor = try Failure.check(cfloor_host_open(path), "opening \(path)")
    defer { close(descriptor) }
    return try body(descriptor)
  }

  /// Runs `body` with a transport to the device.
  func withTransport<Result>(_ body: (DescriptorTransport) async throws -> Result) async throws -> Result {
    let transport = try await DescriptorTransport.open(TerminalConfiguration(path: path))
    do {
      let result = try await body(transport)
      await transport.close()
      return result
    } catch {
      await transport.close()
      throw error
    }
  }
}
