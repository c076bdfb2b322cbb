// SPDX-License-Identifier: Apache-2.0

/// Text in the reports of a human interface device, in both directions: UPSs and inverters with a USB chip in front of their serial line
/// (0665:5161 and its relatives) carry their text protocols so. Reports have no numbers and a fixed size. A line ends with a carriage
/// return, and the rest of its last report is zeros.
package enum HIDText {
  /// The usual size of a report, in bytes.
  package static let reportSize = 8
  /// The vendors' own usage pages begin here.
  private static let vendorPages: UInt16 = 0xFF00
  private static let carriageReturn: UInt8 = 0x0D

  /// Whether a device's reports have the form of those that carry text: the vendor's own, of 8 bytes, without numbers. Devices of many
  /// other kinds have such reports, too.
  package static func mayBeIn(reportsOf descriptor: HIDReportDescriptor) -> Bool {
    let input = HIDReportDescriptor.Report(kind: .input, number: 0)
    return !descriptor.hasNumberedReports && descriptor.sizes[input] == 8 * reportSize
      && descriptor.applications.first.map { $0.page >= vendorPages } ?? false
  }

  /// The reports that carry these bytes, the last of them filled with zeros.
  package static func reports(of bytes: some Collection<UInt8>, size: Int = reportSize) -> [[UInt8]] {
    var (reports, rest, size) = ([[UInt8]](), bytes[...], max(1, size))
    while !rest.isEmpty {
      var report = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      report += repeatElement(0, count: size - report.count)
      reports.append(report)
    }
    return reports
  }

  /// How many of a report's bytes are text: all without the zeros behind the end of a line, and none of a report of zeros. A zero elsewhere
  /// counts: a checksum may have one.
  package static func textCount(in report: some BidirectionalCollection<UInt8>) -> Int {
    let count = report.reversed().drop { $0 == 0 }.count
    guard count > 0 else { return 0 }
    let last = report[report.index(report.startIndex, offsetBy: count - 1)]
    return last == carriageReturn ? count : report.count
  }
}
