// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessorySimulator
@testable import FamilyAF1
@testable import FamilyAF1Simulator

/// Files on their way to a pretended accessory, over lines that lose and damage, through unplugs and restarts.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct FileTransferTests {
  /// Bytes of a large file; under the thread sanitizer, which is slow, of a smaller one.
  #if THREAD_SANITIZER
    private static let large = 1_000_000
  #else
    private static let large = 10_000_000
  #endif

  /// A simulator, and what is done when it comes and goes.
  private struct Bench {
    let simulator: AF1Simulator
    let plugged = Watched<(count: Int, path: String)>((0, ""))
    let events = Watched<[AF1Simulator.Event]>([])

    init(_ change: (inout AF1Simulator.Configuration) -> Void = { _ in }) {
      var configuration = AF1Simulator.Configuration(seed: 5)
      configuration.isAnnounced = false
      change(&configuration)
      simulator = AF1Simulator(configuration)
    }

    func plugIn() async throws {
      let (simulator, plugged, events) = (simulator, plugged, events)
      Task {
        for await event in simulator.events {
          events.update { $0.append(event) }
          if case .pluggedIn(let path) = event { plugged.update { $0 = ($0.count + 1, path) } }
        }
      }
      try await simulator.plugIn()
    }

    /// Opens the accessory when it has been plugged in for the nth time.
    func open(_ count: Int, replyTimeout: Duration) async throws -> AF1Accessory {
      let path = try await plugged.wait { $0.count >= count }.path
      var options = AF1Exchange.Options()
      (options.timeout, options.tries) = (replyTimeout, 20)
      let session = try await AccessorySession.open(TerminalConfiguration(path: path))
      return try await AF1Accessory.open(session, options: options)
    }

    /// Sends a file, through any number of unplugs; returns the transfer.
    @discardableResult
    func send(_ transfer: AF1Transfer, replyTimeout: Duration = .seconds(4)) async throws -> AF1Transfer {
      var transfer = transfer
      for count in 1... {
        var failure: AccessoryError?
        do throws(AccessoryError) {
          let accessory: AF1Accessory
          do { accessory = try await open(count, replyTimeout: replyTimeout) } catch {
            throw error as? AccessoryError ?? AccessoryError(.ioFailure, "\(error)")
          }
          do throws(AccessoryError) { try await transfer.run(on: accessory) } catch { failure = error }
          await accessory.close()
        } catch { failure = error }
        guard let failure else { break }
        guard failure.kind == .disconnected else { throw failure }
      }
      return transfer
    }
  }

  private static func bytes(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 9)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes += $0 } }
    return Array(bytes.prefix(count))
  }

  private func transfer(_ bytes: [UInt8], name: String = "new.bin") -> AF1Transfer {
    AF1Transfer(MemoryFile(bytes), kind: .firmware, name: name)
  }

  @Test(arguments: [0, 1, 4_091, 4_092, 4_093, 100_000], [1, 3, 255] as [UInt8])
  func aFileOfAnySizeArrives(count: Int, window: UInt8) async throws {
    let bench = Bench { $0.device.window = window }
    try await bench.plugIn()
    let bytes = Self.bytes(count)
    let sent = try await bench.send(transfer(bytes))
    #expect(sent.isComplete && sent.done == count && sent.resumptions == 0)
    #expect(await bench.simulator.file(named: "new.bin") == bytes)
    let stored = AF1Simulator.Event.stored(
      name: "new.bin", size: count, checksum: CRC32.checksum(of: bytes.span.bytes, .crc32ISOHDLC))
    try await bench.events.wait { $0.contains(stored) }
    await bench.simulator.stop()
  }

  /// 10 MB; 1 % of the frames damaged and 1 % lost, each way; pulled out and plugged in again twice.
  @Test func tenMegabytesArriveOverABadLine() async throws {
    let bench = Bench {
      $0.device.window = 16
      ($0.faults.drop, $0.faults.corrupt) = (0.01, 0.01)
      ($0.faults.dropRequests, $0.faults.corruptRequests) = (0.01, 0.01)
      ($0.faults.unplug, $0.faults.replug) = (.request(Self.large / 10_000), .milliseconds(1))
    }
    try await bench.plugIn()
    let bytes = Self.bytes(Self.large)
    let sent = try await bench.send(transfer(bytes), replyTimeout: .milliseconds(300))
    #expect(sent.isComplete && sent.resumptions >= 2)
    #expect(await bench.simulator.file(named: "new.bin") == bytes)
    #expect(bench.events.value.count { $0 == .unplugged } >= 2)
    await bench.simulator.stop()
  }

  /// It restarts amid the file, and may or may not have kept what it had.
  @Test(arguments: [true, false]) func tenMegabytesArriveDespiteARestart(keepsParts: Bool) async throws {
    let bench = Bench {
      $0.device.window = 8
      $0.device.keepsParts = keepsParts
      $0.faults.reboot = .request(Self.large / 10_000)
    }
    try await bench.plugIn()
    let bytes = Self.bytes(Self.large)
    let sent = try await bench.send(transfer(bytes), replyTimeout: .milliseconds(200))
    #expect(sent.resumptions == (keepsParts ? 1 : 0))
    #expect(bench.events.value.contains(.restarted))
    #expect(await bench.simulator.file(named: "new.bin") == bytes)
    await bench.simulator.stop()
  }

  /// One request at a time, as most accessories want it.
  @Test func aFileArrivesWithoutAWindow() async throws {
    let bench = Bench {
      $0.device.largestPayload = 256
      ($0.faults.drop, $0.faults.corrupt) = (0.02, 0.02)
      ($0.faults.dropRequests, $0.faults.corruptRequests) = (0.02, 0.02)
    }
    try await bench.plugIn()
    let bytes = Self.bytes(50_000)
    try await bench.send(transfer(bytes), replyTimeout: .milliseconds(100))
    #expect(await bench.simulator.file(named: "new.bin") == bytes)
    await bench.simulator.stop()
  }

  /// Another process, another day: the same file goes on where it was; another one doesn't.
  @Test func onlyTheSameFileGoesOn() async throws {
    let bench = Bench {
      $0.faults.unplug = .request(10)
      $0.faults.replug = .milliseconds(1)
    }
    try await bench.plugIn()
    let bytes = Self.bytes(70_000)
    let first = try await bench.open(1, replyTimeout: .seconds(4))
    var interrupted = transfer(bytes)
    let failure = await #expect(throws: AccessoryError.self) { try await interrupted.run(on: first) }
    #expect(failure?.kind == .disconnected)
    await first.close()
    let second = try await bench.open(2, replyTimeout: .seconds(4))
    let begun = Watched<Int?>(nil)
    let note: FileProgress = { done, _ in begun.update { if $0 == nil { $0 = done } } }
    var other = transfer(Self.bytes(5_000), name: "other.bin")
    try await other.run(on: second, progress: note)
    #expect(begun.value == 0 && other.resumptions == 0)
    await second.close()
    await bench.simulator.stop()
  }

  @Test func whatIsThereAlreadyIsNotSentAgain() async throws {
    let bench = Bench()
    try await bench.plugIn()
    let bytes = Self.bytes(70_000)
    try await bench.send(transfer(bytes))
    let accessory = try await bench.open(1, replyTimeout: .seconds(4))
    let seen = Watched<[Int]>([])
    var again = transfer(bytes)
    try await again.run(on: accessory) { done, _ in seen.update { $0.append(done) } }
    #expect(seen.value == [70_000])
    await accessory.close()
    await bench.simulator.stop()
  }

  /// What is read the second time isn't what the checksum was taken of.
  private struct ChangingSource: FileSource {
    let count = 10_000
    let reads = Watched(0)

    func bytes(at offset: Int, count: Int) async throws(AccessoryError) -> [UInt8] {
      let number = reads.update { number in
        number += 1
        return number
      }
      return [UInt8](repeating: UInt8(number), count: count)
    }
  }

  @Test func anotherChecksumIsAnError() async throws {
    let bench = Bench()
    try await bench.plugIn()
    let accessory = try await bench.open(1, replyTimeout: .seconds(4))
    var transfer = AF1Transfer(ChangingSource(), kind: .image, name: "picture")
    let error = await #expect(throws: AccessoryError.self) { try await transfer.run(on: accessory) }
    #expect(error?.kind == .badData && error?.message.contains("another checksum") == true)
    try await bench.events.wait { $0.contains(.damaged(name: "picture")) }
    #expect(await bench.simulator.file(named: "picture") == nil)
    await accessory.close()
    await bench.simulator.stop()
  }

  /// Whoever cancels has the accessory forget the file.
  @Test func aCancelledTransferIsForgottenByTheAccessory() async throws {
    let bench = Bench { $0.faults.delay = .milliseconds(1) }
    try await bench.plugIn()
    let accessory = try await bench.open(1, replyTimeout: .seconds(4))
    let sent = Watched(0)
    let begun = transfer(Self.bytes(10_000_000))
    let task = Task {
      var transfer = begun
      do throws(AccessoryError) {
        try await transfer.run(on: accessory) { done, _ in sent.update { $0 = done } }
        return nil as AccessoryError?
      } catch { return error }
    }
    try await sent.wait { $0 > 0 }
    task.cancel()
    #expect(await task.value?.kind == .cancelled)
    let events = try await bench.events.wait { $0.contains { if case .aborted = $0 { true } else { false } } }
    #expect(!events.contains { if case .stored = $0 { true } else { false } })
    #expect(try await accessory.battery().percent == 100)
    await accessory.close()
    await bench.simulator.stop()
  }

  @Test func impossibleFileNamesAreMisconfigured() async throws {
    for name in ["a\0b", String(repeating: "x", count: 257)] {
      let accessory = try await AF1Accessory.open(
        AccessorySession(ScriptedAccessory { _ in .silence }.inMemory()))
      var transfer = transfer([], name: name)
      let error = await #expect(throws: AccessoryError.self) { try await transfer.run(on: accessory) }
      await accessory.close()
      #expect(error?.kind == .misconfigured)
    }
  }

  @Test func anAccessoryWithoutFilesRefusesATransfer() async throws {
    let terminal = try await ScriptedAccessory { _ in .refusal(3) }.onPseudoTerminal()
    let session = try await AccessorySession.open(TerminalConfiguration(path: terminal.path))
    let accessory = try await AF1Accessory.open(session)
    var transfer = transfer([1, 2, 3])
    let error = await #expect(throws: AccessoryError.self) { try await transfer.run(on: accessory) }
    #expect(error?.kind == .refused && error?.code == .refusal(3))
    await accessory.close()
    await terminal.transport.close()
  }

  /// Answers that make no sense end it; none of them keeps it going for ever.
  @Test(arguments: [
    ("begin", [0, 0, 0, 0, 0, 0] as [UInt8]), ("begin", [16, 0, 4, 0, 0, 0]), ("begin", [1]), ("data", [9, 0, 0, 0]),
    ("data", [0, 0, 0, 0]), ("data", []), ("end", [3]), ("end", [2]), ("end", [1]),
  ])
  func senselessAnswersEndATransfer(at: String, payload: [UInt8]) async throws {
    let scripted = ScriptedAccessory { request in
      switch request.command {
      case .transferBegin: .reply(at == "begin" ? payload : [2, 0, 0, 0, 0, 0])
      case .transferData:
        .reply(at == "data" ? payload : [request.payload[0] + UInt8(request.payload.count - 4), 0, 0, 0])
      case .transferEnd: .reply(at == "end" ? payload : [0])
      // A good answer to HELLO.
      default: .silence
      }
    }
    let accessory = try await AF1Accessory.open(AccessorySession(scripted.inMemory()))
    var transfer = transfer([1, 2, 3])
    let error = await #expect(throws: AccessoryError.self) { try await transfer.run(on: accessory) }
    #expect(error?.kind == .badData || error?.kind == .timedOut)
    await accessory.close()
  }
}
