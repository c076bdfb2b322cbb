// SPDX-License-Identifier: Apache-2.0

extension HTTPRequest {
  /// Whether the client prefers OpenMetrics to the Prometheus text format.
  var wantsOpenMetrics: Bool {
    var (open, plain) = (0.0, 0.0)
    for part in accept.split(separator: ",") {
      let fields = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      guard let type = fields.first else { continue }
      let quality = fields.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      switch type {
      case "application/openmetrics-text":
        let version = fields.first { $0.hasPrefix("version=") }.map { $0.dropFirst(8) } ?? "1.0.0"
        if version == "1.0.0" || version == "0.0.1" { open = max(open, quality) }
      case "text/plain", "text/*": plain = max(plain, quality)
      default: break
      }
    }
    return open > 0 && open >= plain
  }
}
