// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: the report descriptors of HID devices, and reports. The first byte says how long the descriptor is, in
// steps of four bytes; what is behind it is a report.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  let text = bytes.prefix(4 * choice)
  let report = Array(bytes.dropFirst(4 * choice))
  let descriptor = HIDReportDescriptor(text)
  precondition(descriptor.fields.count <= HIDReportDescriptor.fieldLimit)
  precondition(descriptor.sizes.values.allSatisfy { (0...HIDReportDescriptor.reportLimit).contains($0) })
  for field in descriptor.fields {
    let size = descriptor.sizes[HIDReportDescriptor.Report(kind: field.kind, number: field.report)] ?? 0
    precondition(field.offset >= 0 && field.offset + field.width <= size, "a value stands in its report")
    guard let value = field.value(in: report) else { continue }
    precondition(value >= 0 || field.logical.lowerBound < 0, "only a field with a sign is below zero")
    precondition(!field.amount(value).isNaN)
    var copy = report
    if field.put(value, into: &copy) { precondition(field.value(in: copy) == value, "what is written is read") }
    precondition(copy.count == report.count)
  }
  return 0
}
