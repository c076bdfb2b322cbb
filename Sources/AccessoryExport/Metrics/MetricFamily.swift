// SPDX-License-Identifier: Apache-2.0

/// A metric with all its samples.
package struct MetricFamily: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable {
    case gauge, counter
    /// Facts in labels; the value is 1.
    case info
  }

  /// A sample: labels in their order, and a finite number.
  package struct Sample: Sendable, Hashable {
    package var labels: [Label]
    package var value: Double
  }

  package struct Label: Sendable, Hashable {
    package var name: String
    package var value: String
  }

  /// The name without the suffix that its kind has in samples: `_total`, `_info`.
  package let name: String
  package let kind: Kind
  /// The base unit, which the name ends with; nil where there is none.
  package let unit: String?
  package let help: String
  package private(set) var samples: [Sample] = []

  package init(_ name: String, _ kind: Kind = .gauge, unit: String? = nil, help: String) {
    (self.name, self.kind, self.unit, self.help) = (name, kind, unit, help)
  }

  /// Adds a sample. One that isn't finite, or whose labels another has, is left out: a scraper would refuse all.
  mutating func add(_ value: Double?, _ labels: [Label]) {
    guard let value, value.isFinite else { return }
    samples.append(Sample(labels: labels, value: value))
  }
}

/// The texts in which Prometheus and others read metrics.
package enum MetricsFormat: Sendable, Hashable {
  /// Prometheus text 0.0.4.
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
      // OpenMetrics calls the family by its name, Prometheus' own text by that of its samples.
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

  /// A finite number; whole ones without a decimal point.
  private static func number(_ value: Double) -> String {
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return String(whole) }
    return "\(value)"
  }
}
