// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The identifier of a publisher at its broker.
package enum ClientIdentifier {
  /// The identifier is the same at every start, so that the broker ends an older connection of the same gateway. It differs between
  /// machines and gateways. It has the 23 characters that every broker must accept (MQTT 3.1.1, 3.1.3.1).
  package static func ofPublisher(_ gateway: TopicLevel, identityPath: String = "/etc/machine-id") -> String {
    let identity = MachineIdentity.read(identityPath) ?? Array(repeating: 0, count: 16)
    let sum = SHA256.authentication(of: MachineIdentity.application + Array(gateway.text.utf8), key: identity)
    return "ab-" + Hexadecimal.string(sum).prefix(20)
  }
}
