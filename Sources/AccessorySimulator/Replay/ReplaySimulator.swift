// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Plays the accessory's side of a recorded conversation to a host, and compares the host's bytes with the recording.
public actor ReplaySimulator {
  private nonisolated let executor = DispatchExecutor(label: "accessory.simulator.replay")
  private nonisolated let io: IOThread
  private let configuration: Configuration
  /// The events of the replay, for one reader. When more than 1,024 wait, the oldest are dropped. Ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  private var player: ReplayPlayer
  private var socket: ReplaySocket?
  /// How often the accessory was plugged in. Callbacks of an earlier terminal have a smaller count and are ignored.
  private var plugCount = 0
  private var (lastPath, lastPort): (String?, UInt16?) = (nil, nil)
  private var buffer: [UInt8] = []
  /// Bytes that wait because the output queue was full.
  private var unsent: [UInt8]?
  private var timer: TimerToken?
  private var patienceTimer: TimerToken?
  /// Whether the accessory is unplugged, as in the recording.
  private var isUnplugged = false
  private var isEnding = false
  private var isStopped = false

  /// After a difference, bytes are added to the report for this long.
  private static let gatheringPause = Duration.milliseconds(50)
  /// How long the host has at the end to read the last bytes. Bytes that it sends in this time are still compared.
  private static let farewell = Duration.seconds(1)

  /// The simulator's dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Creates a replay whose accessory isn't plugged in yet.
  public init(_ configuration: Configuration, io: IOThread = .shared) {
    self.configuration = configuration
    self.io = io
    player = ReplayPlayer(
      configuration.script, speed: configuration.speed, numbering: configuration.numbering,
      mayGoOn: configuration.hostMayGoOn)
    (events, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  /// How much of the recording was replayed.
  public var progress: Progress {
    let awaited = player.host.awaited
    return Progress(
      hostBytes: player.host.matchedCount, hostTotal: player.host.byteCount, awaited: Array(awaited?.bytes ?? []),
      awaitedTime: awaited?.time)
  }

  // MARK: - Plug and unplug

  /// Plugs the accessory in, and returns the path at which hosts can open it. Call this once: after an unplug in the
  /// recording, the simulator plugs the accessory in again by itself.
  ///
  /// Throws `ioFailure`, `misconfigured` when the link can't be made, `busy` when another simulator uses the link,
  /// `cancelled` after `stop`, and what the USB host throws.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String {
    if let socket { return socket.path }
    plugCount += 1
    let count = plugCount
    let socket = try await ReplaySocket.open(
      configuration, preferring: lastPath, port: lastPort, io: io,
      onUse: { [weak self] isUsed in self?.post { if $0.plugCount == count { $0.use(isUsed) } } },
      onClient: { [weak self] client in
        guard let self else { return client.beginClose() }
        self.post { $0.welcome(client) }
      })
    guard !isStopped else {
      socket.beginClose()
      await socket.close()
      throw AccessoryError(.cancelled, "the replay was stopped")
    }
    self.socket = socket
    isUnplugged = false
    (lastPath, lastPort) = (socket.path, socket.port)
    if let transport = socket.transport { serve(transport) }
    continuation.yield(.pluggedIn(path: socket.path))
    schedule()
    if case .usb = configuration.connection {
      player.hostCame(at: io.now)
      advance()
    }
    return socket.path
  }

  private func unplug() {
    guard let socket else { return }
    self.socket = nil
    isUnplugged = true
    unsent = nil
    socket.beginClose()
    continuation.yield(.unplugged)
  }

  /// Unplugs the accessory and ends the replay. Returns when the transport is closed.
  public func stop() async {
    isStopped = true
    for timer in [timer, patienceTimer] { if let timer { io.cancel(timer) } }
    let socket = socket
    self.socket = nil
    socket?.beginClose()
    await socket?.close()
    continuation.finish()
  }

  private func comeBack() {
    Task {
      do throws(AccessoryError) {
        try await plugIn()
      } catch {
        end(.failed(error))
      }
    }
  }

  // MARK: - The host

  /// Handles the first open and the last close of the terminal.
  private func use(_ isUsed: Bool) {
    guard !isUnplugged else { return }
    if isUsed { player.hostCame(at: io.now) } else { player.hostWent() }
    advance()
  }

  private func welcome(_ client: DescriptorTransport) {
    guard socket?.isNetwork == true, socket?.transport == nil else { return client.beginClose() }
    socket?.transport = client
    serve(client)
    player.hostCame(at: io.now, pause: .zero)
    advance()
  }

  private func serve(_ transport: any Transport) {
    transport.output.onSpace { [weak self] in self?.post { $0.advance() } }
    transport.input.onReadable { [weak self] in self?.post { $0.drain(transport) } }
  }

  private func drain(_ transport: any Transport) {
    while socket?.transport === transport {
      switch transport.input.take(into: &buffer) {
      case .nothing: return
      case .end(let error): return lose(transport, error)
      case .bytes:
        player.take(buffer)
        advance()
      }
    }
  }

  /// Handles the end of a transport. Over the network, another host may connect later; any other transport can't be
  /// opened again, so the replay fails.
  private func lose(_ transport: any Transport, _ error: AccessoryError?) {
    transport.beginClose()
    guard socket?.isNetwork == true else {
      return end(.failed(error ?? AccessoryError.disconnected(transport.label)))
    }
    socket?.transport = nil
    // Bytes that the host didn't receive are lost, as with a real accessory.
    unsent = nil
    player.hostWent()
    advance()
  }

  // MARK: - The conversation

  /// Carries out the actions that are due.
  private func advance() {
    guard socket != nil, !isEnding else { return }
    if let bytes = unsent, !offer(bytes) { return }
    while socket != nil, let action = player.next(at: io.now) {
      switch action {
      case .send(let bytes): if !offer(bytes) { return }
      case .unplug:
        unplug()
        return resumeUnplugged()
      case .plugIn: break
      case .lose(let count): continuation.yield(.lost(byteCount: count))
      }
    }
    if player.host.difference != nil { return gather() }
    if player.isOver { return sayFarewell() }
    schedule()
  }

  /// Waits for the step after an unplug.
  private func resumeUnplugged() {
    if player.isOver { return end(.finished) }
    guard let deadline = player.deadline else { return }
    after(deadline - io.now) { replay in
      guard replay.socket == nil, !replay.isStopped else { return }
      switch replay.player.next(at: replay.io.now) {
      case .plugIn?: replay.comeBack()
      default: replay.resumeUnplugged()
      }
    }
  }

  /// Queues bytes for the host. Returns false when the queue is full; `onSpace` then calls `advance` again.
  private func offer(_ bytes: [UInt8]) -> Bool {
    guard let output = socket?.transport?.output else {
      unsent = nil
      return true
    }
    let isTaken = output.offer(bytes) != .full
    unsent = isTaken ? nil : bytes
    return isTaken
  }

  private func schedule() {
    for timer in [timer, patienceTimer] { if let timer { io.cancel(timer) } }
    (timer, patienceTimer) = (nil, nil)
    if let deadline = player.deadline {
      timer = io.schedule(at: deadline) { [weak self] in self?.post { $0.advance() } }
    } else if let patience = configuration.patience {
      patienceTimer = io.schedule(at: io.now + patience) { [weak self] in self?.post { $0.endPatience() } }
    }
  }

  private func endPatience() {
    guard !isEnding, player.deadline == nil else { return }
    let awaited = player.host.awaited
    let bytes = Array(awaited?.bytes ?? [])
    end(
      .differed(
        ReplayDifference(
          reason: .silence, offset: player.host.matchedCount, time: awaited?.time, expected: bytes, got: [],
          expectedRecord: bytes, gotRecord: [])))
  }

  // MARK: - The end

  /// Waits for more bytes of a difference, and then ends the replay.
  private func gather() {
    if let timer { io.cancel(timer) }
    timer = io.schedule(at: io.now + Self.gatheringPause) { [weak self] in
      self?.post { replay in
        if let difference = replay.player.host.difference { replay.end(.differed(difference)) }
      }
    }
  }

  /// Ends the replay: at once when no host has the terminal open, otherwise after `farewell`.
  private func sayFarewell() {
    if let timer { io.cancel(timer) }
    let isAlone = configuration.isLeftByHost && !player.hasHost
    guard !isAlone else { return end(.finished) }
    timer = io.schedule(at: io.now + Self.farewell) { [weak self] in self?.post { $0.end(.finished) } }
  }

  private func end(_ event: Event) {
    guard !isEnding, !isStopped else { return }
    isEnding = true
    continuation.yield(event)
  }

  // MARK: - Time

  private nonisolated func post(_ body: @escaping @Sendable (isolated ReplaySimulator) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  private func after(_ time: Duration, _ body: @escaping @Sendable (isolated ReplaySimulator) -> Void) {
    _ = io.schedule(at: io.now + time) { [weak self] in self?.post(body) }
  }
}

extension ReplaySimulator.Configuration {
  /// Whether the transport reports that the host has closed it. USB doesn't.
  fileprivate var isLeftByHost: Bool {
    if case .usb = connection { false } else { true }
  }
}
