// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Runs a simulated accessory on a pseudo-terminal or on the air, with an announcement and with faults on demand.
public actor SerialSimulator<Device: SerialDevice>: HostedSimulator {
  /// The configuration of a simulator.
  public struct Configuration: Sendable {
    /// The accessory.
    public var device: Device
    /// The faults that happen. Only `drop`, `corrupt`, `delay`, `unplug` and `replug` have an effect. Bytes that are
    /// handled together count as one request.
    public var faults = Faults()
    /// The seed of all random numbers, so that a run can be repeated.
    public var seed: UInt64
    /// What it is connected to. The default is a pseudo-terminal.
    public var connection = SimulatorConnection.pseudoTerminal
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
  public enum Event: SimulatorEvent {
    /// The accessory was plugged in, at this path.
    case pluggedIn(path: String)
    /// The accessory was unplugged.
    case unplugged
    /// An event of the accessory.
    case news(Device.News)
  }

  package nonisolated let executor = DispatchExecutor(label: "accessory.simulator.\(Device.driver)")
  package nonisolated let io: IOThread
  /// The simulator's events, for a single reader. The stream ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  package var host: PlugHost<Event>

  /// The accessory's state.
  public private(set) var device: Device
  private var pieceCount = 0
  /// Incremented when scheduled actions are cancelled, so that their timers have no effect.
  private var era = 0
  private var piece: [UInt8] = []
  private var arrivals = 0

  /// The most bytes that are handled together.
  private static var pieceLimit: Int { 4_096 }

  /// The simulator's serial dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A simulator that isn't plugged in yet.
  public init(_ configuration: Configuration, io: IOThread = .shared) {
    self.io = io
    device = configuration.device
    host = PlugHost(configuration.connection, configuration.hints, configuration.faults, seed: configuration.seed)
    events = host.events
  }

  // MARK: - Plug and unplug

  /// Plugs the accessory in, unless it is plugged in. Returns its path.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator uses the link, and
  /// `cancelled` after `stop`.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String { try await putPlug() }

  /// Unplugs the accessory. It is plugged in again later if the faults say so.
  public func unplug() { pullPlug() }

  /// Unplugs the accessory for good. Returns when everything is closed.
  public func stop() async { await stopHosting() }

  package func pluggedIn() {
    (piece, pieceCount) = ([], 0)
    run(device.start())
  }

  package func unplugged() { era += 1 }

  /// Carries out an action now.
  public func perform(_ action: Device.ScheduledAction) { run(device.perform(action)) }

  /// Changes the accessory's state.
  public func change(_ body: @Sendable (inout Device) -> Void) { body(&device) }

  // MARK: - Bytes

  package func received() {
    guard let pause = device.pause else { return take(host.buffer) }
    piece += host.buffer.prefix(Self.pieceLimit - piece.count)
    arrivals += 1
    let arrival = arrivals
    after(pause) { simulator in
      guard simulator.arrivals == arrival, !simulator.piece.isEmpty else { return }
      let piece = simulator.piece
      simulator.piece = []
      simulator.answering { simulator.take(piece) }
    }
  }

  private func take(_ bytes: [UInt8]) {
    pieceCount += 1
    let effects = device.take(bytes)
    if host.faults.unplug == .request(pieceCount) {
      guard case .send(let reply)? = effects.first else { return pullPlug() }
      return pullPlug(amid: reply)
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
          if simulator.era == now, simulator.host.plug != nil { simulator.run(simulator.device.perform(action)) }
        }
      case .cancelAll: era += 1
      case .report(let news): host.continuation.yield(.news(news))
      }
    }
  }
}
