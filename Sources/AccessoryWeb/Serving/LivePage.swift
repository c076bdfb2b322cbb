// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// Sends the changed parts of a page to one browser, as server-sent events: first all parts, then changed ones. If parts change
/// faster than the browser reads, only their newest state is sent.
actor LivePage {
  /// The shortest time between two checks of the state.
  private static let pause = Duration.milliseconds(250)
  /// An empty message is sent after this time of silence, because proxies close connections that are quiet for a minute.
  static let keepalive = Duration.seconds(25)

  private let state: WebState
  private let look: Look
  private let clock: any TimerClock
  private let render: @Sendable () async -> LiveContent?
  private var sent: [String: Int] = [:]
  private var order: [String]?
  private var title = ""
  private var version: UInt64 = 0
  /// The times of the last message and of the last check of the state.
  private var lastTime, lookTime: MonotonicTime?
  private var nextAge: MonotonicTime?

  /// `render` returns the page's current content; nil ends the stream.
  init(_ state: WebState, _ look: Look, clock: any TimerClock, render: @escaping @Sendable () async -> LiveContent?) {
    (self.state, self.look, self.clock, self.render) = (state, look, clock, render)
  }

  /// The next message; nil at the end.
  func next() async -> [UInt8]? {
    while !Task.isCancelled {
      if let lastTime, let lookTime {
        let passed = clock.now - lookTime
        if passed < Self.pause { await clock.sleep(for: Self.pause - passed) }
        let due = lastTime + Self.keepalive
        await state.wait(after: version, until: min(due, nextAge ?? due))
        guard !Task.isCancelled else { return nil }
      }
      lookTime = clock.now
      version = await state.currentVersion
      guard let content = await render() else { return nil }
      nextAge = AgeText.nextDrawing(content.ages, now: clock.now)
      let text = message(content)
      let isDue = lastTime.map { clock.now - $0 >= Self.keepalive } ?? false
      guard !text.isEmpty || isDue || lastTime == nil else { continue }
      let isFirst = lastTime == nil
      lastTime = clock.now
      return Array(((isFirst ? "retry: 3000\n" : "") + (text.isEmpty ? ":\n\n" : text)).utf8)
    }
    return nil
  }

  /// The events for the changes since the last message.
  private func message(_ content: LiveContent) -> String {
    var text = ""
    var known: [String: Int] = [:]
    for part in content.parts {
      let hash = part.html.hashValue
      known[part.id] = hash
      if sent[part.id] != hash { text += Self.event("part", part.html) }
    }
    sent = known
    if let order = content.order, order != self.order {
      self.order = order
      text += Self.event("order", order.joined(separator: " "))
    }
    if content.title != title {
      title = content.title
      text += Self.event("title", title)
    }
    return text
  }

  /// An event. Its data may have several lines.
  static func event(_ name: String, _ data: String) -> String {
    let lines = data.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
    return "event: \(name)\n" + lines.map { "data: \($0)\n" }.joined() + "\n"
  }
}
