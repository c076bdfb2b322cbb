// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import Testing

@Suite struct HIDTextTests {
  private func text(_ report: [UInt8]) -> [UInt8] { Array(report.prefix(HIDText.textCount(in: report))) }

  @Test func aLineIsCutIntoReports() {
    #expect(HIDText.reports(of: Array("Q1\r".utf8)) == [[0x51, 0x31, 0x0D, 0, 0, 0, 0, 0]])
    #expect(HIDText.reports(of: Array("QPIGS12".utf8) + [0x0D]) == [Array("QPIGS12\r".utf8)])
    let long = Array("POP00...\r".utf8)
    #expect(HIDText.reports(of: long) == [Array(long[..<8]), [0x0D, 0, 0, 0, 0, 0, 0, 0]])
    #expect(HIDText.reports(of: []).isEmpty)
    #expect(HIDText.reports(of: [1, 2], size: 0) == [[1], [2]])
  }

  /// Zeros behind the end of a line are no text; a checksum may have one, also as a report's last byte.
  @Test func whatFillsAReportIsNoText() {
    #expect(text([0x32, 0x0D, 0, 0, 0, 0, 0, 0]) == [0x32, 0x0D])
    for whole: [UInt8] in [
      [0x28, 0x50, 0x49, 0x33, 0x30, 0x9A, 0x00, 0x0D], [0x28, 0x50, 0x49, 0x33, 0x30, 0x9A, 0x0B, 0x00],
    ] { #expect(text(whole) == whole) }
    #expect(text([0x0D, 0x28, 0x32, 0x32, 0x30, 0x2E, 0x30, 0x20]).count == 8)
    for size in [0, 1, 8, 64, 4_096] { #expect(text([UInt8](repeating: 0, count: size)).isEmpty) }
    #expect(text([0x0D]) == [0x0D])
  }

  private func descriptor(page: UInt16, count: UInt8, number: UInt8? = nil) -> HIDReportDescriptor {
    HIDReportDescriptor(
      [0x06, UInt8(page & 0xFF), UInt8(page >> 8), 0x09, 0x06, 0xA1, 0x01] + (number.map { [0x85, $0] } ?? [])
        + [0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x95, count, 0x09, 0x01, 0x81, 0x02, 0xC0])
  }

  /// A keyboard has reports of 8 bytes without numbers, too.
  @Test func onlyTheVendorsOwnReportsOfEightBytesMayCarryText() {
    #expect(HIDText.mayBeIn(reportsOf: descriptor(page: 0xFFA0, count: 8)))
    #expect(!HIDText.mayBeIn(reportsOf: descriptor(page: 0x0001, count: 8)))
    #expect(!HIDText.mayBeIn(reportsOf: descriptor(page: 0x0084, count: 8)))
    #expect(!HIDText.mayBeIn(reportsOf: descriptor(page: 0xFF00, count: 9)))
    #expect(!HIDText.mayBeIn(reportsOf: descriptor(page: 0xFF00, count: 8, number: 1)))
    #expect(!HIDText.mayBeIn(reportsOf: HIDReportDescriptor([])))
  }
}
