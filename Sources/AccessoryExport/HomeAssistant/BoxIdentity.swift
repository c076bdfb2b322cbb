// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ESPHomeAPI
import Glibc
import SystemPackage

/// What Home Assistant knows this machine by, and the key of its connections. Both are made at the first start and kept in files, so a
/// folder that is moved to another machine makes that the same one.
package struct BoxIdentity: Sendable, Hashable {
  /// 32 bytes.
  package var key: [UInt8]
  /// Six bytes, like the address of a network card.
  package var mac: [UInt8]
  /// Whether the key was made now.
  package var isNew = false

  /// The key as people type it: 44 characters of base64.
  package var keyText: String { Base64.encode(key) }

  /// The name in the network: two machines have different ones.
  package var name: String { "bridge-" + Hexadecimal.string(mac.suffix(4)) }

  /// The names of the files in the folder.
  package static let (keyName, macName) = ("home-assistant.key", "home-assistant.mac")
  private static let fileLimit = 1_024

  /// Reads both from `folder`, or makes them there. Throws `busy` where another program uses the folder, `badData` for a file that has no
  /// key or no address, and the system's errors. Blocks: call it on a queue for that.
  package static func open(
    in folder: String, instance: String = "", identityPath: String = "/etc/machine-id"
  ) throws(AccessoryError) -> BoxIdentity {
    let (keyFile, macFile) = (StateFile(keyName, in: folder), StateFile(macName, in: folder))
    try keyFile.prepare()
    var isNew = false
    let key = try kept(keyFile, read: NativeKey.bytes) {
      isNew = true
      let key = Sodium.random(Sodium.keyLength)
      return (key, Base64.encode(key))
    }
    let mac = try kept(macFile, read: address) {
      let made = MachineIdentity.read(identityPath).map { MachineIdentity.address($0, instance: instance) }
      let mac = made ?? random()
      return (mac, text(of: mac))
    }
    return BoxIdentity(key: key, mac: mac, isNew: isNew)
  }

  /// The folder of the unit, where there is one and this is root; otherwise `own`.
  package static func folder(own: String) -> String {
    let unit = "/var/lib/accessory-bridge-home-assistant"
    return geteuid() == 0 && access(unit, F_OK) == 0 ? unit : own
  }

  /// Reads the key of another process, which may be another user's if this one is root. Throws `notFound` where there is none yet.
  package static func readKey(in folder: String) throws(AccessoryError) -> String {
    let path = "\(folder)/\(keyName)"
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try SmallFile.read(path, limit: fileLimit)
    } catch .noSuchFileOrDirectory {
      throw AccessoryError(.notFound, "there is no key at \(path) yet: it is made at the first start")
    } catch {
      throw AccessoryError(errno: error, "reading \(path)")
    }
    guard let key = NativeKey.bytes(line(bytes)) else { throw damaged(path) }
    return Base64.encode(key)
  }

  private static func kept(
    _ file: StateFile, read: (String) -> [UInt8]?, make: () -> ([UInt8], text: String)
  ) throws(AccessoryError) -> [UInt8] {
    if let bytes = try file.read(limit: fileLimit) {
      guard let value = read(line(bytes)) else { throw damaged(file.path) }
      return value
    }
    let (value, text) = make()
    try file.replace(Array((text + "\n").utf8))
    return value
  }

  private static func damaged(_ path: String) -> AccessoryError {
    AccessoryError(.badData, "\(path) is damaged: put its copy back, or remove it, and a new one is made")
  }

  private static func line(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
  }

  private static func address(_ text: String) -> [UInt8]? {
    let bytes = Hexadecimal.bytes(text.filter { $0 != ":" })
    // Bit 0 of the first byte: an address of several machines.
    return bytes.flatMap { $0.count == 6 && $0[0] & 1 == 0 ? $0 : nil }
  }

  /// "02:00:c0:ff:ee:01".
  private static func text(of mac: [UInt8]) -> String { mac.map { Hexadecimal.string([$0]) }.joined(separator: ":") }

  private static func random() -> [UInt8] {
    var mac = Sodium.random(6)
    mac[0] = mac[0] & 0xFC | 2
    return mac
  }
}
