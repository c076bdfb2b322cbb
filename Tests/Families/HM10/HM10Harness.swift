// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessoryTesting
import FamilyHM10
import TestSupport

@testable import AccessoryLink

/// An HM-10 exchange.
struct HM10Harness: ExchangeHarness {
  var host: ExchangeHost<HM10Exchange>

  init(options: HM10Exchange.Options = .init()) { host = ExchangeHost(HM10Exchange(label: "module", options: options)) }

  /// An exchange that has made contact with a genuine module.
  static func opened(options: HM10Exchange.Options = .init()) -> HM10Harness {
    var harness = HM10Harness(options: options)
    harness.begin()
    harness.say("OK")
    harness.advance(.milliseconds(30))
    _ = harness.takeSent()
    return harness
  }

  // MARK: - The host's side

  @discardableResult
  mutating func submit(_ command: HM10Command) -> RequestID { submit(.command(command)) }

  @discardableResult
  mutating func send(_ text: String) -> RequestID { submit(.data(Array(text.utf8))) }

  func reply(_ id: RequestID) -> HM10Reply? {
    if case .success(.reply(let reply))? = results[id] { reply } else { nil }
  }

  // MARK: - The module's side

  /// What was sent since the last call, a piece each.
  mutating func takeSent() -> [String] { host.takeWritten().map { String(decoding: $0, as: UTF8.self) } }

  /// A text arrives, and nothing is silent behind it.
  mutating func deliver(_ text: String) { deliver(Array(text.utf8)) }

  mutating func silence() { host.silence() }

  /// Bytes arrive with silence behind them.
  mutating func say(_ text: String) {
    deliver(text)
    silence()
  }
}
