// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Who gives way when all places of a server are taken, so that the clients of one address can't keep those of others away.
package enum FairPlaces {
  /// Whose clients count together: an IPv4 address, or the network of an IPv6 address, of which one machine has all addresses.
  package struct Origin: Sendable, Hashable {
    private let bytes: [UInt8]

    /// The origin of a connection; connections without an address (Unix sockets) have one origin together.
    package init(_ peer: NetworkAddress?) {
      let address = (peer?.host).flatMap { IPAddress($0) }?.bytes ?? []
      bytes = address.count > 4 ? Array(address[..<8]) : address
    }
  }

  /// The client that gives its place to a newcomer: the last one of the origin that has the most, if that has at least two more than
  /// the newcomer's. Nil: the newcomer is refused. Later clients have greater numbers.
  package static func yielding(to newcomer: Origin, among clients: some Sequence<(id: Int, origin: Origin)>) -> Int? {
    var groups: [Origin: (count: Int, last: Int)] = [:]
    for (id, origin) in clients {
      let group = groups[origin] ?? (0, id)
      groups[origin] = (group.count + 1, max(group.last, id))
    }
    guard let most = groups.values.max(by: { ($0.count, $0.last) < ($1.count, $1.last) }),
      most.count >= (groups[newcomer]?.count ?? 0) + 2
    else { return nil }
    return most.last
  }
}
