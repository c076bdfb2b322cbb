// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

// The steps after opening an accessory.
extension DescribedAccessory {
  /// Performs the plan's start, and checks that the accessory uses this protocol. `line` is its serial line, if it has
  /// one. A request that isn't answered doesn't end this when another one of the plan is. Throws `unsupported` when a
  /// reply isn't as expected.
  func begin(_ line: (any LineControl)?) async throws(AccessoryError) {
    var opening = AskedRequests()
    for step in description.plan.start {
      switch step {
      case .request(let request, let expected):
        // A PIN that the user didn't give: this accessory has none.
        if description.lacksParameter(of: request) { continue }
        try await ask(firstOf: [request], expecting: expected, &opening)
      case .wait(let pause): await clock.sleep(for: .nanoseconds(pause))
      case .baud(let rate): try await change(line, to: rate)
      }
      guard !Task.isCancelled else { throw AccessoryError(.cancelled, "opening \(label) was cancelled") }
    }
    if let identify = description.plan.identify {
      let requests = [identify] + description.plan.identifyOtherwise
      try await ask(firstOf: requests, expecting: description.plan.expected, &opening)
    }
    guard let failure = opening.failures.first?.error else { return }
    if opening.answered.isEmpty, link.exchange.firstEvents.isEmpty {
      let tried = Set(opening.failures.map(\.request))
      let others = (description.plannedRequests + description.requestsForIdentity).filter {
        description.requests[$0].reply != nil && !tried.contains($0)
      }
      guard try await isAnswered(anyOf: others) else { throw failure }
    }
    try checkUnanswered(opening.expected, failure)
    note(opening.failures)
  }

  /// Makes these requests until one is answered, and checks the reply. When none is answered, `opening` gets the failures
  /// and what was expected.
  private func ask(
    firstOf requests: [Int], expecting expected: [String: String], _ opening: inout AskedRequests
  ) async throws(AccessoryError) {
    var failures: [(request: Int, error: AccessoryError)] = []
    for request in requests {
      do throws(AccessoryError) {
        let tries = opening.failures.isEmpty ? nil : memory.withLock { $0.tries(request, besideSilent: true) }
        let reply = try await ask(request, tries: tries)
        if reply != nil { opening.answered.append(request) }
        // The other requests ask for the same, and waiting for their timeouts may take long.
        for other in requests where other != request && description.requests[other].isOptional {
          memory.withLock { $0.replace(other, by: request) }
        }
        return try check(expected) { reply?[$0]?.value ?? .nothing }
      } catch {
        guard error.isOfOneRequest else { throw error }
        failures.append((request, error))
      }
    }
    // An accessory of another protocol may refuse what would identify it.
    if !expected.isEmpty, let refusal = failures.first(where: { $0.error.kind == .refused }) { throw refusal.error }
    opening.failures += failures
    opening.expected.merge(expected) { first, _ in first }
  }

  /// Checks what was expected of unanswered requests by what the accessory has said otherwise. Throws `failure` when it has said
  /// nothing of it, and other protocols may have the same frames, because these have no checksum.
  private func checkUnanswered(
    _ expected: [String: String], _ failure: AccessoryError
  ) throws(AccessoryError) {
    let told = latestValues.values(now: clock.bootTime).reported
    let known = expected.filter { name, _ in told.contains { $0.name == name && $0.value != .nothing } }
    try check(known) { name in told.first { $0.name == name }?.value ?? .nothing }
    guard known.count == expected.count || description.framings.indices.allSatisfy(description.isChecked) else {
      throw failure
    }
  }

  private func check(
    _ expected: [String: String], _ told: (String) -> PlainValue
  ) throws(AccessoryError) {
    for (name, expected) in expected.sorted(by: { $0.key < $1.key }) {
      let value = told(name)
      guard value.asExampleText == expected else {
        throw AccessoryError(
          .unsupported,
          "\(label) doesn't answer as \(description.name) accessories do: \(name) is \(SafeText.escape(value.asExampleText)), "
            + "not \(expected). It may be of another kind (bridge-cli drivers lists them), or newer than this description"
        )
      }
    }
  }

  /// Changes the line's baud rate. Waits first until a request without a reply has left the line, for which it allows
  /// the time that the longest such request takes.
  private func change(_ line: (any LineControl)?, to rate: UInt32) async throws(AccessoryError) {
    guard let line else {
      throw AccessoryError(
        .unsupported,
        "\(label) has no serial line whose baud rate can be changed, and \(description.name) needs \(rate) baud: "
          + "connect it to a serial port of this machine")
    }
    await clock.sleep(for: line.timing.time(of: longestStartRequest))
    try await line.change(LineChanges(baudRate: rate))
  }

  private var longestStartRequest: Int {
    description.plan.start.reduce(0) { longest, step in
      guard case .request(let request, _) = step, description.requests[request].reply == nil else { return longest }
      return max(longest, (try? writer.bytes(request).bytes.count) ?? 0)
    }
  }
}
