// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import CommandOutput
import TestSupport
import Testing

@testable import AccessoryWeb

/// What browsers are sent while they show a page.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct LiveTests {
  private func events(_ site: SampleSite, _ path: String = "/events") async throws -> @Sendable () async -> [UInt8]? {
    let reply = await site.reply("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let text = String(decoding: reply.bytes, as: UTF8.self)
    #expect(text.contains("\r\nContent-Type: text/event-stream\r\n") && !text.contains("Content-Length"))
    return try #require(reply.following)
  }

  /// The next message. Time passes as long as it doesn't come.
  private func next(_ site: SampleSite, _ stream: @escaping @Sendable () async -> [UInt8]?) async throws -> String {
    let message = OneShot<[UInt8]?>()
    let task = Task { message.finish(await stream()) }
    defer { task.cancel() }
    while message.current == nil {
      if !site.clock.advanceToNext() { await Task.yield() }
      await Task.yield()
    }
    return String(decoding: try #require(await message.value()), as: UTF8.self)
  }

  @Test func changesAreSentOnce() async throws {
    let site = SampleSite([Sample.row("PACK1"), Sample.row("PACK2")])
    let stream = try await events(site)
    let first = try #require(await stream()).text
    #expect(first.hasPrefix("retry: 3000\n") && first.components(of: "event: part\n").count == 6)
    #expect(first.contains("event: order\ndata: a-PACK1 a-PACK2\n\n"))
    #expect(first.contains("event: title\ndata: Accessories on attic\n\n"))
    // One has changed: only its card is sent.
    await site.feed.put(Sample.row("PACK2", percent: 33, age: .zero))
    var second = ""
    while !second.contains("33<small>") { second = try await next(site, stream) }
    #expect(second.contains("data: <li class=\"card normal\" id=\"a-PACK2\">"))
    #expect(!second.contains("event: title"))
    // One is unplugged: it isn't in the order any more.
    await site.feed.remove(Sample.row("PACK1"))
    var third = ""
    while !third.contains("event: order\ndata: a-PACK2\n\n") { third = try await next(site, stream) }
    #expect(third.contains("1 accessory<"))
  }

  @Test func eventsOfAnAccessoryAreListed() async throws {
    let site = SampleSite([Sample.row("PACK1")])
    let stream = try await events(site, "/accessory/PACK1/events")
    _ = await stream()
    await site.feed.put(Sample.away("PACK1"))
    var text = ""
    while !text.contains("disconnected: ") { text = try await next(site, stream) }
    #expect(text.contains("event: title\ndata: PACK1: gone – Accessories on attic\n"))
    await site.feed.put(Sample.row("PACK1"))
    while !text.contains("> connected</li>") { text = try await next(site, stream) }
    var alarm = Sample.row("PACK1")
    alarm.alarms = [Sample.alarm("low")]
    await site.feed.put(alarm)
    while !text.contains("alarm: low: battery &lt; 20 %, now 12 %") { text = try await next(site, stream) }
  }

  /// A terminal's number may change while an accessory is away; its events are those of one accessory.
  @Test(arguments: [false, true]) func anAccessoryThatComesBackElsewhereIsConnected(_ isRemoved: Bool) async throws {
    let site = SampleSite([Sample.row("PACK1")])
    let stream = try await events(site)
    _ = await stream()
    await site.feed.put(Sample.away("PACK1"))
    var text = ""
    while !text.contains("gone") { text = try await next(site, stream) }
    if isRemoved {
      await site.feed.remove(Sample.row("PACK1"))
      while !text.contains("0 accessories") { text = try await next(site, stream) }
    }
    var row = Sample.row("PACK1")
    row.accessory.device = Device(id: "PACK1", path: "/dev/other", source: .udev)
    await site.feed.put(row)
    while !text.contains("57<small>") { text = try await next(site, stream) }
    #expect(await site.get("/accessory/PACK1").contains("> connected</li>"))
  }

  /// A quiet connection would be closed by a proxy.
  @Test func aQuietStreamIsKeptAlive() async throws {
    let site = SampleSite([Sample.away("PACK1")])
    let stream = try await events(site)
    _ = await stream()
    let start = site.clock.now
    #expect(try await next(site, stream) == ":\n\n")
    #expect(site.clock.now - start >= LivePage.keepalive)
  }

  /// A reading that doesn't change is no news, but new: its age is asked for, also while others change.
  @Test func agesAreAskedForWhileSomebodyLooks() async throws {
    let site = SampleSite([Sample.row("PACK1"), Sample.row("PACK2")])
    let stream = try await events(site)
    _ = await stream()
    var percent = 20
    while await site.feed.refreshCount < 3 {
      percent = percent % 80 + 1
      await site.feed.put(Sample.row("PACK2", percent: percent, age: .zero))
      _ = try await next(site, stream)
    }
    #expect(site.clock.now - Sample.now >= .seconds(30))
  }

  /// When nobody has looked for a while, the service isn't followed any more; the next look follows it again.
  @Test func theFeedIsClosedWhenNobodyLooks() async throws {
    let site = SampleSite()
    #expect(await site.status("/") == 200)
    #expect(await !site.feed.isClosed)
    // The look's end is noticed on another thread.
    try await eventually("the feed is closed") {
      site.clock.advance(by: .seconds(60))
      return await site.feed.isClosed
    }
  }

  @Test func dataOfSeveralLinesStaysTogether() {
    #expect(LivePage.event("part", "a\nb\r\nc\rd") == "event: part\ndata: a\ndata: b\ndata: c\ndata: d\n\n")
  }
}

extension [UInt8] {
  fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
