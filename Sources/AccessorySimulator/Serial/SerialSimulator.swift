// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Runs a simulated accessory on a pseudo-terminal, with an announcement and with faults on demand.
public actor SerialSimulator<Device: SerialDevice> {
  /// The configuration of a simulator.
  public struct Configuration: Sendable {
    /// The accessory.
    public var device: Device
    /// The faults that happen. Only `drop`, `corrupt`, `delay`, `unplug` and `replug` have an effect. Bytes that are
    /// handled together count as one request.
    public var faults = Faults()
    /// The seed of all random numbers, so that a run can be repeated.
    public var seed: UInt64
    /// The path of a link to the pseudo-terminal; nil for no link.
    public var link: String?
    /// Whether the accessory is announced. The default is `true`.
    public var isAnnounced = true
    /// The folder of the announcement; nil means the user's, where other programs look.
    public var announcementDirectory: String?

    /// A simulator without faults.
    public init(_ device: Device, seed: UInt64 = .random(in: 0 ... .max)) {
      self.device = device
      self.seed = seed
    }

    var hints: DiscoveryHints {
      DiscoveryHints(
        link: link, announcement: isAnnounced ? device.announcement : nil, directory: announcementDirectory)
    }
  }

  /// An event of the simulator.
  public enum Event: Sendable, Hashable {
    /// The accessory was plugged in, at this path.
    case pluggedIn(path: String)
    /// The accessory was unplugged.
    case unplugged
    /// An event of the accessory.
    case news(Device.News)
  }

  private nonisolated let executor = DispatchExecutor(label: "accessory.simulator.\(Device.driver)")
  private nonisolated let io: IOThread
  private let configuration: Configuration
  /// The simulator's events, for a single reader. The stream ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  /// The accessory's state.
  public private(set) var device: Device
  private var line: FaultyLine
  private var plug: Plug?
  private var plugCount = 0
  private var pieceCount = 0
  /// Incremented when scheduled actions are cancelled, so that their timers have no effect.
  private var era = 0
  private var buffer: [UInt8] = []
  private var piece: [UInt8] = []
  private var arrivals = 0
  private var isStopped = false

  /// The most bytes that are handled together.
  private static var pieceLimit: Int { 4_096 }

  /// The simulator's serial dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A simulator that isn't plugged in yet.
  public init(_ configuration: Configuration, io: IOThread = .shared) {
    self.configuration = configuration
    self.io = io
    device = configuration.device
    line = FaultyLine(faults: configuration.faults, random: SeededGenerator(seed: configuration.seed))
    (events, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  // MARK: - Plug and unplug

  /// Plugs the accessory in, unless it is plugged in. Returns its path. Don't call this again before it has returned.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator uses the link, and
  /// `cancelled` after `stop`.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String {
    if let plug { return plug.path }
    if isStopped { throw AccessoryError(.cancelled, "the simulator was stopped") }
    let plug = try await Plug.make(.pseudoTerminal, configuration.hints, io: io)
    guard !isStopped else {
      await plug.close()
      throw AccessoryError(.cancelled, "the simulator was stopped")
    }
    self.plug = plug
    plugCount += 1
    (piece, pieceCount) = ([], 0)
    plug.transport.input.onReadable { [weak self] in self?.post { $0.drain() } }
    run(device.start())
    if case .after(let time)? = configuration.faults.unplug {
      let count = plugCount
      after(time) { if $0.plugCount == count { $0.unplug() } }
    }
    continuation.yield(.pluggedIn(path: plug.path))
    return plug.path
  }

  /// Unplugs the accessory. It is plugged in again later if the faults say so.
  public func unplug() {
    guard let plug else { return }
    era += 1
    plug.removeTraces()
    self.plug = nil
    plug.transport.beginClose()
    continuation.yield(.unplugged)
    if let time = configuration.faults.replug, !isStopped {
      after(time) { simulator in Task { try? await simulator.plugIn() } }
    }
  }

  /// Unplugs the accessory for good. Returns when everything is closed.
  public func stop() async {
    isStopped = true
    let transport = plug?.transport
    unplug()
    await transport?.close()
    continuation.finish()
  }

  /// Carries out an action now.
  public func perform(_ action: Device.ScheduledAction) { run(device.perform(action)) }

  /// Changes the accessory's state.
  public func change(_ body: @Sendable (inout Device) -> Void) { body(&device) }

  // MARK: - Bytes

  private func drain() {
    while let plug {
      switch plug.transport.input.take(into: &buffer) {
      case .nothing: return
      // The other end was closed.
      case .end: return unplug()
      case .bytes: break
      }
      guard let pause = device.pause else {
        take(buffer)
        continue
      }
      piece += buffer.prefix(Self.pieceLimit - piece.count)
      arrivals += 1
      let arrival = arrivals
      after(pause) { simulator in
        guard simulator.arrivals == arrival, !simulator.piece.isEmpty else { return }
        let piece = simulator.piece
        simulator.piece = []
        simulator.take(piece)
      }
    }
  }

  private func take(_ bytes: [UInt8]) {
    pieceCount += 1
    let effects = device.take(bytes)
    if configuration.faults.unplug == .request(pieceCount) {
      // In the middle of the reply, if there is one.
      for case .send(let bytes) in effects.prefix(1) {
        _ = plug?.transport.output.offer(Array(bytes.prefix(bytes.count / 2)))
      }
      return unplug()
    }
    run(effects)
  }

  private func run(_ effects: [SerialEffect<Device>]) {
    for effect in effects {
      switch effect {
      case .send(let bytes): send(bytes)
      case .after(let time, let action):
        let now = era
        after(time) { simulator in
          if simulator.era == now, simulator.plug != nil { simulator.run(simulator.device.perform(action)) }
        }
      case .cancelAll: era += 1
      case .report(let news): continuation.yield(.news(news))
      }
    }
  }

  private func send(_ bytes: [UInt8]) {
    guard !bytes.isEmpty, let frame = line.pass(bytes) else { return }
    guard configuration.faults.delay > .zero else { return offer(frame) }
    let count = plugCount
    after(configuration.faults.delay) { if $0.plugCount == count { $0.offer(frame) } }
  }

  /// When the host doesn't read, bytes that don't fit are lost, as on a line without flow control.
  private func offer(_ bytes: [UInt8]) { _ = plug?.transport.output.offer(bytes) }

  // MARK: - Time

  private nonisolated func post(_ body: @escaping @Sendable (isolated SerialSimulator) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  private func after(_ time: Duration, _ body: @escaping @Sendable (isolated SerialSimulator) -> Void) {
    _ = io.schedule(at: io.now + time) { [weak self] in self?.post(body) }
  }
}
