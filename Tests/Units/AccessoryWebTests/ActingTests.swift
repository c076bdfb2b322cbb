// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryWeb

/// Commands that people with the token perform.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct ActingTests {
  private static let secret = "correct-horse-battery-staple"

  private static let commands = [
    CommandDescription(
      "beep", "Beeps", [.init("times", .whole(1...5), defaultValue: .whole(1))], results: [.init("tone", unit: "Hz")]),
    CommandDescription("output", "Switches the output", [.init("to", .choice(["on", "off"]))], isWrite: true),
    CommandDescription("leds", "Lights", [.init("which", .choices(["red", "green"]))]),
  ]

  private func acting(_ set: (inout WebSite.Settings) -> Void = { _ in }) -> SampleSite {
    SampleSite(commands: Self.commands) {
      ($0.allowsCommands, $0.token) = (true, WebToken(Self.secret))
      set(&$0)
    }
  }

  private static let login = "Authorization: Bearer \(secret)"

  /// The token that the forms of this site have.
  private func form(_ site: SampleSite) async throws -> String {
    let page = await site.get("/accessory/PACK1/commands", Self.login)
    let parts = page.components(of: "name=\"form\" value=\"")
    return String(try #require(parts.count > 1 ? parts[1] : nil, "\(page)").prefix { $0 != "\"" })
  }

  private static let fields = [login, "Origin: http://localhost:8380", "Sec-Fetch-Site: same-origin"]

  /// The whole reply to a form.
  private func post(
    _ site: SampleSite, _ body: String, _ fields: [String] = fields, path: String = "/accessory/PACK1/commands",
    type: String = "application/x-www-form-urlencoded", from host: String = "127.0.0.1"
  ) async -> String {
    let lines =
      ["POST \(path) HTTP/1.1", "Host: localhost:8380", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)"]
      + fields
    let reply = await site.reply(lines.joined(separator: "\r\n") + "\r\n\r\n" + body, from: host)
    return String(decoding: reply.bytes, as: UTF8.self)
  }

  @Test func aFormPerformsACommand() async throws {
    let site = acting()
    let form = try await form(site)
    let reply = await post(site, "form=\(form)&command=beep&argument.times=3")
    #expect(reply.hasPrefix("HTTP/1.1 303 See Other\r\n") && reply.contains("\r\nLocation: commands?outcome=1\r\n"))
    #expect(await site.feed.performed == ["beep times=3"])
    let page = await site.get("/accessory/PACK1/commands?outcome=1", Self.login)
    #expect(page.contains("<p class=\"outcome done\" role=\"status\">beep times=3 was performed: 7 Hz</p>"), "\(page)")
    // It is said once only: another accessory, and another number, have no outcome.
    #expect(await !site.get("/accessory/PACK1/commands?outcome=2", Self.login).contains("class=\"outcome"))
    #expect(site.notes.value == ["127.0.0.1: PACK1: beep times=3 was performed: 7 Hz"])
    #expect(await site.get("/accessory/PACK1", Self.login).contains("beep times=3 was performed: 7 Hz</li>"))
  }

  @Test func aScriptIsToldWhatHappened() async throws {
    let site = acting()
    let form = try await form(site)
    let fields = Self.fields + ["Accept: text/plain"]
    let reply = await post(site, "form=\(form)&command=leds&argument.which=red&argument.which=green", fields)
    #expect(reply.hasPrefix("HTTP/1.1 200 OK\r\n") && reply.hasSuffix("\r\n\r\nleds which=red,green was performed.\n"))
    // An empty field is one that isn't given, where the command has a default.
    _ = await post(site, "form=\(form)&command=beep&argument.times=", fields)
    #expect(await site.feed.performed == ["leds which=red,green", "beep"])
    await site.feed.fail(with: AccessoryError(.busy, "PACK1: try again in 3 s"))
    let busy = await post(site, "form=\(form)&command=beep", fields)
    #expect(busy.hasPrefix("HTTP/1.1 409 ") && busy.hasSuffix("beep wasn't performed: PACK1: try again in 3 s\n"))
    await site.feed.fail(with: AccessoryError(.timedOut, "PACK1 didn't answer within 5 s"))
    let late = await post(site, "form=\(form)&command=beep", fields)
    #expect(late.hasSuffix("Nobody knows whether beep was performed: PACK1 didn't answer within 5 s\n"))
  }

  /// Its name must be typed, exactly.
  @Test func aDangerousCommandNeedsItsName() async throws {
    let site = acting()
    let form = try await form(site)
    let page = await site.get("/accessory/PACK1/commands", Self.login)
    #expect(page.components(of: "name=\"confirm\"").count == 2, "only the one that changes something")
    for typed in [
      "", "&confirm=", "&confirm=Output", "&confirm=output+", "&confirm=beep", "&confirm=output&confirm=output",
    ] {
      let reply = await post(
        site, "form=\(form)&command=output&argument.to=off\(typed)", Self.fields + ["Accept: text/plain"])
      #expect(reply.hasPrefix("HTTP/1.1 409 ") && reply.contains("wasn't performed: it changes something"), "\(typed)")
      site.clock.advance(by: .seconds(2))
    }
    #expect(await site.feed.performed.isEmpty)
    _ = await post(site, "form=\(form)&command=output&argument.to=off&confirm=output")
    #expect(await site.feed.performed == ["output to=off"])
  }

  /// Other sites, other programs, and old pages can't send a form.
  @Test func whatIsNotFromThePageIsRefused() async throws {
    let site = acting()
    let form = try await form(site)
    let body = "form=\(form)&command=beep"
    for fields in [
      [Self.login], [Self.login, "Origin: null"], [Self.login, "Origin: http://evil.example"],
      [Self.login, "Origin: http://localhost:8381"], [Self.login, "Origin: https://localhost:8380.evil.example"],
      [Self.login, "Origin: http://localhost:8380", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"],
      [Self.login, "Origin: http://localhost:8380", "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate"],
      [Self.login, "Origin: http://localhost:8380", "Sec-Fetch-Site: none"],
      [Self.login, "Origin: http://evil.example", "Sec-Fetch-Site: same-origin"],
    ] {
      let reply = await post(site, body, fields)
      #expect(reply.hasPrefix("HTTP/1.1 403 "), "\(fields)")
      #expect(reply.contains("othing was performed") || reply.contains("Forbidden\n"))
    }
    for wrong in [
      "command=beep", "form=&command=beep", "form=\(form)x&command=beep", "form=\(form)&form=\(form)&command=beep",
    ] {
      #expect(await post(site, wrong).hasPrefix("HTTP/1.1 403 "), "\(wrong)")
    }
    #expect(await post(site, body, Array(Self.fields.dropFirst())).hasPrefix("HTTP/1.1 401 "))
    let wrong = ["Authorization: Bearer \(Self.secret)x"] + Self.fields.dropFirst()
    #expect(await post(site, body, wrong).hasPrefix("HTTP/1.1 401 "))
    #expect(await post(site, body, type: "text/plain").hasPrefix("HTTP/1.1 415 "))
    for path in ["/", "/accessory/PACK1", "/accessory/PACK1/events", "/page.css"] {
      #expect(await post(site, body, path: path).hasPrefix("HTTP/1.1 405 "), "\(path)")
    }
    #expect(await site.feed.performed.isEmpty)
    // A browser without Sec-Fetch-Site, as at an address without TLS.
    #expect(await post(site, body, Array(Self.fields.prefix(2))).hasPrefix("HTTP/1.1 303 "))
  }

  @Test func onlyPermittedCommandsArePerformed() async throws {
    let site = acting()
    let form = try await form(site)
    for body in [
      "command=reset", "command=beep&argument.volume=9", "command=beep&x=y", "command=beep&command=leds", "x",
    ] {
      let reply = await post(site, "form=\(form)&\(body)")
      #expect(reply.hasPrefix(body == "x" ? "HTTP/1.1 400 " : "HTTP/1.1 403 "), "\(body): \(reply)")
    }
    #expect(
      await post(site, "form=\(form)&command=beep", path: "/accessory/NOBODY/commands").hasPrefix("HTTP/1.1 404 "))
    #expect(await site.feed.performed.isEmpty)
    #expect(site.notes.value.first == "127.0.0.1: refused: reset of PACK1 isn't permitted", "\(site.notes.value)")
  }

  @Test func nothingIsPerformedByAGet() async throws {
    let site = acting()
    let form = try await form(site)
    #expect(await site.status("/accessory/PACK1/commands?form=\(form)&command=beep", Self.login) == 200)
    #expect(await site.feed.performed.isEmpty)
    let page = await site.get("/accessory/PACK1/commands", Self.login)
    #expect(page.contains("form-action 'self'") && page.contains("Referrer-Policy: same-origin"))
    // It isn't loaded again while somebody types.
    #expect(!page.contains("http-equiv=\"refresh\"") && page.contains("page.js\" defer></script>"))
    #expect(!page.contains(" style=") && !page.contains(" onsubmit="))
    #expect(await site.get("/accessory/PACK1", Self.login).contains("href=\"./PACK1/commands\">Perform a command</a>"))
  }

  @Test func withoutPermissionThePageOnlyShows() async {
    let site = SampleSite(commands: Self.commands)
    #expect(await site.status("/accessory/PACK1/commands") == 404)
    #expect(await post(site, "form=x&command=beep").hasPrefix("HTTP/1.1 405 "))
    #expect(await site.get("/accessory/PACK1").contains("This page can't send them"))
    // Without a token nobody may, whatever the settings say.
    let open = SampleSite(commands: Self.commands) { $0.allowsCommands = true }
    #expect(await open.status("/accessory/PACK1/commands") == 404)
    #expect(await post(open, "form=x&command=beep").hasPrefix("HTTP/1.1 405 "))
  }

  @Test func formsAreLimitedInSizeAndNumber() async throws {
    let site = acting()
    let form = try await form(site)
    #expect(await post(site, String(repeating: "x", count: FormFields.limit + 1)).hasPrefix("HTTP/1.1 413 "))
    let many = Array(repeating: "a=b", count: FormFields.fieldLimit + 1).joined(separator: "&")
    #expect(await post(site, "form=\(form)&" + many).hasPrefix("HTTP/1.1 400 "))
    // A body that never comes whole.
    let head = "POST /accessory/PACK1/commands HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nform=1"
    #expect(SampleSite.status(await site.reply(head)) == 408)
    for fields in ["Transfer-Encoding: chunked", "Content-Type: text/plain"] {
      let head = "POST / HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n\r\n"
      #expect(SampleSite.status(await site.reply(head)) == 411)
    }
    var statuses: [String] = []
    for _ in 0..<20 {
      statuses.append(String(await post(site, "form=\(form)&command=beep").dropFirst(9).prefix(3)))
    }
    #expect(statuses.first == "303" && statuses.last == "429" && statuses.count { $0 == "303" } == 9, "\(statuses)")
    // Another address isn't slowed, and this one may go on after a while.
    #expect(await post(site, "form=\(form)&command=beep", from: "10.0.0.7").hasPrefix("HTTP/1.1 303 "))
    site.clock.advance(by: .seconds(1))
    #expect(await post(site, "form=\(form)&command=beep").hasPrefix("HTTP/1.1 303 "))
    #expect(await post(site, "form=\(form)&command=beep").hasPrefix("HTTP/1.1 429 "))
  }

  /// A form may come in pieces, and what follows it is dropped.
  @Test func aFormIsReadPieceByPiece() throws {
    let request = "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\na=b&c"
    for size in [1, 7, 40, request.utf8.count, 1_000] {
      var session = WebSession(nil, bodyLimit: 16)
      var found: WebSession.Request?
      var bytes = Array((request + "GET / HTTP/1.1\r\n\r\n").utf8)[...]
      while !bytes.isEmpty {
        session.take(Array(bytes.prefix(size)))
        bytes = bytes.dropFirst(size)
        if let next = session.next() {
          #expect(found == nil)
          found = next
        }
      }
      #expect(found.map { String(decoding: $0.body, as: UTF8.self) } == "a=b&c", "\(size)")
    }
  }

  @Test func fieldsAreDecoded() throws {
    let fields = try #require(FormFields(Array("a=b+c%2B&d=&a=%C3%A9&e%3D=%3D".utf8)))
    #expect(fields.all("a") == ["b c+", "é"] && fields["d"] == "" && fields["e="] == "=" && fields["a"] == nil)
    for bad in ["a", "a=%", "a=%zz", "a=%ff", "=b&c", "a=\u{1}%0"] {
      #expect(FormFields(Array(bad.utf8)) == nil, "\(bad)")
    }
  }

  /// What a description says is text, also in forms.
  @Test func hostileCommandsAreShownAsText() async {
    let evil = "\"><script>alert(1)</script>\u{202E}"
    let command = CommandDescription(
      evil, evil,
      [
        .init(evil, .choice([evil])), .init("w" + evil, .whole(.min ... .max), unit: evil),
        .init("t" + evil, .text(9), defaultValue: .text(evil)), .init("c" + evil, .choices([evil])),
      ], isWrite: true)
    let site = SampleSite(commands: [command]) { ($0.allowsCommands, $0.token) = (true, WebToken(Self.secret)) }
    let page = await site.get("/accessory/PACK1/commands", Self.login)
    #expect(page.hasPrefix("HTTP/1.1 200 ") && !page.contains("<script>"), "\(page)")
    #expect(!page.unicodeScalars.contains("\u{202E}") && page.contains("&lt;script&gt;"))
  }
}
