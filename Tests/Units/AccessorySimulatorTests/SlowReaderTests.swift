// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

/// Hosts that write, and read late: nothing that they have asked for is lost.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct SlowReaderTests {
  /// Writes all of `bytes` to the terminal, and reads nothing before no more can be written; then reads `count` bytes.
  private static func exchange(_ path: String, _ bytes: [UInt8], count: Int) async throws -> [UInt8] {
    try await blocking {
      let terminal = Glibc.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
      defer { close(terminal) }
      var (sent, got, buffer) = (0, [UInt8](), [UInt8](repeating: 0, count: 4_096))
      func write() -> Bool {
        let size = min(4_096, bytes.count - sent)
        let written = bytes.withUnsafeBytes { Glibc.write(terminal, $0.baseAddress! + sent, size) }
        sent += max(0, written)
        return written > 0
      }
      func wait(_ events: CInt, _ milliseconds: CInt) -> CInt {
        var entry = pollfd(fd: terminal, events: Int16(events), revents: 0)
        return poll(&entry, 1, milliseconds) > 0 ? CInt(entry.revents) : 0
      }
      while sent < bytes.count, write() || wait(POLLOUT, 500) != 0 {}
      while got.count < count {
        let ready = wait(sent < bytes.count ? POLLIN | POLLOUT : POLLIN, 20_000)
        if ready == 0 { break }
        if ready & POLLOUT != 0 { _ = write() }
        let read = Glibc.read(terminal, &buffer, buffer.count)
        if read > 0 { got += buffer.prefix(read) }
      }
      return got
    }
  }

  @Test func aLoopbackPlugSendsEverythingBack() async throws {
    let directory = try TemporaryDirectory()
    var configuration = LoopbackSimulator.Configuration(LoopbackDevice(serialNumber: "LOOP1"), seed: 1)
    configuration.announcementDirectory = directory.path
    let simulator = LoopbackSimulator(configuration)
    let path = try await simulator.plugIn()
    let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }
    let got = try await Self.exchange(path, bytes, count: bytes.count)
    #expect(got.count == bytes.count && got == bytes)
    await simulator.stop()
  }

  @Test(arguments: [Duration.zero, .milliseconds(1)])
  func anAccessoryAnswersEveryRequest(delay: Duration) async throws {
    let directory = try TemporaryDirectory()
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.announcementDirectory = directory.path
    configuration.faults.delay = delay
    let simulator = AF1Simulator(configuration)
    let path = try await simulator.plugIn()
    let payload = [UInt8](repeating: 7, count: 400)
    let requests = (0..<1_000).flatMap { ScriptedAccessory.frame(.request(.echo, number: UInt16($0)), payload) }
    let got = try await Self.exchange(path, requests, count: requests.count)
    #expect(got.count == requests.count)
    await simulator.stop()
  }
}
