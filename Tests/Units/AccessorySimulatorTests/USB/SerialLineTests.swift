// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessorySimulator

/// What hosts ask of simulated serial lines, as the kernel's drivers ask it.
@Suite struct SerialLineTests {
  @Test func aModemsLineCodingIsSetAndReadBack() throws {
    var bench = Bench(.modem)
    #expect(try bench.control(0xA1, 0x21, length: 7)?.data == [0x80, 0x25, 0, 0, 0, 0, 8])
    // 115200 baud, 7 data bits, even parity, 2 stop bits.
    let coding: [UInt8] = [0x00, 0xC2, 0x01, 0x00, 2, 2, 7]
    #expect(try bench.control(0x21, 0x20, data: coding) == .done(bench.kernel.sequence, count: 7))
    #expect(bench.device.line == HostLineSettings(baudRate: 115_200, dataBits: 7, parity: .even, stopBits: 2))
    #expect(try bench.control(0xA1, 0x21, length: 7)?.data == coding)
    for bad: [UInt8] in [[], [0, 0, 0, 0, 3, 0, 8], [0, 0, 0, 0, 0, 5, 8], [0, 0, 0, 0, 0, 0, 9], coding + [0]] {
      #expect(try bench.control(0x21, 0x20, data: bad)?.status == -32)
    }
    #expect(bench.device.line?.baudRate == 115_200)
  }

  @Test func aModemsLinesAndBreaksAreSet() throws {
    var bench = Bench(.modem)
    #expect(try bench.control(0x21, 0x22, value: 3)?.status == 0)
    #expect(bench.device.line?.dtr == true)
    #expect(bench.device.line?.rts == true)
    #expect(try bench.control(0x21, 0x22, value: 2)?.status == 0)
    #expect(bench.device.line?.dtr == false)
    #expect(try bench.control(0x21, 0x23, value: 0xFFFF)?.status == 0)
    #expect(bench.device.line?.isBreak == true)
    #expect(try bench.control(0x21, 0x23, value: 0)?.status == 0)
    #expect(bench.device.line?.isBreak == false)
    #expect(try bench.control(0x21, 0x23, value: 250)?.status == 0)
    #expect(bench.device.line?.breaks == 2)
    #expect(try bench.control(0x21, 0x22, value: 3, index: 1)?.status == -32, "the other interface")
  }

  /// The carrier is told as soon as the device is in use, and again for the next user.
  @Test func theCarrierIsToldToEachUser() throws {
    var bench = Bench(.modem)
    let notice: [UInt8] = [0xA1, 0x20, 0, 0, 0, 0, 2, 0, 3, 0]
    #expect(try bench.submit(0x82, length: 16) == [])
    let parked = bench.kernel.sequence
    let replies = try bench.give(bench.kernel.control(0x00, 9, value: 1))
    #expect(replies.contains(.done(parked, notice)))
    #expect(try bench.submit(0x82, length: 16) == [])
  }

  /// What a program didn't read before it closed the port is not for the next one.
  @Test func hangingUpDropsWhatWasNotRead() throws {
    var bench = Bench(.modem)
    _ = try bench.control(0x21, 0x22, value: 3)
    #expect(bench.send([1, 2, 3]) == [])
    _ = try bench.control(0x21, 0x22, value: 1)
    #expect(bench.device.unsentCount == 3)
    _ = try bench.control(0x21, 0x22, value: 0)
    #expect(bench.device.unsentCount == 0)
  }

  /// Divisors as the driver makes them of these rates for this chip.
  @Test(
    arguments: [
      (0x4138, 0, 9_600), (0x001A, 0, 115_385), (0x0003, 0, 1_000_000), (0x0000, 0, 3_000_000), (0x0001, 0, 2_000_000),
      (0x2710, 0, 300), (0x809C, 0, 19_200), (0xC04E, 0, 38_400), (0x0001, 1, 2_181_818),
    ] as [(UInt16, UInt16, UInt32)])
  func divisorsOfAnFTDIAdapterGiveTheirRates(value: UInt16, index: UInt16, rate: UInt32) throws {
    var bench = Bench(.ftdi)
    #expect(try bench.control(0x40, 3, value: value, index: index)?.status == 0)
    #expect(bench.device.line?.baudRate == rate)
  }

  @Test func anFTDIAdaptersLineIsSet() throws {
    var bench = Bench(.ftdi)
    #expect(try bench.control(0x40, 0)?.status == 0)
    #expect(try bench.control(0x40, 4, value: 7 | 2 << 8 | 2 << 11)?.status == 0)
    #expect(bench.device.line?.dataBits == 7)
    #expect(bench.device.line?.parity == .even)
    #expect(bench.device.line?.stopBits == 2)
    #expect(try bench.control(0x40, 4, value: 8 | 0x4000)?.status == 0)
    #expect(bench.device.line?.isBreak == true)
    #expect(try bench.control(0x40, 4, value: 8)?.status == 0)
    #expect(bench.device.line?.breaks == 1)
    #expect(try bench.control(0x40, 4, value: 5)?.status == -32)
    // Each line has a bit that says whether it is meant.
    #expect(try bench.control(0x40, 1, value: 0x0303)?.status == 0)
    #expect(try bench.control(0x40, 1, value: 0x0100)?.status == 0)
    #expect(bench.device.line?.dtr == false)
    #expect(bench.device.line?.rts == true)
    #expect(try bench.control(0xC0, 5, length: 2)?.data == [0xB1, 0x60])
    #expect(try bench.control(0xC0, 10, length: 1)?.data == [16])
    #expect(try bench.control(0x40, 9, value: 1)?.status == 0)
    #expect(try bench.control(0xC0, 10, length: 1)?.data == [1])
    #expect(try bench.control(0xC0, 0x90, length: 2)?.data == [0, 0])
  }
}
