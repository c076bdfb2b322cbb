// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// Bytes and requests from clients.
extension RoutingCore {
  mutating func add(_ client: Int, allowsWrites: Bool) {
    clients[client] = Client(codec: family.makeCodec(), memory: family.newMemory, allowsWrites: allowsWrites)
  }

  mutating func remove(_ client: Int, now: MonotonicTime, effects: inout RoutingEffects) {
    guard let gone = clients.removeValue(forKey: client) else { return }
    queued -= gone.queue.count
    turns.removeAll { $0 == client }
    paused.removeAll { $0 == client }
    unfinished[client] = nil
    forget(client)
    proceed(now: now, effects: &effects)
  }

  func mayTake(from client: Int) -> Bool { clients[client]?.held.isEmpty == true && hasRoom(for: client) }

  func hasUnanswered(_ client: Int) -> Bool {
    clients[client]?.queue.isEmpty == false || flights.values.contains { $0.client == client }
  }

  private func hasRoom(for client: Int) -> Bool {
    guard let count = clients[client]?.queue.count else { return false }
    return count < RoutingLimit.perClient && queued < RoutingLimit.total
  }

  mutating func take(_ bytes: [UInt8], from client: Int, now: MonotonicTime, effects: inout RoutingEffects) {
    guard clients[client] != nil else { return }
    clients[client]?.held += bytes
    read(client, now: now, effects: &effects)
    proceed(now: now, effects: &effects)
  }

  /// Decodes the stored bytes of the paused clients. Returns whether requests were queued.
  mutating func readPaused(now: MonotonicTime, effects: inout RoutingEffects) -> Bool {
    guard !paused.isEmpty else { return false }
    let before = queued
    let waiting = paused
    paused = []
    for client in waiting {
      read(client, now: now, effects: &effects)
      if mayTake(from: client) { effects.resumed.append(client) }
    }
    return queued > before
  }

  /// Decodes a client's stored bytes until too many requests are queued.
  private mutating func read(_ client: Int, now: MonotonicTime, effects: inout RoutingEffects) {
    guard let held = clients[client]?.held else { return }
    var start = 0
    while start < held.count, hasRoom(for: client) {
      let end = min(start + RoutingLimit.slice, held.count)
      clients[client]?.codec.decode(held.span.bytes.extracting(start..<end), into: &batch)
      start = end
      handleFrames(of: client, now: now, effects: &effects)
    }
    clients[client]?.held.removeFirst(start)
    noteUnfinished(client, now: now)
    if !mayTake(from: client), !paused.contains(client) { paused.append(client) }
  }

  private mutating func noteUnfinished(_ client: Int, now: MonotonicTime) {
    guard clients[client]?.codec.hasUnfinishedFrame == true else {
      unfinished[client] = nil
      return
    }
    unfinished[client] = (now + timing.silence, family.halfFramePatience.map { now + $0 })
  }

  /// Handles clients' unfinished frames: looks for frames after them when a client was silent, and drops those that are too old.
  mutating func lookAtUnfinished(now: MonotonicTime, effects: inout RoutingEffects) {
    for (client, times) in unfinished {
      if let expire = times.expire, expire <= now {
        clients[client]?.codec.expire(into: &batch)
        handleFrames(of: client, now: now, effects: &effects)
        noteUnfinished(client, now: now)
      } else if let idle = times.idle, idle <= now {
        clients[client]?.codec.idle(into: &batch)
        handleFrames(of: client, now: now, effects: &effects)
        unfinished[client]?.idle = nil
      }
    }
  }

  private mutating func handleFrames(of client: Int, now: MonotonicTime, effects: inout RoutingEffects) {
    noteNoise(of: client, effects: &effects)
    var found = Batch()
    swap(&found, &batch)
    for index in 0..<found.count { handle(found, at: index, of: client, now: now, effects: &effects) }
    found.removeAll()
    swap(&found, &batch)
  }

  /// Counts bytes outside frames, and reports them once until the client sends a whole frame.
  private mutating func noteNoise(of client: Int, effects: inout RoutingEffects) {
    guard let skipped = clients[client]?.codec.counters.skippedBytes, let known = clients[client]?.skipped,
      skipped > known
    else { return }
    clients[client]?.skipped = skipped
    statistics.noise += skipped - known
    if clients[client]?.isNoisy == false { effects.news.append(.noFrame(client: client)) }
    clients[client]?.isNoisy = true
  }

  private mutating func handle(
    _ found: Batch, at index: Int, of client: Int, now: MonotonicTime, effects: inout RoutingEffects
  ) {
    guard found.outcome(at: index) == .whole else {
      statistics.refused += 1
      if let answer = family.answer(toBroken: found.header(at: index), found.outcome(at: index)) {
        effects.deliveries.append((client, answer))
      }
      return
    }
    clients[client]?.isNoisy = false
    switch family.read(found, at: index, allowsWrites: clients[client]?.allowsWrites == true) {
    case .refuse(let reason, let answer):
      statistics.refused += 1
      effects.news.append(.refused(client: client, reason: reason))
      if let answer { effects.deliveries.append((client, answer)) }
    case .report(let request): queue(Request(kind: .tell, request: request, number: 0, client: client), of: client)
    case .open(let request, let number):
      queue(Request(kind: .open, request: request, number: number, client: client), of: client)
    case .ask(let request, let number):
      let asked = Request(kind: .ask, request: request, number: number, client: client)
      if isRepeated(asked, of: client) {
        statistics.repeats += 1
      } else if let memory = clients[client]?.memory, let answer = family.known(asked, memory, now: now) {
        statistics.repeats += 1
        if !answer.isEmpty { effects.deliveries.append((client, answer)) }
      } else {
        queue(asked, of: client)
      }
    }
  }

  private mutating func queue(_ request: Request, of client: Int) {
    waitForTurn(client)
    clients[client]?.queue.append(request)
    queued += 1
  }

  /// Whether the client has made this request before and it is still queued or unanswered. An unanswered one is marked as repeated.
  private mutating func isRepeated(_ request: Request, of client: Int) -> Bool {
    if let (id, _) = flights.first(where: { $0.value.client == client && family.isRepeat(request, of: $0.value) }) {
      flights[id]?.isRepeated = true
      return true
    }
    return clients[client]?.queue.contains { $0.kind == .ask && family.isRepeat(request, of: $0) } == true
  }
}
