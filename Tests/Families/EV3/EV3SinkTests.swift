// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import TestSupport
import Testing

@testable import AccessorySimulator
@testable import FamilyEV3

/// Where a file from a brick goes, and can't be written for a moment.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct EV3SinkTests {
  /// Writes to memory, but for one call, which fails.
  private final class SinkFailingOnce: FileSink {
    let file = MemoryFile()
    private let calls: Locked<Int>

    /// Call number `call` fails, counted from 0.
    init(at call: Int) { calls = Locked(call) }

    func begin(size: Int) async throws(AccessoryError) {
      try count()
      try await file.begin(size: size)
    }

    func insert(_ bytes: [UInt8], at offset: Int) async throws(AccessoryError) {
      try count()
      try await file.insert(bytes, at: offset)
    }

    private func count() throws(AccessoryError) {
      let left = calls.withLock { left in
        defer { left -= 1 }
        return left
      }
      if left == 0 { throw AccessoryError(.ioFailure, "the disk is full") }
    }
  }

  /// Also at the last piece, behind which the brick has closed the file.
  @Test(arguments: 0...4) func anUploadGoesOnAfterItsSinkFailed(at call: Int) async throws {
    let bench = try await EV3Bench.open()
    let bytes = Array(EV3FileTests.megabyte.prefix(3_500))
    await bench.simulator.put(bytes, at: "../prjs/data.bin")
    let sink = SinkFailingOnce(at: call)
    var upload = EV3Upload("../prjs/data.bin")
    let error = await #expect(throws: AccessoryError.self) { try await upload.run(on: bench.brick, into: sink) }
    #expect(error?.message == "the disk is full")
    #expect(try await bench.brick.openHandles() == [])
    try await upload.run(on: bench.brick, into: sink)
    #expect(sink.file.bytes == bytes)
    #expect(try await bench.brick.openHandles() == [])
    await bench.close()
  }
}
