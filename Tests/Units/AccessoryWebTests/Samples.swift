// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryExport
import AccessoryIO
import AccessoryTesting
import CommandOutput

@testable import AccessoryWeb

/// Accessories for the page.
enum Sample {
  static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
  static let wallClock = 1_700_000_000.0

  /// The key of the row with this name.
  static func key(_ name: String) -> UInt64 { name.utf8.reduce(0) { $0 &* 257 &+ UInt64($1) } }

  static func row(
    _ name: String, percent: Int? = 57, level: BatteryReading.Level? = nil, driver: String = "jbd",
    age: Duration = .seconds(3)
  ) -> TopRow {
    let device = Device(id: name, path: "/dev/" + name, source: .udev)
    var accessory = MirroredAccessory(service: "s", device: device)
    var battery = BatteryReading(percent: percent, millivolts: 52_800, milliamperes: -2_500, charge: .discharging)
    if let level { battery.level = level }
    (accessory.battery, accessory.driver) = (battery, driver)
    (accessory.readTime, accessory.isRead, accessory.isAsked) = (now + (.zero - age), true, true)
    return TopRow(key: key(name), name: name, accessory)
  }

  /// An accessory that was unplugged.
  static func away(_ name: String) -> TopRow {
    var row = row(name)
    (row.isConnected, row.battery, row.readTime) = (false, nil, nil)
    row.accessory.problem = .disconnected("/dev/" + name)
    return row
  }

  static func alarm(_ name: String) -> AccessoryAlarm {
    AccessoryAlarm(name: name, rule: "battery < 20 %", since: wallClock - 60, value: "12 %")
  }
}

/// A source of accessories that a test fills.
actor SampleFeed: WebFeed {
  nonisolated let news: AsyncStream<Void>
  private let changed: AsyncStream<Void>.Continuation
  private var changes = TopChanges()
  private let series: [ReadingSeries]
  private let permitted: [CommandDescription]
  /// The commands that were performed, and the error that the next ones end with.
  private(set) var performed: [String] = []
  private var failure: AccessoryError?
  private(set) var isClosed = false
  private(set) var refreshCount = 0

  init(_ rows: [TopRow] = [], series: [ReadingSeries] = [], commands: [CommandDescription] = []) {
    (news, changed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    (changes.rows, self.series, permitted) = (rows, series, commands)
  }

  func put(_ row: TopRow) {
    changes.rows.append(row)
    changed.yield()
  }

  func remove(_ row: TopRow) {
    changes.removed.append(row.key)
    changed.yield()
  }

  func run() async { await OneShot<Void>().value(whenCancelled: ()) }
  func close() { isClosed = true }

  func take(limit: Int, now: MonotonicTime) -> TopChanges {
    defer { changes = TopChanges() }
    return changes
  }

  func refresh() { refreshCount += 1 }
  func values(of keys: [UInt64]) -> [UInt64: [AccessoryValue]] { [:] }
  func history(of key: UInt64) -> [ReadingSeries] { series }
  func history(of key: UInt64, _ names: [String], last time: Duration) -> [ReadingSeries] { series }
  func commands(of key: UInt64) -> [CommandDescription] { permitted }
  func fail(with error: AccessoryError?) { failure = error }

  func perform(
    _ command: CommandDescription, _ arguments: [String: String], on key: UInt64
  ) throws(AccessoryError) -> [NamedValue] {
    if let failure { throw failure }
    performed.append(([command.name] + arguments.sorted { $0 < $1 }.map { "\($0)=\($1)" }).joined(separator: " "))
    return command.results.map { NamedValue($0.name, unit: $0.unit, .whole(7)) }
  }
}

/// A site with these accessories, asked without a network.
struct SampleSite {
  let site: WebSite
  let feed: SampleFeed
  let clock = ManualClock(now: Sample.now)
  let notes: Watched<[String]>

  init(
    _ rows: [TopRow] = [Sample.row("PACK1")], series: [ReadingSeries] = [], commands: [CommandDescription] = [],
    _ set: (inout WebSite.Settings) -> Void = { _ in }
  ) {
    let feed = SampleFeed(rows, series: series, commands: commands)
    var settings = WebSite.Settings(title: "Accessories on attic", version: "1.2.3")
    let notes = Watched<[String]>([])
    settings.note = { text in notes.update { $0.append(text) } }
    settings.performed = { client, what in notes.update { $0.append("\(client): \(what)") } }
    set(&settings)
    (self.feed, self.notes) = (feed, notes)
    site = WebSite(settings, clock: clock, wallClock: { Sample.wallClock }) { feed }
  }

  /// The reply to a whole request; from this machine by default.
  func reply(_ request: String, from host: String = "127.0.0.1") async -> WebReply {
    var session = WebSession(NetworkAddress(host: host, port: 1), bodyLimit: site.bodyLimit)
    session.take(Array(request.utf8))
    guard let request = session.next() else { return WebReply(bytes: session.timeout) }
    return await site.reply(to: request)
  }

  /// The whole reply to a GET as text.
  func get(_ path: String, _ fields: String..., host: String = "localhost:8380") async -> String {
    let lines = ["GET \(path) HTTP/1.1", "Host: \(host)"] + fields
    let reply = await reply(lines.joined(separator: "\r\n") + "\r\n\r\n")
    var bytes = reply.bytes
    while let more = await reply.following?() { bytes += more }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The status of the reply to a GET.
  func status(_ path: String, _ fields: String..., host: String = "localhost:8380") async -> Int? {
    let lines = ["GET \(path) HTTP/1.1", "Host: \(host)"] + fields
    return Self.status(await reply(lines.joined(separator: "\r\n") + "\r\n\r\n"))
  }

  static func status(_ reply: WebReply) -> Int? {
    let words = String(decoding: reply.bytes, as: UTF8.self).split(separator: " ")
    return words.count > 1 ? Int(words[1]) : nil
  }
}
