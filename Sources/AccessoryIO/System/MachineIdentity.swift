// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

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

  /// A number of six bytes, which this machine has as an instance of this name, like the address of a network card; no card has it
  /// (bit 1 of the first byte: locally administered).
  package static func address(_ identity: [UInt8], instance: String) -> [UInt8] {
    var address = Array(SHA256.authentication(of: application + Array(instance.utf8), key: identity).prefix(6))
    address[0] = address[0] & 0xFC | 2
    return address
  }

  /// This machine's host name; empty where the system has none.
  package static func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }
}
