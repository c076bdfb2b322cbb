// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Console
import Glibc

/// Runs `top` on a terminal until the user quits or the task is cancelled. Its inputs are keys, changes and timers; its output is
/// screens.
///
/// Everything that happens is an event. One task handles the events one after another.
package final class TopSession {
  private enum Event: Sendable {
    /// Typed bytes; empty when the terminal is gone.
    case typed([UInt8])
    /// No bytes were typed for a while. The value is the number of typed pieces when the timer was started.
    case keysPaused(Int)
    case news, timer, refreshed, drained, resized, continued
    /// The feed has more changes than it returned.
    case more
    case history(UInt64, [ReadingSeries])
  }

  private let feed: any TopFeed
  private var model: TopModel
  private let screen: TopScreen
  private var writer: GridWriter
  private let output: ScreenOutput
  private let keyboard: StandardInput
  private let clock: any TimerClock
  private let events: AsyncStream<Event>
  private let happened: AsyncStream<Event>.Continuation

  private var decoder = KeyDecoder()
  private var typedCount = 0
  private var wakeUps = TopWakeUps()
  private var samples = TopSamples()
  private var timer = DeadlineTimer()
  private var isRefreshing = false
  /// Whether `more` is queued.
  private var takesMore = false
  private var refreshTime: MonotonicTime?
  private var size = TerminalSize(of: STDOUT_FILENO)
  /// The accessory whose history was last requested, and when.
  private var asked: (key: UInt64, time: MonotonicTime)?

  /// How long an escape byte waits for the rest of its key sequence.
  private static let escapeTime = Duration.milliseconds(50)
  /// The most rows taken at once, so that keys don't wait while a whole fleet arrives.
  private static let rowLimit = 100
  /// A history isn't requested again within this time.
  private static let historyAge = Duration.seconds(30)

  /// Throws `UsageError` when standard input or output isn't a terminal, naming `alternatives`.
  package static func checkTerminal(_ alternatives: String) throws {
    guard TerminalGuard.isThere else {
      throw UsageError("top needs a terminal. For programs and files: \(alternatives)")
    }
    if UserDirectory.variable("TERM") == "dumb" {
      throw UsageError("top needs a terminal that can move its cursor (TERM is dumb). Instead: \(alternatives)")
    }
  }

  /// A session that shows `feed`. Throws when the terminal can't be opened.
  package init(
    _ feed: any TopFeed, _ model: TopModel, style: Style = .standardOutput, form: GraphForm = .ofLocale(),
    clock: any TimerClock = IOThread.shared
  ) throws(AccessoryError) {
    (self.feed, self.model, self.clock) = (feed, model, clock)
    screen = TopScreen(TopGlyphs(isASCII: form == .ascii))
    writer = GridWriter(hasColour: style.showsColour)
    let (events, happened) = AsyncStream<Event>.makeStream()
    (self.events, self.happened) = (events, happened)
    output = try ScreenOutput { happened.yield(.drained) }
    keyboard = StandardInput { happened.yield(.typed($0)) }
  }

  // MARK: - Running

  /// The error message of a command that can't print `--json`.
  package static func noJSON(_ alternatives: String) -> String {
    "top has no --json: it is a screen for people. \(alternatives)"
  }

  /// Shows `feed` until the user quits, while `follow` follows its source. Then cancels `follow`, waits for it, and runs `end`.
  package static func run<Feed: TopFeed>(
    _ feed: Feed, _ model: TopModel, follow: @escaping @Sendable (Feed) async -> Void,
    end: (Feed) async -> Void
  ) async throws {
    let result: Result<Void, any Error>
    do {
      let session = try TopSession(feed, model)
      let following = Task { await follow(feed) }
      do { result = .success(try await session.run()) } catch { result = .failure(error) }
      following.cancel()
      await following.value
    } catch {
      result = .failure(error)
    }
    await end(feed)
    try result.get()
  }

  /// Runs, and then restores the terminal.
  package func run() async throws {
    guard TerminalGuard.begin() else { throw AccessoryError(.ioFailure, "the terminal's settings can't be read") }
    let (happened, output, descriptor) = (happened, output, output.descriptor)
    _ = try? Signals([SIGWINCH, SIGTSTP, SIGCONT]) { signal in
      switch signal {
      case SIGWINCH: happened.yield(.resized)
      case SIGTSTP:
        output.enter { $0.discard() }
        TerminalGuard.restore()
        kill(getpid(), SIGSTOP)
      default:
        TerminalGuard.makeRaw()
        TerminalGuard.screenBegins(descriptor, end: FullScreen.leave)
        happened.yield(.continued)
      }
    }
    TerminalGuard.screenBegins(descriptor, end: FullScreen.leave)
    await output.write(FullScreen.enter)
    let (news, listening) = (feed.news, happened)
    let listener = Task { for await _ in news { listening.yield(.news) } }
    keyboard.resume()
    await draw()
    for await event in events {
      if await handle(event) { break }
      await work()
    }
    listener.cancel()
    timer.cancel(on: clock)
    await output.discard()
    TerminalGuard.restore()
    try Task.checkCancellation()
  }

  /// Handles an event. Returns true if the screen should end.
  private func handle(_ event: Event) async -> Bool {
    switch event {
    case .typed(let bytes):
      if bytes.isEmpty { return true }
      typedCount += 1
      var keys: [Key] = []
      decoder.decode(bytes, into: &keys)
      let isOver = await press(keys)
      let (count, happened) = (typedCount, happened)
      if decoder.isPending {
        _ = clock.schedule(at: clock.now + Self.escapeTime) { happened.yield(.keysPaused(count)) }
      }
      keyboard.resume()
      return isOver
    case .keysPaused(let count):
      guard count == typedCount else { break }
      var keys: [Key] = []
      decoder.flush(into: &keys)
      return await press(keys)
    case .news: wakeUps.news()
    case .timer: timer.ended()
    case .more:
      // Handle this after the keys that were pressed in the meantime.
      takesMore = false
      if !model.isPaused { await take(clock.now) }
      wakeUps.news()
    case .refreshed:
      isRefreshing = false
      wakeUps.refreshed()
    case .drained: wakeUps.news()
    case .resized:
      size = TerminalSize(of: STDOUT_FILENO) ?? size
      await draw(taking: false)
    case .continued:
      size = TerminalSize(of: STDOUT_FILENO) ?? size
      writer.forget()
      await output.discard()
      await output.write(FullScreen.enter)
      await draw()
    case .history(let key, let series):
      guard model.view == .detail(key) else { break }
      model.graph = graph(of: key, series)
      await draw(taking: false)
    }
    return false
  }

  private func press(_ keys: [Key]) async -> Bool {
    var needsDrawing = false
    for key in keys {
      switch model.press(key) {
      case .quit: return true
      case .suspend: kill(getpid(), SIGTSTP)
      case .redraw:
        writer.forget()
        needsDrawing = true
      case .draw: needsDrawing = true
      case .nothing: break
      }
    }
    if needsDrawing { await draw(taking: false) }
    return false
  }

  // MARK: - Drawing

  /// Does what is due, and sets the timer for the next work.
  private func work() async {
    switch wakeUps.work(at: clock.now) {
    case .draw where !model.isPaused: await draw()
    case .refresh where !model.isPaused: refresh()
    default: break
    }
    timer.set(model.isPaused ? nil : wakeUps.next, on: clock) { [happened] in happened.yield(.timer) }
  }

  private func refresh() {
    wakeUps.refreshing()
    guard !isRefreshing else { return }
    isRefreshing = true
    Task { [feed, happened] in
      await feed.refresh()
      happened.yield(.refreshed)
    }
  }

  /// Draws the screen if the terminal has accepted the previous one. With `taking`, takes changes first.
  private func draw(taking: Bool = true) async {
    // When the terminal has accepted it, `drained` draws the newest state.
    if await output.isBusy { return wakeUps.news() }
    let now = clock.now
    if taking, !model.isPaused { await take(now) }
    let (columns, rows) = (size?.columns ?? 80, size?.rows ?? 24)
    var (grid, next) = screen.draw(&model, columns: columns, rows: rows, now: now)
    let missing = model.shownKeys().filter { model.row($0)?.values == nil }
    if !missing.isEmpty {
      let values = await feed.values(of: missing)
      for (key, values) in values { model.setValues(values, of: key) }
      if !values.isEmpty { (grid, next) = screen.draw(&model, columns: columns, rows: rows, now: now) }
    }
    let text = writer.update(to: grid)
    if !text.isEmpty { await output.write(text) }
    // Changes that weren't taken must still be drawn. The help never changes by itself.
    let change = model.view == .help ? nil : [next, refreshTime].compactMap { $0 }.min()
    wakeUps.drew(
      at: now, change: change,
      hasMore: model.isPaused || (!taking && wakeUps.hasNews))
    askHistory(now)
  }

  private func take(_ now: MonotonicTime) async {
    let changes = await feed.take(limit: Self.rowLimit, now: now)
    let time = WallClock.seconds
    for row in changes.rows {
      model.put(row)
      samples.note(row, at: time)
    }
    for key in changes.removed {
      model.remove(key)
      samples.forget(key)
    }
    (model.notes, model.emptyText) = (changes.notes, changes.emptyText)
    refreshTime = changes.refreshAfter.map { now + $0 }
    if changes.hasMore, !takesMore {
      takesMore = true
      happened.yield(.more)
    }
  }

  // MARK: - History

  private func askHistory(_ now: MonotonicTime) {
    guard case .detail(let key) = model.view else { return asked = nil }
    if let asked, asked.key == key, now - asked.time < Self.historyAge { return }
    asked = (key, now)
    Task { [feed, happened] in happened.yield(.history(key, await feed.history(of: key))) }
  }

  /// The graph of the source's history, or of the samples since the start.
  private func graph(of key: UInt64, _ series: [ReadingSeries]) -> TopGraph {
    let now = WallClock.seconds
    let known = series.filter { $0.last != nil }
    return TopGraph(known.isEmpty ? [samples.series(of: key, now: now)].compactMap { $0 } : known, end: now)
  }
}
