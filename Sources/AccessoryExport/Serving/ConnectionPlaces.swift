// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The connections of a server. They are counted on the I/O thread, before anything else is done with a client, so that clients who come
/// faster than they are served have no more descriptors than there are places.
final class ConnectionPlaces: Sendable {
  private struct Place: Sendable {
    var client: FairPlaces.Client
    let transport: DescriptorTransport
  }

  private struct State {
    var taken: [Int: Place] = [:]
    var lastID = 0
  }

  private let limit: Int
  private let state = Locked(State())

  init(limit: Int) { self.limit = limit }

  /// Listens at `host`, and gives each client a place. Throws as `ConnectionListener` does. Only this machine and machines in `networks`
  /// are served. Called on the I/O thread: `onRefused` with the addresses of others, `welcome` with each client that has a place and the
  /// number of the one that lost it.
  func listen(
    at host: String, port: UInt16, networks: [IPNetwork], endsWithInput: Bool,
    onRefused: @escaping @Sendable (IPAddress) -> Void,
    welcome: @escaping @Sendable (_ transport: DescriptorTransport, _ id: Int, _ displaced: Int?) -> Void
  ) async throws(AccessoryError) -> (listener: ConnectionListener, place: ConnectionListener.Place) {
    try await ConnectionListener.listen(
      at: host, port: port, networks: networks, endsWithInput: endsWithInput, onRefused: onRefused,
      onConnect: { [weak self] transport in
        guard let self, let (id, displaced) = self.take(transport) else { return transport.beginClose() }
        welcome(transport, id, displaced)
      })
  }

  /// Gives a client a place. If there is none, a client from the address with the most connections is disconnected at once: this one,
  /// or the one that it replaces, whose number is `displaced`. Nil: it was this one.
  func take(_ transport: DescriptorTransport) -> (id: Int, displaced: Int?)? {
    let origin = FairPlaces.Origin(transport.peer)
    let (id, other) = state.withLock { state -> (Int?, Place?) in
      var other: Place?
      if state.taken.count >= limit {
        guard let id = FairPlaces.yielding(to: origin, among: state.taken.values.lazy.map(\.client)) else {
          return (nil, nil)
        }
        other = state.taken.removeValue(forKey: id)
      }
      state.lastID += 1
      state.taken[state.lastID] = Place(
        client: FairPlaces.Client(state.lastID, origin, isSettled: false), transport: transport)
      return (state.lastID, other)
    }
    other?.transport.beginClose()
    guard let id else {
      transport.beginClose()
      return nil
    }
    return (id, other?.client.id)
  }

  /// Whether the client still has its place.
  func has(_ id: Int) -> Bool { state.withLock { $0.taken[id] != nil } }

  /// Where the client comes from; nil if it has no place any more.
  func origin(of id: Int) -> FairPlaces.Origin? { state.withLock { $0.taken[id]?.client.origin } }

  /// The client was answered, and stays.
  func settle(_ id: Int) {
    state.withLock { state in
      guard let origin = state.taken[id]?.client.origin else { return }
      state.taken[id]?.client = FairPlaces.Client(id, origin, isSettled: true)
    }
  }

  /// The client has left.
  func free(_ id: Int) { state.withLock { $0.taken[id] = nil } }
}
