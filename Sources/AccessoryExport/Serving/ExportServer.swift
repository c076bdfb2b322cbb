// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Serves clients on the network. Bytes are read and written on the I/O thread; requests are answered here, on a dispatch queue.
///
/// Everything that a client could make grow has a limit: the number of clients, the bytes waiting to be read or written, and the time
/// until the next request. A client that follows what happens stays as long as it takes the bytes.
package actor ExportServer<Session: ExportSession> {
  private final class Client {
    let transport: DescriptorTransport
    var session: Session
    var buffer: [UInt8] = []
    /// Whether a request is being answered or the client hasn't read earlier replies yet.
    var isBusy = false
    var lastRequest: MonotonicTime
    var timer: TimerToken?
    /// Sends what follows after an answer.
    var sending: Task<Void, Never>?

    init(_ transport: DescriptorTransport, _ session: Session, now: MonotonicTime) {
      (self.transport, self.session, lastRequest) = (transport, session, now)
    }
  }

  private let prepare: @Sendable (Session.Request, _ isForReadings: Bool) async -> Session.Readings
  private let makeSession: @Sendable (NetworkAddress?) -> Session
  private let limit: Int
  private let places: ConnectionPlaces
  private let clock: any TimerClock
  private var clients: [Int: Client] = [:]
  private var listeners: [ConnectionListener] = []

  /// No requests of a client are answered while it has this many unread bytes.
  private static var backlogLimit: Int { 32_768 }

  /// Creates a server for at most `limit` clients at a time. `prepare` gets what a request is answered from.
  package init(
    limit: Int = 64, clock: any TimerClock = IOThread.shared,
    prepare: @escaping @Sendable (Session.Request, _ isForReadings: Bool) async -> Session.Readings,
    session: @escaping @Sendable (NetworkAddress?) -> Session
  ) {
    (self.prepare, self.limit, self.clock, makeSession) = (prepare, limit, clock, session)
    places = ConnectionPlaces(limit: limit)
  }

  /// Creates a server of readings for at most `limit` clients at a time.
  package init(
    _ feed: ReadingsFeed, limit: Int = 64, clock: any TimerClock = IOThread.shared,
    session: @escaping @Sendable (NetworkAddress?) -> Session
  ) where Session.Readings == ReadingsSnapshot {
    self.init(
      limit: limit, clock: clock,
      prepare: { _, isForReadings in isForReadings ? await feed.refreshed() : await feed.snapshot }, session: session)
  }

  /// Listens at `host` and returns the address. Throws as `ConnectionListener` does. Only this machine and machines in `networks` are
  /// served. `onRefused` is called on the I/O thread with the addresses of others.
  package func listen(
    at host: String, port: UInt16, networks: [IPNetwork], onRefused: @escaping @Sendable (IPAddress) -> Void
  ) async throws(AccessoryError) -> ConnectionListener.Place {
    let (listener, place) = try await places.listen(
      at: host, port: port, networks: networks, endsWithInput: false, onRefused: onRefused
    ) { [weak self] transport, id, displaced in
      guard let self else { return transport.beginClose() }
      Task { await self.join(transport, id, displacing: displaced) }
    }
    listeners.append(listener)
    return place
  }

  /// Stops accepting clients and disconnects the current ones.
  package func close() async {
    for listener in listeners { await listener.close() }
    listeners = []
    for id in Array(clients.keys) { remove(id) }
  }

  private func join(_ transport: DescriptorTransport, _ id: Int, displacing other: Int?) {
    if let other { remove(other) }
    // Another client may have taken the place in the meantime.
    guard places.has(id) else { return transport.beginClose() }
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
    client.sending?.cancel()
    client.transport.beginClose()
    places.free(id)
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
    guard let client = clients[id] else { return }
    if client.sending != nil { return readEnd(id, client) }
    guard !client.isBusy else { return }
    client.isBusy = true
    Task { await self.work(id) }
  }

  /// Answers the client's requests until there are no more or the client must first read its replies.
  private func work(_ id: Int) async {
    while let client = clients[id] {
      while let request = client.session.next() {
        let isForReadings = client.session.needsReadings(request)
        let readings = await prepare(request, isForReadings)
        guard clients[id] != nil else { return }
        // Only requests for readings extend the client's time.
        if isForReadings { client.lastRequest = clock.now }
        let logins = clients.values.compactMap(\.session.login)
        let answer = client.session.answer(request, from: readings, logins: logins)
        if !answer.bytes.isEmpty, client.transport.output.offer(answer.bytes) != .accepted { return remove(id) }
        if answer.isLast { return remove(id) }
        places.settle(id)
        if let following = client.session.following {
          return mayFollow(id) ? send(following, to: id, client) : remove(id)
        }
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

  // MARK: - What follows after an answer

  /// At most three quarters of the places are for clients that follow what happens, since these stay: a request always finds a place. If
  /// there are too many, one of them gives way as in `FairPlaces`, which is the first one of the same address. Returns false if it is
  /// this one.
  private func mayFollow(_ id: Int) -> Bool {
    let following = clients.filter { $0.value.sending != nil }.keys
    guard following.count >= max(1, limit * 3 / 4) else { return true }
    let others = following.compactMap { id in places.origin(of: id).map { FairPlaces.Client(id, $0, isSettled: false) }
    }
    let other = places.origin(of: id).flatMap { FairPlaces.yielding(to: $0, among: others) }
    if let other { remove(other) }
    return other != nil
  }

  /// Sends the pieces one after another. Each has the time of a request until the client has taken it.
  private func send(_ following: @escaping @Sendable () async -> [UInt8]?, to id: Int, _ client: Client) {
    if let timer = client.timer { clock.cancel(timer) }
    client.timer = nil
    client.sending = Task {
      // The answer is taken first.
      await self.waitUntilTaken(id)
      while !Task.isCancelled, let bytes = await following() {
        guard let client = clients[id], client.transport.output.offer(bytes) == .accepted else { break }
        await self.waitUntilTaken(id)
      }
      self.remove(id)
    }
    readEnd(id, client)
  }

  private func waitUntilTaken(_ id: Int) async {
    guard let client = clients[id] else { return }
    client.lastRequest = clock.now
    let timer = clock.schedule(at: client.lastRequest + Session.patience) { [weak self] in
      guard let self else { return }
      Task { await self.remove(id) }
    }
    let taken = OneShot<Void>()
    client.transport.output.onEmpty { taken.finish() }
    await taken.value(whenCancelled: ())
    clock.cancel(timer)
  }

  /// What a client sends meanwhile is dropped; only its end matters.
  private func readEnd(_ id: Int, _ client: Client) {
    while true {
      switch client.transport.input.take(into: &client.buffer) {
      case .bytes: continue
      case .nothing: return
      case .end: return remove(id)
      }
    }
  }
}
