// SPDX-License-Identifier: Apache-2.0

/// A metric with all its samples.
package struct MetricFamily: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable {
    case gauge, counter
    /// Facts as labels; the value is always 1.
    case info
  }

  /// A sample: labels in order, and a finite number.
  package struct Sample: Sendable, Hashable {
    package var labels: [Label]
    package var value: Double
  }

  package struct Label: Sendable, Hashable {
    package var name: String
    package var value: String
  }

  /// The name without the suffix that samples of its kind have: `_total`, `_info`.
  package let name: String
  package let kind: Kind
  /// The base unit, which is also the end of the name; nil if there is none.
  package let unit: String?
  package let help: String
  package private(set) var samples: [Sample] = []

  package init(_ name: String, _ kind: Kind = .gauge, unit: String? = nil, help: String) {
    (self.name, self.kind, self.unit, self.help) = (name, kind, unit, help)
  }

  /// Adds a sample. Drops a sample that isn't finite or has the labels of another: a scraper would reject the whole page.
  mutating func add(_ value: Double?, _ labels: [Label]) {
    guard let value, value.isFinite else { return }
    samples.append(Sample(labels: labels, value: value))
  }
}

/// The text formats of Prometheus and others.
package enum MetricsFormat: Sendable, Hashable {
  /// Prometheus text format 0.0.4.
  case prometheus
  /// OpenMetrics 1.0.
  case openMetrics

  /// The media type.
  package var contentType: String {
    switch self {
    case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    }
  }

  /// The metrics as text. Families without samples are left out.
  package func text(_ families: [MetricFamily]) -> String {
    var text = ""
    for family in families where !family.samples.isEmpty {
      let isOpen = self == .openMetrics
      let suffix = family.kind == .counter ? "_total" : family.kind == .info ? "_info" : ""
      let name = family.name + suffix
      // OpenMetrics uses the name of the family here; the Prometheus format uses the name of its samples.
      let title = isOpen ? family.name : name
      let kind = !isOpen && family.kind == .info ? "gauge" : family.kind.rawValue
      text += "# HELP \(title) \(Self.escaped(family.help, quotes: isOpen))\n# TYPE \(title) \(kind)\n"
      if isOpen, let unit = family.unit { text += "# UNIT \(title) \(unit)\n" }
      for sample in family.samples {
        text += name
        if !sample.labels.isEmpty {
          let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
          text += "{" + labels.joined(separator: ",") + "}"
        }
        text += " \(Self.number(sample.value))\n"
      }
    }
    return self == .openMetrics ? text + "# EOF\n" : text
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Formats a finite number. Whole numbers have no decimal point.
  private static func number(_ value: Double) -> String {
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return String(whole) }
    return "\(value)"
  }
}
