// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ESPHomeAPI

/// A server of ESPHome's native API: Home Assistant finds this machine's accessories, and its serial ports, at it without a broker. All of
/// it runs on the I/O thread: bytes of a serial port are passed on without waking another thread.
///
/// Everything that a client could make grow has a limit: the number of clients, the bytes that wait to be read or written, the time
/// until its hello, and its silence.
actor NativeServer: IOActor {
  private final class Client {
    let transport: DescriptorTransport
    var session: NativeSession
    var buffer: [UInt8] = []
    /// Whether the client must take what was sent before it is answered again.
    var isBehind = false
    /// Nothing is read from the client while so much of what it sent waits for the lines of these ports.
    var fullPorts: Set<Int> = []
    var lastFull: MonotonicTime?
    /// When something was sent last.
    var lastSent: MonotonicTime
    var joined: MonotonicTime
    var lastHeard: MonotonicTime
    var timer: TimerToken?

    init(_ transport: DescriptorTransport, _ session: NativeSession, now: MonotonicTime) {
      (self.transport, self.session, joined, lastHeard, lastSent) = (transport, session, now, now, now)
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
  /// A client that isn't read, because its port's line is slow, is asked this often whether it is there: its own questions wait behind
  /// its bytes, and a message in this time keeps it.
  static let fullPause = Duration.seconds(15)
  /// The time after which a port whose line has ended, but that is still there, may be used again.
  static let returnPause = Duration.seconds(2)
  /// No messages of a client are answered while it has this many unread bytes.
  private static let backlogLimit = 8_192

  nonisolated let io = IOThread.shared
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }
  private let key: [UInt8]?
  private let clock: any TimerClock
  private let places: ConnectionPlaces
  private let perform: @Sendable (NativeCommand) -> Void
  private let note: @Sendable (News) -> Void
  private let ports: (any NativePorts)?
  private var box: NativeBox
  private var table = NativePortTable()
  /// The ports as they were told last, also where their lines have ended.
  private var told: [NativePort] = []
  private var lines: [NativePortLine] = []
  private var following: Task<Void, Never>?
  private var clients: [Int: Client] = [:]
  private var listeners: [ConnectionListener] = []
  private var changeTimer: TimerToken?

  /// A server for at most `limit` clients at a time, encrypted with a key of 32 bytes. `perform` carries out a command of a client; the
  /// new state comes with `update`.
  init(
    _ box: NativeBox, key: [UInt8]?, ports: (any NativePorts)? = nil, limit: Int = 24,
    clock: any TimerClock = IOThread.shared,
    perform: @escaping @Sendable (NativeCommand) -> Void, note: @escaping @Sendable (News) -> Void
  ) {
    (self.box, self.key, self.ports, self.clock, self.perform, self.note) = (box, key, ports, clock, perform, note)
    places = ConnectionPlaces(limit: limit)
  }

  /// Listens at `host` and returns the address. Throws as `ConnectionListener` does. Only this machine and machines in `networks` are
  /// served. `onRefused` is called on the I/O thread with the addresses of others.
  func listen(
    at host: String, port: UInt16, networks: [IPNetwork], onRefused: @escaping @Sendable (IPAddress) -> Void
  ) async throws(AccessoryError) -> ConnectionListener.Place {
    await followPorts()
    let (listener, place) = try await places.listen(
      at: host, port: port, networks: networks, endsWithInput: true, onRefused: onRefused
    ) { [weak self] transport, id, displaced in
      guard let self else { return transport.beginClose() }
      self.enter { $0.join(transport, id, displacing: displaced) }
    }
    listeners.append(listener)
    return place
  }

  /// Runs `body` here, from any thread.
  private nonisolated func handler(_ body: @escaping @Sendable (isolated NativeServer) -> Void) -> @Sendable () -> Void
  {
    { [weak self] in
      guard let self else { return }
      if self.io.isCurrent { self.enter(body) } else { self.io.post { self.enter(body) } }
    }
  }

  /// Asks all clients to leave, and closes everything after a short time.
  func close() async {
    following?.cancel()
    for listener in listeners { await listener.close() }
    listeners = []
    let asked = clients.values.filter { send($0.session.leave(), to: $0) }
    if !asked.isEmpty {
      let deadline = clock.now + Self.leavePatience
      while !clients.isEmpty, clock.now < deadline { await clock.sleep(for: .milliseconds(50)) }
    }
    for id in Array(clients.keys) { remove(id) }
    if let changeTimer { clock.cancel(changeTimer) }
    for line in lines { await line.settle() }
  }

  // MARK: - Clients

  private func join(_ transport: DescriptorTransport, _ id: Int, displacing other: Int?) {
    if let other { remove(other) }
    guard places.has(id) else { return transport.beginClose() }
    let line = NativeLine(psk: key, name: box.name, mac: box.macText(separator: "", isUpper: false))
    let client = Client(transport, NativeSession(line, connection: id), now: clock.now)
    clients[id] = client
    watch(id, client, until: client.joined + Self.helloPatience)
    transport.input.onReadableOnIOThread(handler { $0.read(id) })
  }

  private func remove(_ id: Int, because reason: String = "") {
    guard let client = clients.removeValue(forKey: id) else { return places.free(id) }
    if let timer = client.timer { clock.cancel(timer) }
    client.transport.beginClose()
    places.free(id)
    for port in table.ports(of: id) { table.free(port) }
    for line in lines { line.enter { $0.leave(id) } }
    if !reason.isEmpty { note(.ended(address: client.transport.label, reason: reason)) }
  }

  private func read(_ id: Int) {
    guard let client = clients[id] else { return }
    while !client.isBehind, client.fullPorts.isEmpty {
      switch client.transport.input.take(into: &client.buffer) {
      case .bytes:
        client.lastHeard = clock.now
        let hadHello = client.session.hasSaidHello
        let outcome = client.session.take(client.buffer, box, &table)
        if !hadHello, client.session.hasSaidHello {
          places.settle(id)
          note(.connected(client: SafeText.escape(client.session.client, limit: 64), address: client.transport.label))
        }
        if !send(outcome.bytes, to: client) { return remove(id, because: "it doesn't read") }
        for command in outcome.commands { perform(command) }
        for call in outcome.calls { lines[call.port].enter { $0.take(call.wish, for: id) } }
        if let end = outcome.end { return remove(id, because: end) }
        waitIfBehind(id, client)
        waitForLines(id, client)
      case .nothing: return
      case .end: return remove(id)
      }
    }
  }

  @discardableResult
  private func send(_ bytes: [UInt8], to client: Client) -> Bool {
    guard !bytes.isEmpty else { return true }
    client.lastSent = clock.now
    return client.transport.output.offer(bytes) == .accepted
  }

  /// A client that doesn't read gets nothing more, and isn't answered, until it has read.
  private func waitIfBehind(_ id: Int, _ client: Client) {
    guard !client.isBehind, client.transport.output.queuedCount > Self.backlogLimit else { return }
    client.isBehind = true
    let goOn = handler { $0.goOn(id) }
    // Never at once, since this is called where something is sent.
    client.transport.output.onEmpty { [io] in io.post(goOn) }
  }

  private func goOn(_ id: Int) {
    guard let client = clients[id] else { return }
    client.isBehind = false
    tell(id, client)
    for port in table.ports(of: id) where !client.isBehind { lines[port].enter { $0.resume() } }
    read(id)
  }

  // MARK: - Time

  /// One timer for each connection.
  private func watch(_ id: Int, _ client: Client, until time: MonotonicTime) {
    if let timer = client.timer { clock.cancel(timer) }
    client.timer = clock.schedule(at: time, handler { $0.checkTime(id) })
  }

  private func checkTime(_ id: Int) {
    guard let client = clients[id] else { return }
    guard client.session.hasSaidHello else { return remove(id, because: "its hello didn't come") }
    // For a while after that, too, since the client's next question may be far behind.
    if !client.fullPorts.isEmpty || client.lastFull.map({ clock.now - $0 < Self.silencePatience }) ?? false {
      if !client.isBehind, clock.now >= client.lastSent + Self.fullPause { send(client.session.ping(), to: client) }
      let next = client.lastSent + Self.fullPause
      return watch(id, client, until: next > clock.now ? next : clock.now + Self.fullPause)
    }
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
  /// The bytes that wait for lines.
  var waitingForLines: Int { lines.map { $0.enter { $0.waitingSize } }.reduce(0, +) }
  var isAnyPaused: Bool { clients.values.contains { !$0.fullPorts.isEmpty } }

  // MARK: - Changes

  /// Tells all clients what has changed. They learn of other devices and entities by coming again.
  func update(_ box: NativeBox) {
    guard box != self.box else { return }
    self.box = box
    for (id, client) in clients where !client.isBehind { tell(id, client) }
    sendAwaySoon()
  }

  private func sendAwaySoon() {
    guard changeTimer == nil, clients.values.contains(where: { $0.session.isOutdated(box, table) }) else { return }
    changeTimer = clock.schedule(at: clock.now + Self.changePause, handler { $0.sendAway() })
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
    guard !client.session.isOutdated(box, table) else { return }
    if !send(client.session.changes(box), to: client) { return remove(id, because: "it doesn't read") }
    waitIfBehind(id, client)
  }

  private func sendAway() {
    changeTimer = nil
    let outdated = clients.filter { $0.value.session.isOutdated(box, table) }
    for (id, client) in outdated {
      send(client.session.leave(), to: client)
      if let timer = client.timer { clock.cancel(timer) }
      client.timer = clock.schedule(at: clock.now + Self.leavePatience, handler { $0.remove(id) })
    }
  }

  // MARK: - Serial ports

  /// Learns of the ports, and then of their changes.
  private func followPorts() async {
    guard let ports, following == nil else { return }
    let (first, changes) = (OneShot<Void>(), await ports.changes())
    following = Task { [weak self] in
      for await ports in changes {
        guard let self else { break }
        await self.update(ports)
        first.finish()
      }
      first.finish()
    }
    await first.value()
  }

  private func update(_ ports: [NativePort]) {
    guard let source = self.ports, lines.isEmpty || ports.count == lines.count else { return }
    if lines.isEmpty {
      lines = ports.indices.map { index in
        NativePortLine(
          io: io, clock: clock,
          tell: { [weak self] connection, news in self?.enter { $0.hear(news, of: index, for: connection) } ?? false },
          open: {
            do throws(AccessoryError) { return .success(try await source.open(index)) } catch { return .failure(error) }
          })
      }
      table = NativePortTable(ports)
    }
    told = ports
    for (index, port) in ports.enumerated() where port != table.ports[index] { set(port, at: index) }
    sendAwaySoon()
  }

  /// Tells all clients what is at a port. Whoever has a port that was unplugged is told first, and then doesn't have it any more.
  private func set(_ port: NativePort, at index: Int) {
    table.ports[index] = port
    for client in clients.values { send(client.session.identity(port, of: index), to: client) }
    guard let absence = port.absence else { return }
    table.free(index)
    lines[index].enter { $0.wasRemoved(absence) }
  }

  /// Takes what a port tells; false where its client takes no more bytes now.
  private func hear(_ news: NativePortNews, of port: Int, for id: Int) -> Bool {
    switch news {
    case .answer(let topic, let status, let text):
      return sendTo(id) { $0.frame(NativeMessage.answer(topic, of: port, status, text)) }
    case .lines(let lines, let status): return sendTo(id) { $0.frame(NativeMessage.lines(lines, of: port, status)) }
    case .data(let bytes):
      guard clients[id]?.isBehind == false else { return false }
      return sendTo(id) { $0.frame(NativeMessage.data(bytes, from: port)) }
    case .hasRoom:
      // Not only its present client: the next one may wait behind what that has left.
      for (id, client) in clients where client.fullPorts.remove(port) != nil && client.fullPorts.isEmpty {
        client.lastHeard = clock.now
        io.post(handler { $0.read(id) })
      }
    case .notOpened: if table.owner(of: port) == id { table.free(port) }
    case .gone(let reason):
      var absent = table.ports[port]
      absent.absence = absent.absence ?? reason
      set(absent, at: port)
      _ = clock.schedule(at: clock.now + Self.returnPause, handler { $0.look(port) })
    }
    return true
  }

  /// A line may end though its device stays.
  private func look(_ index: Int) {
    if told.indices.contains(index), told[index] != table.ports[index] { set(told[index], at: index) }
  }

  private func sendTo(_ id: Int, _ bytes: (inout NativeSession) -> [UInt8]) -> Bool {
    guard let client = clients[id] else { return false }
    guard send(bytes(&client.session), to: client) else {
      remove(id, because: "it doesn't read")
      return false
    }
    waitIfBehind(id, client)
    return true
  }

  /// A client whose bytes wait for a slow line isn't read until they have gone.
  private func waitForLines(_ id: Int, _ client: Client) {
    for port in table.ports(of: id) where lines[port].enter({ $0.isFull }) { client.fullPorts.insert(port) }
    guard !client.fullPorts.isEmpty else { return }
    client.lastFull = clock.now
    watch(id, client, until: max(clock.now, client.lastSent + Self.fullPause))
    // Nobody reads that it has left.
    let leave = handler { if $0.clients[id]?.fullPorts.isEmpty == false { $0.remove(id) } }
    client.transport.output.onClosed { [io] _ in io.post(leave) }
  }
}
