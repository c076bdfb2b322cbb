// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A line on which several accessories of one described protocol are: one link, over which requests to all of them go.
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

  /// A link over `session`, which belongs to it from now on and is closed if that fails. Throws what `Link.open` throws, and
  /// `misconfigured` when there can be no such frames.
  static func open(
    _ session: AccessorySession, _ description: ProtocolDescription, isShared: Bool, clock: any TimerClock
  ) async throws(AccessoryError) -> DescribedLine {
    let rules = try DescribedExchange(
      description, label: session.label, wire: description.wire(of: session), namesUnits: isShared)
    let link = try await Link.open(session, rules: rules, clock: clock)
    return DescribedLine(link, description, isShared: isShared, clock: clock)
  }

  var hasEnded: Bool { link.hasEnded }

  /// What people call a unit.
  func label(of unit: Int) -> String { isShared ? "\(link.label)@\(unit)" : link.label }

  func accessory(unit: Int, share: LineShare) async throws(AccessoryError) -> any Accessory {
    try await DescribedAccessory.open(self, unit: unit, share: share)
  }

  /// Makes the requests by which the plan makes contact, or else the first that it polls, once each until one is answered.
  func isThere(unit: Int) async throws(AccessoryError) -> Bool {
    let plan = description.plan
    let contact = plan.identify.map { [$0] + plan.identifyOtherwise }
    // What has no reply says nothing of who is there.
    let questions = (contact ?? description.plannedRequests).filter { description.requests[$0].reply != nil }
    guard !questions.isEmpty else {
      throw AccessoryError(
        .misconfigured,
        "\(description.name) has nothing in its plan by which units could be searched for: say which there are")
    }
    for question in contact == nil ? questions.prefix(1) : questions[...] {
      if try await isAnswered(question, unit: unit) { return true }
    }
    return false
  }

  private func isAnswered(_ question: Int, unit: Int) async throws(AccessoryError) -> Bool {
    var request = try DescribedRequest(question, unit: unit, of: description, by: RequestWriter(link.exchange.codec))
    request.tries = 1
    do throws(AccessoryError) {
      _ = try await link.request(request)
      return true
    } catch {
      switch error.kind {
      case .timedOut: return false
      // Who refuses is there.
      case .refused: return true
      default: throw error
      }
    }
  }

  func close() async { await link.close() }
}
