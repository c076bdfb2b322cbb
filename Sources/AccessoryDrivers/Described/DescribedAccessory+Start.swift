// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

// The steps after opening an accessory.
extension DescribedAccessory {
  /// Performs the plan's start, and checks that the accessory uses this protocol. `line` is its serial line, if it has
  /// one. Throws `unsupported` when a reply isn't as expected.
  func begin(_ line: (any LineControl)?) async throws(AccessoryError) {
    for step in description.plan.start {
      switch step {
      case .request(let request, let expected):
        // A PIN that the user didn't give: this accessory has none.
        if description.lacksParameter(of: request) { continue }
        try check(try await ask(request), expected)
      case .wait(let pause): await clock.sleep(for: .nanoseconds(pause))
      case .baud(let rate): try await change(line, to: rate)
      }
      guard !Task.isCancelled else { throw AccessoryError(.cancelled, "opening \(label) was cancelled") }
    }
    guard let identify = description.plan.identify else { return }
    try check(
      try await firstAnswer(to: [identify] + description.plan.identifyOtherwise), description.plan.expected)
  }

  private func check(_ reply: DecodedMessage?, _ expected: [String: String]) throws(AccessoryError) {
    for (name, expected) in expected.sorted(by: { $0.key < $1.key }) {
      let value = reply?[name]?.value ?? .nothing
      guard value.asExampleText == expected else {
        throw AccessoryError(
          .unsupported,
          "\(label) doesn't answer as \(description.name) accessories do: \(name) is \(SafeText.escape(value.asExampleText)), "
            + "not \(expected). It may be of another kind (bridge-cli drivers lists them), or newer than this description")
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
