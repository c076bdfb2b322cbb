// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Plays the accessory's side of a recorded conversation to a host, and compares the host's bytes with the recording.
public actor ReplaySimulator: HostedSimulator {
  package nonisolated let executor = DispatchExecutor(label: "accessory.simulator.replay")
  package nonisolated let io: IOThread
  private let configuration: Configuration
  /// The events of the replay, for one reader. When more than 1,024 wait, the oldest are dropped. Ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  package var host: PlugHost<Event>

  private var player: ReplayPlayer
  private var timer: TimerToken?
  private var patienceTimer: TimerToken?
  private var isEnding = false

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
    host = PlugHost(configuration.connection, configuration.hints)
    host.hearsUse = true
    events = host.events
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
  public func plugIn() async throws(AccessoryError) -> String { try await putPlug() }

  /// Unplugs the accessory and ends the replay. Returns when the transport is closed.
  public func stop() async {
    for timer in [timer, patienceTimer] { if let timer { io.cancel(timer) } }
    await stopHosting(tells: false)
  }

  package func pluggedIn() {
    schedule()
    if case .usb = configuration.connection {
      player.hostCame(at: io.now)
      advance()
    }
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
  package func used(_ isUsed: Bool) {
    if isUsed { player.hostCame(at: io.now) } else { player.hostWent() }
    advance()
  }

  package func connected(_ transport: any Transport) {
    guard host.plug?.isNetwork == true else { return }
    player.hostCame(at: io.now, pause: .zero)
    advance()
  }

  package func received() {
    player.take(host.buffer)
    advance()
  }

  package func hasRoom() { advance() }

  package func hostLeft() {
    player.hostWent()
    advance()
  }

  /// The line can't be opened again, so the replay fails.
  package func lineEnded(_ error: AccessoryError?) {
    guard let transport = host.plug?.transport else { return }
    transport.beginClose()
    end(.failed(error ?? AccessoryError.disconnected(transport.label)))
  }

  // MARK: - The conversation

  /// Carries out the actions that are due.
  private func advance() {
    guard host.plug != nil, !isEnding, isSent else { return }
    while host.plug != nil, let action = player.next(at: io.now) {
      switch action {
      case .send(let bytes):
        answering { offer(bytes) }
        guard isSent else { return }
      case .unplug:
        pullPlug()
        return resumeUnplugged()
      case .plugIn: break
      case .lose(let count): host.continuation.yield(.lost(byteCount: count))
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
    at(deadline) { replay in
      guard replay.host.plug == nil, !replay.host.isStopped else { return }
      switch replay.player.next(at: replay.io.now) {
      case .plugIn?: replay.comeBack()
      default: replay.resumeUnplugged()
      }
    }
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
    guard !isEnding, !host.isStopped else { return }
    isEnding = true
    host.continuation.yield(event)
  }
}

extension ReplaySimulator.Configuration {
  /// Whether the transport reports that the host has closed it. USB doesn't.
  fileprivate var isLeftByHost: Bool {
    if case .usb = connection { false } else { true }
  }
}
