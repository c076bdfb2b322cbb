// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

/// Several units on one line: whose turn it is, and what a unit that keeps silent costs the others.
@Suite struct UnitTurnTests {
  /// A host of a line whose units are polled again and again, each as soon as its time has come and its last request is over.
  private struct Bus {
    var host: ExchangeHost<DescribedExchange>
    let description: ProtocolDescription
    let index: Int
    /// When each unit was answered.
    var answers: [Int: [MonotonicTime]] = [:]
    /// When each unit was asked, on the line.
    var asked: [Int: [MonotonicTime]] = [:]
    var due: [Int: MonotonicTime] = [:]
    var open: [RequestID: Int] = [:]
    /// What is still to arrive.
    var arriving: [(time: MonotonicTime, bytes: [UInt8])] = []

    init(units: ClosedRange<Int>, tries: Int = 2, timeout: Int64 = 100_000_000) throws {
      var description = ProtocolDescription(name: "meter")
      description.becomeModbus(.init())
      index = description.addRequest("voltage", "", reads: .init(function: 4, start: 0, count: 2))
      (description.plan.tries, description.plan.timeout) = (tries, timeout)
      self.description = description
      host = ExchangeHost(try DescribedExchange(description, label: "line", namesUnits: true))
      host.begin()
      for unit in units { due[unit] = host.now }
    }

    mutating func submit(_ unit: Int) throws -> RequestID {
      host.submit(try DescribedRequest(index, unit: unit, of: description, by: RequestEncoder(host.exchange.codec)))
    }

    /// Lets time pass, by steps of a millisecond. `delay` says after how long a unit answers; nil: never.
    mutating func run(_ time: Duration, every interval: Duration, _ delay: (Int) -> Duration?) throws {
      let end = host.now + time
      while host.now < end {
        for unit in due.keys.sorted() {
          guard let moment = due[unit], moment <= host.now else { continue }
          due[unit] = nil
          open[try submit(unit)] = unit
        }
        for request in host.takeWritten() {
          let unit = Int(request[0])
          asked[unit, default: []].append(host.now)
          guard let delay = delay(unit) else { continue }
          arriving.append((host.now + delay, Array(ModbusAnswer(request, data: [0, UInt8(unit), 0, 0]).frame)))
        }
        host.advance(.milliseconds(1))
        for arrival in arriving.filter({ $0.time <= host.now }) { host.deliver(arrival.bytes) }
        arriving.removeAll { $0.time <= host.now }
        for id in host.completed {
          guard let unit = open.removeValue(forKey: id) else { continue }
          due[unit] = host.now + interval
          if case .success? = host.results[id] { answers[unit, default: []].append(host.now) }
        }
        (host.completed, host.results) = ([], [:])
      }
    }

    /// The longest time between two answers of a unit.
    func longestPause(_ unit: Int) -> Duration {
      let times = answers[unit] ?? []
      return zip(times.dropFirst(), times).map { $0 - $1 }.max() ?? .seconds(1_000_000)
    }
  }

  @Test func unitsHaveTheirTurnsOneAfterAnother() throws {
    var bus = try Bus(units: 1...1)
    bus.due = [:]
    // One is greedy.
    for _ in 0..<10 { _ = try bus.submit(1) }
    for unit in [2, 3] { _ = try bus.submit(unit) }
    var order: [Int] = []
    for _ in 0..<12 {
      bus.host.advance(.milliseconds(10))
      for request in bus.host.takeWritten() {
        order.append(Int(request[0]))
        bus.host.deliver(ModbusAnswer(request, data: [0, 0, 0, 0]).frame)
      }
    }
    // The first was sent before anybody else was there.
    #expect(order == [1, 1, 2, 3] + Array(repeating: 1, count: 8))
  }

  @Test func tooManyForOneUnitLeaveRoomForOthers() throws {
    var bus = try Bus(units: 1...1)
    bus.due = [:]
    let ids = try (0..<66).map { _ in try bus.submit(1) }
    let other = try bus.submit(2)
    #expect(bus.host.error(of: ids[65])?.kind == .busy)
    #expect(bus.host.error(of: ids[65])?.message == "64 requests wait for line@1 already: try again later")
    #expect(bus.host.results[ids[64]] == nil && bus.host.results[other] == nil)
  }

