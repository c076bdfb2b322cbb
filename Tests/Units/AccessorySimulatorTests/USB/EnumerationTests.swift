// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessorySimulator

/// What a host asks of a device that it has found.
@Suite struct EnumerationTests {
  @Test func aDeviceIsEnumeratedAsByTheKernel() throws {
    var identity = SimulatedUSBIdentity(.bulk)
    (identity.vendorID, identity.productID, identity.release) = (0x1234, 0xABCD, 0x0203)
    (identity.manufacturer, identity.product, identity.serialNumber) = ("Maker", "Thing é𝄞", "S/N 1")
    var bench = Bench(identity)
    // First a few bytes, to learn the packet size; then all.
    let device: [UInt8] = [18, 1, 0, 2, 0, 0, 0, 64, 0x34, 0x12, 0xCD, 0xAB, 3, 2, 1, 2, 3, 1]
    #expect(try bench.control(0x80, 6, value: 0x0100, length: 8)?.data == Array(device.prefix(8)))
    #expect(try bench.control(0x00, 5, value: 7)?.status == 0)
    #expect(try bench.control(0x80, 6, value: 0x0100, length: 18)?.data == device)
    let configuration: [UInt8] = [
      9, 2, 32, 0, 1, 1, 0, 0x80, 50, 9, 4, 0, 0, 2, 0xFF, 0, 0, 0, 7, 5, 0x81, 2, 0, 2, 0, 7, 5, 0x01, 2, 0, 2, 0,
    ]
    #expect(try bench.control(0x80, 6, value: 0x0200, length: 9)?.data == Array(configuration.prefix(9)))
    #expect(try bench.control(0x80, 6, value: 0x0200, length: 255)?.data == configuration)
    #expect(try bench.control(0x80, 6, value: 0x0300, length: 255)?.data == [4, 3, 9, 4])
    #expect(try bench.control(0x80, 6, value: 0x0301, index: 0x0409, length: 255)?.data == text("Maker"))
    #expect(try bench.control(0x80, 6, value: 0x0302, index: 0x0409, length: 255)?.data == text("Thing é𝄞"))
    #expect(try bench.control(0x80, 6, value: 0x0303, index: 0x0409, length: 255)?.data == text("S/N 1"))
    #expect(try bench.control(0x80, 8, length: 1)?.data == [0])
    #expect(try bench.control(0x00, 9, value: 1)?.status == 0)
    #expect(try bench.control(0x80, 8, length: 1)?.data == [1])
    #expect(try bench.control(0x80, 0, length: 2)?.data == [0, 0])
  }

  private func text(_ text: String) -> [UInt8] {
    let units = Array(text.utf16)
    return [UInt8(2 + 2 * units.count), 3] + units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
  }

  @Test(arguments: SimulatedUSBIdentity.Kind.allCases) func everythingIsAsLongAsItSays(kind: SimulatedUSBIdentity.Kind)
    throws
  {
    var bench = Bench(kind)
    let data = try bench.control(0x80, 6, value: 0x0200, length: 4_096)?.data ?? []
    #expect(data.count == Int(data[2]) | Int(data[3]) << 8)
    var (rest, interfaces, endpoints, promised) = (data[...], 0, 0, 0)
    while let length = rest.first {
      try #require(length >= 2 && rest.count >= Int(length))
      let kind = rest[rest.startIndex + 1]
      if kind == 4 {
        interfaces += 1
        promised += Int(rest[rest.startIndex + 4])
      }
      if kind == 5 { endpoints += 1 }
      rest = rest.dropFirst(Int(length))
    }
    #expect(interfaces == Int(data[4]))
    #expect(endpoints == promised)
    // A high-speed device says that it is nothing else; a full-speed one has nothing to say.
    let qualifier = try bench.control(0x80, 6, value: 0x0600, length: 10)
    #expect(kind == .ftdi ? qualifier?.status == -32 : qualifier?.data.last == 0 && qualifier?.data.count == 10)
  }

  /// A string that is too long ends before the character that doesn't fit.
  @Test func aLongStringEndsAtAWholeCharacter() {
    let long = USBDescriptor.string(String(repeating: "a", count: 125) + "𝄞b")
    #expect(long.count == 2 + 2 * 125)
    #expect(Int(long[0]) == long.count)
    #expect(USBDescriptor.string(String(repeating: "a", count: 300)).count == 254)
    #expect(USBDescriptor.string("") == [2, 3])
  }

