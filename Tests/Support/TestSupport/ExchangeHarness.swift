// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryTesting

/// An exchange with the test in the place of the link, the clock and the accessory.
package protocol ExchangeHarness {
  associatedtype Rules: Exchange
  /// The place of the link and the clock.
  var host: ExchangeHost<Rules> { get set }
}

// MARK: - The host's side

extension ExchangeHarness {
  package var exchange: Rules { host.exchange }
  package var results: [RequestID: Result<Rules.Reply, AccessoryError>] { host.results }
  package var completed: [RequestID] { host.completed }
  package var events: [Rules.Event] { host.events }

  @discardableResult
  package mutating func begin() -> RequestID { host.begin() }

  @discardableResult
  package mutating func submit(_ request: Rules.Request) -> RequestID { host.submit(request) }

  package mutating func cancel(_ id: RequestID) { host.cancel(id) }

  package mutating func end(_ error: AccessoryError) { host.end(error) }

  /// Moves time on, and calls at every deadline as a link would.
  package mutating func advance(_ duration: Duration) { host.advance(duration) }

  package func error(_ id: RequestID) -> AccessoryError? { host.error(of: id) }

  // MARK: - The accessory's side

  /// Bytes arrive, and nothing is silent behind them.
  package mutating func deliver(_ bytes: [UInt8]) { host.deliver(bytes) }
}
