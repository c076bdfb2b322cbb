// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1

/// A simulated AF1 accessory on a pseudo-terminal or as a USB device. Its battery drains, and faults happen on demand.
public actor AF1Simulator: HostedSimulator {
  package nonisolated let executor = DispatchExecutor(label: "accessory.simulator.framed")
  package nonisolated let io: IOThread
  private let configuration: Configuration
  /// The simulator's events, for a single reader. The stream ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  package var host: PlugHost<Event>

  var device: AF1Device
  /// Drops and corrupts frames of the host; nil when no such fault is configured.
  private var spoiler: RequestSpoiler?
  private var codec: AF1Codec
  private var batch = FrameBatch<AF1Header>()
  private var requestCount = 0
  private var lostPercent = 0
  /// When it was plugged in first.
  private var startTime: MonotonicTime?
  private var arrivals = 0
  private var deafUntil: MonotonicTime?

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
    var host = PlugHost<Event>(
      configuration.plug, configuration.hints, configuration.faults, seed: configuration.seed)
    host.lineEvent = { .line($0) }
    device = AF1Device(configuration.device, bootID: UInt32(truncatingIfNeeded: host.line.random.next()))
    (self.host, events) = (host, host.events)
    // Bytes inside an unfinished frame may be its payload, so they must never be run as a command.
    codec = AF1Codec(maximumPayload: Int(max(1, configuration.device.largestPayload)), silence: .onlyLast)
    spoiler = RequestSpoiler(configuration.faults, seed: configuration.seed)
  }

  // MARK: - Plug and unplug

  /// Plugs the accessory in, unless it is plugged in. Returns the path of its terminal, or of the USB device in sysfs.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator uses the link,
  /// `cancelled` after `stop`, and what the USB host throws.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String { try await putPlug() }

  /// Unplugs the accessory. It is plugged in again later if the faults say so.
  public func unplug() { pullPlug() }

  /// Unplugs the accessory for good, and removes its link and announcement. Returns when everything is closed.
  public func stop() async { await stopHosting() }

  package func pluggedIn() {
    codec.reset()
    spoiler?.reset()
    requestCount = 0
    if startTime == nil {
      startTime = io.now
      scheduleDrain()
    }
    if case .after(let time)? = host.faults.reboot { afterThisPlug(time) { $0.restart() } }
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
    host.continuation.yield(.battery(battery))
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
    guard let startTime, let moment = drain.moment(ofLoss: lostPercent + 1) else { return }
    at(startTime + moment) { simulator in
      guard !simulator.host.isStopped else { return }
      simulator.lostPercent += 1
      simulator.setBattery(drain.reading(afterLoss: simulator.lostPercent))
      simulator.scheduleDrain()
    }
  }

  // MARK: - Requests

  package func received() {
    if let deafUntil, io.now < deafUntil { return }
    spoiler?.spoil(&host.buffer)
    let bytes = host.buffer
    codec.decode(bytes.span.bytes, into: &batch)
    answerAll()
    arrivals += 1
    if codec.hasUnfinishedFrame { watchSilence(since: arrivals) }
  }

  /// While answers wait, nothing is read, and the host isn't silent.
  private func watchSilence(since arrival: Int) {
    after(Self.silence) { simulator in
      guard simulator.arrivals == arrival, simulator.isSent else { return }
      simulator.codec.idle(into: &simulator.batch)
      simulator.answerAll()
    }
    after(Self.requestTimeout) { simulator in
      guard simulator.arrivals == arrival, simulator.isSent else { return }
      simulator.codec.expire(into: &simulator.batch)
      simulator.answerAll()
    }
  }

  private func answerAll() {
    let requests = batch
    batch.removeAll()
    for index in 0..<requests.count where host.plug != nil {
      let header = requests.header(at: index)
      let payload = requests.payloadBytes(at: index)
      let reply = device.answer(header, requests.outcome(at: index), payload: payload, now: io.now)
      tellTransfers()
      if header.command != .hello { requestCount += 1 }
      let isMoment = { (moment: Faults.Moment?) in moment == .request(self.requestCount) && header.command != .hello }
      if isMoment(host.faults.reboot) { return restart() }
      if isMoment(host.faults.unplug) { return pullPlug(amid: reply.map { frame($0.header, $0.payload) }) }
      if header.command != .hello {
        if host.faults.stall == requestCount, host.plug?.fail(.stall) == true { continue }
        if host.faults.protocolError == requestCount, host.plug?.fail(.protocolError) == true { continue }
      }
      guard let reply else { continue }
      if host.faults.delay > .zero {
        afterThisPlug(host.faults.delay) { simulator in
          simulator.answering { simulator.send(reply.header, reply.payload) }
        }
      } else {
        send(reply.header, reply.payload)
      }
    }
  }

  private func tellTransfers() {
    for news in device.transfers.takeNews() {
      switch news {
      case .stored(let name, let size, let checksum):
        host.continuation.yield(.stored(name: name, size: size, checksum: checksum))
      case .damaged(let name): host.continuation.yield(.damaged(name: name))
      case .aborted(let name, let offset): host.continuation.yield(.aborted(name: name, at: offset))
      }
    }
  }

  private func frame(_ header: AF1Header, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    try? codec.encode(header, payload: payload, into: &frame)  // can't fail: a reply isn't longer than its request
    return frame
  }

  private func send(_ header: AF1Header, _ payload: [UInt8]) {
    guard host.plug != nil, let frame = host.line.pass(frame(header, payload)) else { return }
    offer(frame)
  }

  // MARK: - Faults

  private func restart() {
    device.restart(bootID: UInt32(truncatingIfNeeded: host.line.random.next()))
    codec.reset()
    deafUntil = io.now + Self.restartTime
    host.continuation.yield(.restarted)
  }
}
