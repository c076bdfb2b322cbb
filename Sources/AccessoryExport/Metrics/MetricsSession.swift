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
  private var reader = HTTPHeadReader()

  /// `times` returns the time on the snapshot's clock, and the same moment in seconds since 1970.
  package init(
    hosts: HostNames, version: String, times: @escaping @Sendable () -> (now: MonotonicTime, wallClock: Double)
  ) {
    (self.hosts, self.version, self.times) = (hosts, version, times)
  }

  package var login: ExportLogin? { nil }
  package var timeout: [UInt8] { reader.isDone ? [] : Self.refusal(.requestTimeout).bytes }

  package mutating func take(_ bytes: [UInt8]) { reader.take(bytes) }

  package mutating func next() -> Request? { reader.next() }

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
      let head = HTTPAnswer.head(
        type: format.contentType, count: body.count, fields: ["Cache-Control: no-store", "Vary: Accept"])
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
    let advice: String? =
      switch refusal {
      case .notFound: "the metrics are at /metrics"
      case .misdirectedRequest: "this server doesn't know itself by that host; --host NAME names it"
      default: nil
      }
    return ExportAnswer(HTTPAnswer.refusal(refusal, advice), isLast: true)
  }
}
