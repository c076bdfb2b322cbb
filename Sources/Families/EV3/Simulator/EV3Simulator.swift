// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import FamilyEV3

/// A simulated EV3 brick on a pseudo-terminal, on the network, or as a USB device.
public actor EV3Simulator: HostedSimulator {
  package nonisolated let executor = DispatchExecutor(label: "accessory.simulator.ev3")
  package nonisolated let io: IOThread
  nonisolated let clock: any TimerClock
  let configuration: Configuration
  /// The simulator's events, for a single reader. The stream ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  package var host: PlugHost<Event>

  /// The brick's state.
  public internal(set) var device: EV3Device
  /// The number of messages handled.
  public internal(set) var messageCount = 0
  /// How often the brick dropped the connection because of an overrun.
  public internal(set) var overruns = 0
  var codec = EV3Limits.codec
  var batch = FrameBatch<LengthPrefix>()
  /// The greeting of a host on the network; nil when it is complete.
  var greeting: EV3GreetingReader?
  var arrivals = 0
  /// Messages that wait to be handled, with their sizes.
  var waiting: [(message: EV3Message, byteCount: Int)] = []
  var waitingBytes = 0
  var isBusy = false
  var wakeTime: MonotonicTime?

  /// The simulator's serial dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A brick that isn't connected yet. `clock` drives its motors and sounds; nil means the I/O thread's clock.
  public init(_ configuration: Configuration, io: IOThread = .shared, clock: (any TimerClock)? = nil) {
    self.configuration = configuration
    self.io = io
    self.clock = clock ?? io
    host = PlugHost(configuration.plug, configuration.hints, configuration.faults, seed: configuration.seed)
    events = host.events
    device = EV3Device(configuration.device)
  }

  // MARK: - Plug and unplug

  /// Connects the brick, unless it is connected. Returns its path.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator uses the link,
  /// `cancelled` after `stop`, and what the USB host throws.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String { try await putPlug() }

  /// Disconnects the brick. It is connected again later if the faults say so.
  public func unplug() { pullPlug() }

  /// Disconnects the brick for good. Returns when everything is closed.
  public func stop() async { await stopHosting() }

  package func pluggedIn() { forgetHost() }
  package func unplugged() { forgetHost() }
  package func hostLeft() { forgetHost() }

  func forgetHost() {
    device.hostLeft(keepsHandles: configuration.keepsHandles)
    codec.reset()
    (waiting, waitingBytes) = ([], 0)
  }
}
