// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols

/// A pretended EV3 brick, on a pseudo-terminal, on the network, or as a USB device.
public actor EV3Simulator {
  private nonisolated let executor = DispatchExecutor(label: "accessory.simulator.ev3")
  nonisolated let io: IOThread
  nonisolated let clock: any TimerClock
  let configuration: Configuration
  /// What happens to it. For one reader; ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  let continuation: AsyncStream<Event>.Continuation

  /// The brick itself.
  public internal(set) var device: EV3Device
  /// Messages that it has taken in all.
  public internal(set) var messageCount = 0
  /// How often it dropped the link since too much waited.
  public internal(set) var overruns = 0
  var line: FaultyLine
  var codec = EV3Limits.codec
  var batch = FrameBatch<LengthPrefix>()
  var buffer: [UInt8] = []
  var pieces: [Int] = []
  var socket: EV3Socket?
  /// Where it was found on the network, and is found again.
  private var port: UInt16?
  /// Where it was connected last.
  private var lastPath: String?
  private var plugCount = 0
  var arrivals = 0
  private var isStopped = false
  /// What has arrived and has not been looked at, with their bytes.
  var waiting: [(message: EV3Message, byteCount: Int)] = []
  var waitingBytes = 0
  var isBusy = false
  var wakeTime: MonotonicTime?

  /// The simulator's dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A brick that isn't connected yet. Its motors and tones go by `clock`, the I/O thread's unless said otherwise.
  public init(_ configuration: Configuration, io: IOThread = .shared, clock: (any TimerClock)? = nil) {
    self.configuration = configuration
    self.io = io
    self.clock = clock ?? io
    line = FaultyLine(faults: configuration.faults, random: SeededGenerator(seed: configuration.seed))
    device = EV3Device(configuration.device)
    (events, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  // MARK: - Plug and unplug

  /// Connects it, unless it is; returns where. To be called again only when that has returned.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator has it, `cancelled`
  /// after `stop`, and what the USB host throws.
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

  /// Pulls the cable, or switches the radio off. It comes back later if its faults say so.
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

  /// Disconnects it for good. Returns when all is closed.
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

  /// As `after`, unless it has been unplugged by then.
  func afterThisPlug(_ time: Duration, _ body: @escaping @Sendable (isolated EV3Simulator) -> Void) {
    let plug = plugCount
    after(time) { simulator in
      if simulator.plugCount == plug, simulator.socket != nil { body(simulator) }
    }
  }
}
