// SPDX-License-Identifier: Apache-2.0

import AccessoryExport
import CommandOutput

/// All readings as metrics, for `export metrics --once --json`.
struct MetricsDocument: Encodable {
  struct Metric: Encodable {
    struct Sample: Encodable {
      let labels: [String: String]
      let value: Double
    }

    let name: String
    /// "gauge", "counter" or "info".
    let kind: String
    let unit: String?
    let help: String
    let samples: [Sample]
  }

  let document = DocumentKind.metrics
  let schema = DocumentSchema.name
  let time = WallClock.seconds
  let metrics: [Metric]

  init(_ families: [MetricFamily]) {
    metrics = families.filter { !$0.samples.isEmpty }.map { family in
      Metric(
        name: family.name, kind: family.kind.rawValue, unit: family.unit, help: family.help,
        samples: family.samples.map { sample in
          Metric.Sample(
            labels: Dictionary(sample.labels.map { ($0.name, $0.value) }) { first, _ in first }, value: sample.value)
        })
    }
  }
}
