// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

extension CommandAnswer {
  /// The reply to a driver's command.
  init(_ reply: CommandReply) {
    self.init(reply.command.name, reply.command.results, reply.values)
  }
}
