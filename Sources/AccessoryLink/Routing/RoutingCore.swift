// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import DequeModule

/// Routes frames in any protocol: queues the clients' requests, and sends each reply to the client that made the request.
///
/// Clients take turns with one request each, however many requests a client has queued. Next is the client that will have used the
/// accessory for the shortest time if its request takes as long as its last one. So whoever sends requests that nobody answers delays
/// the others by one timeout, and not by one timeout for each such client. Requests are sent by the rules of the protocol (`Exchange`),
/// so the accessory sees one host.
struct RoutingCore<Family: RoutedProtocol>: Routing {
  typealias Rules = Family.Rules
  typealias Request = RoutedRequest<Rules.Request>
  typealias Batch = FrameBatch<Rules.Codec.Header>

  struct Client: Sendable {
    var codec: Rules.Codec
    var memory: Family.Memory
    /// Whether the client may send requests that may change something in the accessory.
    var allowsWrites: Bool
    /// Requests that wait for their turn.
    var queue: Deque<Request> = []
    /// How long the client's requests have used the accessory. A client that comes, or has asked nothing for a while, begins where the
    /// turns are, so that it can't save up time.
    var used = Duration.zero
    /// How long its last request took; nil before the first.
    var lastTime: Duration?
    /// Bytes that are not decoded yet, because too many requests are queued.
    var held: [UInt8] = []
    /// How many bytes outside frames were counted in the statistics.
    var skipped: UInt64 = 0
    /// Whether `noFrame` was reported since the client's last whole frame.
    var isNoisy = false
  }

  enum Contact {
    case none
    case making(RequestID)
    case made
  }

  var family: Family
  var clients: [Int: Client] = [:]
  /// Clients with queued requests, in the order in which they began to wait.
  var turns: Deque<Int> = []
  /// The time that the client whose turn was last had used.
  var turnTime = Duration.zero
  /// The client whose request has got no reply, until the next request is sent.
  private var unanswered: Int?
  /// How long requests have taken lately, which is expected of clients that are new.
  private var usualTime = Duration.zero
  /// The number of queued requests of all clients.
  var queued = 0
  /// Clients whose bytes aren't read, because too many requests are queued.
  var paused: [Int] = []
  /// Requests that were sent to the accessory and not answered yet.
  var flights: [RequestID: Request] = [:]
  private var lastID: UInt64 = 0
  private var contact: Contact
  var batch = Batch()
  /// When the line has been silent for long enough to look for a frame after the accessory's unfinished one.
  var silence: MonotonicTime?
  /// For clients with an unfinished frame: when to look for a frame after it (`idle`), and when to drop it (`expire`).
  var unfinished: [Int: (idle: MonotonicTime?, expire: MonotonicTime?)] = [:]
  var timing = LineTiming.instant
  var statistics = RoutingStatistics()

  init(_ family: Family) {
    self.family = family
    contact = family.needsContact ? .none : .made
  }

  var deadline: MonotonicTime? {
    var next = family.rules.deadline
    for time in [silence] + unfinished.values.flatMap({ [$0.idle, $0.expire] }) {
      if let time { next = min(next ?? time, time) }
    }
    return next
  }

  mutating func setTiming(_ timing: LineTiming) {
    self.timing = timing
    family.rules.setTiming(timing)
  }

  // MARK: - Turns

  /// Sends the requests that may be sent now, and decodes more of the clients' bytes, until neither makes progress.
  mutating func proceed(now: MonotonicTime, effects: inout RoutingEffects) {
    repeat { askNext(now: now, effects: &effects) } while readPaused(now: now, effects: &effects)
  }

  private mutating func askNext(now: MonotonicTime, effects: inout RoutingEffects) {
    while !effects.isBlocked, let place = nextTurn {
      let turn = turns[place]
      guard let next = clients[turn]?.queue.first else {
        turns.remove(at: place)
        continue
      }
      guard case .made = contact else { return makeContact(now: now, effects: &effects) }
      if next.kind == .ask, flights.count >= family.window(for: next.request) { return }
      turns.remove(at: place)
      turnTime = max(turnTime, clients[turn]?.used ?? .zero)
      clients[turn]?.queue.removeFirst()
      queued -= 1
      if clients[turn]?.queue.isEmpty == false { turns.append(turn) }
      perform(next, of: turn, now: now, effects: &effects)
    }
  }

  /// The place in `turns` of the client whose turn is next; of several, the one that has waited longest.
  private var nextTurn: Int? {
    guard turns.count > 1 else { return turns.isEmpty ? nil : 0 }
    return turns.indices.min { end(at: $0) < end(at: $1) }
  }

  /// How long the client will have used the accessory if its next request takes as long as its last one.
  private func end(at place: Int) -> Duration {
    clients[turns[place]].map { $0.used + ($0.lastTime ?? usualTime) } ?? .zero
  }

