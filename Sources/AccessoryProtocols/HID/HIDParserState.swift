// SPDX-License-Identifier: Apache-2.0

/// What holds while a report descriptor is read: the global items, those for the next main item, and the collections that are open
/// (HID 1.11, 6.2.2.4 to 6.2.2.8).
struct HIDParserState {
  /// Why the rest of a descriptor can't be read.
  struct Problem: Error {
    let text: String
  }

  /// The deepest collections, and the deepest stack of Push and Pop. Real devices have five and none.
  private static let depthLimit = 64
  /// The most usages that one main item may have.
  private static let usageLimit = 4_096

  /// The items that hold until another of their kind comes.
  private struct Globals {
    var page: UInt16 = 0
    var logicalMinimum: Int64 = 0
    /// Its item: what it means depends on the minimum, which may come behind it.
    var logicalMaximum: HIDItem?
    var physicalMinimum: Int64?
    var physicalMaximum: HIDItem?
    var exponent = 0
    var unit: UInt32 = 0
    var size = 0
    var count = 0
    var report: UInt8 = 0
  }

  /// A usage, of which a short item leaves the page to the page that holds at the main item.
  private struct LocalUsage {
    let item: UInt32
    let hasPage: Bool

    func usage(page: UInt16) -> HIDUsage {
      hasPage ? HIDUsage(extended: item) : HIDUsage(page: page, id: UInt16(truncatingIfNeeded: item))
    }
  }

  private var globals = Globals()
  private var stack: [Globals] = []
  /// What the open collections are, and which ones. One with a number has two places in both.
  private var path: [HIDUsage] = []
  private var collections: [Int] = []
  /// How many places each open collection has, and how many collections there were.
  private var sizes: [Int] = []
  private var collectionCount = 0
  private var usages: [LocalUsage] = []
  private var minimum: LocalUsage?
  /// Inside a set of alternative usages, of which the first counts.
  private var isInDelimiter = false
  private var hasUsageOfDelimiter = false

  var isInsideCollection: Bool { !sizes.isEmpty }

  /// Regards one item, and adds to `descriptor` what it completes.
  mutating func take(_ item: HIDItem, into descriptor: inout HIDReportDescriptor) throws(Problem) {
    switch item.kind {
    case .main: try takeMain(item, into: &descriptor)
    case .global: try takeGlobal(item, into: &descriptor)
    case .local: try takeLocal(item)
    case .reserved: throw Problem(text: "an item of the reserved kind")
    }
  }

  // MARK: Main items

  private mutating func takeMain(_ item: HIDItem, into descriptor: inout HIDReportDescriptor) throws(Problem) {
    switch item.tag {
    case 0x8: try add(.input, item.unsigned, to: &descriptor)
    case 0x9: try add(.output, item.unsigned, to: &descriptor)
    case 0xB: try add(.feature, item.unsigned, to: &descriptor)
    case 0xA:
      guard sizes.count < Self.depthLimit else {
        throw Problem(text: "more than \(Self.depthLimit) collections inside each other")
      }
      let usage = usages.first?.usage(page: globals.page) ?? HIDUsage(page: globals.page, id: 0)
      // 1 is the kind "application".
      if sizes.isEmpty, item.unsigned == 1, descriptor.applications.count < Self.depthLimit {
        descriptor.applications.append(usage)
      }
      // Makers put a collection's number among its like into the vendors' kinds, 0x80 and more; others into a collection of its own.
      let number = (0x80...0xFF).contains(item.unsigned) ? [HIDUsage.number(UInt16(item.unsigned & 0x7F))] : []
      path += [usage] + number
      collections += [Int](repeating: collectionCount, count: 1 + number.count)
      sizes.append(1 + number.count)
      collectionCount += 1
    case 0xC:
      guard let size = sizes.popLast() else { throw Problem(text: "the end of a collection that wasn't begun") }
      path.removeLast(size)
      collections.removeLast(size)
    default: break  // reserved
    }
    usages = []
    minimum = nil
    (isInDelimiter, hasUsageOfDelimiter) = (false, false)
  }

