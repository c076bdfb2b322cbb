// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ESPHomeAPI

/// A server of ESPHome's native API: Home Assistant finds this machine's accessories at it without a broker. Bytes are read and written
/// on the I/O thread; messages are answered here, on a dispatch queue.
///
/// Everything that a client could make grow has a limit: the number of clients, the bytes that wait to be read or written, the time
/// until its hello, and its silence.
actor NativeServer {
  private final class Client {
    let transport: DescriptorTransport
    var session: NativeSession
    var buffer: [UInt8] = []
    /// Whether the client must take what was sent before it is answered again.
    var isBehind = false
    var joined: MonotonicTime
    var lastHeard: MonotonicTime
    var timer: TimerToken?

    init(_ transport: DescriptorTransport, _ session: NativeSession, now: MonotonicTime) {
      (self.transport, self.session, joined, lastHeard) = (transport, session, now, now)
    }
  }

  /// What happened, for the log.
  enum News: Sendable, Hashable {
    case connected(client: String, address: String)
    /// The connection ended in another way than by its client's wish.
    case ended(address: String, reason: String)
  }

  /// The time until a client's hello.
  static let helloPatience = Duration.seconds(10)
  /// After this time of silence a client is asked whether it is there, and after the longer one it is disconnected.
  static let (pingPause, silencePatience) = (Duration.seconds(60), Duration.seconds(150))
  /// Clients learn of other entities by coming again: so long are changes gathered, and so long has a client to leave.
  static let (changePause, leavePatience) = (Duration.seconds(3), Duration.seconds(2))
  /// No messages of a client are answered while it has this many unread bytes.
  private static let backlogLimit = 8_192

  private let key: [UInt8]?
  private let clock: any TimerClock
  private let places: ConnectionPlaces
  private let perform: @Sendable (NativeCommand) -> Void
  private let note: @Sendable (News) -> Void
  private var box: NativeBox
  private var clients: [Int: Client] = [:]
  private var listeners: [ConnectionListener] = []
  private var changeTimer: TimerToken?

  /// A server for at most `limit` clients at a time, encrypted with a key of 32 bytes. `perform` carries out a command of a client; the
  /// new state comes with `update`.
  init(
    _ box: NativeBox, key: [UInt8]?, limit: Int = 24, clock: any TimerClock = IOThread.shared,
    perform: @escaping @Sendable (NativeCommand) -> Void, note: @escaping @Sendable (News) -> Void
  ) {
    (self.box, self.key, self.clock, self.perform, self.note) = (box, key, clock, perform, note)
    places = ConnectionPlaces(limit: limit)
  }

  /// Listens at `host` and returns the address. Throws as `ConnectionListener` does. Only this machine and machines in `networks` are
  /// served. `onRefused` is called on the I/O thread with the addresses of others.
  func listen(
    at host: String, port: UInt16, networks: [IPNetwork], onRefused: @escaping @Sendable (IPAddress) -> Void
  ) async throws(AccessoryError) -> ConnectionListener.Place {
    let (listener, place) = try await places.listen(
      at: host, port: port, networks: networks, endsWithInput: true, onRefused: onRefused
    ) { [weak self] transport, id, displaced in
      guard let self else { return transport.beginClose() }
      Task { await self.join(transport, id, displacing: displaced) }
    }
    listeners.append(listener)
    return place
  }

  /// Asks all clients to leave, and closes everything after a short time.
  func close() async {
    for listener in listeners { await listener.close() }
    listeners = []
    let asked = clients.values.filter { send($0.session.leave(), to: $0) }
    if !asked.isEmpty {
      let deadline = clock.now + Self.leavePatience
      while !clients.isEmpty, clock.now < deadline { await clock.sleep(for: .milliseconds(50)) }
    }
    for id in Array(clients.keys) { remove(id) }
    if let changeTimer { clock.cancel(changeTimer) }
  }

  // MARK: - Clients

  private func join(_ transport: DescriptorTransport, _ id: Int, displacing other: Int?) {
    if let other { remove(other) }
    guard places.has(id) else { return transport.beginClose() }
    let line = NativeLine(psk: key, name: box.name, mac: box.macText(separator: "", isUpper: false))
    let client = Client(transport, NativeSession(line), now: clock.now)
    clients[id] = client
    watch(id, client, until: client.joined + Self.helloPatience)
    transport.input.onReadable { [weak self] in
      guard let self else { return }
      Task { await self.read(id) }
    }
    read(id)
  }

  private func remove(_ id: Int, because reason: String = "") {
    guard let client = clients.removeValue(forKey: id) else { return places.free(id) }
    if let timer = client.timer { clock.cancel(timer) }
    client.transport.beginClose()
    places.free(id)
    if !reason.isEmpty { note(.ended(address: client.transport.label, reason: reason)) }
  }

  private func read(_ id: Int) {
    guard let client = clients[id] else { return }
    while !client.isBehind {
      switch client.transport.input.take(into: &client.buffer) {
      case .bytes:
        client.lastHeard = clock.now
        let hadHello = client.session.hasSaidHello
        let outcome = client.session.take(client.buffer, box)
        if !hadHello, client.session.hasSaidHello {
          places.settle(id)
          note(.connected(client: SafeText.escape(client.session.client, limit: 64), address: client.transport.label))
        }
        if !send(outcome.bytes, to: client) { return remove(id, because: "it doesn't read") }
        for command in outcome.commands { perform(command) }
        if let end = outcome.end { return remove(id, because: end) }
        waitIfBehind(id, client)
      case .nothing: return
      case .end: return remove(id)
      }
    }
  }

  @discardableResult
  private func send(_ bytes: [UInt8], to client: Client) -> Bool {
    bytes.isEmpty || client.transport.output.offer(bytes) == .accepted
  }

  /// A client that doesn't read gets nothing more, and isn't answered, until it has read.
  private func waitIfBehind(_ id: Int, _ client: Client) {
    guard client.transport.output.queuedCount > Self.backlogLimit else { return }
    client.isBehind = true
    client.transport.output.onEmpty { [weak self] in
      guard let self else { return }
      Task { await self.goOn(id) }
    }
  }

  private func goOn(_ id: Int) {
    guard let client = clients[id] else { return }
    client.isBehind = false
    tell(id, client)
    read(id)
  }

  // MARK: - Time

  /// One timer for each connection.
  private func watch(_ id: Int, _ client: Client, until time: MonotonicTime) {
    client.timer = clock.schedule(at: time) { [weak self] in
      guard let self else { return }
      Task { await self.checkTime(id) }
    }
  }

  private func checkTime(_ id: Int) {
    guard let client = clients[id] else { return }
    guard client.session.hasSaidHello else { return remove(id, because: "its hello didn't come") }
    let silence = clock.now - client.lastHeard
    if silence >= Self.silencePatience { return remove(id, because: "nothing came from it for 150 s") }
    guard silence >= Self.pingPause else { return watch(id, client, until: client.lastHeard + Self.pingPause) }
    if !client.isBehind { send(client.session.ping(), to: client) }
    watch(id, client, until: min(clock.now + Self.pingPause, client.lastHeard + Self.silencePatience))
  }

  // MARK: - For tests

  var isEmpty: Bool { clients.isEmpty }
  /// The bytes that clients haven't taken yet.
  var waitingBytes: Int { clients.values.map(\.transport.output.queuedCount).reduce(0, +) }

  // MARK: - Changes

  /// Tells all clients what has changed. They learn of other devices and entities by coming again.
  func update(_ box: NativeBox) {
    guard box != self.box else { return }
    self.box = box
    for (id, client) in clients where !client.isBehind { tell(id, client) }
    guard changeTimer == nil, clients.values.contains(where: { $0.session.isOutdated(box) }) else { return }
    changeTimer = clock.schedule(at: clock.now + Self.changePause) { [weak self] in
      guard let self else { return }
      Task { await self.sendAway() }
    }
  }

  /// Tells all clients the state of an entity again: a command that was to change it was refused.
  func repeatState(of entity: NativeEntity.ID) {
    for (id, client) in clients {
      client.session.forget(entity)
      if !client.isBehind { tell(id, client) }
    }
  }

  private func tell(_ id: Int, _ client: Client) {
    // An outdated client would take the state of an entity that it doesn't know.
    guard !client.session.isOutdated(box) else { return }
    if !send(client.session.changes(box), to: client) { return remove(id, because: "it doesn't read") }
    waitIfBehind(id, client)
  }

  private func sendAway() {
    changeTimer = nil
    let outdated = clients.filter { $0.value.session.isOutdated(box) }
    for (id, client) in outdated {
      send(client.session.leave(), to: client)
      if let timer = client.timer { clock.cancel(timer) }
      client.timer = clock.schedule(at: clock.now + Self.leavePatience) { [weak self] in
        guard let self else { return }
        Task { await self.remove(id) }
      }
    }
  }
}
