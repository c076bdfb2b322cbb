// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessorySimulator

/// USB/IP's bytes, against the kernel's documentation.
@Suite struct USBIPTests {
  private func words(_ text: String) -> [UInt8] {
    text.split(separator: " ").flatMap { word in
      let number = UInt32(word, radix: 16) ?? 0
      return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
  }

  private func decode(_ bytes: [UInt8], piece: Int = .max) throws -> [USBIPRequest] {
    var decoder = USBIPDecoder()
    var requests: [USBIPRequest] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      decoder.append(Array(rest.prefix(piece)))
      rest = rest.dropFirst(piece)
      while let request = try decoder.next() { requests.append(request) }
      #expect(decoder.keptCount < 48 + 1_024)
    }
    #expect(decoder.keptCount == 0)
    return requests
  }

  /// "CmdIntrIN" of Documentation/usb/usbip_protocol.rst: 64 bytes from endpoint 1.
  private let capturedIn =
    "00000001 00000d05 0001000f 00000001 00000001 00000200 00000040 ffffffff 00000000 00000004 00000000 00000000"

  @Test func theTransferInTheDocumentationIsDecoded() throws {
    #expect(
      try decode(words(capturedIn)) == [
        .submit(
          USBIPTransfer(sequence: 0xD05, endpoint: 0x81, flags: USBIPTransferFlags(rawValue: 0x200), length: 64))
      ])
  }

  @Test(arguments: [1, 7, 47, 48, 49, .max]) func requestsMayComeInAnyPieces(piece: Int) throws {
    var kernel = TestKernel()
    let wire =
      kernel.control(0x80, 6, value: 0x0100, length: 18) + kernel.submit(0x01, data: Array(0...200))
      + kernel.unlink(2) + kernel.submit(0x01) + kernel.submit(0x82, length: 16, packets: .max)
    let requests = try decode(wire, piece: piece)
    #expect(
      requests == [
        .submit(
          USBIPTransfer(
            sequence: 1, endpoint: 0x80, length: 18,
            setup: USBSetup(requestType: 0x80, request: 6, value: 0x0100, index: 0, length: 18))),
        .submit(USBIPTransfer(sequence: 2, endpoint: 0x01, length: 201, data: Array(0...200))),
        .unlink(sequence: 3, target: 2),
        .submit(USBIPTransfer(sequence: 4, endpoint: 0x01, length: 0)),
        .submit(USBIPTransfer(sequence: 5, endpoint: 0x82, length: 16)),
      ])
  }

  @Test func repliesOfUSBIPHaveTheirBytes() {
    var bytes: [UInt8] = []
    USBIPReply.submit(sequence: 0xD05, status: .done, count: 2, data: [0xAA, 0xBB]).encode(into: &bytes)
    #expect(bytes == words("3 d05 0 0 0 0 2 0 0 0 0 0") + [0xAA, 0xBB])
    bytes = []
    USBIPReply.submit(sequence: 7, status: .stall, count: 0).encode(into: &bytes)
    #expect(bytes == words("3 7 0 0 0 ffffffe0 0 0 0 0 0 0"))
    bytes = []
    USBIPReply.unlink(sequence: 8, status: .cancelled).encode(into: &bytes)
    #expect(bytes == words("4 8 0 0 0 ffffff98 0 0 0 0 0 0"))
    #expect(bytes.count == 48)
  }

  @Test(arguments: [
    ("00000003 1 1 0 0 0 0 0 0 0 0 0", USBIPError.unknownCommand(3)),
    ("00000001 1 1 2 1 0 0 0 0 0 0 0", .badDirection(2)),
    ("00000001 1 1 1 10 0 0 0 0 0 0 0", .badEndpoint(16)),
    ("00000001 1 1 0 1 0 ffffffff 0 0 0 0 0", .tooLong(.max)),
    ("00000001 1 1 1 1 0 1000001 0 0 0 0 0", .tooLong(0x1000001)),
    ("00000001 1 1 1 1 0 40 0 8 0 0 0", .isochronous),
  ]) func aSenselessHeaderEndsTheDecoding(header: String, error: USBIPError) {
    var decoder = USBIPDecoder()
    decoder.append(words(header))
    #expect(throws: error) { try decoder.next() }
    // There is no way back, whatever comes.
    decoder.append(words(capturedIn))
    #expect(throws: error) { try decoder.next() }
  }

  /// Any bytes at all: an answer or an error, never a trap, and nothing that grows.
  @Test func randomUSBIPRequestsNeverTrap() throws {
    var random = SeededGenerator(seed: 11)
    for round in 0..<400 {
      var bench = Bench(SimulatedUSBIdentity.Kind.allCases[round % 4])
      for _ in 0..<20 {
        // Mostly well-formed headers with senseless contents.
        var words: [UInt32] = (0..<12).map { _ in UInt32(truncatingIfNeeded: random.next()) }
        if round % 10 != 0 {
          words[0] = UInt32.random(in: 1...2, using: &random)
          words[3] = UInt32.random(in: 0...1, using: &random)
          words[4] = UInt32.random(in: 0...3, using: &random)
          words[6] = UInt32.random(in: 0...600, using: &random)
          words[8] = 0
        }
        var bytes = words.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
        if words[0] == 1, words[3] == 0 { bytes += [UInt8](repeating: 7, count: Int(min(600, words[6]))) }
        do { _ = try bench.give(bytes) } catch is USBIPError { break }
        _ = bench.send([1, 2, 3])
        _ = bench.received()
      }
    }
  }
}