  /// Adds the values of a main item, which has these `flags`.
  private func add(
    _ kind: HIDReportField.Kind, _ flags: UInt32, to descriptor: inout HIDReportDescriptor
  ) throws(Problem) {
    let report = HIDReportDescriptor.Report(kind: kind, number: globals.report)
    let start = descriptor.sizes[report, default: 0]
    let (bits, isTooMuch) = globals.size.multipliedReportingOverflow(by: globals.count)
    guard !isTooMuch, bits <= HIDReportDescriptor.reportLimit - start else {
      throw Problem(
        text: "report \(globals.report) has more than \(HIDReportDescriptor.reportLimit / 8) bytes:"
          + " \(globals.count) values of \(globals.size) bits")
    }
    descriptor.sizes[report] = start + bits
    // Bit 1 is "variable": without it the values are numbers of usages, which a single value of a single usage can't be meant to be.
    // Constants without a usage fill up.
    guard flags & 2 != 0 || usages.count == 1 && globals.count == 1, !usages.isEmpty,
      (1...HIDReportField.widthLimit).contains(globals.size)
    else { return }
    let said = Self.range(globals.logicalMinimum, globals.logicalMaximum)
    let logical = said ?? Self.range(globals.logicalMinimum, bits: globals.size)
    // Without both ends, with two zeros, and beside a logical range that isn't said, a value means itself.
    let physical = said == nil ? nil : globals.physicalMinimum.flatMap { Self.range($0, globals.physicalMaximum) }
    for index in 0..<globals.count {
      guard descriptor.fields.count < HIDReportDescriptor.fieldLimit else {
        throw Problem(text: "more than \(HIDReportDescriptor.fieldLimit) values")
      }
      // The last usage holds for the values behind it.
      let usage = usages[min(index, usages.count - 1)].usage(page: globals.page)
      descriptor.fields.append(
        HIDReportField(
          kind: kind, report: globals.report, offset: start + index * globals.size, width: globals.size,
          path: path + [usage], collections: collections, logical: logical,
          physical: physical.flatMap { $0.lowerBound < $0.upperBound ? $0 : nil }, exponent: globals.exponent,
          unit: HIDUnit(code: globals.unit), isConstant: flags & 1 != 0))
    }
  }

  /// The range from `minimum` to the number of the item; nil where there is no item, and where it ends before it begins. Makers write
  /// 65535 in two bytes and 255 in one, which are -1 with their sign: a maximum below the minimum is meant without it.
  private static func range(_ minimum: Int64, _ maximum: HIDItem?) -> ClosedRange<Int64>? {
    guard let maximum else { return nil }
    let value = maximum.signed < minimum ? Int64(maximum.unsigned) : maximum.signed
    return minimum <= value ? minimum...value : nil
  }

  /// All numbers of so many bits, with a sign where `minimum` has one.
  private static func range(_ minimum: Int64, bits: Int) -> ClosedRange<Int64> {
    let half: Int64 = 1 << Int64(bits - 1)
    return minimum < 0 ? -half...half - 1 : 0...2 * half - 1
  }

  // MARK: Global items

  private mutating func takeGlobal(_ item: HIDItem, into descriptor: inout HIDReportDescriptor) throws(Problem) {
    switch item.tag {
    case 0x0: globals.page = UInt16(truncatingIfNeeded: item.unsigned)
    case 0x1: globals.logicalMinimum = item.signed
    case 0x2: globals.logicalMaximum = item
    case 0x3: globals.physicalMinimum = item.signed
    case 0x4: globals.physicalMaximum = item
    // Four bits with a sign; some makers write it as a whole byte.
    case 0x5: globals.exponent = Self.exponent(item)
    case 0x6: globals.unit = item.unsigned
    case 0x7: globals.size = Int(item.unsigned)
    case 0x8:
      guard (1...255).contains(item.unsigned) else { throw Problem(text: "a report of the number \(item.unsigned)") }
      globals.report = UInt8(item.unsigned)
      descriptor.hasNumberedReports = true
    case 0x9: globals.count = Int(item.unsigned)
    case 0xA:
      guard stack.count < Self.depthLimit else { throw Problem(text: "more than \(Self.depthLimit) items Push") }
      stack.append(globals)
    case 0xB:
      guard let last = stack.popLast() else { throw Problem(text: "a Pop without a Push") }
      globals = last
    default: break  // reserved
    }
  }

  private static func exponent(_ item: HIDItem) -> Int {
    guard item.unsigned > 0xF else { return item.unsigned < 8 ? Int(item.unsigned) : Int(item.unsigned) - 16 }
    return Int(max(-16, min(15, item.signed)))
  }

  // MARK: Local items

  private mutating func takeLocal(_ item: HIDItem) throws(Problem) {
    let usage = LocalUsage(item: item.unsigned, hasPage: item.size == 4)
    switch item.tag {
    case 0x0:
      if isInDelimiter, hasUsageOfDelimiter { return }
      hasUsageOfDelimiter = isInDelimiter
      try add(usage)
    case 0x1: minimum = usage
    case 0x2:
      guard let first = minimum else { return }
      minimum = nil
      guard first.item <= usage.item, usage.item - first.item < UInt32(Self.usageLimit) else {
        // Ranges of arrays may have all usages of a page; no value has its place in them.
        try add(first)
        return
      }
      for number in first.item...usage.item {
        try add(LocalUsage(item: number, hasPage: first.hasPage || usage.hasPage))
      }
    case 0xA: (isInDelimiter, hasUsageOfDelimiter) = (item.unsigned == 1, false)
    default: break  // designators and strings
    }
  }

  private mutating func add(_ usage: LocalUsage) throws(Problem) {
    guard usages.count < Self.usageLimit else { throw Problem(text: "more than \(Self.usageLimit) usages") }
    usages.append(usage)
  }
}
