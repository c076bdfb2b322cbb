// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols
import Glibc

/// A pretended AF1 accessory on a pseudo-terminal, which announces itself, drains its battery, and fails on demand.
public actor FramedSimulator {
  /// What to pretend.
  public struct Configuration: Sendable {
    /// The accessory.
    public var device = FramedDevice.Configuration()
    /// What goes wrong.
    public var faults = Faults()
    /// Repeats everything that is random.
    public var seed: UInt64
    /// Percent that the battery loses a second.
    public var drain = 0.0
    /// Where to keep a link to the terminal, which has another name each time.
    public var link: String?
    /// Whether others are told of it.
    public var isAnnounced = true
    /// Where to announce it; nil for the user's own directory, where others look.
    public var announcementDirectory: String?

    /// An accessory in good order.
    public init(seed: UInt64 = .random(in: 0 ... .max)) { self.seed = seed }
  }

  /// What happens to it.
  public enum Event: Sendable, Hashable {
    /// It can be opened, at this path.
    case pluggedIn(path: String)
    /// It is gone.
    case unplugged
    /// It restarted.
    case restarted
    /// The battery has changed.
    case battery(AF1BatteryReply)
  }

  private nonisolated let executor = DispatchExecutor(label: "accessory.simulator.framed")
  private nonisolated let io: IOThread
  private let configuration: Configuration
  /// What happens to it. For one reader; ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  var device: FramedDevice
  var line: FaultyLine
  private var codec: AF1Codec
  private var batch = FrameBatch<AF1Header>()
  private var buffer: [UInt8] = []
  private var terminal: PseudoTerminal?
  private var presence: Presence?
  private var plugCount = 0
  private var requestCount = 0
  private var lostPercent = 0
  private var startTime: MonotonicTime
  private var arrivals = 0
  private var deafUntil: MonotonicTime?
  private var isStopped = false

  /// After this pause an unfinished request no longer holds up what follows it, and after the second one it is
  /// given up: the limits of a host's link.
  private static let silence = LineTiming.instant.silence
  private static let patience = Duration.milliseconds(500)
  /// How long a restart takes.
  private static let restartTime = Duration.milliseconds(300)

  /// The simulator's dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A simulator that isn't plugged in yet.
  public init(_ configuration: Configuration, io: IOThread = .shared) {
    self.configuration = configuration
    self.io = io
    line = FaultyLine(faults: configuration.faults, random: SeededGenerator(seed: configuration.seed))
    device = FramedDevice(configuration.device, bootID: UInt32(truncatingIfNeeded: line.random.next()))
    // What lies within an unfinished frame may be its payload: never run that as a command.
    codec = AF1Codec(maximumPayload: Int(max(1, configuration.device.largestPayload)), silence: .onlyLast)
    startTime = io.now
    (events, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  // MARK: - Plug and unplug

  /// Plugs it in, unless it is; returns the path of its terminal.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator has it, and
  /// `cancelled` after `stop`.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String {
    if let terminal { return terminal.path }
    let terminal = try await PseudoTerminal.open(io: io)
    // Much may have happened meanwhile.
    if isStopped || self.terminal != nil {
      await terminal.transport.close()
      guard let other = self.terminal else { throw AccessoryError(.cancelled, "the simulator was stopped") }
      return other.path
    }
    let presence: Presence
    do throws(AccessoryError) {
      presence = try Presence(of: terminal.path, configuration)
    } catch {
      await terminal.transport.close()
      throw error
    }
    (self.terminal, self.presence) = (terminal, presence)
    plugCount += 1
    codec.reset()
    requestCount = 0
    if plugCount == 1 {
      startTime = io.now
      scheduleDrain()
    }
    terminal.transport.input.onReadable { [weak self] in self?.post { $0.drainInput() } }
    if case .after(let time)? = configuration.faults.unplug { afterThisPlug(time) { $0.unplug() } }
    if case .after(let time)? = configuration.faults.reboot { afterThisPlug(time) { $0.restart() } }
    continuation.yield(.pluggedIn(path: terminal.path))
    return terminal.path
  }

  /// Pulls the cable. It is plugged in again later if its faults say so.
  public func unplug() {
    guard let terminal else { return }
    presence?.remove()
    (self.terminal, presence) = (nil, nil)
    terminal.transport.beginClose()
    continuation.yield(.unplugged)
    if let time = configuration.faults.replug, !isStopped {
      after(time) { simulator in Task { try? await simulator.plugIn() } }
    }
  }

  /// Pulls the cable for good, and takes link and announcement away. Returns when all is closed.
  public func stop() async {
    isStopped = true
    let transport = terminal?.transport
    unplug()
    await transport?.close()
    continuation.finish()
  }

  // MARK: - What it is like

  /// How often the counting command was run.
  public var runs: UInt32 { device.runs }

  /// Changes the battery and tells so.
  public func setBattery(_ battery: AF1BatteryReply) {
    guard battery != device.configuration.battery else { return }
    device.configuration.battery = battery
    continuation.yield(.battery(battery))
    let (header, payload) = device.batteryEvent()
    send(header, payload)
  }

  /// Changes the status and tells so.
  public func setStatus(_ status: AF1StatusReply) {
    guard status != device.configuration.status else { return }
    device.configuration.status = status
    let (header, payload) = device.statusEvent()
    send(header, payload)
  }

  private func scheduleDrain() {
    let drain = BatteryDrain(from: configuration.device.battery, rate: configuration.drain)
    guard let moment = drain.moment(ofLoss: lostPercent + 1) else { return }
    at(startTime + moment) { simulator in
      guard !simulator.isStopped else { return }
      simulator.lostPercent += 1
      simulator.setBattery(drain.reading(afterLoss: simulator.lostPercent))
      simulator.scheduleDrain()
    }
  }

  // MARK: - Requests

  private func drainInput() {
    while let input = terminal?.transport.input, case .bytes = input.take(into: &buffer) {
      if let deafUntil, io.now < deafUntil { continue }
      let bytes = buffer
      codec.decode(bytes.span.bytes, into: &batch)
      answerAll()
      arrivals += 1
      if codec.hasUnfinishedFrame { watchSilence(since: arrivals) }
    }
  }

  private func watchSilence(since arrival: Int) {
    after(Self.silence) { simulator in
      guard simulator.arrivals == arrival else { return }
      simulator.codec.idle(into: &simulator.batch)
      simulator.answerAll()
    }
    after(Self.patience) { simulator in
      guard simulator.arrivals == arrival else { return }
      simulator.codec.expire(into: &simulator.batch)
      simulator.answerAll()
    }
  }

  private func answerAll() {
    let requests = batch
    batch.removeAll()
    for index in 0..<requests.count where terminal != nil {
      let header = requests.header(at: index)
      let payload = requests.payloadBytes(at: index)
      let reply = device.answer(header, requests.outcome(at: index), payload: payload, now: io.now)
      if header.command != .hello { requestCount += 1 }
      let isMoment = { (moment: Faults.Moment?) in moment == .request(self.requestCount) && header.command != .hello }
      if isMoment(configuration.faults.reboot) { return restart() }
      if isMoment(configuration.faults.unplug) { return unplug(amid: reply) }
      guard let reply else { continue }
      if configuration.faults.delay > .zero {
        afterThisPlug(configuration.faults.delay) { $0.send(reply.header, reply.payload) }
      } else {
        send(reply.header, reply.payload)
      }
    }
  }

  private func frame(_ header: AF1Header, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    try? codec.encode(header, payload: payload, into: &frame)  // never longer than the request was
    return frame
  }

  private func send(_ header: AF1Header, _ payload: [UInt8]) {
    guard let terminal, let frame = line.pass(frame(header, payload)) else { return }
    // A host that doesn't read loses what doesn't fit, as on a line without flow control.
    _ = terminal.transport.output.offer(frame)
  }

  // MARK: - Faults

  private func unplug(amid reply: (header: AF1Header, payload: [UInt8])?) {
    if let reply, let terminal {
      let frame = frame(reply.header, reply.payload)
      _ = terminal.transport.output.offer(Array(frame[..<(frame.count / 2)]))
    }
    unplug()
  }

  private func restart() {
    device.restart(bootID: UInt32(truncatingIfNeeded: line.random.next()))
    codec.reset()
    deafUntil = io.now + Self.restartTime
    continuation.yield(.restarted)
  }

  // MARK: - Time

  private nonisolated func post(_ body: @escaping @Sendable (isolated FramedSimulator) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  private func at(_ time: MonotonicTime, _ body: @escaping @Sendable (isolated FramedSimulator) -> Void) {
    _ = io.schedule(at: time) { [weak self] in self?.post(body) }
  }

  private func after(_ time: Duration, _ body: @escaping @Sendable (isolated FramedSimulator) -> Void) {
    at(io.now + time, body)
  }

  /// As `after`, unless it has been unplugged by then.
  private func afterThisPlug(_ time: Duration, _ body: @escaping @Sendable (isolated FramedSimulator) -> Void) {
    let plug = plugCount
    after(time) { simulator in
      if simulator.plugCount == plug, simulator.terminal != nil { body(simulator) }
    }
  }
}
