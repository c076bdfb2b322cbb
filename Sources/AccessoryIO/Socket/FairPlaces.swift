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

  /// A client that has a place. Later ones have greater numbers.
  package struct Client: Sendable {
    package let id: Int
    package let origin: Origin
    package let isSettled: Bool

    /// `isSettled`: the server has answered it, and it may stay. Others have only connected so far.
    package init(_ id: Int, _ origin: Origin, isSettled: Bool) {
      (self.id, self.origin, self.isSettled) = (id, origin, isSettled)
    }
  }

  /// The client that gives its place to a newcomer: the last one of the origin that has the most, if that has at least two more than
  /// the newcomer's, and rather one that isn't settled. Otherwise the newcomer's own origin makes room, by the first one that isn't
  /// settled: connections of which nothing comes keep nobody away. Nil: the newcomer is refused.
  package static func yielding(to newcomer: Origin, among clients: some Sequence<Client>) -> Int? {
    var groups: [Origin: [Client]] = [:]
    for client in clients { groups[client.origin, default: []].append(client) }
    func last(_ group: [Client]) -> Int { group.map(\.id).max() ?? 0 }
    let own = groups[newcomer] ?? []
    if let most = groups.values.max(by: { ($0.count, last($0)) < ($1.count, last($1)) }), most.count >= own.count + 2 {
      let loose = most.filter { !$0.isSettled }
      return last(loose.isEmpty ? most : loose)
    }
    return own.lazy.filter { !$0.isSettled }.map(\.id).min()
  }
}
