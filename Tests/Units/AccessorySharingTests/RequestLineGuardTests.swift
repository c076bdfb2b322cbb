// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessorySharing

@Suite struct RequestLineGuardTests {
  private func verdict(_ text: String) -> RequestLineGuard.Verdict {
    var guardian = RequestLineGuard()
    return guardian.take(Array(text.utf8))
  }

  @Test func requestsOfBrowsersAreRefused() {
    for text in [
      "GET / HTTP/1.1\r\n", "POST /write?x=1 HTTP/1.1\r\nHost: localhost",
      "GET /\(String(repeating: "a", count: 9_000))",
      "OPTIONS * HTTP/1.1", "PRI * HTTP/2.0\r\n\r\n", "PUT /x", "HEAD /", "PATCH /", "DELETE /x", "TRACE /",
    ] {
      #expect(verdict(text) == .refuse, "\(text.prefix(20))")
    }
  }

  @Test func othersPassAtOnce() {
    for text in [
      "AT+VERSION\r\n", "GET\r\n", "GETTER", "GET x\n", "PUT,1", "\u{1}\u{2}", "get / http", "G1 X10", "PRINT",
    ] {
      #expect(verdict(text) == .pass(Array(text.utf8)), "\(text)")
    }
  }

  @Test func aBeginningIsHeldAndComesWithTheRest() {
    var guardian = RequestLineGuard()
    #expect(guardian.take(Array("G".utf8)) == .hold)
    #expect(guardian.take(Array("ET".utf8)) == .hold)
    #expect(guardian.take(Array(" 1\n".utf8)) == .pass(Array("GET 1\n".utf8)))
    var slow = RequestLineGuard()
    #expect(slow.take(Array("GE".utf8)) == .hold)
    #expect(slow.take(Array("T /".utf8)) == .refuse)
    var short = RequestLineGuard()
    #expect(short.take(Array("P".utf8)) == .hold)
    #expect(short.giveUp() == Array("P".utf8))
  }
}
