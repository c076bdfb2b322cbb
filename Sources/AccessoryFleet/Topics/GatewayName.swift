// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc

/// The name of a gateway, the machine that publishes its accessories: a level of its topics.
package enum GatewayName {
  /// The name of this machine: its host name, followed by eight hexadecimal digits of its identity, so that two machines
  /// with the same host name don't publish under one name. Characters of the host name that no level may have become `-`.
  ///
  /// Throws `misconfigured` if the machine has no identity, as in some containers.
  package static func ofThisMachine(
    hostName: String = hostName(), identityPath: String = "/etc/machine-id"
  ) throws(AccessoryError) -> TopicLevel {
    guard let identity = MachineIdentity.read(identityPath) else {
      throw AccessoryError(
        .misconfigured,
        "\(identityPath) has no machine id, so this gateway has no name of its own: give it one with --gateway NAME")
    }
    return standard(hostName: hostName, identity: identity)
  }

  /// The name for this host name and this machine id.
  package static func standard(hostName: String, identity: [UInt8]) -> TopicLevel {
    // The host's own name is enough, without its domain.
    let own = hostName.prefix { $0 != "." }.utf8.prefix(40).map { TopicLevel.isAllowed($0) ? $0 : UInt8(ascii: "-") }
    let name = own.isEmpty ? "gateway" : String(decoding: own, as: UTF8.self)
    return TopicLevel(naming: name + "-" + MachineIdentity.digits(identity))
  }

  /// A name that a user has given. Throws `misconfigured` if it can't be a level of a topic.
  package static func read(_ text: String) throws(AccessoryError) -> TopicLevel {
    guard let level = TopicLevel(level: text) else {
      throw AccessoryError(
        .misconfigured,
        "\(SafeText.escape(text)) can't be a gateway's name: it has 1 to \(TopicLevel.longest) letters, digits, - and _"
      )
    }
    return level
  }

  /// This machine's host name; empty where the system has none.
  package static func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }
}

/// This machine's identity. The id in `/etc/machine-id` is confidential (machine-id(5)), so only a sum of it is published, with a
/// number of this application as `sd_id128_get_machine_app_specific` computes it.
package enum MachineIdentity {
  /// The number of this application, for `systemd-id128 machine-id --app-specific`: d8febfd21d3f575986c2c1802a3897ea.
  package static let application: [UInt8] = [
    0xD8, 0xFE, 0xBF, 0xD2, 0x1D, 0x3F, 0x57, 0x59, 0x86, 0xC2, 0xC1, 0x80, 0x2A, 0x38, 0x97, 0xEA,
  ]

  /// The machine id in a file: 16 bytes. Nil if there is no file, or none with an id.
  package static func read(_ path: String) -> [UInt8]? {
    guard let text = try? SmallFile.read(path, limit: 64) else { return nil }
    let line = text.prefix { $0 != UInt8(ascii: "\n") }
    guard let bytes = Hexadecimal.bytes(String(decoding: line, as: UTF8.self)), bytes.count == 16 else { return nil }
    return bytes
  }

  /// The first eight hexadecimal digits of what is published in place of the machine id.
  package static func digits(_ identity: [UInt8]) -> String {
    Hexadecimal.string(SHA256.authentication(of: application, key: identity).prefix(4))
  }
}
