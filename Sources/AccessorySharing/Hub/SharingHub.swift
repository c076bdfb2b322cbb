// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// A device and its clients: the device's bytes go to all clients, and the clients' bytes go to the device.
/// With a `FrameRouting` both go by whole frames, and each reply goes to the client that asked.
///
/// All work runs on the I/O thread, except that frames are decoded on a dispatch queue. A slow client doesn't delay the
/// others: its bytes wait in a bounded buffer of its own, unless the rules say `wait`. The device may be unplugged and
/// come back; see `SharingRules`.
public actor SharingHub: IOActor {
  /// The rules of sharing.
  public nonisolated let rules: SharingRules
  /// Events of the hub, for one consumer. When it is too slow, the oldest events are dropped. Ends after `close`.
  public nonisolated let news: AsyncStream<SharingNews>

  package nonisolated let io: IOThread
  nonisolated let clock: any TimerClock
  private nonisolated let continuation: AsyncStream<SharingNews>.Continuation
  private(set) lazy var parts = HubParts(self)

  /// The I/O thread, which runs this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A hub without a device and without clients.
  public init(_ rules: SharingRules = SharingRules(), io: IOThread = .shared) {
    self.init(rules, io: io, clock: io)
  }

  /// A hub whose times are those of `clock`.
  package init(_ rules: SharingRules, io: IOThread, clock: any TimerClock) {
    self.rules = rules
    self.io = io
    self.clock = clock
    (news, continuation) = AsyncStream<SharingNews>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  nonisolated func report(_ one: SharingNews) { continuation.yield(one) }

  /// Runs `body` in the hub: at once on the I/O thread, otherwise posted to it.
  nonisolated func onThread(_ body: @escaping @Sendable (HubParts) -> Void) {
    if io.isCurrent { enter(body) { $1($0.parts) } } else { io.post { self.enter(body) { $1($0.parts) } } }
  }

  /// A function that runs `body` in the hub, if the hub is still there.
  nonisolated func handler(_ body: @escaping @Sendable (HubParts) -> Void) -> @Sendable () -> Void {
    { [weak self] in self?.onThread(body) }
  }

  func run(_ body: @escaping @Sendable (HubParts) async -> Void) async { await body(parts) }

  // MARK: - The device

  /// Shares an open device, which the hub takes over. `onEnd` is called once on the I/O thread when the device is gone;
  /// with nil when the hub was closed. A hub that is closed, or has a device already, closes the transport and calls
  /// `onEnd` with nil.
  public func attach(_ transport: any Transport, onEnd: @escaping @Sendable (AccessoryError?) -> Void) {
    attach(SharedDevice(transport), onEnd: onEnd)
  }

  /// Shares an open device like `attach(_:onEnd:)` for a transport. The device is shared by frames if its `routing` isn't nil.
  public func attach(_ shared: SharedDevice, onEnd: @escaping @Sendable (AccessoryError?) -> Void) {
    parts.device.attach(shared, onEnd)
  }

  /// Whether there is a device.
  var hasDevice: Bool { parts.device.attached != nil }

  /// Calls `body` on the I/O thread: with true when a device is attached, or at once if there is one; with false when it is gone.
  package func watchDevice(_ body: @escaping @Sendable (Bool) -> Void) { parts.device.watch(body) }

  /// The router's counts since the device was opened; nil when the device is shared by bytes.
  package var routingStatistics: RoutingStatistics? { parts.device.attached?.frames?.statistics }

  /// Repeats the clients' changes to the line after the line was opened again with its usual settings. Returns when the changes are
  /// made.
  package func lineWasReopened() async { await parts.line.wasReopened() }

  /// Opens the device, shares it until it is gone, and opens it again, until the task is cancelled or `retry` throws.
  ///
  /// `retry` is called with the error of `open`, or with the error that ended the device's transport, and returns when
  /// it is time to try again. Throws the error of `retry`, and `CancellationError`.
  public nonisolated func run(
    open: () async throws -> any Transport, retry: (any Error) async throws -> Void
  ) async throws {
    try await run(openShared: { SharedDevice(try await open()) }, retry: retry)
  }

  /// Opens the device, shares it until it is gone, and opens it again, like `run(open:retry:)`. The device is shared by frames if its
  /// `routing` isn't nil.
  public nonisolated func run(
    openShared: () async throws -> SharedDevice, retry: (any Error) async throws -> Void
  ) async throws {
    while true {
      try Task.checkCancellation()
      let failure: any Error
      do {
        let device = try await openShared()
        let end = await share(device)
        // The error that ended the device is passed to `retry` even if the task is cancelled.
        if end == nil { try Task.checkCancellation() }
        failure = end ?? AccessoryError.closed(device.transport.label)
      } catch {
        try Task.checkCancellation()
        failure = error
      }
      try await retry(failure)
    }
  }

  /// Shares a device until it is gone or the task is cancelled, and then closes it. Returns the error that ended the device; nil if it
  /// was closed without one.
  private nonisolated func share(_ device: SharedDevice) async -> AccessoryError? {
    let transport = device.transport
    let error = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Task { await attach(device) { continuation.resume(returning: $0) } }
      }
    } onCancel: {
      transport.beginClose()
    }
    await transport.close()
    return error
  }

  // MARK: - Clients

  /// The number of clients.
  public var clientCount: Int { parts.clients.all.count }

  /// The number of clients that receive the device's bytes: connections, and terminals that a program has open.
  package var listenerCount: Int { parts.clients.all.values.count { $0.isListening && !$0.isLeaving } }

  /// Adds a client with its transport, which the hub takes over. `name` appears in reports. Returns the client's number.
  @discardableResult
  func join(
    _ transport: any Transport, name: String, kind: HubClientKind, isListening: Bool = true, allowsWrites: Bool = true,
    endpoint: Int? = nil, onLeave: (@Sendable () -> Void)? = nil
  ) -> HubClient.ID {
    parts.clients.join(
      transport, name: name, kind: kind, isListening: isListening, allowsWrites: allowsWrites, endpoint: endpoint,
      onLeave: onLeave)
  }

  /// Starts or stops sending the device's bytes to a client. Stopping drops the client's backlog, and the client is no
  /// longer the only writer.
  func setListening(_ id: HubClient.ID, _ isListening: Bool) { parts.clients.setListening(id, isListening) }

  /// Disconnects a client. Its backlog is sent first, for up to `HubClients.leavePatience`.
  func dismiss(_ id: HubClient.ID, _ reason: String) {
    if let client = parts.clients[id] { parts.clients.dismiss(client, reason) }
  }

  /// Holds the device's bytes and replies back from a terminal, or sends them from now on.
  func hold(_ id: HubClient.ID, _ isHeld: Bool) { parts.clients.hold(id, isHeld) }

  /// Adds a client of this machine with the name `name`, and returns when the client is gone. A hub without a device closes the
  /// connection at once. When the task is cancelled, the client is disconnected. By frames and without `allowsWrites`, its frames
  /// that may change something in the accessory are refused.
  package nonisolated func serve(_ client: any Transport, name: String, allowsWrites: Bool = true) async {
    let (end, continuation) = AsyncStream<Void>.makeStream()
    let id = await admit(client, name: name, allowsWrites: allowsWrites) { continuation.finish() }
    await withTaskCancellationHandler {
      for await _ in end {}
    } onCancel: {
      onThread { parts in if let id, let client = parts.clients[id] { parts.clients.remove(client) } }
    }
  }

  private func admit(
    _ client: any Transport, name: String, allowsWrites: Bool, onLeave: @escaping @Sendable () -> Void
  ) -> HubClient.ID? {
    guard hasDevice else {
      client.beginClose()
      onLeave()
      return nil
    }
    let id = join(client, name: name, kind: .local, allowsWrites: allowsWrites, onLeave: onLeave)
    // The client has already left, or the hub is closed. Finishing the stream twice does no harm.
    if parts.clients[id] == nil { onLeave() }
    return id
  }

  // MARK: - The end

  /// Disconnects all clients, dropping their queued bytes, and closes the device. Returns when the device is closed.
  public func close() async {
    guard !parts.clients.isClosed else { return }
    let last = parts.device.close()
    parts.clients.close()
    continuation.finish()
    await last?.transport.close()
    last?.onEnd(nil)
  }
}
