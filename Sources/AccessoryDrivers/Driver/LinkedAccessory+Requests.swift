// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

// What an accessory of a native driver doesn't answer: the same policy as for described protocols. A request is a part of the state, or
// one of several requests for a reading.

/// A request of a native driver. It returns false if nothing was asked, because the accessory can't have what is wanted.
private typealias NamedRequest = @Sendable () async throws(AccessoryError) -> Bool

/// Requests of a native driver, by their places in the link's list of names.
private struct NamedRequests<Rules: Exchange>: RequestMaker {
  let link: Link<Rules>
  let requests: [Int: NamedRequest]

  var clock: any TimerClock { link.clock }
  var isTelling: Bool { false }

  func make(_ request: Int, tries: Int?) async throws(AccessoryError) -> Bool {
    guard let make = requests[request], try await make() else { return false }
    remember { $0.answered(request) }
    return true
  }

  func knows(_ request: Int) -> Bool { requests[request] != nil }
  /// An accessory that refuses what it has never answered doesn't have it.
  func isOptional(_ request: Int, _ error: AccessoryError) -> Bool { error.kind == .refused }
  func remember<Result>(_ body: (inout RequestMemory) -> Result) -> Result { link.memory.withLock { body(&$0) } }
  func lose(_ request: Int) {}
}

extension Link {
  /// The place of a request in the list of names.
  fileprivate func place(of name: String) -> Int {
    requestNames.withLock { names in
      if let place = names.firstIndex(of: name) { return place }
      names.append(name)
      return names.count - 1
    }
  }

  /// What the accessory doesn't answer, of these requests or of all.
  fileprivate func silence(of requests: [Int]? = nil) -> String? {
    let names = requestNames.withLock { $0 }
    return memory.withLock { $0.sentence(of: requests, label: label) { names[$0] } }
  }

  /// Makes these requests. Returns the places of those whose answers aren't known.
  fileprivate func ask(
    _ requests: [(name: String, make: NamedRequest)]
  ) async throws(AccessoryError) -> [Int] {
    let places = requests.map { place(of: $0.name) }
    let makers = Dictionary(uniqueKeysWithValues: zip(places, requests.map(\.make)))
    let asked = try await NamedRequests(link: self, requests: makers).ask(all: places, isWanted: false)
    return places.filter { place in
      asked.failures.contains { $0.request == place } || memory.withLock { $0.isLost(place) }
    }
  }
}

extension LinkedAccessory {
  /// What the accessory doesn't answer at present.
  public var unanswered: String? { link.silence() }

  /// Makes a request for a whole part of the state. When it is answered, nothing of it is missing any more.
  package func reading<Value>(
    _ part: AccessoryPoll.Part, _ body: () async throws(AccessoryError) -> Value
  ) async throws(AccessoryError) -> Value {
    let value = try await body()
    link.memory.withLock { $0.answered(link.place(of: part.rawValue)) }
    return value
  }

  /// Makes requests for one reading, one after another. What isn't answered is left out, and named as missing. Throws the first error
  /// when nothing is answered.
  package func answers<Answer: Sendable>(
    _ requests: [(name: String, make: @Sendable () async throws(AccessoryError) -> Answer)]
  ) async throws(AccessoryError) -> Read<[String: Answer]> {
    let answers = Locked<[String: Answer]>([:])
    let missed = try await link.ask(
      requests.map { name, make in
        let request: NamedRequest = { () async throws(AccessoryError) in
          let answer = try await make()
          answers.withLock { $0[name] = answer }
          return true
        }
        return (name, request)
      })
    return Read(answers.withLock { $0 }, age: .zero).lacking(link.silence(of: missed))
  }

  /// Asks for the parts of the poll one after another. A part that the accessory doesn't answer any more is unknown. Throws only when
  /// it answers nothing.
  public func poll(_ poll: AccessoryPoll) async throws(AccessoryError) -> [AccessoryNews] {
    let told = Locked<[AccessoryPoll.Part: AccessoryNews]>([:])
    let lacking = Locked<AccessoryError?>(nil)
    let parts = AccessoryPoll.Part.allCases.filter(poll.parts.contains)
    _ = try await link.ask(
      parts.map { part in
        let request: NamedRequest = { () async throws(AccessoryError) in
          do throws(AccessoryError) {
            let news = try await self.news(of: part)
            told.withLock { $0[part] = news }
            // The status of a driver that has none.
            return news != .status(AccessoryStatus())
          } catch {
            guard error.kind == .unsupported else { throw error }
            lacking.withLock { $0 = error }
            return false
          }
        }
        return (part.rawValue, request)
      })
    let news = parts.compactMap { part -> AccessoryNews? in
      if let news = told.withLock({ $0[part] }) { return news }
      let place = link.place(of: part.rawValue)
      guard link.memory.withLock({ $0.wasLost(place) }) else { return nil }
      switch part {
      case .status: return .status(AccessoryStatus())
      case .battery: return .battery(BatteryReading())
      case .values: return nil
      }
    }
    if news.isEmpty, let error = lacking.withLock({ $0 }) { throw error }
    return news
  }
}