  /// Sixteen units: 3 says nothing, 4 answers when nobody waits any more, 5 is taken off the line in the middle.
  @Test func sixteenUnitsKeepTheirInterval() throws {
    var bus = try Bus(units: 1...16)
    let interval = Duration.seconds(2)
    let answering = Set(1...16).subtracting([3, 4, 5])
    try bus.run(.seconds(30), every: interval) { unit in
      switch unit {
      case 3: nil
      case 4: .milliseconds(150)
      default: .milliseconds(5)
      }
    }
    try bus.run(.seconds(30), every: interval) { unit in
      switch unit {
      case 3, 5: nil
      case 4: .milliseconds(150)
      default: .milliseconds(5)
      }
    }
    for unit in answering {
      let count = bus.answers[unit]?.count ?? 0
      #expect(count >= 27, "unit \(unit) answered \(count) times")
      // Its turn may come behind a time limit of each of the three, and behind the answers of the others.
      #expect(bus.longestPause(unit) <= interval + .milliseconds(500), "unit \(unit)")
    }
    #expect(bus.answers[3] == nil)
    // The late one's answers are nobody else's: whoever asked got his own, and nothing was taken for another.
    #expect(bus.host.exchange.counters.replies == UInt64(bus.answers.values.map(\.count).reduce(0, +)))
  }

  /// A unit that keeps silent isn't asked again before the others have had their turn.
  @Test func aSilentUnitIsAskedAgainBehindTheOthers() throws {
    var bus = try Bus(units: 1...1, tries: 3)
    bus.due = [:]
    let silent = try bus.submit(1)
    let others = try (2...4).map { try bus.submit($0) }
    var order: [Int] = []
    for _ in 0..<400 {
      for request in bus.host.takeWritten() {
        order.append(Int(request[0]))
        if request[0] != 1 { bus.host.deliver(ModbusAnswer(request, data: [0, 0, 0, 0]).frame) }
      }
      bus.host.advance(.milliseconds(1))
    }
    #expect(order == [1, 2, 3, 4, 1, 1])
    #expect(others.allSatisfy { bus.host.error(of: $0) == nil && bus.host.results[$0] != nil })
    #expect(bus.host.error(of: silent)?.message == "line@1 does not answer voltage, which was sent 3 times")
  }

  @Test func whatWaitsAgainCanBeGivenUp() throws {
    var bus = try Bus(units: 1...1, tries: 3)
    bus.due = [:]
    let silent = try bus.submit(1)
    _ = bus.host.takeWritten()
    let other = try bus.submit(2)
    bus.host.advance(.milliseconds(120))
    #expect(bus.host.takeWritten().map { $0[0] } == [2])
    bus.host.cancel(silent)
    #expect(bus.host.error(of: silent)?.kind == .cancelled)
    bus.host.advance(.seconds(10))
    #expect(bus.host.takeWritten().allSatisfy { $0[0] == 2 })
    #expect(bus.host.error(of: other)?.kind == .timedOut)
    bus.host.end(.disconnected("line"))
    #expect(bus.host.completed.filter { $0 == silent }.count == 1)
  }

  /// A request that waits for the answers to another one to be over, and is given up, doesn't make the next one forget them.
  @Test func whatWasNeverSentFreesNobody() throws {
    var bus = try Bus(units: 1...1, tries: 1)
    var description = bus.description
    let other = description.addRequest("energy", "", reads: .init(function: 4, start: 8, count: 2))
    var host = ExchangeHost(try DescribedExchange(description, label: "line"))
    host.begin()
    func request(_ index: Int) throws -> DescribedRequest {
      try DescribedRequest(index, unit: 1, of: description, by: RequestEncoder(host.exchange.codec))
    }
    bus.due = [:]
    host.submit(try request(bus.index))
    #expect(host.takeWritten().count == 1)
    host.advance(.milliseconds(110))
    let given = host.submit(try request(other))
    host.cancel(given)
    host.submit(try request(other))
    host.advance(.milliseconds(20))
    #expect(host.takeWritten().isEmpty, "the answer to the first request may come yet")
    host.advance(.milliseconds(200))
    #expect(host.takeWritten().count == 1)
  }
}
