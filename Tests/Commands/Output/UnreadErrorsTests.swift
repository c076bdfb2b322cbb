// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// Commands that run for long, whose standard error nobody reads: they say more than a pipe holds.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct UnreadErrorsTests {
  /// Standard error is a pipe that stays open and is never read.
  private static let unread = ["/bin/sh", "-c", "mkfifo unread; exec 3<>unread; exec \"$0\" \"$@\" 2>&3"]
  /// So many lines are more than 64 KiB.
  private static let connections = 1_200

  private func comeAndGo(_ port: UInt16) async throws {
    for _ in 0..<Self.connections {
      let client = try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: port))
      await client.close()
    }
  }

  private func port(_ line: String) -> UInt16 {
    UInt16(line.split(separator: ":").last?.prefix { $0.isNumber } ?? "") ?? 0
  }

  /// The bridge goes on, and ends when it is told to.
  @Test func aBridgeGoesOnWhereNobodyReadsItsErrors() async throws {
    try await Sandbox.with { box in
      let device = try await box.simulate()
      let bridge = try box.start(
        ["bridge", device.path, "--by", "bytes", "--tcp", "0"], prefix: Self.unread, limit: Sandbox.longLife)
      let port = port(try await bridge.line(containing: "is open"))
      try await comeAndGo(port)
      let client = try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: port))
      await client.close()
      bridge.signal(SIGTERM)
      let ended = try await bridge.end()
      #expect(!ended.isHung && ended.status == 0, "\(ended)")
    }
  }

  /// With `--json` all goes to standard output, and nobody reads that.
  @Test func aBridgeGoesOnWhereNobodyReadsItsDocuments() async throws {
    try await Sandbox.with { box in
      let device = try await box.simulate()
      let bridge = try box.start(
        ["bridge", device.path, "--by", "bytes", "--unix", "./line", "--json"],
        prefix: ["/bin/sh", "-c", "mkfifo unread; exec 3<>unread; exec \"$0\" \"$@\" >&3"], limit: Sandbox.longLife)
      let path = box.directory.path + "/line"
      // The file is there a moment before the program listens.
      try await eventually("the socket") {
        guard let first = try? await DescriptorTransport.open(unix: path) else { return false }
        await first.close()
        return true
      }
      for _ in 0..<Self.connections {
        let client = try await DescriptorTransport.open(unix: path)
        await client.close()
      }
      bridge.signal(SIGTERM)
      let ended = try await bridge.end()
      #expect(!ended.isHung && ended.status == 0, "\(ended)")
    }
  }
}
