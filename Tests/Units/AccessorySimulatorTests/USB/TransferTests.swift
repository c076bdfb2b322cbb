// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessorySimulator

/// Bytes through a device's endpoints.
@Suite struct TransferTests {
  private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

  @Test func outgoingBytesArriveInOrder() throws {
    var bench = Bench(.bulk)
    #expect(try bench.submit(0x01, data: bytes(512)) == [.done(1, count: 512)])
    #expect(try bench.submit(0x01) == [.done(2)])  // of nothing
    #expect(try bench.submit(0x01, data: [9]) == [.done(3, count: 1)])
    #expect(bench.received() == bytes(512) + [9])
  }

  /// A transfer waits until there is something, and transfers are served in their order.
  @Test func transfersWaitAndAreServedInOrder() throws {
    var bench = Bench(.bulk)
    for _ in 0..<3 { #expect(try bench.submit(0x81, length: 512) == []) }
    #expect(bench.send([1]) == [.done(1, [1])])
    #expect(bench.send([2, 3]) == [.done(2, [2, 3])])
    #expect(try bench.unlink(3) == [.init(command: 4, sequence: 4, status: -104)])
    #expect(bench.send([4]) == [])
    #expect(bench.device.unsentCount == 1)
    #expect(try bench.unlink(3) == [.init(command: 4, sequence: 5, status: 0)], "it is gone already")
    #expect(try bench.unlink(1) == [.init(command: 4, sequence: 6, status: 0)], "it was done")
    #expect(try bench.submit(0x81, length: 512) == [.done(7, [4])])
  }

  @Test func unlinkingOneTransferLeavesTheOthers() throws {
    var bench = Bench(.bulk)
    for _ in 0..<4 { #expect(try bench.submit(0x81, length: 64) == []) }
    #expect(try bench.unlink(2).first?.status == -104)
    for (index, expected) in [1, 3, 4].enumerated() {
      #expect(bench.send([UInt8(index)]) == [.done(UInt32(expected), [UInt8(index)])])
    }
  }

  /// Whole packets into whole rooms. What fills the last packet is followed by one of nothing.
  @Test(
    arguments: [
      // bytes sent, room of each transfer, what each gets
      (10, [512], [10]),
      (512, [1_024], [512]),
      (512, [512, 512], [512, 0]),
      (1_024, [512, 512, 512], [512, 512, 0]),
      (1_000, [16_384], [1_000]),
      (1_025, [1_024, 1_024], [1_024, 1]),
      (20_000, [16_384, 16_384], [16_384, 3_616]),
      (100, [100, 512], [100]),
    ] as [(Int, [Int], [Int])])
  func bytesFillWholePacketsOfEachTransfer(sent: Int, rooms: [Int], expected: [Int]) throws {
    for isWaiting in [false, true] {
      var bench = Bench(.bulk)
      var replies: [TestKernel.Reply] = []
      if !isWaiting { replies += bench.send(bytes(sent)) }
      for room in rooms { replies += try bench.submit(0x81, length: room) }
      if isWaiting { replies += bench.send(bytes(sent)) }
      #expect(replies.map(\.data.count) == expected)
      #expect(replies.allSatisfy { $0.status == 0 })
      #expect(replies.flatMap(\.data) == bytes(sent))
    }
  }

  /// A packet that is larger than the room is cut, and its end lost.
  @Test func aPacketLargerThanItsRoomIsCut() throws {
    var bench = Bench(.bulk)
    #expect(bench.send(bytes(600)) == [])
    #expect(try bench.submit(0x81, length: 100) == [.failed(1, -75, Array(bytes(100)))])
    #expect(try bench.submit(0x81, length: 512) == [.done(2, Array(bytes(600)[512...]))])
    #expect(bench.send(bytes(600)) == [])
    #expect(try bench.submit(0x81, length: 550) == [.failed(3, -75, Array(bytes(550)))])
    #expect(bench.device.unsentCount == 0)
  }

  @Test func shortWhereAllIsWanted() throws {
    var bench = Bench(.bulk)
    _ = bench.send([1, 2])
    #expect(try bench.submit(0x81, length: 64, flags: 1) == [.failed(1, -121, [1, 2])])
  }

  /// Reports are always full: zeros behind the last byte, and a transfer over several waits for all of them.
  @Test func reportsAreFilledUpWithZeros() throws {
    var bench = Bench(.reports)
    _ = try bench.submit(0x81, length: 1_024)
    let padded = [7] + [UInt8](repeating: 0, count: 1_023)
    #expect(bench.send([7]) == [.done(1, padded)])
    #expect(try bench.submit(0x81, length: 2_048) == [])
    #expect(bench.send([7]) == [])
    #expect(bench.send([7]) == [.done(2, padded + padded)])
    // A frame over several reports has zeros only behind its end.
    #expect(bench.send(bytes(1_500)) == [])
    #expect(try bench.submit(0x81, length: 1_024) == [.done(3, Array(bytes(1_024)))])
    let rest = Array(bytes(1_500)[1_024...]) + [UInt8](repeating: 0, count: 548)
    #expect(try bench.submit(0x81, length: 1_024) == [.done(4, rest)])
    #expect(try bench.submit(0x81, length: 1_024) == [])
    #expect(try bench.submit(0x01, data: [1, 2, 3]) == [.done(6, count: 3)], "a host may send short ones")
    #expect(bench.received() == [1, 2, 3])
  }

  /// Every packet of an FTDI adapter has two bytes of status in front.
  @Test func everyFTDIPacketBeginsWithTwoStatusBytes() throws {
    var bench = Bench(.ftdi)
    _ = bench.send(bytes(70))
    let expected = [0xB1, 0x60] + bytes(70)[..<62] + [0xB1, 0x60] + bytes(70)[62...]
    #expect(try bench.submit(0x81, length: 512) == [.done(1, Array(expected))])
    _ = bench.send(bytes(70))
    #expect(try bench.submit(0x81, length: 64) == [.done(2, Array(expected[..<64]))])
    #expect(try bench.submit(0x81, length: 64) == [.done(3, Array(expected[64...]))])
    _ = bench.send(bytes(20))
    #expect(try bench.submit(0x81, length: 8) == [.failed(4, -75, [0xB1, 0x60] + bytes(6))])
  }

  @Test func outgoingTransfersWaitWhileTheDeviceIsPaused() throws {
    var bench = Bench(.bulk)
    #expect(bench.act { $0.pause(true, replies: &$1) } == [])
    #expect(try bench.submit(0x01, data: [1]) == [])
    #expect(try bench.submit(0x01, data: [2]) == [])
    #expect(try bench.submit(0x01, data: [3]) == [])
    #expect(try bench.unlink(2).first?.status == -104)
    #expect(bench.received() == [])
    #expect(bench.act { $0.pause(false, replies: &$1) } == [.done(1, count: 1), .done(3, count: 1)])
    #expect(bench.received() == [1, 3])
  }

  @Test func transfersAndTheirBytesAreLimited() throws {
    var bench = Bench(.bulk)
    for _ in 0..<SimulatedUSBDevice.mostTransfers { #expect(try bench.submit(0x81, length: 1) == []) }
    #expect(throws: USBIPError.tooMany) { try bench.submit(0x81, length: 1) }
    bench = Bench(.bulk)
    _ = bench.act { $0.pause(true, replies: &$1) }
    let piece = [UInt8](repeating: 0, count: 16 << 20)
    for _ in 0..<4 { #expect(try bench.submit(0x01, data: piece) == []) }
    #expect(throws: USBIPError.tooMany) { try bench.submit(0x01, data: [0]) }
  }

  @Test func aFaultFailsOneTransferOnly() throws {
    var bench = Bench(.bulk)
    #expect(bench.act { $0.failTransfer(replies: &$1) } == [])
    #expect(try bench.submit(0x81, length: 64) == [.failed(1, -71)])
    for _ in 0..<2 { #expect(try bench.submit(0x81, length: 64) == []) }
    #expect(bench.act { $0.failTransfer(replies: &$1) } == [.failed(2, -71)])
    #expect(bench.send([1]) == [.done(3, [1])], "one transfer and no more")
  }
}
