// SPDX-License-Identifier: Apache-2.0

/// The parts of replies that all our HTTP servers have.
package enum HTTPAnswer {
  /// The head of a reply, including the empty line at its end. `count` is the length of the body in bytes; nil for a body that
  /// lasts until the connection closes. `fields` are further fields, each without its line end.
  package static func head(
    _ status: String = "200 OK", type: String, count: Int?, fields: [String] = []
  ) -> String {
    var lines = ["HTTP/1.1 \(status)", "Content-Type: \(type)"]
    if let count { lines.append("Content-Length: \(count)") }
    lines += ["Connection: close", "X-Content-Type-Options: nosniff"] + fields
    return lines.joined(separator: "\r\n") + "\r\n\r\n"
  }

  /// The reply to a refused request: its reason as text. `advice` says what to do.
  package static func refusal(
    _ refusal: HTTPRequest.Refusal, _ advice: String? = nil, fields: [String] = []
  ) -> String {
    let text = refusal.phrase + (advice.map { ": \($0)" } ?? "") + "\n"
    let fields = fields + (refusal == .methodNotAllowed ? ["Allow: GET, HEAD"] : [])
    return head(
      "\(refusal.rawValue) \(refusal.phrase)", type: "text/plain; charset=utf-8", count: text.utf8.count,
      fields: fields) + text
  }
}
