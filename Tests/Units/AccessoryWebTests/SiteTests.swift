// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO
import AccessoryTesting
import CommandOutput
import TestSupport
import Testing

@testable import AccessoryWeb

/// Who gets which page.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct SiteTests {
  @Test func everyReplySaysWhatBrowsersMayDo() async {
    let site = SampleSite()
    for path in ["/", "/accessory/PACK1", "/page.css", "/page.js", "/icon.svg", "/nothing", "/accessory/NOBODY"] {
      let text = await site.get(path)
      for field in [
        "Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
          + "connect-src 'self'; base-uri 'none'; form-action \(path == "/" ? "'self'" : "'none'"); frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
        // The list has a form that is sent to itself.
        "Referrer-Policy: \(path == "/" ? "same-origin" : "no-referrer")",
        "Cache-Control: no-store", "Cross-Origin-Resource-Policy: same-origin", "Connection: close",
      ] { #expect(text.contains("\r\n\(field)\r\n"), "\(path): \(field)") }
    }
  }

  /// The policy forbids styles and scripts in the page, so there must be none.
  @Test func pagesHaveNoStyleAndNoScriptInThem() async {
    let series = [
      ReadingSeries(name: ReadingSeries.percent, unit: "%", points: [.init(time: 1_699_999_000, span: 10, 5)])
    ]
    let site = SampleSite([Sample.row("PACK1")], series: series)
    for path in ["/", "/accessory/PACK1"] {
      let text = await site.get(path)
      #expect(!text.contains("<style") && !text.contains(" style=") && !text.contains("javascript:"), "\(path)")
      #expect(text.components(of: "<script").count == 2 && text.contains("page.js\" defer></script>"), "\(path)")
      #expect(!text.contains("http://") && !text.contains("https://"), "\(path): nothing is on another host")
    }
  }

  @Test func allIsAtMostSixtyKilobytes() async {
    let site = SampleSite((0..<10).map { Sample.row("PACK\($0)") })
    var count = 0
    for path in ["/", "/page.css", "/page.js", "/icon.svg"] { count += await site.get(path).utf8.count }
    #expect(count <= 60_000, "\(count)")
  }

  @Test func onlyReadingIsPossible() async {
    let site = SampleSite()
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"] {
      let reply = await site.reply("\(method) / HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(SampleSite.status(reply) == 405, "\(method)")
    }
    let head = await site.reply("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let text = String(decoding: head.bytes, as: UTF8.self)
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\n") && head.following == nil)
    let events = await site.reply("HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(SampleSite.status(events) == 200 && events.following == nil)
  }

  /// Another site's name for this machine (DNS rebinding) gets nothing.
  @Test func onlyKnownHostsAreAnswered() async {
    let site = SampleSite { $0.hosts = HostNames(["house.example"]) }
    for host in ["localhost", "127.0.0.1:8380", "[::1]:8380", "house.example", "House.Example:443"] {
      #expect(await site.status("/", host: host) == 200, "\(host)")
    }
    for host in ["evil.example", "house.example.evil.example", "localhost.evil.example", "10.0.0.1", "localhost:x"] {
      let text = await site.get("/", host: host)
      #expect(text.hasPrefix("HTTP/1.1 421 ") && !text.contains("PACK1"), "\(host)")
    }
  }

  /// A page of another site may have a link here, and can't read or embed anything.
  @Test func otherSitesPagesGetNothing() async {
    let site = SampleSite()
    #expect(await site.status("/", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate") == 200)
    #expect(await site.status("/", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate") == 200)
    #expect(await site.status("/events", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors") == 200)
    for mode in ["cors", "no-cors", "websocket"] {
      #expect(await site.status("/events", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: \(mode)") == 403)
      #expect(await site.status("/", "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: \(mode)") == 403)
    }
  }

  @Test func aBasePathIsBeforeAllPages() async {
    let site = SampleSite { $0.base = "/batteries" }
    #expect(await site.get("/batteries").contains("\r\nLocation: /batteries/\r\n"))
    #expect(await site.status("/batteries/") == 200)
    #expect(await site.status("/batteries/page.css") == 200)
    for path in ["/", "/page.css", "/batteriesx/", "/other"] { #expect(await site.status(path) == 404, "\(path)") }
    // Links don't depend on it.
    let page = await site.get("/batteries/accessory/PACK1")
    #expect(page.contains("href=\"../page.css\"") && page.contains("href=\"../\""))
  }

  @Test(arguments: ["/../etc/passwd", "//", "/accessory", "/accessory/", "/accessory/%", "/accessory/PACK1/x", "/page"])
  func otherPathsDontExist(_ path: String) async { #expect(await SampleSite().status(path) == 404) }

  // MARK: - Tokens

  private static let secret = "correct-horse-battery-staple"

  private func locked() -> SampleSite { SampleSite { $0.token = WebToken(Self.secret) } }

  @Test func aTokenIsNeededForEverything() async {
    let site = locked()
    for path in ["/", "/events", "/page.css", "/accessory/PACK1", "/nothing"] {
      let text = await site.get(path)
      #expect(text.hasPrefix("HTTP/1.1 401 ") && text.contains("\r\nWWW-Authenticate: Basic realm="), "\(path)")
      #expect(!text.contains("PACK1"))
    }
    #expect(await site.status("/", "Authorization: Bearer \(Self.secret)") == 200)
    // "me:correct-horse-battery-staple"
    #expect(await site.status("/", "Authorization: Basic bWU6Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LXN0YXBsZQ==") == 200)
    for wrong in ["Bearer x", "Bearer \(Self.secret)x", "Basic !", "Basic bWU6", "Digest \(Self.secret)"] {
      let other = locked()
      #expect(await other.status("/", "Authorization: \(wrong)") == 401, "\(wrong)")
    }
  }

  /// Guesses from one address: after five the answers come late, and the log isn't flooded. The right token is let in at any time.
  @Test func guessingIsSlowedAndLoggedAndKeepsNobodyOut() async throws {
    let site = locked()
    let right = "Authorization: Bearer \(Self.secret)"
    for number in 0..<5 { #expect(await site.status("/", "Authorization: Bearer guess-number-\(number)") == 401) }
    // Further ones wait two seconds, four at a time. Those that come meanwhile are refused at once.
    let late = (0..<4).map { number in Task { await site.status("/", "Authorization: Bearer late-number-\(number)") } }
    try await site.clock.waitForPending(4)
    for number in 0..<1_000 {
      #expect(await site.status("/", "Authorization: Bearer more-number-\(number)") == 429)
      if number % 100 == 0 { #expect(await site.status("/", right) == 200) }
    }
    site.clock.advance(by: .seconds(2))
    for task in late { #expect(await task.value == 429) }
    #expect(await site.status("/", right) == 200)
    #expect(site.notes.value == ["1 wrong token was refused"])
    site.clock.advance(by: .seconds(10))
    // The count begins anew after a rest.
    #expect(await site.status("/", "Authorization: Bearer guess-number-7") == 401)
    #expect(site.notes.value.last == "1009 wrong tokens were refused")
  }

  @Test func addressesThatGuessAreBounded() {
    var limit = GuessLimit()
    for number in 0..<1_000 {
      let origin = FairPlaces.Origin(NetworkAddress(host: "10.0.\(number / 250).\(number % 250)", port: 1))
      _ = limit.failed(origin, now: Sample.now)
    }
    let last = FairPlaces.Origin(NetworkAddress(host: "10.0.3.249", port: 1))
    for _ in 0..<5 { _ = limit.failed(last, now: Sample.now) }
    #expect(limit.failed(last, now: Sample.now).isOften)
    #expect(!limit.failed(last, now: Sample.now + .seconds(10)).isOften)
  }

  @Test(arguments: [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg", "foob"), ("+/+/", nil)])
  func base64IsRead(_ text: String, _ expected: String?) {
    let bytes = Base64.decode(text)
    #expect(expected == nil ? bytes == [0xFB, 0xFF, 0xBF] : bytes == expected.map { Array($0.utf8) })
  }

  @Test(arguments: ["Zg===", "=", "Z=g=", "Zm 9v", "Zm9\u{E9}"]) func badBase64IsRefused(_ text: String) {
    let bytes = Base64.decode(text)
    #expect(bytes == nil || text == "=" && bytes == [])
  }

  // MARK: - On a socket

  @Test func clientsThatDontFinishARequestAreDisconnected() async throws {
    let site = SampleSite()
    let server = site.site.server()
    let place = try await server.listen(at: "127.0.0.1", port: 0, networks: []) { _ in }
    let slow = try await DescriptorTransport.open(place.network)
    defer { slow.beginClose() }
    let ended = OneShot<Void>()
    slow.input.onReadable {
      var buffer: [UInt8] = []
      while true {
        switch slow.input.take(into: &buffer) {
        case .bytes: continue
        case .nothing: return
        case .end:
          ended.finish()
          return
        }
      }
    }
    #expect(slow.output.offer(Array("GET / HTTP/1.1\r\nHost".utf8)) == .accepted)
    try await site.clock.waitForPending()
    site.clock.advance(by: WebSession.patience)
    await ended.value()
    await server.close()
  }

  /// Those who follow what happens stay. However many they are, others are answered, and the first of them give way.
  @Test func followersLeaveRoomForRequests() async throws {
    let site = SampleSite([Sample.row("PACK1")])
    let server = site.site.server(limit: 4)
    let place = try await server.listen(at: "127.0.0.1", port: 0, networks: []) { _ in }
    typealias Asked = (transport: DescriptorTransport, received: Watched<(String, hasEnded: Bool)>)
    func ask(_ path: String) async throws -> Asked {
      let transport = try await DescriptorTransport.open(place.network)
      let received = Watched(("", hasEnded: false))
      transport.input.onReadable {
        var buffer: [UInt8] = []
        while true {
          switch transport.input.take(into: &buffer) {
          case .bytes:
            let text = String(decoding: buffer, as: UTF8.self)
            received.update { $0.0 += text }
          case .nothing: return
          case .end: return received.update { $0.hasEnded = true }
          }
        }
      }
      #expect(transport.output.offer(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)) == .accepted)
      return (transport, received)
    }
    var followers: [Asked] = []
    for _ in 0..<6 {
      followers.append(try await ask("/events"))
      try await followers.last?.received.wait { $0.0.contains("event: order") }
    }
    for follower in followers.prefix(3) { try await follower.received.wait { $0.hasEnded } }
    let page = try await ask("/")
    try await page.received.wait { $0.0.contains("PACK1") && $0.hasEnded }
    #expect(followers.suffix(3).allSatisfy { !$0.received.value.hasEnded })
    for one in followers + [page] { one.transport.beginClose() }
    await server.close()
  }
}

extension String {
  /// The parts between this text.
  func components(of text: String) -> [Substring] { split(separator: text, omittingEmptySubsequences: false) }
}
