// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Runs a pretended accessory on a pseudo-terminal, which is announced and fails on demand.
public actor SerialSimulator<Device: SerialDevice> {
  /// What to pretend.
  public struct Configuration: Sendable {
    /// The accessory.
    public var device: Device
    /// What goes wrong. Of these, it knows `drop`, `corrupt`, `delay`, `unplug` and `replug`; a request is a piece of
    /// what arrives.
    public var faults = Faults()
    /// Repeats everything that is random.
    public var seed: UInt64
    /// Where to keep a link to the pseudo-terminal.
    public var link: String?
    /// Whether others are told of it. The default is `true`.
    public var isAnnounced = true
    /// Where to announce it; nil for the user's own directory, where others look.
    public var announcementDirectory: String?

    /// An accessory in good order.
    public init(_ device: Device, seed: UInt64 = .random(in: 0 ... .max)) {
      self.device = device
      self.seed = seed
    }

    var traces: Traces {
      Traces(link: link, announcement: isAnnounced ? device.announcement : nil, directory: announcementDirectory)
    }
  }

  /// What happens to it.
  public enum Event: Sendable, Hashable {
    /// It can be opened at this path.
    case pluggedIn(path: String)
    /// It is gone.
    case unplugged
    /// What it tells.
    case news(Device.News)
  }

  private nonisolated let executor = DispatchExecutor(label: "accessory.simulator.\(Device.driver)")
  private nonisolated let io: IOThread
  private let configuration: Configuration
  /// What happens to it. For one reader; ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  /// The accessory itself.
  public private(set) var device: Device
  private var line: FaultyLine
  private var plug: Plug?
  private var plugCount = 0
  private var pieceCount = 0
  /// Counts what is forgotten, so that timers know whether they are meant.
  private var era = 0
  private var buffer: [UInt8] = []
  private var piece: [UInt8] = []
  private var arrivals = 0
  private var isStopped = false

  /// Bytes of one piece.
  private static var pieceLimit: Int { 4_096 }

  /// The simulator's dispatch queue.
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

  /// Plugs it in, unless it is; returns where. To be called again only when that has returned.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator has it, `cancelled`
  /// after `stop`.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String {
    if let plug { return plug.path }
    if isStopped { throw AccessoryError(.cancelled, "the simulator was stopped") }
    let plug = try await Plug.make(.pseudoTerminal, configuration.traces, io: io)
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

  /// Pulls the cable. It is plugged in again later if its faults say so.
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

  /// Pulls the cable for good. Returns when all is closed.
  public func stop() async {
    isStopped = true
    let transport = plug?.transport
    unplug()
    await transport?.close()
    continuation.finish()
  }

  /// Lets something happen now.
  public func happen(_ moment: Device.Moment) { run(device.happen(moment)) }

  /// Changes the accessory.
  public func change(_ body: @Sendable (inout Device) -> Void) { body(&device) }

  // MARK: - Bytes

  private func drain() {
    while let plug {
      switch plug.transport.input.take(into: &buffer) {
      case .nothing: return
      // Somebody else pulled the cable.
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
      // Amid the answer, if there is one.
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
      case .after(let time, let moment):
        let now = era
        after(time) { simulator in
          if simulator.era == now, simulator.plug != nil { simulator.run(simulator.device.happen(moment)) }
        }
      case .forget: era += 1
      case .tell(let news): continuation.yield(.news(news))
      }
    }
  }

  private func send(_ bytes: [UInt8]) {
    guard !bytes.isEmpty, let frame = line.pass(bytes) else { return }
    guard configuration.faults.delay > .zero else { return offer(frame) }
    let count = plugCount
    after(configuration.faults.delay) { if $0.plugCount == count { $0.offer(frame) } }
  }

  /// A host that doesn't read loses what doesn't fit, as on a line without flow control.
  private func offer(_ bytes: [UInt8]) { _ = plug?.transport.output.offer(bytes) }

  // MARK: - Time

  private nonisolated func post(_ body: @escaping @Sendable (isolated SerialSimulator) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  private func after(_ time: Duration, _ body: @escaping @Sendable (isolated SerialSimulator) -> Void) {
    _ = io.schedule(at: io.now + time) { [weak self] in self?.post(body) }
  }
}
