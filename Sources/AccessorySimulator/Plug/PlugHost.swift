// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// What happens to every simulated accessory.
package protocol SimulatorEvent: Sendable, Hashable {
  /// The accessory was plugged in at this path.
  static func pluggedIn(path: String) -> Self
  /// The accessory was unplugged.
  static var unplugged: Self { get }
}

/// A simulated accessory that can be plugged in.
package protocol Simulator: Actor {
  associatedtype Event: SimulatorEvent

  /// The simulator's events, for a single reader. The stream ends with `stop`.
  nonisolated var events: AsyncStream<Event> { get }
  @discardableResult func plugIn() async throws(AccessoryError) -> String
  /// Unplugs it. It is plugged in again later if its faults say so.
  func unplug()
  func stop() async
}

/// What a hosted simulator has of its plug: where it is plugged in now and was before, and the faults of its line.
package struct PlugHost<Event: SimulatorEvent>: Sendable {
  /// What the accessory is connected to. After the first time, a network port is the one that it had.
  package fileprivate(set) var connection: SimulatorConnection
  private let hints: DiscoveryHints
  package let faults: Faults
  /// The simulator's events, and the end at which they come in.
  package let events: AsyncStream<Event>
  package let continuation: AsyncStream<Event>.Continuation
  /// The event of changed serial settings of a USB device; nil when there is none.
  package var lineEvent: (@Sendable (HostLineSettings) -> Event)?
  /// Whether `used` is called.
  package var hearsUse = false

  package var line: FaultyLine
  package fileprivate(set) var plug: Plug?
  fileprivate var plugging: Task<Result<Plug, AccessoryError>, Never>?
  /// Incremented when the accessory is plugged in and when it is unplugged, so that what belongs to an earlier plug has no effect.
  fileprivate var era = 0
  /// The path where it was plugged in last.
  fileprivate var lastPath: String?
  package fileprivate(set) var isStopped = false
  /// The bytes that arrived last, and the lengths of the messages in them where the transport keeps messages.
  package var buffer: [UInt8] = []
  package fileprivate(set) var messages: [Int] = []
  /// Answers that wait until the host reads.
  fileprivate var unsent: ArraySlice<[UInt8]> = []
  fileprivate var unsentCount = 0
  /// Whether what is sent now is the answer to a request.
  fileprivate var isAnswering = false
  /// The most bytes of answers that wait: far more than one read of requests leads to.
  fileprivate static var unsentLimit: Int { 16 << 20 }

  fileprivate mutating func forgetUnsent() { (unsent, unsentCount) = ([], 0) }

  /// A host that isn't plugged in yet. `seed` is that of the faults of its line.
  package init(
    _ connection: SimulatorConnection, _ hints: DiscoveryHints, _ faults: Faults = Faults(), seed: UInt64 = 0
  ) {
    (self.connection, self.hints, self.faults) = (connection, hints, faults)
    line = FaultyLine(faults: faults, random: SeededGenerator(seed: seed))
    (events, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  /// One access to the host, because two properties of what a protocol requires can't be changed at the same time.
  fileprivate mutating func take(from input: InputQueue) -> InputQueue.TakeResult {
    input.take(into: &buffer, messages: &messages)
  }

  fileprivate func makePlug(
    io: IOThread, use: @escaping @Sendable (Bool) -> Void, client: @escaping @Sendable (any Transport) -> Void
  ) async -> Result<Plug, AccessoryError> {
    var listeners = Plug.Listeners(use: hearsUse ? use : nil, client: client)
    if let lineEvent { listeners.line = { [continuation] in continuation.yield(lineEvent($0)) } }
    do throws(AccessoryError) {
      return .success(try await Plug.make(connection, hints, preferring: lastPath, io: io, listeners))
    } catch {
      return .failure(error)
    }
  }
}

/// A simulator whose `PlugHost` plugs it in and unplugs it, and passes it what a host sends: what all simulators do alike.
package protocol HostedSimulator: Simulator {
  /// The simulator's serial dispatch queue.
  nonisolated var executor: DispatchExecutor { get }
  nonisolated var io: IOThread { get }
  var host: PlugHost<Event> { get set }

  /// The accessory was plugged in.
  func pluggedIn()
  /// The accessory was unplugged.
  func unplugged()
  /// The accessory has a connection to a host: when it is plugged in, and for each client on the network.
  func connected(_ transport: any Transport)
  /// Bytes arrived; they are in `host.buffer`.
  func received()
  /// The host has read, and no answer waits any more.
  func hasRoom()
  /// The client on the network has left.
  func hostLeft()
  /// The other end of a connection that isn't on the network was closed. The default unplugs the accessory.
  func lineEnded(_ error: AccessoryError?)
  /// A program has opened the terminal (true), or none has it open any more (false).
  func used(_ isUsed: Bool)
}

extension HostedSimulator {
  package func pluggedIn() {}
  package func unplugged() {}
  package func connected(_ transport: any Transport) {}
  package func hasRoom() {}
  package func hostLeft() {}
  package func lineEnded(_ error: AccessoryError?) { pullPlug() }
  package func used(_ isUsed: Bool) {}
}

// Plugging in and unplugging.
extension HostedSimulator {
  /// Plugs the accessory in, unless it is plugged in. Returns its path. Throws what `Plug.make` throws, and `cancelled` after the end.
  package func putPlug() async throws(AccessoryError) -> String {
    if let plug = host.plug { return plug.path }
    if host.isStopped { throw AccessoryError(.cancelled, "the simulator was stopped") }
    // Callers that come meanwhile wait for the same task.
    let plugging = host.plugging ?? startPlugging()
    let result = await plugging.value
    // The first caller that resumes finishes the work. For a later one the accessory may have been unplugged since.
    guard host.plugging == plugging else { return try await putPlug() }
    host.plugging = nil
    let plug = try result.get()
    if host.isStopped {
      await plug.close()
      throw AccessoryError(.cancelled, "the simulator was stopped")
    }
    host.plug = plug
    host.lastPath = plug.path
    if let port = plug.port, case .network(let name, _) = host.connection {
      host.connection = .network(host: name, port: port)
    }
    if let transport = plug.transport { serve(transport) }
    if case .after(let time)? = host.faults.unplug { afterThisPlug(time) { $0.pullPlug() } }
    host.continuation.yield(.pluggedIn(path: plug.path))
    pluggedIn()
    return plug.path
  }

  private func startPlugging() -> Task<Result<Plug, AccessoryError>, Never> {
    host.era += 1
    let era = host.era
    let use: @Sendable (Bool) -> Void = { [weak self] isUsed in
      self?.post { if $0.host.era == era { $0.used(isUsed) } }
    }
    let client: @Sendable (any Transport) -> Void = { [weak self] client in
      guard let self else { return client.beginClose() }
      self.post { $0.welcome(client) }
    }
    let plugging = Task { [host, io] in await host.makePlug(io: io, use: use, client: client) }
    host.plugging = plugging
    return plugging
  }

  /// Unplugs the accessory. It is plugged in again later if the faults say so.
  package func pullPlug(tells: Bool = true) {
    guard let plug = host.plug else { return }
    host.plug = nil
    host.era += 1
    host.forgetUnsent()
    plug.beginClose()
    unplugged()
    if tells { host.continuation.yield(.unplugged) }
    if let time = host.faults.replug, !host.isStopped {
      after(time) { simulator in Task { try? await simulator.plugIn() } }
    }
  }

  package func unplug() { pullPlug() }

  /// Unplugs the accessory for good. Returns when everything is closed.
  package func stopHosting(tells: Bool = true) async {
    host.isStopped = true
    let plug = host.plug
    pullPlug(tells: tells)
    await plug?.close()
    host.continuation.finish()
  }
}

// The connection to the host.
extension HostedSimulator {
  /// Accepts a client on the network. A second one is closed, because the accessory has one at a time.
  private func welcome(_ client: any Transport) {
    guard let plug = host.plug, plug.isNetwork, plug.transport == nil else { return client.beginClose() }
    host.plug?.transport = client
    serve(client)
  }

  private func serve(_ transport: any Transport) {
    connected(transport)
    transport.output.onSpace { [weak self] in self?.post { $0.sendUnsent(transport) } }
    transport.input.onReadable { [weak self] in self?.post { $0.drain(transport) } }
  }

  private func drain(_ transport: any Transport) {
    // While answers wait, no more requests are read: then the host's own writes have to wait.
    while host.plug?.transport === transport, host.unsent.isEmpty {
      switch host.take(from: transport.input) {
      case .nothing: return
      case .end(let error): return loseHost(error)
      case .bytes: answering { received() }
      }
    }
  }

  private func sendUnsent(_ transport: any Transport) {
    guard host.plug?.transport === transport else { return }
    while let bytes = host.unsent.first {
      guard transport.output.offer(bytes) != .full else { return }
      host.unsent.removeFirst()
      host.unsentCount -= bytes.count
    }
    hasRoom()
    drain(transport)
  }

  /// What `body` sends are answers.
  package func answering(_ body: () -> Void) {
    let wasAnswering = host.isAnswering
    host.isAnswering = true
    body()
    host.isAnswering = wasAnswering
  }

  /// Whether the host has room for what is sent next.
  package var isSent: Bool { host.unsent.isEmpty }

  /// Ends the connection to the host. On the network another host may connect; otherwise the line has ended.
  package func loseHost(_ error: AccessoryError? = nil) {
    guard let plug = host.plug, plug.isNetwork, let transport = plug.transport else { return lineEnded(error) }
    transport.beginClose()
    host.plug?.transport = nil
    host.forgetUnsent()
    hostLeft()
  }

  /// Sends bytes over the line, with its faults.
  package func send(_ bytes: [UInt8]) {
    guard !bytes.isEmpty, let frame = host.line.pass(bytes) else { return }
    guard host.faults.delay > .zero else { return offer(frame) }
    let isAnswer = host.isAnswering
    afterThisPlug(host.faults.delay) { simulator in
      if isAnswer { simulator.answering { simulator.offer(frame) } } else { simulator.offer(frame) }
    }
  }

  /// While the host doesn't read, answers wait. What the accessory sends by itself is lost then, as on a line without flow control.
  package func offer(_ bytes: [UInt8]) {
    guard let output = host.plug?.transport?.output else { return }
    guard !host.unsent.isEmpty || output.offer(bytes) == .full else { return }
    guard host.isAnswering, host.unsentCount < PlugHost<Event>.unsentLimit else { return }
    host.unsent.append(bytes)
    host.unsentCount += bytes.count
  }

  /// Unplugs the accessory in the middle of a reply, if there is one.
  package func pullPlug(amid reply: [UInt8]?) {
    if let reply { offer(Array(reply[..<(reply.count / 2)])) }
    pullPlug()
  }
}

// Time.
extension HostedSimulator {
  package nonisolated func post(_ body: @escaping @Sendable (isolated Self) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  package func at(
    _ time: MonotonicTime, on clock: (any TimerClock)? = nil, _ body: @escaping @Sendable (isolated Self) -> Void
  ) {
    _ = (clock ?? io).schedule(at: time) { [weak self] in self?.post(body) }
  }

  package func after(_ time: Duration, _ body: @escaping @Sendable (isolated Self) -> Void) { at(io.now + time, body) }

  /// Runs `body` after a time, unless the accessory was unplugged meanwhile.
  package func afterThisPlug(_ time: Duration, _ body: @escaping @Sendable (isolated Self) -> Void) {
    let era = host.era
    after(time) { simulator in
      if simulator.host.era == era, simulator.host.plug != nil { body(simulator) }
    }
  }
}
