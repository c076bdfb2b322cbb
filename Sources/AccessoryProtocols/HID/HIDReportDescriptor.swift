// SPDX-License-Identifier: Apache-2.0

/// What a HID device says of its reports: which values they have, and where (HID 1.11, 6.2.2).
///
/// The descriptor comes from the device and may be cut or wrong. What can be read of it is here, and `damage` says what can't.
public struct HIDReportDescriptor: Sendable, Hashable {
  /// A report, of which the fields tell the values.
  public struct Report: Sendable, Hashable {
    /// Who sends it.
    public let kind: HIDReportField.Kind
    /// Its number; 0 where the device doesn't number its reports.
    public let number: UInt8

    /// The report `number` of `kind`.
    public init(kind: HIDReportField.Kind, number: UInt8) {
      (self.kind, self.number) = (kind, number)
    }
  }

  /// The most bytes that are read of a descriptor. Its length has two bytes in the HID descriptor.
  public static let sizeLimit = 65_535
  /// The longest report, in bits: what Linux takes (HID_MAX_BUFFER_SIZE).
  public static let reportLimit = 8 * 16_384
  /// The most fields that are kept.
  public static let fieldLimit = 4_096

  /// The values, in the order of the descriptor. Arrays, of which keyboards make use, and values of more than
  /// `HIDReportField.widthLimit` bits have none.
  public internal(set) var fields: [HIDReportField] = []
  /// The outermost collections of the kind "application", in the order of the descriptor: 0084:0004 is a UPS.
  public internal(set) var applications: [HIDUsage] = []
  /// Whether reports begin with their number.
  public internal(set) var hasNumberedReports = false
  /// How many bits each report has, without its number.
  public internal(set) var sizes: [Report: Int] = [:]
  /// The first thing that is wrong with the descriptor, in words, with the place; nil if nothing is. What stands before it was read.
  public internal(set) var damage: String?

  /// Reads the bytes of a descriptor.
  public init(_ bytes: some Collection<UInt8>) {
    var reader = HIDItemReader(Array(bytes.prefix(Self.sizeLimit)))
    var state = HIDParserState()
    while let item = reader.next() {
      do throws(HIDParserState.Problem) {
        try state.take(item, into: &self)
      } catch {
        damage = "byte \(item.offset): \(error.text)"
        return
      }
    }
    if let cut = reader.cut {
      damage = "it ends in the item at byte \(cut)"
    } else if state.isInsideCollection {
      damage = "it ends inside a collection"
    } else if sizes.isEmpty {
      damage = "it describes no report"
    }
  }

  /// How many bytes the report has, with its number, which is there also where it is 0; nil where the descriptor has no such report.
  public func byteCount(of report: Report) -> Int? { sizes[report].map { ($0 + 7) / 8 + 1 } }

  /// The first field of this kind and path.
  public func field(_ kind: HIDReportField.Kind, _ path: [HIDUsage]) -> HIDReportField? {
    fields.first { $0.kind == kind && $0.path == path }
  }
}
