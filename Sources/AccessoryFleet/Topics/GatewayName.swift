// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The name of a gateway: a machine that publishes its accessories. The name is a level of its topics.
package enum GatewayName {
  /// The default name of this machine: its host name and eight hexadecimal digits of its identity. The digits distinguish machines
  /// with the same host name. Characters that a level can't contain become `-`.
  ///
  ///
  /// Throws `misconfigured` if the machine has no identity, as in some containers.
  package static func ofThisMachine(
    hostName: String = MachineIdentity.hostName(), identityPath: String = "/etc/machine-id"
  ) throws(AccessoryError) -> TopicLevel {
    guard let identity = MachineIdentity.read(identityPath) else {
      throw AccessoryError(
        .misconfigured,
        "\(identityPath) has no machine id, so this gateway has no default name: give it one with --gateway NAME")
    }
    return standard(hostName: hostName, identity: identity)
  }

  /// The name for this host name and this machine id.
  package static func standard(hostName: String, identity: [UInt8]) -> TopicLevel {
    // The first label of the host name is enough.
    let own = hostName.prefix { $0 != "." }.utf8.prefix(40).map { TopicLevel.isAllowed($0) ? $0 : UInt8(ascii: "-") }
    let name = own.isEmpty ? "gateway" : String(decoding: own, as: UTF8.self)
    return TopicLevel(naming: name + "-" + MachineIdentity.digits(identity))
  }

  /// A name from the user. Throws `misconfigured` if it can't be a topic level.
  package static func read(_ text: String) throws(AccessoryError) -> TopicLevel {
    guard let level = TopicLevel(level: text) else {
      throw AccessoryError(
        .misconfigured,
        "\(SafeText.escape(text)) can't be a gateway's name: it has 1 to \(TopicLevel.longest) letters, digits, - and _"
      )
    }
    return level
  }
}
