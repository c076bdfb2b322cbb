// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Serves clients on the network. Bytes are read and written on the I/O thread; requests are answered here, on a dispatch queue.
///
/// Everything that a client could make grow has a limit: the number of clients, the bytes waiting to be read or written, and the time
/// until the next request.
package actor ExportServer<Session: ExportSession> {
  private final class Client {
    let transport: DescriptorTransport
    var session: Session
    var buffer: [UInt8] = []
    /// Whether a request is being answered or the client hasn't read earlier replies yet.
    var isBusy = false
    var lastRequest: MonotonicTime
    var timer: TimerToken?

    init(_ transport: DescriptorTransport, _ session: Session, now: MonotonicTime) {
      (self.transport, self.session, lastRequest) = (transport, session, now)
    }
  }

  private struct Places {
    var taken: [Int: FairPlaces.Origin] = [:]
    var lastID = 0
  }

  private let feed: ReadingsFeed
  private let makeSession: @Sendable (NetworkAddress?) -> Session
  private let limit: Int
  private let clock: any TimerClock
  private var clients: [Int: Client] = [:]
  private var listeners: [ConnectionListener] = []
  /// The open connections. They are counted on the I/O thread before a client is handed over.
  private let places = Locked(Places())

  /// No requests of a client are answered while it has this many unread bytes.
  private static var backlogLimit: Int { 32_768 }

  /// Creates a server for at most `limit` clients at a time.
  package init(
    _ feed: ReadingsFeed, limit: Int = 64, clock: any TimerClock = IOThread.shared,
    session: @escaping @Sendable (NetworkAddress?) -> Session
  ) {
    (self.feed, self.limit, self.clock, makeSession) = (feed, limit, clock, session)
  }

  /// Listens at `host` and returns the address. Throws as `ConnectionListener` does. Only this machine and machines in `networks` are
  /// served. `onRefused` is called on the I/O thread with the addresses of others.
  package func listen(
    at host: String, port: UInt16, networks: [IPNetwork], onRefused: @escaping @Sendable (IPAddress) -> Void
  ) async throws(AccessoryError) -> ConnectionListener.Place {
    let (listener, place) = try await ConnectionListener.listen(
      at: host, port: port, networks: networks, endsWithInput: false, onRefused: onRefused,
      onConnect: { [weak self] transport in self?.welcome(transport) })
    listeners.append(listener)
    return place
  }

  /// Stops accepting clients and disconnects the current ones.
  package func close() async {
    for listener in listeners { await listener.close() }
    listeners = []
    for id in Array(clients.keys) { remove(id) }
  }

  /// Takes a client. If there are too many, a client from the address with the most connections is disconnected: this one, or the one
  /// that it replaces.
  package nonisolated func welcome(_ transport: DescriptorTransport) {
    let origin = FairPlaces.Origin(transport.peer)
    let (id, other) = places.withLock { places -> (Int?, Int?) in
      var other: Int?
      if places.taken.count >= limit {
        other = FairPlaces.yielding(to: origin, among: places.taken.lazy.map { (id: $0, origin: $1) })
        guard let other else { return (nil, nil) }
        places.taken[other] = nil
      }
      places.lastID += 1
      places.taken[places.lastID] = origin
      return (places.lastID, other)
    }
    guard let id else { return transport.beginClose() }
    Task {
      if let other { await self.remove(other) }
      await self.join(transport, id)
    }
  }

  private func join(_ transport: DescriptorTransport, _ id: Int) {
    // Another client may have taken the place in the meantime.
    guard places.withLock({ $0.taken[id] != nil }) else { return transport.beginClose() }
    let client = Client(transport, makeSession(transport.peer), now: clock.now)
    clients[id] = client
    watch(id, client)
    transport.input.onReadable { [weak self] in
      guard let self else { return }
      Task { await self.read(id) }
    }
    read(id)
  }

  private func remove(_ id: Int) {
    guard let client = clients.removeValue(forKey: id) else { return }
    if let timer = client.timer { clock.cancel(timer) }
    client.transport.beginClose()
    places.withLock { $0.taken[id] = nil }
  }

  // MARK: - Time

  /// Disconnects the client when its time is up. One timer serves the whole connection, not one for each request.
  private func watch(_ id: Int, _ client: Client) {
    client.timer = clock.schedule(at: client.lastRequest + Session.patience) { [weak self] in
      guard let self else { return }
      Task { await self.checkTime(id) }
    }
  }

  private func checkTime(_ id: Int) {
    guard let client = clients[id] else { return }
    guard clock.now - client.lastRequest >= Session.patience else { return watch(id, client) }
    let last = client.session.timeout
    if !last.isEmpty, !client.isBusy { _ = client.transport.output.offer(last) }
    remove(id)
  }

  // MARK: - Requests

  private func read(_ id: Int) {
    guard let client = clients[id], !client.isBusy else { return }
    client.isBusy = true
    Task { await self.work(id) }
  }

  /// Answers the client's requests until there are no more or the client must first read its replies.
  private func work(_ id: Int) async {
    while let client = clients[id] {
      while let request = client.session.next() {
        let readings = client.session.needsReadings(request) ? await feed.refreshed() : await feed.snapshot
        guard clients[id] != nil else { return }
        // Only requests for readings extend the client's time.
        if client.session.needsReadings(request) { client.lastRequest = clock.now }
        let logins = clients.values.compactMap(\.session.login)
        let answer = client.session.answer(request, from: readings, logins: logins)
        if !answer.bytes.isEmpty, client.transport.output.offer(answer.bytes) != .accepted { return remove(id) }
        if answer.isLast { return remove(id) }
        if client.transport.output.queuedCount > Self.backlogLimit {
          return client.transport.output.onEmpty { [weak self] in
            guard let self else { return }
            Task { await self.work(id) }
          }
        }
      }
      switch client.transport.input.take(into: &client.buffer) {
      case .bytes: client.session.take(client.buffer)
      case .nothing: return client.isBusy = false
      case .end: return remove(id)
      }
    }
  }
}
