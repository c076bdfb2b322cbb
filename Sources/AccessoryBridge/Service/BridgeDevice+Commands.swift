// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Commands by name through a service, in the types of the drivers.

extension BridgeDevice {
  /// Carries out commands. Returns the replies.
  package func perform(
    _ calls: [CommandCall], isAnswered: Bool, write: Bool = false
  ) async throws(AccessoryError) -> [CommandReply] {
    try await perform(calls.map { Bridge.CommandCall($0) }, isAnswered: isAnswered, write: write).replies
  }
}

extension Bridge.CommandCall {
  /// A call in the types of the interface: its arguments as a user would type them.
  package init(_ call: CommandCall) { self.init(call.command.name, call.values.compactMapValues(\.typed)) }
}
