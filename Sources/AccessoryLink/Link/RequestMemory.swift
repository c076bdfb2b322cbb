// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Which of its requests an accessory answers. A request that stays unanswered while others are answered is asked rarely
/// after some tries, and the values of its last reply are then lost. It has no clock: its owner passes the time.
package struct RequestMemory: Sendable {
  /// After this many silences in a row a request is asked rarely. Until then the values of its last reply are kept, as
  /// readings stay fresh for three polls.
  package static let tolerated = 3
  /// How long a silent request isn't asked: at first, and at most. The pause doubles each time.
  static let pauses = Duration.seconds(60)...Duration.seconds(600)

  private struct Entry: Sendable {
    var wasAnswered = false
    /// The error of the last try; nil if that was answered.
    var failure: AccessoryError.Kind?
    var silences = 0
    /// When it is asked again; nil for at once.
    var next: MonotonicTime?
    /// Whether not every model has it, and this accessory hasn't answered it.
    var isExcused = false
    /// The request that is asked in its place.
    var substitute: Int?

    var isLost: Bool { failure != nil && (!wasAnswered || failure != .timedOut || silences >= tolerated) }
  }

  private var entries: [Int: Entry] = [:]

  package init() {}

  package private(set) var lastAnswered: Int?
  /// Whether the accessory left everything unanswered when it was asked last.
  private var isSilent = false

  /// The request was answered. After a silence of the whole accessory, all others are asked again at once.
  package mutating func answered(_ request: Int) {
    entries[request] = Entry(wasAnswered: true)
    lastAnswered = request
    guard isSilent else { return }
    isSilent = false
    for other in entries.keys where entries[other]?.failure == .timedOut { entries[other]?.next = nil }
  }

  /// The request wasn't answered or was refused, but the accessory is there. Returns whether its values are lost.
  package mutating func failed(_ request: Int, _ error: AccessoryError, isOptional: Bool, now: MonotonicTime) -> Bool {
    var entry = entries[request] ?? Entry()
    entry.failure = error.kind
    entry.isExcused = isOptional && !entry.wasAnswered
    if error.kind == .timedOut {
      entry.silences += 1
      let doublings = entry.isExcused ? 8 : min(8, entry.silences - Self.tolerated)
      if doublings >= 0 { entry.next = now + min(Self.pauses.upperBound, Self.pauses.lowerBound * (1 << doublings)) }
    } else if entry.isExcused {
      entry.next = MonotonicTime(nanoseconds: .max)
    }
    entries[request] = entry
    guard entry.isLost else { return false }
    for other in entries.keys where entries[other]?.substitute == request { entries[other] = nil }
    return true
  }

  /// The accessory has left everything unanswered. This says nothing about single requests.
  package mutating func everythingFailed() { isSilent = true }

  /// `other` asks for the same as `request`, which is answered.
  package mutating func replace(_ other: Int, by request: Int) { entries[other] = Entry(substitute: request) }

  /// Whether the request isn't to be asked now.
  package func rests(_ request: Int, now: MonotonicTime) -> Bool {
    guard let entry = entries[request] else { return false }
    return entry.substitute != nil || entry.next.map { $0 > now } ?? false
  }

  /// How often the request is sent at most; nil for as often as the protocol says. One that was never answered isn't
  /// repeated beside a silent one: waiting for each would take long.
  package func tries(_ request: Int, besideSilent: Bool) -> Int? {
    let entry = entries[request] ?? Entry()
    let isProbablySilent = entry.wasAnswered ? entry.silences >= Self.tolerated : besideSilent || entry.silences > 0
    return isProbablySilent ? 1 : nil
  }

  /// Whether the values of the request's reply aren't known, or not any more.
  package func isLost(_ request: Int) -> Bool { entries[request]?.isLost ?? false }

  /// Whether the values of the request's reply were known, and aren't any more.
  package func wasLost(_ request: Int) -> Bool { entries[request].map { $0.isLost && $0.wasAnswered } ?? false }

  /// What the accessory doesn't answer or refuses, of these requests or of all: a sentence without its period. Requests that not
  /// every model has are left out. Nil if there are none.
  package func sentence(of requests: [Int]? = nil, label: String, name: (Int) -> String) -> String? {
    var (silent, rare, refused, unusable): ([String], [String], [String], [String]) = ([], [], [], [])
    for request in requests ?? entries.keys.sorted() {
      guard let entry = entries[request], let failure = entry.failure, !entry.isExcused, entry.substitute == nil,
        requests != nil || entry.isLost
      else { continue }
      if failure == .refused {
        refused.append(name(request))
      } else if failure == .badData {
        unusable.append(name(request))
      } else if entry.silences >= Self.tolerated {
        rare.append(name(request))
      } else {
        silent.append(name(request))
      }
    }
    let facts = [
      silent.isEmpty ? nil : "does not answer \(NameWords.list(silent, "and"))",
      rare.isEmpty ? nil : "does not answer \(NameWords.list(rare, "and")), which it is asked rarely now",
      refused.isEmpty ? nil : "refuses \(NameWords.list(refused, "and"))",
      unusable.isEmpty ? nil : "answers \(NameWords.list(unusable, "and")) with what can't be used",
    ].compactMap { $0 }
    return facts.isEmpty ? nil : "\(label) \(facts.joined(separator: ", and ")), so values may be missing or old"
  }
}
