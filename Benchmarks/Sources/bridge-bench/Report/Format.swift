// SPDX-License-Identifier: Apache-2.0

/// Numbers for people, three digits or so.
enum Format {
  static func number(_ value: Double) -> String {
    if value == value.rounded(), abs(value) < 100_000 { return String(Int(value)) }
    let magnitude = abs(value)
    return fixed(value, digits: magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2)
  }

  static func fixed(_ value: Double, digits: Int) -> String {
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    if digits == 0 { return sign + String(scaled) }
    let fraction = String(scaled % scale)
    return sign + "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
