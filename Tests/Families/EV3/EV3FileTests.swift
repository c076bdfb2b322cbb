// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessorySimulator
@testable import FamilyEV3
@testable import FamilyEV3Simulator

/// Files to and from a brick, also with the cable pulled in the middle.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct EV3FileTests {
  static let megabyte = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  private static let path = "../prjs/test/data.bin"

  @Test(arguments: EV3Bench.Way.allCases) func foldersAndFilesOfABrickAreManaged(way: EV3Bench.Way) async throws {
    let bench = try await EV3Bench.open(way)
    let brick = bench.brick
    try await brick.makeFolder("../prjs/x")
    let progress = Locked<[Int]>([])
    let bytes = Array(Self.megabyte.prefix(5_000))
    try await brick.send(bytes, to: "../prjs/x/a b.rbf") { done, total in progress.withLock { $0 += [done, total] } }
    #expect(progress.withLock { $0 } == [0, 1_017, 2_034, 3_051, 4_068, 5_000].flatMap { [$0, 5_000] })
    #expect(
      try await brick.list("../prjs/x") == [
        .file(name: "a b.rbf", size: 5_000, md5: MD5.hexadecimal(bytes))
      ])
    #expect(try await brick.list("../prjs").contains(.folder(name: "x")))
    #expect(try await brick.file("../prjs/x/a b.rbf") == bytes)
    for count in [0, 1, 1_012, 1_013, 1_017, 1_018] {
      let bytes = Array(Self.megabyte.prefix(count))
      try await brick.send(bytes, to: "../prjs/x/b")
      #expect(try await brick.file("../prjs/x/b") == bytes)
    }
    let full = await #expect(throws: AccessoryError.self) { try await brick.remove("../prjs/x") }
    #expect(full?.ev3Status == .noPermission)
    try await brick.remove("../prjs/x/a b.rbf")
    try await brick.remove("../prjs/x/b")
    try await brick.remove("../prjs/x")
    #expect(try await !brick.list("../prjs").contains(.folder(name: "x")))
    #expect(try await brick.openHandles() == [])
    await bench.close()
  }

  /// A listing of many messages.
  @Test func aFolderOfManyFilesIsListed() async throws {
    let bench = try await EV3Bench.open()
    for index in 0..<200 { await bench.simulator.put([UInt8(index)], at: "../apps/many/file \(index)") }
    let entries = try await bench.brick.list("../apps/many")
    #expect(Set(entries.map(\.name)) == Set((0..<200).map { "file \($0)" }))
    await bench.close()
  }

  // MARK: - What a brick refuses

  @Test func aRefusedFileRequestHasItsStatus() async throws {
    let bench = try await EV3Bench.open { $0.device.handles = 2 }
    let brick = bench.brick
    func status(_ body: () async throws -> Void) async -> EV3Status? {
      do {
        try await body()
        return nil
      } catch {
        return (error as? AccessoryError)?.ev3Status
      }
    }
    #expect(await status { _ = try await brick.file("../prjs/none") } == .illegalPath)
    #expect(await status { try await brick.send([1], to: "/etc/passwd") } == .illegalPath)
    #expect(await status { try await brick.send([1], to: "../prjs/") } == .illegalFileName)
    #expect(await status { _ = try await brick.list("/none") } == .illegalPath)
    #expect(await status { try await brick.makeFolder("../prjs") } == .illegalPath)
    #expect(await status { try await brick.remove("none") } == .illegalPath)
    #expect(await status { try await brick.closeHandle(7) } == .unknownHandle)
    await bench.simulator.put(Array(Self.megabyte.prefix(3_000)), at: "big")
    let big = EV3SystemCommand.beginUpload(maximum: 1_000, path: "big")
    for _ in 0..<2 { _ = try await brick.system(big) }
    #expect(await status { _ = try await brick.system(big) } == .noHandlesAvailable)
    #expect(try await brick.openHandles() == [0, 1])
    #expect(
      await status { _ = try await brick.system(.continueDownload(handle: 0, data: [1])) } == .unknownHandle)
    try await brick.closeHandle(0)
    let download = try await brick.system(.beginDownload(size: 2, path: "../apps/x"))
    let handle = try #require(try download?.piece().handle)
    #expect(
      await status { _ = try await brick.system(.continueDownload(handle: handle, data: [1, 2, 3])) } == .sizeError)
    await bench.close()
  }

  @Test(arguments: EV3Status.all.filter { !$0.isSuccess })
  func everyStatusOfABrickIsARefusal(status: EV3Status) async throws {
    let bench = try await EV3Bench.open { $0.device.refusals = [0x9B: status] }
    let error = await #expect(throws: AccessoryError.self) { try await bench.brick.makeFolder("../prjs/x") }
    #expect(error?.kind == .refused && error?.ev3Status == status)
    await bench.close()
  }

  // MARK: - Interruptions

  /// Sends or gets with the cable pulled at message number `message`, and once more with the brick plugged in again.
  private func interrupted(
    _ way: EV3Bench.Way, at message: Int, keepsHandles: Bool,
    _ body: (EV3Simulator, EV3Brick) async throws -> Void
  ) async throws {
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    configuration.keepsHandles = keepsHandles
    if way == .network { configuration.connection = .network(port: 0) }
    configuration.faults.unplug = .request(message)
    let simulator = EV3Simulator(configuration)
    await simulator.put(Self.megabyte, at: Self.path)
    let brick = try await EV3Bench.open(try await simulator.plugIn())
    let error = await #expect(throws: AccessoryError.self) { try await body(simulator, brick) }
    #expect(error?.kind == .disconnected)
    await brick.close()
    let again = try await EV3Bench.open(try await simulator.plugIn())
    try await body(simulator, again)
    await again.close()
    await simulator.stop()
  }

  @Test(arguments: [EV3Bench.Way.terminal, .network], [true, false])
  func aMegabyteArrivesAtTheBrick(way: EV3Bench.Way, keepsHandles: Bool) async throws {
    let download = Watched(EV3Download(Self.megabyte, to: Self.path))
    try await interrupted(way, at: 500, keepsHandles: keepsHandles) { simulator, brick in
      var transfer = download.value
      defer {
        let state = transfer
        download.update { $0 = state }
      }
      try await transfer.run(on: brick)
    }
    #expect(download.value.isComplete)
    #expect(download.value.resumptions == (keepsHandles ? 1 : 0))
  }

  @Test(arguments: [EV3Bench.Way.terminal, .network], [true, false])
  func aMegabyteArrivesFromTheBrick(way: EV3Bench.Way, keepsHandles: Bool) async throws {
    let upload = Watched(EV3Upload(Self.path))
    try await interrupted(way, at: 500, keepsHandles: keepsHandles) { simulator, brick in
      var transfer = upload.value
      defer {
        let state = transfer
        upload.update { $0 = state }
      }
      let bytes = try await transfer.run(on: brick)
      #expect(bytes == Self.megabyte)
    }
    #expect(upload.value.result == Self.megabyte)
    #expect(upload.value.resumptions == (keepsHandles ? 1 : 0))
  }

  /// What arrived is byte-equal, wherever it was interrupted: at the first message, in the middle, at the last.
  @Test(arguments: [2, 3, 4, 8, 11, 12]) func aDownloadGoesOnWhereverItWasInterrupted(message: Int) async throws {
    let bytes = Array(Self.megabyte.prefix(10_000))
    let download = Watched(EV3Download(bytes, to: "../apps/x/y"))
    try await interrupted(.terminal, at: message, keepsHandles: true) { simulator, brick in
      var transfer = download.value
      defer {
        let state = transfer
        download.update { $0 = state }
      }
      try await transfer.run(on: brick)
      #expect(await simulator.device.files.contents("../apps/x/y") == bytes)
    }
  }

  @Test(arguments: [2, 3, 4, 8, 11]) func anUploadGoesOnWhereverItWasInterrupted(message: Int) async throws {
    let bytes = Array(Self.megabyte.prefix(10_000))
    let upload = Watched(EV3Upload("../apps/x/z"))
    try await interrupted(.terminal, at: message, keepsHandles: true) { simulator, brick in
      await simulator.put(bytes, at: "../apps/x/z")
      var transfer = upload.value
      defer {
        let state = transfer
        upload.update { $0 = state }
      }
      let got = try await transfer.run(on: brick)
      #expect(got == bytes)
    }
  }

  /// A file that is another by the time it goes on is not put together of both.
  @Test func aFileThatChangesIsNotMixed() async throws {
    let upload = Watched(EV3Upload(Self.path))
    let times = Locked(0)
    try await interrupted(.terminal, at: 100, keepsHandles: true) { simulator, brick in
      let time = times.withLock { times -> Int in
        times += 1
        return times
      }
      if time == 2 { await simulator.put(Array(Self.megabyte.reversed()), at: Self.path) }
      var transfer = upload.value
      do {
        _ = try await transfer.run(on: brick)
        Issue.record("it was taken for whole")
      } catch {
        let state = transfer
        upload.update { $0 = state }
        if time == 1 { throw error }
        #expect((error as? AccessoryError)?.kind == .badData)
        let bytes = try await transfer.run(on: brick)
        #expect(bytes == Array(Self.megabyte.reversed()))
      }
    }
  }

  @Test func aFileBeyondTheLimitIsMisconfigured() async throws {
    let bench = try await EV3Bench.open()
    await bench.simulator.put(Self.megabyte, at: "big")
    let error = await #expect(throws: AccessoryError.self) {
      try await bench.brick.file("big", limit: 999_999)
    }
    #expect(error?.kind == .misconfigured)
    #expect(try await bench.brick.openHandles() == [])
    await bench.close()
  }
}
