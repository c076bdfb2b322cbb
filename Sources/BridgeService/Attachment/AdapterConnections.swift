// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The connections of a Bluetooth adapter: who has one, who waits for one, and who gives one back so that nobody waits for ever. It has
/// no clock: its owner passes the time.
///
/// A connection is given in the order of asking, but first to those that a client waits for. Where none is free, one of those that have
/// one gives it back. First those that were read and are asked again only later: the one whose next reading is furthest away. Then those
/// that send by themselves and have had theirs for a turn: the one that has had it for longest.
struct AdapterConnections: Sendable {
  /// What a connection is used for at present.
  enum Use: Sendable, Equatable {
    /// A client has it, or listens to it.
    case kept
    /// It is being opened or asked, and is soon free.
    case brief
    /// It was read; its next reading is at this time. Nil: when a client asks for it.
    case read(next: MonotonicTime?)
    /// The accessory sends by itself, since this time.
    case sends(since: MonotonicTime)
  }

  private struct Waiting: Sendable {
    let ticket: Int
    let isAsked: Bool
    let since: MonotonicTime
  }

  /// How long an accessory that sends by itself keeps its connection at least, and for how long others wait at most until one does.
  static let turn = Duration.seconds(30)

  let limit: Int
  /// Those that have a connection, with those that give it back.
  private(set) var holding: Set<Int> = []
  private var leaving: Set<Int> = []
  private var waiting: [Waiting] = []

  init(limit: Int) { self.limit = max(1, limit) }

  var isUnused: Bool { holding.isEmpty && waiting.isEmpty }
  var isAwaited: Bool { !waiting.isEmpty }
  /// The most that have had a connection at a time.
  private(set) var most = 0

  func isWaiting(_ ticket: Int) -> Bool { waiting.contains { $0.ticket == ticket } }

  /// Asks for a connection. Returns whether it was given at once. `isAsked`: a client waits for it.
  mutating func enter(_ ticket: Int, isAsked: Bool = false, now: MonotonicTime) -> Bool {
    if waiting.isEmpty, holding.count < limit {
      hold(ticket)
      return true
    }
    let place = isAsked ? waiting.firstIndex { !$0.isAsked } : nil
    waiting.insert(Waiting(ticket: ticket, isAsked: isAsked, since: now), at: place ?? waiting.count)
    return false
  }

  /// A client now waits for this one, too.
  mutating func ask(_ ticket: Int) {
    guard let index = waiting.firstIndex(where: { $0.ticket == ticket && !$0.isAsked }) else { return }
    let one = waiting.remove(at: index)
    let place = waiting.firstIndex { !$0.isAsked } ?? waiting.count
    waiting.insert(Waiting(ticket: ticket, isAsked: true, since: one.since), at: place)
  }

  /// A connection was closed, or isn't waited for any longer. Returns those that have got one now.
  mutating func leave(_ ticket: Int) -> [Int] {
    waiting.removeAll { $0.ticket == ticket }
    holding.remove(ticket)
    leaving.remove(ticket)
    var given: [Int] = []
    while holding.count < limit, !waiting.isEmpty {
      let next = waiting.removeFirst().ticket
      hold(next)
      given.append(next)
    }
    return given
  }

  private mutating func hold(_ ticket: Int) {
    holding.insert(ticket)
    most = max(most, holding.count)
  }

  /// Who is to give its connection back now. They count as leaving until they have left. Also when to ask again, if nothing else happens
  /// before.
  mutating func dismiss(_ use: (Int) -> Use, now: MonotonicTime) -> (tickets: [Int], again: MonotonicTime?) {
    guard let oldest = waiting.map(\.since).min() else { return ([], nil) }
    let missing = waiting.count - leaving.count
    guard missing > 0 else { return ([], nil) }
    var read: [(ticket: Int, next: MonotonicTime?)] = []
    var sending: [(ticket: Int, since: MonotonicTime)] = []
    var briefCount = 0
    for ticket in holding.subtracting(leaving).sorted() {
      switch use(ticket) {
      case .kept: break
      case .brief: briefCount += 1
      case .read(let next): read.append((ticket, next))
      case .sends(let since): sending.append((ticket, since))
      }
    }
    read.sort { one, other in
      guard let last = other.next else { return false }
      return one.next.map { $0 > last } ?? true
    }
    var tickets = read.prefix(missing).map(\.ticket)
    // Those that send keep theirs where others will be free soon, but not for longer than a turn.
    let stillMissing = missing - tickets.count
    let hasWaited = oldest + Self.turn <= now && leaving.isEmpty && tickets.isEmpty
    let count = max(stillMissing - briefCount, min(stillMissing, hasWaited ? 1 : 0))
    sending.sort { $0.since < $1.since }
    tickets += sending.prefix(max(0, count)).filter { $0.since + Self.turn <= now }.map(\.ticket)
    leaving.formUnion(tickets)
    guard tickets.count < missing, !sending.isEmpty else { return (tickets, nil) }
    let ends = sending.filter { !tickets.contains($0.ticket) }.map { $0.since + Self.turn }
    let times = (ends + [oldest + Self.turn]).filter { $0 > now }
    return (tickets, times.min())
  }
}
