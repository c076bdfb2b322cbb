// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting

@testable import AccessoryLink

/// An exchange with the test in the place of the link, the clock and the accessory.
protocol ExchangeHarness {
  associatedtype Rules: Exchange
  /// The place of the link and the clock.
  var host: ExchangeHost<Rules> { get set }
}

// MARK: - The host's side

extension ExchangeHarness {
  var exchange: Rules { host.exchange }
  var results: [RequestID: Result<Rules.Reply, AccessoryError>] { host.results }
  var completed: [RequestID] { host.completed }
  var events: [Rules.Event] { host.events }

  @discardableResult
  mutating func begin() -> RequestID { host.begin() }

  @discardableResult
  mutating func submit(_ request: Rules.Request) -> RequestID { host.submit(request) }

  mutating func cancel(_ id: RequestID) { host.cancel(id) }

  mutating func end(_ error: AccessoryError) { host.end(error) }

  /// Moves time on, and calls at every deadline as a link would.
  mutating func advance(_ duration: Duration) { host.advance(duration) }

  func error(_ id: RequestID) -> AccessoryError? { host.error(of: id) }

  // MARK: - The accessory's side

  /// Bytes arrive, and nothing is silent behind them.
  mutating func deliver(_ bytes: [UInt8]) { host.deliver(bytes) }
}
