// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The secret of a client: the password of a browser's log-in (with any user name), or `Bearer TOKEN`.
package struct WebToken: Sendable {
  /// The length of a token in bytes. Shorter ones could be guessed.
  package static let lengths = 16...512

  private let bytes: [UInt8]

  /// The token itself.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  static func random() -> WebToken {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<24).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    return WebToken(bytes: Array(Hexadecimal.string(bytes).utf8))
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// A token; nil if it is too short or too long.
  package init?(_ text: String) {
    guard Self.lengths.contains(text.utf8.count) else { return nil }
    bytes = Array(text.utf8)
  }

  /// Whether these credentials contain the token. Takes the same time for a wrong token as for the right one.
  func allows(_ authorization: String) -> Bool {
    let parts = authorization.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return false }
    switch parts[0].lowercased() {
    case "bearer": return isEqual(Array(parts[1].utf8))
    case "basic":
      guard let text = Base64.decode(parts[1]), let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
      return isEqual(Array(text[(colon + 1)...]))
    default: return false
    }
  }

  /// Whether this is the token. Takes the same time for a wrong token as for the right one.
  func isEqual(_ guess: [UInt8]) -> Bool {
    var difference = UInt8(guess.count == bytes.count ? 0 : 1)
    for (index, byte) in bytes.enumerated() { difference |= byte ^ (index < guess.count ? guess[index] : ~byte) }
    return difference == 0
  }
}

/// Slows down clients that guess a token. Every token is compared, so the right one is accepted at once, whatever else comes from the
/// same address. After a few wrong ones, the replies to further wrong ones are delayed.
struct GuessLimit: Sendable {
  /// The number of wrong tokens in a burst, and the time until one more is free; it is also the delay of replies.
  static let (burst, pause) = (5, Duration.seconds(2))
  /// The most delayed replies of an address at a time. Further ones aren't delayed: their connections would keep others away.
  static let waitingLimit = 4
  /// The shortest time between two log messages about wrong tokens.
  static let silence = Duration.seconds(10)

  private var pace = Pace(burst, every: pause)
  private var (told, untold): (MonotonicTime?, Int) = (nil, 0)
  private var waiting: [FairPlaces.Origin: Int] = [:]

  /// Records a wrong token. Returns whether the address has sent many, and, if it is time for a log message, the number of wrong
  /// tokens since the last one.
  mutating func failed(_ origin: FairPlaces.Origin, now: MonotonicTime) -> (isOften: Bool, count: Int?) {
    let isOften = !pace.allows(origin, now: now)
    if !isOften { pace.count(origin, now: now) }
    untold += 1
    if let told, now - told < Self.silence { return (isOften, nil) }
    defer { (told, untold) = (now, 0) }
    return (isOften, untold)
  }

  /// Whether the address may have one more delayed reply; it is counted until `endWaiting`.
  mutating func beginWaiting(_ origin: FairPlaces.Origin) -> Bool {
    guard waiting[origin, default: 0] < Self.waitingLimit else { return false }
    waiting[origin, default: 0] += 1
    return true
  }

  mutating func endWaiting(_ origin: FairPlaces.Origin) {
    waiting[origin] = waiting[origin].flatMap { $0 > 1 ? $0 - 1 : nil }
  }
}
