// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols

/// A simulated EV3 brick on a pseudo-terminal, on the network, or as a USB device.
public actor EV3Simulator {
  private nonisolated let executor = DispatchExecutor(label: "accessory.simulator.ev3")
  nonisolated let io: IOThread
  nonisolated let clock: any TimerClock
  let configuration: Configuration
  /// The simulator's events, for a single reader. The stream ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  let continuation: AsyncStream<Event>.Continuation

  /// The brick's state.
  public internal(set) var device: EV3Device
  /// The number of messages handled.
  public internal(set) var messageCount = 0
  /// How often the brick dropped the connection because of an overrun.
  public internal(set) var overruns = 0
  var line: FaultyLine
  var codec = EV3Limits.codec
  var batch = FrameBatch<LengthPrefix>()
  var buffer: [UInt8] = []
  var pieces: [Int] = []
  var socket: EV3Socket?
  /// The port that it listened at, which it uses again.
  private var port: UInt16?
  /// The path where it was connected last.
  private var lastPath: String?
  private var plugCount = 0
  var arrivals = 0
  private var isStopped = false
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
    line = FaultyLine(faults: configuration.faults, random: SeededGenerator(seed: configuration.seed))
    device = EV3Device(configuration.device)
    (events, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  // MARK: - Plug and unplug

  /// Connects the brick, unless it is connected. Returns its path. Don't call this again before it has returned.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator uses the link,
  /// `cancelled` after `stop`, and what the USB host throws.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String {
    if let socket { return socket.path }
    if isStopped { throw AccessoryError(.cancelled, "the simulator was stopped") }
    var configuration = configuration
    if let port, case .network(let host, _) = configuration.connection {
      configuration.connection = .network(host: host, port: port)
    }
    let socket = try await EV3Socket.open(configuration, preferring: lastPath, io: io) { [weak self] client in
      self?.post { $0.welcome(client) }
    }
    guard !isStopped else {
      await socket.close()
      throw AccessoryError(.cancelled, "the simulator was stopped")
    }
    self.socket = socket
    lastPath = socket.path
    if case .tcp(let place)? = DeviceAddress(socket.path) { port = place.port } else { port = nil }
    plugCount += 1
    forgetHost()
    if let transport = socket.transport { serve(transport) }
    if case .after(let time)? = configuration.faults.unplug { afterThisPlug(time) { $0.unplug() } }
    continuation.yield(.pluggedIn(path: socket.path))
    return socket.path
  }

  /// Disconnects the brick. It is connected again later if the faults say so.
  public func unplug() {
    guard let socket else { return }
    self.socket = nil
    socket.beginClose()
    forgetHost()
    continuation.yield(.unplugged)
    if let time = configuration.faults.replug, !isStopped {
      after(time) { simulator in Task { try? await simulator.plugIn() } }
    }
  }

  /// Disconnects the brick for good. Returns when everything is closed.
  public func stop() async {
    isStopped = true
    let socket = socket
    unplug()
    await socket?.close()
    continuation.finish()
  }

  func forgetHost() {
    device.hostLeft(keepsHandles: configuration.keepsHandles)
    codec.reset()
    (waiting, waitingBytes) = ([], 0)
  }

  // MARK: - Time

  nonisolated func post(_ body: @escaping @Sendable (isolated EV3Simulator) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  func after(_ time: Duration, _ body: @escaping @Sendable (isolated EV3Simulator) -> Void) {
    _ = io.schedule(at: io.now + time) { [weak self] in self?.post(body) }
  }

  /// Runs `body` after a time, unless the brick was disconnected meanwhile.
  func afterThisPlug(_ time: Duration, _ body: @escaping @Sendable (isolated EV3Simulator) -> Void) {
    let plug = plugCount
    after(time) { simulator in
      if simulator.plugCount == plug, simulator.socket != nil { body(simulator) }
    }
  }
}
