// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ArgumentParser

/// An address to listen at, on the command line: "7000", "127.0.0.1:7000", "[::]:0".
package struct ListeningPlace: FormArgument {
  package static let form = "a port, or a host and a port, like 7000 or 127.0.0.1:7000,"
  package let host: String
  package let port: UInt16
  /// The text as the user wrote it.
  package let text: String

  /// A place that the user hasn't written.
  init(host: String, port: UInt16) { (self.host, self.port, text) = (host, port, "\(host):\(port)") }

  package init?(argument: String) {
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
  package var isLoopback: Bool { IPAddress(host)?.isLoopback ?? (host == "localhost") }

  /// Throws `ValidationError` if other machines could connect to the address, and no network is allowed.
  package func check(_ allow: [NetworkArgument]) throws {
    guard isLoopback || !allow.isEmpty else {
      throw ValidationError(
        "other machines can connect to \(text): name their network, like --allow 192.168.1.0/24, or leave the host out")
    }
  }
}

/// A network or an address on the command line: "192.168.1.0/24", "10.0.0.7", "fd00::/8".
package struct NetworkArgument: FormArgument {
  package static let form = "a network or an address, like 192.168.1.0/24 or fd00::7,"
  package let network: IPNetwork

  package init?(argument: String) {
    guard let network = IPNetwork(argument) else { return nil }
    self.network = network
  }
}

/// An address to listen at, on the command line: "127.0.0.1:5555", "[::1]:0".
package struct PlaceArgument: FormArgument {
  package static let form = "a host and a port, like 127.0.0.1:5555"
  package let host: String
  package let port: UInt16

  package init?(argument: String) {
    // `NetworkAddress` rejects port 0, so it is parsed with another port. Listening at port 0 lets the kernel choose.
    let isAny = argument.hasSuffix(":0")
    guard let address = NetworkAddress(isAny ? argument.dropLast() + "1" : argument) else {
      return nil
    }
    host = address.host
    port = isAny ? 0 : address.port
  }
}

extension ListeningPlace {
  /// Prints a warning if other machines can read what is served.
  package func note(_ allow: [NetworkArgument]) {
    guard !isLoopback else { return }
    Output.note(
      "machines in \(allow.map(\.network.description).joined(separator: " or ")) can read what is served at \(text). The "
        + "connection is not encrypted")
  }
}
