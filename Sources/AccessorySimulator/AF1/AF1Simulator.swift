// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols
import Glibc

/// A simulated AF1 accessory on a pseudo-terminal or as a USB device. Its battery drains, and faults happen on demand.
public actor AF1Simulator {
  private nonisolated let executor = DispatchExecutor(label: "accessory.simulator.framed")
  private nonisolated let io: IOThread
  private let configuration: Configuration
  /// The simulator's events, for a single reader. The stream ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  var device: AF1Device
  var line: FaultyLine
  /// Drops and corrupts frames of the host; nil when no such fault is configured.
  private var spoiler: RequestSpoiler?
  private var codec: AF1Codec
  private var batch = FrameBatch<AF1Header>()
  private var buffer: [UInt8] = []
  private var plug: Plug?
  private var plugging: Task<Result<Plug, AccessoryError>, Never>?
  private var plugCount = 0
  /// The path where it was plugged in last.
  private var lastPath: String?
  private var requestCount = 0
  private var lostPercent = 0
  private var startTime: MonotonicTime
  private var arrivals = 0
  private var deafUntil: MonotonicTime?
  private var isStopped = false

  /// After a pause of `silence` an unfinished request no longer delays what follows it; after `requestTimeout` it is
  /// dropped. These are the limits of a host's link as well.
  private static let silence = LineTiming.instant.silence
  private static let requestTimeout = Duration.milliseconds(500)
  /// How long a restart takes.
  private static let restartTime = Duration.milliseconds(300)

  /// The simulator's serial dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A simulator that isn't plugged in yet.
  public init(_ configuration: Configuration, io: IOThread = .shared) {
    self.configuration = configuration
    self.io = io
    line = FaultyLine(faults: configuration.faults, random: SeededGenerator(seed: configuration.seed))
    device = AF1Device(configuration.device, bootID: UInt32(truncatingIfNeeded: line.random.next()))
    // Bytes inside an unfinished frame may be its payload, so they must never be run as a command.
    codec = AF1Codec(maximumPayload: Int(max(1, configuration.device.largestPayload)), silence: .onlyLast)
    spoiler = RequestSpoiler(configuration.faults, seed: configuration.seed)
    startTime = io.now
    (events, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  // MARK: - Plug and unplug

  /// Plugs the accessory in, unless it is plugged in. Returns the path of its terminal, or of the USB device in sysfs.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator uses the link,
  /// `cancelled` after `stop`, and what the USB host throws.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String {
    if let plug { return plug.path }
    if isStopped { throw AccessoryError(.cancelled, "the simulator was stopped") }
    // Callers that come meanwhile wait for the same task.
    let plugging =
      plugging
      ?? Task { [configuration, lastPath, io, continuation] in
        do throws(AccessoryError) {
          let hints = configuration.hints
          return .success(
            try await Plug.make(configuration.connection, hints, preferring: lastPath, io: io) {
              continuation.yield(.line($0))
            })
        } catch {
          return .failure(error)
        }
      }
    self.plugging = plugging
    let result = await plugging.value
    // The first caller that resumes finishes the work. For a later one the accessory may have been unplugged since.
    guard self.plugging == plugging else {
      if let plug { return plug.path }
      return try await plugIn()
    }
    self.plugging = nil
    let plug = try result.get()
    if isStopped {
      await plug.close()
      throw AccessoryError(.cancelled, "the simulator was stopped")
    }
    self.plug = plug
    lastPath = plug.path
    plugCount += 1
    codec.reset()
    spoiler?.reset()
    requestCount = 0
    if plugCount == 1 {
      startTime = io.now
      scheduleDrain()
    }
    plug.transport.input.onReadable { [weak self] in self?.post { $0.drainInput() } }
    if case .after(let time)? = configuration.faults.unplug { afterThisPlug(time) { $0.unplug() } }
    if case .after(let time)? = configuration.faults.reboot { afterThisPlug(time) { $0.restart() } }
    continuation.yield(.pluggedIn(path: plug.path))
    return plug.path
  }

  /// Unplugs the accessory. It is plugged in again later if the faults say so.
  public func unplug() {
    guard let plug else { return }
    plug.removeTraces()
    self.plug = nil
    plug.transport.beginClose()
    continuation.yield(.unplugged)
    if let time = configuration.faults.replug, !isStopped {
      after(time) { simulator in Task { try? await simulator.plugIn() } }
    }
  }

  /// Unplugs the accessory for good, and removes its link and announcement. Returns when everything is closed.
  public func stop() async {
    isStopped = true
    let transport = plug?.transport
    unplug()
    await transport?.close()
    continuation.finish()
  }

  // MARK: - State

  /// How often the command `count` was run.
  public var runs: UInt32 { device.runs }

  /// The bytes of the newest received file with this name; nil when there is none. The last eight files are kept.
  public func file(named name: String) -> [UInt8]? { device.transfers.file(named: name) }

  /// Changes the battery and sends an event about it.
  public func setBattery(_ battery: AF1BatteryReply) {
    guard battery != device.configuration.battery else { return }
    device.configuration.battery = battery
    continuation.yield(.battery(battery))
    let (header, payload) = device.batteryEvent()
    send(header, payload)
  }

  /// Changes the status and sends an event about it.
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
    while let plug {
      switch plug.transport.input.take(into: &buffer) {
      case .nothing: return
      // The other end was closed.
      case .end: return unplug()
      case .bytes: break
      }
      if let deafUntil, io.now < deafUntil { continue }
      spoiler?.spoil(&buffer)
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
    after(Self.requestTimeout) { simulator in
      guard simulator.arrivals == arrival else { return }
      simulator.codec.expire(into: &simulator.batch)
      simulator.answerAll()
    }
  }

  private func answerAll() {
    let requests = batch
    batch.removeAll()
    for index in 0..<requests.count where plug != nil {
      let header = requests.header(at: index)
      let payload = requests.payloadBytes(at: index)
      let reply = device.answer(header, requests.outcome(at: index), payload: payload, now: io.now)
      tellTransfers()
      if header.command != .hello { requestCount += 1 }
      let isMoment = { (moment: Faults.Moment?) in moment == .request(self.requestCount) && header.command != .hello }
      if isMoment(configuration.faults.reboot) { return restart() }
      if isMoment(configuration.faults.unplug) { return unplug(amid: reply) }
      if let usb = plug?.usb, configuration.faults.stall == requestCount, header.command != .hello {
        usb.fail(.stall)
        continue
      }
      if let usb = plug?.usb, configuration.faults.protocolError == requestCount, header.command != .hello {
        usb.fail(.protocolError)
        continue
      }
      guard let reply else { continue }
      if configuration.faults.delay > .zero {
        afterThisPlug(configuration.faults.delay) { $0.send(reply.header, reply.payload) }
      } else {
        send(reply.header, reply.payload)
      }
    }
  }

  private func tellTransfers() {
    for news in device.transfers.takeNews() {
      switch news {
      case .stored(let name, let size, let checksum):
        continuation.yield(.stored(name: name, size: size, checksum: checksum))
      case .damaged(let name): continuation.yield(.damaged(name: name))
      case .aborted(let name, let offset): continuation.yield(.aborted(name: name, at: offset))
      }
    }
  }

  private func frame(_ header: AF1Header, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    try? codec.encode(header, payload: payload, into: &frame)  // can't fail: a reply isn't longer than its request
    return frame
  }

  private func send(_ header: AF1Header, _ payload: [UInt8]) {
    guard let plug, let frame = line.pass(frame(header, payload)) else { return }
    // When the host doesn't read, bytes that don't fit are lost, as on a line without flow control.
    _ = plug.transport.output.offer(frame)
  }

  // MARK: - Faults

  private func unplug(amid reply: (header: AF1Header, payload: [UInt8])?) {
    if let reply, let plug {
      let frame = frame(reply.header, reply.payload)
      _ = plug.transport.output.offer(Array(frame[..<(frame.count / 2)]))
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

  private nonisolated func post(_ body: @escaping @Sendable (isolated AF1Simulator) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  private func at(_ time: MonotonicTime, _ body: @escaping @Sendable (isolated AF1Simulator) -> Void) {
    _ = io.schedule(at: time) { [weak self] in self?.post(body) }
  }

  private func after(_ time: Duration, _ body: @escaping @Sendable (isolated AF1Simulator) -> Void) {
    at(io.now + time, body)
  }

  /// Runs `body` after a time, unless the accessory was unplugged meanwhile.
  private func afterThisPlug(_ time: Duration, _ body: @escaping @Sendable (isolated AF1Simulator) -> Void) {
    let plug = plugCount
    after(time) { simulator in
      if simulator.plugCount == plug, simulator.plug != nil { body(simulator) }
    }
  }
}
