// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What an accessory of a kind is asked for by itself, again and again, while a service holds it.
public struct AccessoryPoll: Sendable, Hashable {
  /// What an answer has something of.
  public enum Part: String, Sendable, Hashable, CaseIterable {
    case status, battery, values
  }

  /// What profiles call it: small letters, digits, `-`, `_`.
  public var name: String
  /// The time from one answer to the next question, unless a profile says otherwise; nil: it isn't asked by itself.
  public var interval: Duration?
  /// What its answer has something of.
  public var gives: Set<Part>

  /// A poll of this name.
  public init(_ name: String, every interval: Duration? = nil, gives: Set<Part>) {
    (self.name, self.interval, self.gives) = (name, interval, gives)
  }

  /// Status and battery, so often: what a driver has that says nothing else.
  public static func readings(every interval: Duration? = nil) -> AccessoryPoll {
    AccessoryPoll("readings", every: interval, gives: [.status, .battery])
  }
}

extension Accessory {
  /// Asks, one after the other, for what the poll gives. What the accessory doesn't have, refuses, or says in a way that
  /// makes no sense is left out.
  public func poll(_ poll: AccessoryPoll) async throws(AccessoryError) -> [AccessoryNews] {
    var news: [AccessoryNews] = []
    var problem: AccessoryError?
    for part in AccessoryPoll.Part.allCases where poll.gives.contains(part) {
      do throws(AccessoryError) {
        switch part {
        case .status: news.append(.status(try await status()))
        case .battery: news.append(.battery(try await battery()))
        case .values: news.append(.values(try await values()))
        }
      } catch {
        problem = problem ?? error
        // One that keeps silent, or is gone, isn't asked for the rest.
        guard [.unsupported, .refused, .badData].contains(error.kind) else { break }
      }
    }
    if let problem, news.isEmpty { throw problem }
    return news
  }
}
