// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import BridgeService

/// Who has a connection of a Bluetooth adapter, and who waits for one, on a clock of the test.
struct AdapterConnectionsTests {
  private typealias Use = AdapterConnections.Use

  private static func time(_ seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: Int64(seconds * 1_000_000_000))
  }

  private static func filled(_ limit: Int) -> AdapterConnections {
    var connections = AdapterConnections(limit: limit)
    for ticket in 0..<limit { _ = connections.enter(ticket, now: time(0)) }
    return connections
  }

  @Test func aFreeConnectionIsGivenAtOnceAndAFreedOneInOrder() {
    var connections = Self.filled(2)
    #expect(connections.holding == [0, 1])
    let given = [2, 3].map { connections.enter($0, now: Self.time(1)) }
    #expect(given == [false, false] && connections.isWaiting(2))
    #expect(connections.leave(0) == [2])
    // Who no longer waits gets none.
    #expect(connections.leave(3) == [])
    #expect(connections.leave(1) == [] && connections.leave(2) == [] && connections.isUnused)
  }

  @Test func theOneThatIsReadLastLeaves() {
    var connections = Self.filled(4)
    _ = connections.enter(9, now: Self.time(1))
    let uses: [Use] = [.brief, .read(next: Self.time(20)), .read(next: Self.time(25)), .kept]
    #expect(connections.dismiss({ uses[$0] }, now: Self.time(1)).tickets == [2])
    // It leaves for the only one that waits, so no other one has to.
    #expect(connections.dismiss({ uses[$0] }, now: Self.time(1)).tickets == [])
    _ = connections.enter(10, now: Self.time(2))
    #expect(connections.dismiss({ uses[$0] }, now: Self.time(2)).tickets == [1])
    #expect(connections.leave(1) == [9] && connections.leave(2) == [10])
  }

  /// One without a next reading leaves before all others.
  @Test func whatNobodyAsksLeavesFirst() {
    var connections = Self.filled(3)
    _ = connections.enter(9, now: Self.time(1))
    let uses: [Use] = [.read(next: Self.time(900)), .read(next: nil), .read(next: Self.time(5))]
    #expect(connections.dismiss({ uses[$0] }, now: Self.time(1)).tickets == [1])
  }

  @Test func whatAClientHasStays() {
    var connections = Self.filled(3)
    _ = connections.enter(9, now: Self.time(0))
    let told = connections.dismiss({ _ in .kept }, now: Self.time(1_000))
    #expect(told.tickets == [] && told.again == nil)
  }

  /// Those that send keep theirs while others will soon be free, and leave in turns when nobody else can.
  @Test func whatSendsHasItsTurn() {
    var connections = Self.filled(3)
    _ = connections.enter(9, now: Self.time(40))
    var uses: [Use] = [.sends(since: Self.time(20)), .sends(since: Self.time(0)), .brief]
    let told = connections.dismiss({ uses[$0] }, now: Self.time(41))
    #expect(told.tickets == [] && told.again == Self.time(50))
    // Nobody was free for a turn.
    #expect(connections.dismiss({ uses[$0] }, now: Self.time(70)).tickets == [1])
    #expect(connections.leave(1) == [9])
    _ = connections.enter(1, now: Self.time(71))
    uses = [.sends(since: Self.time(50)), .kept, .sends(since: Self.time(60))]
    func use(_ ticket: Int) -> Use { ticket == 9 ? .kept : uses[ticket] }
    let later = connections.dismiss(use, now: Self.time(72))
    #expect(later.tickets == [] && later.again == Self.time(80))
    #expect(connections.dismiss(use, now: Self.time(80)).tickets == [0])
  }

  @Test func whatAClientWaitsForIsFirst() {
    var connections = Self.filled(1)
    for ticket in [5, 6, 7] { _ = connections.enter(ticket, isAsked: ticket == 7, now: Self.time(1)) }
    connections.ask(6)
    #expect(connections.leave(0) == [7] && connections.leave(7) == [6] && connections.leave(6) == [5])
  }

  /// Ten packs that are read each 30 s for ten minutes, with seven connections. Connecting takes 2.5 s and is done for one at a time,
  /// reading takes 1 s, and disconnecting 2 s, as in the guest.
  @Test(arguments: [(10, 0), (10, 1), (12, 0)]) func tenPacksAreReadInTime(packs: Int, absent: Int) {
    var world = World(packs: packs, absent: absent, limit: 7)
    world.run(seconds: 600)
    #expect(world.connections.most <= 7)
    for pack in 0..<(packs - absent) {
      // Who isn't there keeps the adapter busy for 15 s.
      let limit = absent == 0 ? 35.0 : 50
      #expect(world.reads[pack].count >= 600 / 35, "pack \(pack) was read \(world.reads[pack].count) times")
      #expect(world.longestGap(pack) <= limit, "pack \(pack) wasn't read for \(world.longestGap(pack)) s")
    }
  }

  /// Ten packs that send by themselves have their turns, too: none is silent for longer than two turns.
  @Test func tenPacksThatSendAreAllHeard() {
    var world = World(packs: 10, absent: 0, limit: 7, sending: 10)
    world.run(seconds: 600)
    for pack in 0..<10 { #expect(world.longestGap(pack) <= 60, "\(pack): \(world.longestGap(pack)) s") }
  }

  /// With seven that send and three that are asked, each is heard or read.
  @Test func thoseThatSendLetOthersBeRead() {
    var world = World(packs: 10, absent: 0, limit: 7, sending: 7)
    world.run(seconds: 600)
    for pack in 0..<10 { #expect(world.longestGap(pack) <= 60, "\(pack): \(world.longestGap(pack)) s") }
  }
}

/// Packs near an adapter, in steps of 100 ms. The service's part is the same as `BridgeService+Connections`.
private struct World {
  enum State: Equatable {
    case closed(until: Double?)
    case waiting
    case connecting(until: Double?)
    case reading(until: Double)
    case open(next: Double)
    case sending(since: Double)
    case closing(until: Double, next: Double?)
  }

  var connections: AdapterConnections
  var reads: [[Double]]
  private var states: [State]
  private let absent: Int
  private let sending: Int
  private var now = 0.0

  /// The last ones are absent; the first ones send by themselves.
  init(packs: Int, absent: Int, limit: Int, sending: Int = 0) {
    connections = AdapterConnections(limit: limit)
    (self.absent, self.sending) = (absent, sending)
    states = Array(repeating: .closed(until: 0), count: packs)
    reads = Array(repeating: [], count: packs)
  }

  func longestGap(_ pack: Int) -> Double {
    let times = [0] + reads[pack] + [now]
    return zip(times.dropFirst(), times).map { $0 - $1 }.max() ?? .infinity
  }

  private var time: MonotonicTime { MonotonicTime(nanoseconds: Int64(now * 1_000_000_000)) }

  private func use(_ pack: Int) -> AdapterConnections.Use {
    switch states[pack] {
    case .open(let next): .read(next: MonotonicTime(nanoseconds: Int64(next * 1_000_000_000)))
    case .sending(let since): .sends(since: MonotonicTime(nanoseconds: Int64(since * 1_000_000_000)))
    default: .brief
    }
  }

  mutating func run(seconds: Double) {
    while now < seconds {
      for pack in states.indices { step(pack) }
      for pack in connections.dismiss(use, now: time).tickets {
        let next: Double? = if case .open(let next) = states[pack] { max(now, next - 3.5) } else { now }
        states[pack] = .closing(until: now + 2, next: next)
      }
      now += 0.1
    }
  }

  private mutating func step(_ pack: Int) {
    switch states[pack] {
    case .closed(let until?) where until <= now:
      states[pack] = connections.enter(pack, now: time) ? .connecting(until: nil) : .waiting
    case .connecting(nil):
      let isTaken = states.contains { if case .connecting(.some) = $0 { true } else { false } }
      let isAbsent = pack >= states.count - absent
      if !isTaken { states[pack] = .connecting(until: now + (isAbsent ? 15 : 2.5)) }
    case .connecting(let until?) where until <= now:
      let isAbsent = pack >= states.count - absent
      states[pack] = isAbsent ? .closing(until: now, next: now + 60) : .reading(until: now + 1)
    case .reading(let until) where until <= now:
      reads[pack].append(now)
      states[pack] = pack < sending ? .sending(since: now) : .open(next: now + 30)
    case .open(let next) where next <= now: states[pack] = .reading(until: now + 1)
    case .sending: reads[pack].append(now)
    case .closing(let until, let next) where until <= now:
      states[pack] = .closed(until: next)
      for given in connections.leave(pack) { states[given] = .connecting(until: nil) }
    default: break
    }
  }
}
