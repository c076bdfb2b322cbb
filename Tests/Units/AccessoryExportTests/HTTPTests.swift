// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryExport

/// Requests by HTTP, and who is answered.
struct HTTPTests {
  private func session(_ hosts: [String] = []) -> MetricsSession {
    MetricsSession(hosts: HostNames(hosts), version: "1") { (MonotonicTime(nanoseconds: 0), 1_700_000_000) }
  }

  /// What a session answers to this head; nil when it waits for more.
  private func answer(_ head: String, hosts: [String] = []) -> String? {
    var session = session(hosts)
    session.take(Array(head.utf8))
    guard let request = session.next() else { return nil }
    let answer = session.answer(request, from: .sample(), logins: [])
    #expect(answer.isLast)
    #expect(session.next() == nil)
    return String(decoding: answer.bytes, as: UTF8.self)
  }

  private func status(_ head: String, hosts: [String] = []) -> String? {
    answer(head, hosts: hosts).map { String($0.prefix { $0 != "\r\n" }.dropFirst("HTTP/1.1 ".count)) }
  }

  @Test func metricsAreServedOverHTTP() throws {
    let text = try #require(answer("GET /metrics HTTP/1.1\r\nHost: localhost:9879\r\n\r\n"))
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1)
    let fields = parts[0].split(separator: "\r\n").map(String.init)
    #expect(fields.first == "HTTP/1.1 200 OK")
    #expect(fields.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"))
    #expect(fields.contains("Content-Length: \(parts[1].utf8.count)"))
    #expect(fields.contains("Connection: close"))
    _ = try ExpositionParser(String(parts[1]), .prometheus)
    let open = try #require(
      answer(
        "GET /metrics?x=1 HTTP/1.1\r\nhost: [::1]\r\nAccept: application/openmetrics-text;version=1.0.0,*/*;q=0.1\r\n\r\n"
      ))
    #expect(
      open.contains("application/openmetrics-text; version=1.0.0; charset=utf-8\r\n") && open.hasSuffix("# EOF\n"))
    let head = try #require(answer("HEAD /metrics HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n"))
    #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.hasSuffix("\r\n\r\n") && !head.contains("Content-Length: 0"))
  }

  /// What Prometheus sends is among them.
  @Test(arguments: [
    ("", false), ("*/*", false), ("text/plain", false), ("application/openmetrics-text", true),
    (
      "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
      true
    ),
    ("text/plain;version=0.0.4;q=0.9, application/openmetrics-text; q=0.5", false),
    ("application/openmetrics-text;q=0", false), ("application/openmetrics-text;version=9.0.0", false),
  ])
  func theFormatFollowsTheAcceptHeader(_ accept: String, _ isOpen: Bool) throws {
    let head = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: \(accept)\r\n\r\n"
    #expect(try HTTPRequest(head: Array(head.utf8)).wantsOpenMetrics == isOpen)
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "404 Not Found"),
    ("GET /metrics/x HTTP/1.1\r\nHost: localhost\r\n\r\n", "404 Not Found"),
    ("POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "405 Method Not Allowed"),
    ("BREW /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "405 Method Not Allowed"),
    ("GET /metrics HTTP/2.0\r\nHost: localhost\r\n\r\n", "505 HTTP Version Not Supported"),
    ("GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n", "413 Content Too Large"),
    ("GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", "413 Content Too Large"),
    ("GET /metrics HTTP/1.1\r\n\r\n", "400 Bad Request"),
    ("GET /metrics HTTP/1.1\r\nHost: \r\n\r\n", "400 Bad Request"),
    ("GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400 Bad Request"),
    ("GET http://localhost/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "400 Bad Request"),
    ("GET  /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "400 Bad Request"),
    ("GET /metrics\r\nHost: localhost\r\n\r\n", "400 Bad Request"), ("\r\n\r\n", "400 Bad Request"),
    ("GET /metrics HTTP/1.1\r\nHost : localhost\r\n\r\n", "400 Bad Request"),
    ("GET /metrics HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n", "400 Bad Request"),
    ("GET /metrics HTTP/1.1\nHost: localhost\r\n\r\n", "400 Bad Request"),
    ("GET /metrics HTTP/1.1\r\nHost: local\u{0}host\r\n\r\n", "400 Bad Request"),
    ("GET /metrics HTTP/1.1\rHost: localhost\r\n\r\n", "400 Bad Request"),
    ("GET /\u{1b}metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "400 Bad Request"),
    ("GET /" + String(repeating: "a", count: 9_000), "431 Request Header Fields Too Large"),
  ])
  func aWrongRequestGetsItsHTTPStatus(_ head: String, _ expected: String) { #expect(status(head) == expected) }

  /// Against DNS rebinding.
  @Test(arguments: [
    ("localhost", true), ("LOCALHOST:1", true), ("127.0.0.1:9879", true), ("127.9.9.9", true), ("[::1]:80", true),
    ("gateway.local:9879", true), ("10.0.0.5", true), ("evil.example", false), ("localhost.evil.example", false),
    ("10.0.0.6", false), ("localhost:x", false), ("[::1", false), ("127.0.0.1.evil.example", false), ("[::2]", false),
    ("localhost:80:80", false), (":80", false), ("user@localhost", false),
  ])
  func requestsForForeignHostsAreRefused(_ host: String, _ isAllowed: Bool) {
    let head = "GET /metrics HTTP/1.1\r\nHost: \(host)\r\n\r\n"
    #expect(status(head, hosts: ["gateway.local", "10.0.0.5"]) == (isAllowed ? "200 OK" : "421 Misdirected Request"))
  }

  @Test func aRequestInPiecesIsAnswered() {
    var session = session()
    for byte in "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r".utf8 {
      session.take([byte])
      #expect(session.next() == nil)
    }
    #expect(String(decoding: session.timeout, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
    session.take([10])
    #expect(session.next() != nil)
    #expect(session.timeout == [])
  }
}
