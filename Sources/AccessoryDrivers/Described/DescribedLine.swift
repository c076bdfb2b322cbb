// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A line with several accessories of one described protocol. They share one link.
final class DescribedLine: AccessoryLine {
  let link: Link<DescribedExchange>
  let description: ProtocolDescription
  let clock: any TimerClock
  private let isShared: Bool

  private init(
    _ link: Link<DescribedExchange>, _ description: ProtocolDescription, isShared: Bool, clock: any TimerClock
  ) {
    (self.link, self.description, self.isShared, self.clock) = (link, description, isShared, clock)
  }

  /// Opens a link over `session`. The line owns the session from now on, and closes it if this fails. Throws what
  /// `Link.open` throws, and `misconfigured` when the description's frames aren't possible.
  static func open(
    _ session: AccessorySession, _ description: ProtocolDescription, isShared: Bool, clock: any TimerClock
  ) async throws(AccessoryError) -> DescribedLine {
    let rules = try DescribedExchange(
      description, label: session.label, wire: description.wire(of: session), namesUnits: isShared)
    let link = try await Link.open(session, rules: rules, clock: clock)
    return DescribedLine(link, description, isShared: isShared, clock: clock)
  }

  var hasEnded: Bool { link.hasEnded }

  /// A unit's name in messages to the user.
  func label(of unit: Int) -> String { isShared ? "\(link.label)@\(unit)" : link.label }

  func accessory(unit: Int, share: LineShare) async throws(AccessoryError) -> any Accessory {
    try await DescribedAccessory.open(self, unit: unit, share: share)
  }

  /// Whether a unit answers. Makes the plan's `identify` requests, or else its first polled request, once each, until
  /// one is answered.
  func isThere(unit: Int) async throws(AccessoryError) -> Bool {
    let plan = description.plan
    let contact = plan.identify.map { [$0] + plan.identifyOtherwise }
    // A request without a reply can't show whether a unit is there.
    let questions = (contact ?? description.plannedRequests).filter { description.requests[$0].reply != nil }
    guard !questions.isEmpty else {
      throw AccessoryError(
        .misconfigured,
        "the protocol \(description.name) has no request that could find units: name the units")
    }
    for question in contact == nil ? questions.prefix(1) : questions[...] {
      if try await isAnswered(question, unit: unit) { return true }
    }
    return false
  }

  private func isAnswered(_ question: Int, unit: Int) async throws(AccessoryError) -> Bool {
    var request = try DescribedRequest(question, unit: unit, of: description, by: RequestEncoder(link.exchange.codec))
    request.tries = 1
    do throws(AccessoryError) {
      _ = try await link.request(request)
      return true
    } catch {
      switch error.kind {
      case .timedOut: return false
      // A unit that refuses is there.
      case .refused: return true
      default: throw error
      }
    }
  }

  func close() async { await link.close() }
}
