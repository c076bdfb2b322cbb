// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Requests that the service repeats while it holds an accessory.
public struct AccessoryPoll: Sendable, Hashable {
  /// A part of an accessory's state that an answer may concern.
  public enum Part: String, Sendable, Hashable, CaseIterable {
    case status, battery, values
  }

  /// The poll's name in profiles: small letters, digits, `-`, `_`.
  public var name: String
  /// The time from an answer to the next request, unless a profile sets another; nil means that the poll isn't repeated.
  public var interval: Duration?
  /// The parts that the answers concern.
  public var parts: Set<Part>

  /// A poll with this name. With nil as the interval it isn't repeated.
  public init(_ name: String, every interval: Duration? = nil, parts: Set<Part>) {
    (self.name, self.interval, self.parts) = (name, interval, parts)
  }

  /// The poll for status and battery that a driver has by default.
  public static func readings(every interval: Duration? = nil) -> AccessoryPoll {
    AccessoryPoll("readings", every: interval, parts: [.status, .battery])
  }
}

extension Accessory {
  /// The default: asks for the parts of the poll one after another. Parts that the accessory doesn't have, doesn't
  /// answer, refuses or answers with bad data are left out.
  public func poll(_ poll: AccessoryPoll) async throws(AccessoryError) -> [AccessoryNews] {
    var news: [AccessoryNews] = []
    var problem: AccessoryError?
    for part in AccessoryPoll.Part.allCases where poll.parts.contains(part) {
      do throws(AccessoryError) {
        news.append(try await self.news(of: part))
      } catch {
        problem = problem ?? error
        // One that leaves a part unanswered may have the others; one that is gone isn't asked for the rest.
        guard error.kind == .unsupported || error.isOfOneRequest else { break }
      }
    }
    if let problem, news.isEmpty { throw problem }
    return news
  }

  /// Asks for one part of its state.
  func news(of part: AccessoryPoll.Part) async throws(AccessoryError) -> AccessoryNews {
    switch part {
    case .status: .status(try await status())
    case .battery: .battery(try await battery())
    case .values: .values(try await values())
    }
  }
}
