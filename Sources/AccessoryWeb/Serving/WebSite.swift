// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO
import CommandOutput
import Glibc

/// The pages of accessories. Answers browsers' requests. Nothing can be changed through it, unless the settings allow commands.
package actor WebSite {
  /// How the site is served.
  package struct Settings: Sendable {
    /// The title of the pages: the machine's name, or the fleet's.
    package var title: String
    /// This program's version.
    package var version: String
    /// The host names that browsers may use for this server.
    package var hosts = HostNames()
    /// The path before all pages, without a slash at its end; empty for none.
    package var base = ""
    /// The token that all clients need; nil if none is needed.
    package var token: WebToken?
    /// Whether people with the token may perform the commands that the service permits. Needs a token.
    package var allowsCommands = false
    /// Called with a message for the log.
    package var note: @Sendable (String) -> Void = { _ in }
    /// Called with the sender of a command and its outcome, for the log.
    package var performed: @Sendable (_ client: String, _ what: String) -> Void = { _, _ in }

    package init(title: String, version: String) { (self.title, self.version) = (title, version) }
  }

  let settings: Settings
  private let clock: any TimerClock
  private let wallClock: @Sendable () -> Double
  let state: WebState
  private let overviews: OverviewReader
  private var guesses = GuessLimit()
  /// The state for performing commands; nil if they aren't allowed.
  private(set) var acting: Acting?
  private var histories: [UInt64: KnownHistory] = [:]
  /// The number of the feed to which the known histories and commands belong.
  private var feedNumber: UInt64 = 0
  /// The lists that browsers show now.
  private var shown: [ListChoice: (version: UInt64, time: MonotonicTime, content: LiveContent)] = [:]

  /// The most lists that are kept for other browsers.
  private static let shownLimit = 16
  /// The most accessories whose history is kept.
  private static let historyLimit = 4
  /// How long an unchanged list is reused for other browsers.
  private static let listAge = Duration.milliseconds(250)

  /// A site of the accessories of `feed`, which is called whenever somebody starts to look. `wallClock` is in seconds since 1970.
  package init(
    _ settings: Settings, clock: any TimerClock = IOThread.shared,
    wallClock: @escaping @Sendable () -> Double = { WallClock.seconds },
    feed: @escaping @Sendable () async throws(AccessoryError) -> any WebFeed
  ) {
    (self.settings, self.clock, self.wallClock) = (settings, clock, wallClock)
    state = WebState(clock: clock, wallClock: wallClock, feed: feed)
    overviews = OverviewReader(state, clock: clock, wallClock: wallClock)
    acting = settings.allowsCommands && settings.token != nil ? Acting() : nil
  }

  /// A server of this site for at most `limit` connections at a time.
  package nonisolated func server(limit: Int = 128) -> ExportServer<WebSession> {
    ExportServer(limit: limit, clock: clock, prepare: { request, _ in await self.reply(to: request) }) {
      WebSession($0, bodyLimit: self.bodyLimit)
    }
  }

  /// The most bytes of a form; nil if forms aren't accepted.
  nonisolated var bodyLimit: Int? { settings.allowsCommands ? FormFields.limit : nil }

  /// The text at the end of all pages.
  var footer: String { "Accessory Bridge \(settings.version), \(acting == nil ? "read only" : "commands allowed")" }

  /// Closes the feed.
  package func close() async { await state.end() }

  /// "Accessories on attic": the title of the page of a machine's own accessories.
  package static var titleOfThisMachine: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "Accessories" }
    let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return host.isEmpty ? "Accessories" : "Accessories on \(host)"
  }

  // MARK: - Requests

  package func reply(to request: WebSession.Request) async -> WebReply {
    let checked: HTTPRequest
    do throws(HTTPRequest.Refusal) {
      checked = try request.head.get()
      guard settings.hosts.allow(checked.host) else { throw .misdirectedRequest }
      try await check(checked, from: request.origin)
      // Another site may link to these pages, but gets nothing else from them.
      if let site = checked.fetchSite, site == "cross-site" || site == "same-site", checked.fetchMode != "navigate" {
        throw .forbidden
      }
    } catch {
      return Self.refusal(error)
    }
    guard checked.path.hasPrefix(settings.base) else { return Self.refusal(.notFound) }
    let path = checked.path.dropFirst(settings.base.count)
    if path.isEmpty { return .moved(to: settings.base + "/") }
    guard path.hasPrefix("/") else { return Self.refusal(.notFound) }
    let segments = Array(path.split(separator: "/", omittingEmptySubsequences: false).dropFirst())
    guard checked.method == "POST" else { return await reply(to: checked, segments) }
    guard segments.count == 3, segments[0] == "accessory", segments[2] == "commands" else {
      return Self.refusal(.methodNotAllowed)
    }
    return await perform(segments[1], checked, request.body, from: request.peer)
  }

  /// Throws unless the form was sent from a page of this site, within the rate limit.
  func check(
    _ request: HTTPRequest, _ body: [UInt8], from peer: NetworkAddress?
  ) throws(HTTPRequest.Refusal) -> FormFields {
    guard var acting else { throw .methodNotAllowed }
    defer { self.acting = acting }
    return try acting.check(
      request, body, from: FairPlaces.Origin(peer), settings.hosts, now: clock.now)
  }

  /// Stores the outcome of a command, and returns its number.
  func keep(_ outcome: CommandOutcome, of key: UInt64) -> UInt64 { acting?.keep(outcome, of: key) ?? 0 }

  static func refusal(_ refusal: HTTPRequest.Refusal) -> WebReply {
    switch refusal {
    case .misdirectedRequest: .refusal(refusal, "this server doesn't know itself by that host; --name NAME names it")
    case .unauthorized:
      .refusal(
        refusal, "log in with any user name, and the token as the password",
        fields: ["WWW-Authenticate: Basic realm=\"Accessory Bridge\", charset=\"UTF-8\""])
    case .tooManyRequests:
      .refusal(
        refusal, "there were too many wrong tokens from your address: the right one is let in",
        fields: ["Retry-After: \(GuessLimit.pause.components.seconds)"])
    default: .refusal(refusal)
    }
  }

  /// Throws unless the request may see the page.
  private func check(_ request: HTTPRequest, from origin: FairPlaces.Origin) async throws(HTTPRequest.Refusal) {
    guard let token = settings.token else { return }
    guard let authorization = request.authorization else { throw .unauthorized }
    if token.allows(authorization) { return }
    let (isOften, count) = guesses.failed(origin, now: clock.now)
    if let count { settings.note(Amount.of(count, "wrong token", is: ("was", "were")) + " refused") }
    guard isOften else { throw .unauthorized }
    if guesses.beginWaiting(origin) {
      await clock.sleep(for: GuessLimit.pause)
      guesses.endWaiting(origin)
    }
    throw .tooManyRequests
  }

  private func reply(to request: HTTPRequest, _ path: [Substring]) async -> WebReply {
    let isHead = request.method == "HEAD"
    switch (path.first ?? "", path.dropFirst().first, path.dropFirst(2).first, path.count) {
    case ("", nil, nil, 1): return await list(ListChoice(query: request.query), isHead: isHead)
    case ("events", nil, nil, 1): return await listEvents(ListChoice(query: request.query), isHead: isHead)
    case ("page.css", nil, nil, 1):
      return .whole(PackageResources.page_css, type: "text/css; charset=utf-8", isHead: isHead)
    case ("page.js", nil, nil, 1):
      return .whole(PackageResources.page_js, type: "text/javascript; charset=utf-8", isHead: isHead)
    case ("icon.svg", nil, nil, 1): return .whole(PackageResources.icon_svg, type: "image/svg+xml", isHead: isHead)
    case ("accessory", let name?, nil, 2): return await detail(name, request, isHead: isHead)
    case ("accessory", let name?, "events", 3): return await detailEvents(name, request, isHead: isHead)
    case ("accessory", let name?, "commands", 3) where acting != nil:
      return await commandsPage(name, request, isHead: isHead)
    default: return Self.refusal(.notFound)
    }
  }

  // MARK: - The list

  private func list(_ choice: ListChoice, isHead: Bool) async -> WebReply {
    let look = await Look(at: state)
    defer { withExtendedLifetime(look) {} }
    await overviews.wait()
    let content = await listContent(choice)
    let html = PageFrame.html(
      title: content.title, heading: "<h1>\(HTML.text(settings.title))</h1>", main: ListPage.main(content, choice),
      root: "",
      events: "events\(choice.query)", footer: footer)
    return .page(html, hasForms: true, isHead: isHead)
  }

  private func listContent(_ choice: ListChoice) async -> LiveContent {
    let version = await state.currentVersion
    if let known = shown[choice], known.version == version, clock.now - known.time < Self.listAge {
      return known.content
    }
    let snapshot = await state.snapshot()
    let page = ListPage(
      title: settings.title, choice: choice, overviews: await overviews.overviews(of: snapshot.rows.map(\.row)),
      now: clock.now, wallClock: wallClock())
    let content = page.content(snapshot)
    if shown.count >= Self.shownLimit { shown = [:] }
    shown[choice] = (version, clock.now, content)
    return content
  }

  private func listEvents(_ choice: ListChoice, isHead: Bool) async -> WebReply {
    if isHead { return .events(isHead: true) { nil } }
    let look = await Look(at: state)
    let live = LivePage(state, look, clock: clock) { [weak self] in await self?.listContent(choice) }
    return .events(isHead: false) { await live.next() }
  }

  /// What is known of one feed means nothing in the next one.
  private func forgetOldFeed() async {
    let feed = await state.feedNumber
    if feed != feedNumber { (feedNumber, histories, known) = (feed, [:], nil) }
  }

  // MARK: - One accessory

  /// The accessory's state, and the name of its page; nil if there is no such accessory.
  func find(_ segment: Substring) async -> (name: String, row: TopRow)? {
    guard let text = PageName.decode(segment) else { return nil }
    for name in [String(segment), PageName.encode(text)] {
      if let row = await state.row(named: name) { return (name, row) }
    }
    return nil
  }

  private func detail(_ segment: Substring, _ request: HTTPRequest, isHead: Bool) async -> WebReply {
    let look = await Look(at: state)
    defer { withExtendedLifetime(look) {} }
    guard let (name, row) = await find(segment) else { return noAccessory(root: "../", isHead: isHead) }
    let choice = GraphView.Choice(query: request.query)
    let content = await content(row, name: name, choice)
    let html = PageFrame.html(
      title: content.title, heading: "<h1>\(HTML.text(row.title))</h1>", main: DetailPage.main(content), root: "../",
      events: "./\(name)/events\(choice.query)", back: ("../", "All accessories"), footer: footer)
    return .page(html, isHead: isHead)
  }

  /// The page for an accessory that isn't there.
  func noAccessory(root: String, isHead: Bool) -> WebReply {
    let html = PageFrame.html(
      title: "No such accessory", heading: "<h1>No such accessory</h1>",
      main: "<p>It isn't here any more, or never was.</p>", root: root, events: nil, back: (root, "All accessories"),
      footer: footer)
    return .page(html, status: "404 Not Found", isHead: isHead)
  }

  private func detailEvents(_ segment: Substring, _ request: HTTPRequest, isHead: Bool) async -> WebReply {
    let look = await Look(at: state)
    guard let (name, _) = await find(segment) else { return Self.refusal(.notFound) }
    if isHead { return .events(isHead: true) { nil } }
    let choice = GraphView.Choice(query: request.query)
    let live = LivePage(state, look, clock: clock) { [weak self, state] in
      guard let self, let row = await state.row(named: name) else { return nil }
      return await self.content(row, name: name, choice)
    }
    return .events(isHead: false) { await live.next() }
  }

  private func content(_ row: TopRow, name: String, _ choice: GraphView.Choice) async -> LiveContent {
    await forgetOldFeed()
    let series = await history(of: row)
    var more = DetailPage.More()
    more.graphs = GraphView(series: series, choice: choice, now: wallClock()).html
    more.events = await state.events(of: row) + (series.first.map(WebEvent.gaps) ?? [])
    for alarm in row.accessory.alarms ?? [] where !more.events.contains(where: { $0.isRaising(alarm) }) {
      more.events.append(WebEvent(raised: alarm))
    }
    more.commands = await commands(of: row)
    if acting != nil { more.forms = "./\(name)/commands" }
    return DetailPage.content(row, more, title: settings.title, now: clock.now)
  }

  /// The history of an accessory, asked for once for all browsers.
  private func history(of row: TopRow) async -> [ReadingSeries] {
    let names = WebState.seriesNames(of: row)
    for time in (histories[row.key] ?? KnownHistory()).wanted(now: clock.now) {
      let series = await state.history(of: row, names, last: time)
      // Another browser's question may have been answered in the meantime.
      histories[row.key, default: KnownHistory()].take(series, last: time, now: clock.now)
    }
    if histories.count > Self.historyLimit,
      let oldest = histories.filter({ $0.key != row.key }).min(by: { $0.value.isOlder(than: $1.value) })
    {
      histories[oldest.key] = nil
    }
    let series = histories[row.key]?.series(names) ?? []
    // The power comes after the charge.
    return series.prefix(1) + [ReadingSeries.power(of: series)].compactMap { $0 } + series.dropFirst()
  }

  private var known: (key: UInt64, time: MonotonicTime, commands: [CommandDescription])?
  /// How long the list of commands is reused.
  private static let commandsAge = Duration.seconds(60)

  private func commands(of row: TopRow) async -> [CommandDescription] {
    guard row.reach == .attached else { return [] }
    if let known, known.key == row.key, clock.now - known.time < Self.commandsAge { return known.commands }
    let commands = await state.commands(of: row)
    known = (row.key, clock.now, commands)
    return commands
  }
}
