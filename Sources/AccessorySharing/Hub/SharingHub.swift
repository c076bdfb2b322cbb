// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

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

  private(set) var device: (any Transport)?
  /// The session that made the driver's opening exchange. It is stored because its release would close the transport.
  private var session: AccessorySession?
  /// The resets of the device's board.
  private(set) var deviceResets: [LineReset] = []
  /// Whether the line's state was read and the clients' changes were repeated, so that bytes may be sent to the device.
  var isDeviceReady = false
  /// Whether the device takes no more bytes, because it is gone or was closed.
  private var isDeviceClosed = false
  /// Whether a device was attached before. Before the first device, clients' bytes wait for it; later they are discarded while there is
  /// no device.
  private(set) var hasHadDevice = false
  /// Whether the device takes no client's bytes.
  private var isDeviceReadOnly = false
  /// Whose bytes are sent to the device that is attached now.
  var writers: SharingRules.Writers { isDeviceReadOnly ? .none : rules.writers }
  private var deviceBuffer: [UInt8] = []
  private var deviceMessages: [Int] = []
  /// The state of sharing by frames; nil when the device is shared by bytes.
  var frames: FrameSharing?
  var clients: [HubClient.ID: HubClient] = [:]
  var nextID = 1
  /// The clients whose bytes the device's queue had no room for, in the order of their turns.
  var waiting: [HubClient.ID] = []
  /// At least as many bytes as wait for all clients together. They are counted when this exceeds the limit, and not with each change.
  var backlogPeak = 0
  /// The timer for giving back memory.
  var memoryTimer: TimerToken?
  /// The client that may write, where the rules allow one writer.
  var writer: HubClient.ID?
  /// The state of the line.
  var memory = LineMemory()
  /// The connected clients that have made a request to the line.
  var lineUsers: Set<HubClient.ID> = []
  /// The last task in the queue of work on the line.
  var lineWork: Task<Void, Never>?
  /// The timer for the next reading of the modem lines and the line errors.
  var lineTimer: TimerToken?
  var hasModemLines = true
  /// The last reading of the driver's error counters.
  var lineState = LineStateWatch()
  /// The state of resets by DTR and RTS.
  var reset = ResetState()
  /// When all bytes given to the device are sent, calculated from the baud rate.
  var lineBusyUntil: MonotonicTime
  /// When the device has last sent bytes, or was opened.
  private(set) var lastArrival: MonotonicTime
  private(set) var isClosed = false
  /// Whether `drain` is running.
  private var isDraining = false
  private var deviceWatchers: [@Sendable (Bool) -> Void] = []
  private var deviceEnd: (@Sendable (AccessoryError?) -> Void)?

  /// How long after a client has left its memory is given back.
  static let memoryDelay = Duration.seconds(2)
  /// How long a client that is being disconnected may take to receive its backlog.
  static let leavePatience = Duration.seconds(5)

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
    lastArrival = clock.now
    lineBusyUntil = clock.now
    (news, continuation) = AsyncStream<SharingNews>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  nonisolated func report(_ one: SharingNews) { continuation.yield(one) }

  /// Runs `body` in the hub: at once on the I/O thread, otherwise posted to it.
  nonisolated func onThread(_ body: @escaping @Sendable (isolated SharingHub) -> Void) {
    if io.isCurrent { enter(body) } else { io.post { self.enter(body) } }
  }

  // MARK: - The device

  /// Shares an open device, which the hub takes over. `onEnd` is called once on the I/O thread when the device is gone;
  /// with nil when the hub was closed. A hub that is closed, or has a device already, closes the transport and calls
  /// `onEnd` with nil.
  public func attach(_ transport: any Transport, onEnd: @escaping @Sendable (AccessoryError?) -> Void) {
    attach(SharedDevice(transport), onEnd: onEnd)
  }

  /// Shares an open device like `attach(_:onEnd:)` for a transport. The device is shared by frames if its `routing` isn't nil.
  public func attach(_ shared: SharedDevice, onEnd: @escaping @Sendable (AccessoryError?) -> Void) {
    let transport = shared.transport
    guard !isClosed, device == nil else {
      transport.beginClose()
      return onEnd(nil)
    }
    device = transport
    session = shared.session
    deviceResets = shared.resets
    isDeviceReadOnly = shared.isReadOnly
    hasHadDevice = true
    deviceEnd = onEnd
    lastArrival = clock.now
    report(.deviceCame)
    if let routing = shared.routing { beginRouting(routing) }
    transport.output.onSpace { [weak self] in self?.onThread { $0.deviceHasSpace(transport) } }
    transport.output.onClosed { [weak self] _ in self?.onThread { $0.deviceClosed(transport) } }
    transport.input.onReadableOnIOThread { [weak self] in self?.onThread { $0.drain(transport) } }
    for watcher in deviceWatchers { watcher(true) }
    if transport.line == nil { isDeviceReady = true } else { lineOpened(transport) }
    deviceHasSpace(transport)
  }

  private func deviceClosed(_ transport: any Transport) {
    guard device === transport else { return }
    isDeviceClosed = true
    drain(transport)
  }

  /// Whether there is a device.
  var hasDevice: Bool { device != nil }

  /// Calls `body` on the I/O thread: with true when a device is attached, or at once if there is one; with false when it is gone.
  package func watchDevice(_ body: @escaping @Sendable (Bool) -> Void) {
    deviceWatchers.append(body)
    if device != nil { body(true) }
  }

  /// Whether the device isn't read now, because a client's buffer is full.
  private var isHeldBack: Bool {
    guard mayHoldBack else { return false }
    if rules.slowReader == .wait, backlogPeak > backlogLimit {
      backlogPeak = clients.values.reduce(0) { $0 + $1.backlog.count }
      if backlogPeak > backlogLimit { return true }
    }
    return clients.values.contains { !$0.isLeaving && $0.backlog.count >= rules.bufferSize }
  }

  /// Room for what was read from the device at once before it is held back, in bytes.
  static let heldBackRoom = 1 << 20

  /// Whether a full buffer stops reading from the device: if the rules say so, or if the device has one reader only, so that no other
  /// client has to wait.
  var mayHoldBack: Bool {
    switch rules.slowReader {
    case .wait: true
    case .skip: false
    case .close:
      rules.waitsForOnlyReader && clients.values.lazy.filter { $0.isListening && !$0.isLeaving }.prefix(2).count == 1
    }
  }

  func drain(_ transport: any Transport) {
    // A nested call, made when a reply is sent or a client is removed, would deliver later bytes before all clients got these.
    guard !isDraining else { return }
    isDraining = true
    defer { isDraining = false }
    // The end of a device isn't held back, nor what it sent before.
    while device === transport, !isHeldBack || isDeviceClosed, frames?.mayTakeFromDevice ?? true {
      switch transport.input.take(into: &deviceBuffer, messages: &deviceMessages) {
      case .nothing: return
      case .bytes:
        lastArrival = clock.now
        if frames == nil {
          deliver(deviceBuffer)
        } else {
          let bytes = deviceBuffer
          // The router's queue keeps the bytes; the next ones need a buffer of their own.
          deviceBuffer = []
          receiveFrames(bytes, messages: transport.input.keepsMessages ? deviceMessages : nil)
        }
      case .end(let error): return endWaitsForFrames(error) ? () : deviceEnded(error)
      }
    }
  }

  func deviceEnded(_ error: AccessoryError?) {
    guard let transport = device else { return }
    (device, session) = (nil, nil)
    (isDeviceReady, isDeviceClosed) = (false, false)
    isDeviceReadOnly = false
    waiting = []
    endRouting()
    transport.beginClose()
    if let error { report(.deviceWent(error.message)) }
    for watcher in deviceWatchers { watcher(false) }
    lineClosed()
    let all = clients.values.sorted { $0.id < $1.id }
    for client in all {
      client.isWaitingForDevice = false
      if rules.unplug == .hangUp { dismiss(client, error == nil ? nil : "the device is gone") } else { work(client) }
    }
    let onEnd = deviceEnd
    deviceEnd = nil
    onEnd?(error)
  }

  // MARK: - The end

  /// Disconnects all clients, dropping their queued bytes, and closes the device. Returns when the device is closed.
  public func close() async {
    guard !isClosed else { return }
    isClosed = true
    let transport = device
    device = nil
    endRouting()
    for client in clients.values {
      client.isLeaving = true
      remove(client)
    }
    continuation.finish()
    let onEnd = deviceEnd
    deviceEnd = nil
    deviceWatchers = []
    await transport?.close()
    onEnd?(nil)
  }
}
