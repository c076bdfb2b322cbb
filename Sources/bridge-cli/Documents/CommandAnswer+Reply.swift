// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import CommandOutput

extension CommandAnswer {
  /// The reply to a driver's command.
  init(_ reply: CommandReply) {
    self.init(
      reply.command.name,
      zip(reply.command.results, reply.values).map { NamedValue($0.name, unit: $0.unit, $1) })
  }
}
