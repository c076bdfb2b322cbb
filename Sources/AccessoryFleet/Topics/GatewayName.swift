// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc

/// The name of a gateway: a machine that publishes its accessories. The name is a level of its topics.
package enum GatewayName {
  /// The default name of this machine: its host name and eight hexadecimal digits of its identity. The digits distinguish machines
  /// with the same host name. Characters that a level can't contain become `-`.
  ///
  ///
  /// Throws `misconfigured` if the machine has no identity, as in some containers.
  package static func ofThisMachine(
    hostName: String = hostName(), identityPath: String = "/etc/machine-id"
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

  /// This machine's host name; empty where the system has none.
  package static func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }
}

/// This machine's identity. The id in `/etc/machine-id` is confidential (machine-id(5)), so only a hash is published: the HMAC with
/// this application's id, computed as in `sd_id128_get_machine_app_specific`.
package enum MachineIdentity {
  /// This application's id, for `systemd-id128 machine-id --app-specific`: d8febfd21d3f575986c2c1802a3897ea.
  package static let application: [UInt8] = [
    0xD8, 0xFE, 0xBF, 0xD2, 0x1D, 0x3F, 0x57, 0x59, 0x86, 0xC2, 0xC1, 0x80, 0x2A, 0x38, 0x97, 0xEA,
  ]

  /// Reads the machine id from a file: 16 bytes. Nil if the file doesn't exist or has no id.
  package static func read(_ path: String) -> [UInt8]? {
    guard let text = try? SmallFile.read(path, limit: 64) else { return nil }
    let line = text.prefix { $0 != UInt8(ascii: "\n") }
    guard let bytes = Hexadecimal.bytes(String(decoding: line, as: UTF8.self)), bytes.count == 16 else { return nil }
    return bytes
  }

  /// The first eight hexadecimal digits of the published identity.
  package static func digits(_ identity: [UInt8]) -> String {
    Hexadecimal.string(SHA256.authentication(of: application, key: identity).prefix(4))
  }
}