  @Test func whatThereIsNotIsStalled() throws {
    var bench = Bench(.bulk)
    let requests: [(UInt8, UInt8, UInt16, UInt16)] = [
      (0x80, 6, 0x0304, 0), (0x80, 6, 0x0201, 0), (0x80, 6, 0x0F00, 0), (0x00, 9, 2, 0), (0x01, 11, 1, 0),
      (0x01, 11, 0, 5), (0x82, 0, 0, 0x83), (0x02, 1, 0, 0x44), (0x02, 3, 0, 0x44), (0x00, 3, 2, 0x100),
      (0xC0, 1, 0, 0),
      (0x21, 0x22, 3, 0), (0x60, 0, 0, 0), (0x81, 6, 0x2200, 0),
    ]
    for (type, request, value, index) in requests {
      let length: UInt16 = type & 0x80 == 0 ? 0 : 2
      #expect(try bench.control(type, request, value: value, index: index, length: length)?.status == -32)
    }
    #expect(try bench.submit(0x83, length: 64) == [.failed(bench.kernel.sequence, -32)])
    #expect(try bench.submit(0x05, data: [1]) == [.failed(bench.kernel.sequence, -32)])
  }

  @Test func aHaltedEndpointFailsUntilItIsCleared() throws {
    var bench = Bench(.bulk)
    #expect(try bench.submit(0x81, length: 64) == [])
    let parked = bench.kernel.sequence
    #expect(bench.act { $0.stall(replies: &$1) } == [.failed(parked, -32)])
    #expect(try bench.control(0x82, 0, index: 0x81, length: 2)?.data == [1, 0])
    #expect(try bench.control(0x82, 0, index: 0x01, length: 2)?.data == [0, 0])
    #expect(bench.send([5]) == [])
    #expect(try bench.submit(0x81, length: 64) == [.failed(bench.kernel.sequence, -32)])
    #expect(try bench.control(0x02, 1, index: 0x81)?.status == 0)
    #expect(try bench.control(0x82, 0, index: 0x81, length: 2)?.data == [0, 0])
    #expect(try bench.submit(0x81, length: 64) == [.done(bench.kernel.sequence, [5])])
    // A host may halt one too; a new configuration ends all that.
    #expect(try bench.control(0x02, 3, index: 0x01)?.status == 0)
    #expect(try bench.submit(0x01, data: [1]) == [.failed(bench.kernel.sequence, -32)])
    #expect(try bench.control(0x00, 9, value: 1)?.status == 0)
    #expect(try bench.submit(0x01, data: [1]) == [.done(bench.kernel.sequence, count: 1)])
    #expect(bench.received() == [1])
  }

  @Test func aDeviceOfReportsAnswersHIDRequests() throws {
    var bench = Bench(.reports)
    let report = try bench.control(0x81, 6, value: 0x2200, length: 4_096)?.data
    // Vendor page, collection, 8-bit values, 1024 in and 1024 out, end.
    #expect(
      report == [
        0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x96, 0x00, 0x04, 0x09,
        0x01, 0x81, 0x02, 0x96, 0x00, 0x04, 0x09, 0x01, 0x91, 0x02, 0xC0,
      ])
    let hid = try bench.control(0x81, 6, value: 0x2100, length: 9)?.data
    #expect(hid == [9, 0x21, 0x11, 0x01, 0, 1, 0x22, UInt8(report?.count ?? 0), 0])
    #expect(try bench.control(0x21, 0x0A, value: 0x0700)?.status == 0)
    #expect(try bench.control(0xA1, 0x02, length: 1)?.data == [7])
    #expect(try bench.control(0xA1, 0x03, length: 1)?.data == [1])
    #expect(try bench.control(0x21, 0x0B, value: 0)?.status == 0)
    #expect(try bench.control(0xA1, 0x03, length: 1)?.data == [0])
    #expect(try bench.control(0x21, 0x09, value: 0x0200, data: [1, 2, 3])?.status == 0)
    #expect(bench.received() == [1, 2, 3])
  }
}
