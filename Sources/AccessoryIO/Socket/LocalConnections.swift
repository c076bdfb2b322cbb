// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import SystemPackage

/// The TCP connections of this machine, as the kernel lists them (proc_net_tcp).
enum LocalConnections {
  /// The most bytes that are read of the list: about 50,000 connections. What stands behind them is not known.
  private static let limit = 8 << 20

  /// Whether the other end of a connection is on this machine, and no program has it open. False when that isn't known.
  static func hasPeerLeft(_ descriptor: FileDescriptor) -> Bool {
    guard let here = NetworkSocket.place(of: descriptor), let peer = NetworkSocket.peer(of: descriptor),
      let address = IPAddress(peer.host), let own = IPAddress(here.host), address.isLoopback || address == own
    else { return false }
    let (from, to) = (key(address, peer.port), key(own, here.port))
    var isListed = false
    for name in ["tcp", "tcp6"] {
      guard let bytes = try? SmallFile.read("/proc/self/net/\(name)", limit: limit) else { continue }
      isListed = true
      guard bytes.count < limit else { return false }
      if isOpen(String(decoding: bytes, as: UTF8.self), from, to) { return false }
    }
    return isListed
  }

  /// Whether a program has the end `from` of a connection to `to` open. A connection that only the kernel has left has no inode.
  static func isOpen(_ list: String, _ from: String, _ to: String) -> Bool {
    for line in list.utf8.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 10)
      guard fields.count > 9, ends(fields[1], with: from), ends(fields[2], with: to) else { continue }
      return Substring(fields[9]) != "0"
    }
    return false
  }

  private static func ends(_ field: Substring.UTF8View, with key: String) -> Bool {
    // An IPv4 address of an IPv6 socket has this in front of it.
    let mapped = "0000000000000000FFFF0000"
    let text = Substring(field)
    return text == key || text == mapped + key
  }

  /// An address and a port as the kernel writes them: words of this machine's byte order, in hexadecimal digits.
  static func key(_ address: IPAddress, _ port: UInt16) -> String {
    var text = ""
    for start in stride(from: 0, to: address.bytes.count, by: 4) {
      let word = address.bytes[start..<start + 4].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
      text += hexadecimal(Int(word), digits: 8)
    }
    return text + ":" + hexadecimal(Int(port), digits: 4)
  }

  private static func hexadecimal(_ number: Int, digits: Int) -> String {
    let text = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
