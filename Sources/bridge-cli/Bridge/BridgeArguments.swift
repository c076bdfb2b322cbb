// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ArgumentParser

/// An address to listen at, on the command line: "7000", "127.0.0.1:7000", "[::]:0".
struct ListeningPlace: FormArgument {
  static let form = "a port, or a host and a port, like 7000 or 127.0.0.1:7000,"
  let host: String
  let port: UInt16
  /// The text as the user wrote it.
  let text: String

  init?(argument: String) {
    text = argument
    if !argument.isEmpty, argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      guard let port = UInt16(argument) else { return nil }
      (host, self.port) = ("127.0.0.1", port)
    } else {
      guard let place = PlaceArgument(argument: argument) else { return nil }
      (host, port) = (place.host, place.port)
    }
  }

  /// Whether only this machine can reach the address, judged by its text. Host names are resolved later, when the
  /// endpoint opens.
  var isLoopback: Bool { IPAddress(host)?.isLoopback ?? (host == "localhost") }

  /// Throws `ValidationError` if other machines could connect to the address, and no network is allowed.
  func check(_ allow: [NetworkArgument]) throws {
    guard isLoopback || !allow.isEmpty else {
      throw ValidationError(
        "other machines can connect to \(text): name their network, like --allow 192.168.1.0/24, or leave the host out")
    }
  }
}

/// A network or an address on the command line: "192.168.1.0/24", "10.0.0.7", "fd00::/8".
struct NetworkArgument: FormArgument {
  static let form = "a network or an address, like 192.168.1.0/24 or fd00::7,"
  let network: IPNetwork

  init?(argument: String) {
    guard let network = IPNetwork(argument) else { return nil }
    self.network = network
  }
}

/// A number of bytes on the command line: "65536", "64K", "1M".
struct SizeArgument: FormArgument {
  static let form = "a number of bytes, like 65536, 64K or 1M,"
  let bytes: Int

  init(bytes: Int) { self.bytes = bytes }

  init?(argument: String) {
    let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20]
    let factor = argument.last.flatMap { units[$0] }
    let digits = factor == nil ? argument[...] : argument.dropLast()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits) else {
      return nil
    }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: factor ?? 1)
    guard !overflow else { return nil }
    self.bytes = bytes
  }
}