  private mutating func perform(
    _ next: Request, of client: Int, now: MonotonicTime, effects: inout RoutingEffects
  ) {
    switch next.kind {
    case .ask:
      let id = newID()
      flights[id] = next
      flights[id]?.turn = now
      statistics.requests += 1
      drive(now: now, &effects) { $0.submit(id, next.request, now: now, effects: &$1) }
    case .tell:
      statistics.requests += 1
      effects.messages.append(family.message(next.request))
    case .open:
      guard var memory = clients[client]?.memory else { return }
      let (answer, isNew) = family.opening(next, &memory)
      clients[client]?.memory = memory
      // Replies to requests of the client's previous conversation are dropped.
      if isNew { forget(client) }
      statistics.replies += 1
      effects.deliveries.append((client, answer))
    }
  }

  private mutating func makeContact(now: MonotonicTime, effects: inout RoutingEffects) {
    guard case .none = contact else { return }
    let id = newID()
    contact = .making(id)
    drive(now: now, &effects) { $0.begin(id, now: now, effects: &$1) }
    // Making contact may need no reply, and then is complete already.
    if case .made = contact { askNext(now: now, effects: &effects) }
  }

  /// A client without queued requests is about to get one.
  mutating func waitForTurn(_ client: Int) {
    guard let one = clients[client], one.queue.isEmpty else { return }
    turns.append(client)
    clients[client]?.used = max(one.used, turnTime)
  }

  private mutating func newID() -> RequestID {
    lastID += 1
    return RequestID(rawValue: lastID)
  }

  /// Drops the replies to this client's unanswered requests.
  mutating func forget(_ client: Int) {
    for (id, flight) in flights where flight.client == client { flights[id]?.client = nil }
  }

  // MARK: - Calling the protocol's rules

  /// Calls `body` with the protocol's rules, and carries out the effects. Returns whether the rules found an event, which is a frame
  /// that the accessory sent unasked.
  @discardableResult
  mutating func drive(
    now: MonotonicTime, frame: (batch: Batch, index: Int)? = nil, _ effects: inout RoutingEffects,
    _ body: (inout Rules, inout Effects<Rules.Reply, Rules.Event>) -> Void
  ) -> Bool {
    var own = Effects<Rules.Reply, Rules.Event>(isBlocked: effects.isBlocked)
    body(&family.rules, &own)
    let messages = own.takeMessages()
    if !messages.isEmpty { noteSent(now: now) }
    effects.messages += messages
    for (id, result) in own.completions { complete(id, result, frame, now: now, effects: &effects) }
    return !own.events.isEmpty
  }

  /// Notes when requests are sent. If one had to wait because a late reply may come to the request before, that time is the other
  /// client's.
  private mutating func noteSent(now: MonotonicTime) {
    for (id, flight) in flights where flight.sent == nil {
      flights[id]?.sent = now
      if let unanswered, let turn = flight.turn { clients[unanswered]?.used += now - turn }
      unanswered = nil
    }
  }

  private mutating func complete(
    _ id: RequestID, _ result: Result<Rules.Reply, AccessoryError>, _ frame: (batch: Batch, index: Int)?,
    now: MonotonicTime, effects: inout RoutingEffects
  ) {
    if case .making(id) = contact { return contacted(result, effects: &effects) }
    guard var flight = flights.removeValue(forKey: id) else { return }
    let reply = family.reply(to: flight, result, frame: frame)
    let isAnswered = if case .success = result { true } else { reply != nil }
    guard let client = flight.client, clients[client] != nil else {
      if isAnswered { statistics.orphans += 1 }
      return
    }
    if let sent = flight.sent {
      clients[client]?.used += now - sent
      clients[client]?.lastTime = now - sent
      usualTime = (usualTime + (now - sent)) / 2
    }
    if isAnswered {
      statistics.replies += 1
    } else {
      statistics.unanswered += 1
      unanswered = client
    }
    if !isAnswered, flight.isRepeated, family.asksAgain {
      flight.isRepeated = false
      flight.sent = nil
      waitForTurn(client)
      clients[client]?.queue.prepend(flight)
      queued += 1
      return
    }
    if var memory = clients[client]?.memory {
      family.remember(reply, to: flight, &memory, now: now)
      clients[client]?.memory = memory
    }
    if let reply { effects.deliveries.append((client, reply)) }
  }

  private mutating func contacted(
    _ result: Result<Rules.Reply, AccessoryError>, effects: inout RoutingEffects
  ) {
    guard case .failure(let error) = result else { return contact = .made }
    contact = .none
    effects.news.append(.noContact(error.message))
    // All queued requests get no reply. The next request tries to make contact again.
    statistics.unanswered += UInt64(queued)
    for client in turns { clients[client]?.queue.removeAll() }
    turns.removeAll()
    queued = 0
  }
}
