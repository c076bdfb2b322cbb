// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// An HTTP client that reads metrics, as a value that is given the client's bytes. It sends one request and is disconnected after the
/// reply.
package struct MetricsSession: ExportSession {
  /// The head of a request; nil if it is too long.
  package typealias Request = [UInt8]?

  package static let patience = Duration.seconds(10)

  private let hosts: HostNames
  private let version: String
  private let times: @Sendable () -> (now: MonotonicTime, wallClock: Double)
  private var head: [UInt8] = []
  private var isDone = false

  /// `times` returns the time on the snapshot's clock, and the same moment in seconds since 1970.
  package init(
    hosts: HostNames, version: String, times: @escaping @Sendable () -> (now: MonotonicTime, wallClock: Double)
  ) {
    (self.hosts, self.version, self.times) = (hosts, version, times)
  }

  package var login: ExportLogin? { nil }
  package var timeout: [UInt8] { isDone ? [] : Self.refusal(.requestTimeout).bytes }

  package mutating func take(_ bytes: [UInt8]) { head += bytes.prefix(HTTPRequest.limit + 1) }

  package mutating func next() -> Request? {
    guard !isDone else { return nil }
    if let end = head.firstEnd, end <= HTTPRequest.limit {
      isDone = true
      return Array(head[..<end])
    }
    guard head.count > HTTPRequest.limit else { return nil }
    isDone = true
    return .some(nil)
  }

  /// True only for a request that will be answered with metrics.
  package func needsReadings(_ request: Request) -> Bool { (try? Self.check(request, hosts)) != nil }

  package mutating func answer(
    _ request: Request, from readings: ReadingsSnapshot, logins: [ExportLogin]
  ) -> ExportAnswer {
    do throws(HTTPRequest.Refusal) {
      let request = try Self.check(request, hosts)
      let (now, wallClock) = times()
      let families = AccessoryMetrics.families(readings, now: now, wallClock: wallClock, version: version)
      let format: MetricsFormat = request.wantsOpenMetrics ? .openMetrics : .prometheus
      let body = Array(format.text(families).utf8)
      let head = Self.head("200 OK", format.contentType, body.count, "Cache-Control: no-store\r\nVary: Accept\r\n")
      return ExportAnswer(Array(head.utf8) + (request.method == "HEAD" ? [] : body), isLast: true)
    } catch {
      return Self.refusal(error)
    }
  }

  private static func check(_ head: [UInt8]?, _ hosts: HostNames) throws(HTTPRequest.Refusal) -> HTTPRequest {
    guard let head else { throw .headTooLarge }
    let request = try HTTPRequest(head: head)
    guard hosts.allow(request.host) else { throw .misdirectedRequest }
    guard request.path == "/metrics" else { throw .notFound }
    return request
  }

  private static func refusal(_ refusal: HTTPRequest.Refusal) -> ExportAnswer {
    var text = refusal.phrase
    switch refusal {
    case .notFound: text += ": the metrics are at /metrics"
    case .misdirectedRequest: text += ": this server doesn't know itself by that host; --host NAME names it"
    default: break
    }
    text += "\n"
    let more = refusal == .methodNotAllowed ? "Allow: GET, HEAD\r\n" : ""
    let head = head(
      "\(refusal.rawValue) \(refusal.phrase)", "text/plain; charset=utf-8", text.utf8.count, more)
    return ExportAnswer(head + text, isLast: true)
  }

  private static func head(_ status: String, _ type: String, _ count: Int, _ more: String) -> String {
    "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(count)\r\nConnection: close\r\n"
      + "X-Content-Type-Options: nosniff\r\n\(more)\r\n"
  }
}

extension [UInt8] {
  /// The index after the first empty line.
  fileprivate var firstEnd: Int? {
    guard count >= 4 else { return nil }
    return (4...count).first { self[$0 - 1] == 10 && self[$0 - 2] == 13 && self[$0 - 3] == 10 && self[$0 - 4] == 13 }
  }
}
