// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// One device and all that share it: what the device sends goes to everybody, what they send goes to the device.
///
/// All of it happens on the I/O thread. A client that takes nothing costs the others nothing: its bytes wait in a buffer of its
/// own, which is bounded. The device may come and go; see `SharingRules`.
public actor SharingHub: IOActor {
  /// How they share it.
  public nonisolated let rules: SharingRules
  /// What happens, for one reader; what it doesn't read in time is dropped, oldest first. Ends with `close`.
  public nonisolated let news: AsyncStream<SharingNews>

  package nonisolated let io: IOThread
  nonisolated let clock: any TimerClock
  private nonisolated let continuation: AsyncStream<SharingNews>.Continuation

  private(set) var device: (any Transport)?
  /// The device's line was looked at, and is as clients have set it: bytes may follow.
  var isDeviceReady = false
  /// Until it comes for the first time, what clients send waits for it; later it is thrown away when the device isn't there.
  private(set) var hasHadDevice = false
  private var deviceBuffer: [UInt8] = []
  var sharers: [Sharer.ID: Sharer] = [:]
  private var nextID = 1
  /// Clients whose bytes the device had no room for, in the order in which they go on.
  var waiting: [Sharer.ID] = []
  /// Who may write, where only one may.
  var writer: Sharer.ID?
  /// The line as clients have it.
  var memory = LineMemory()
  /// Clients that have asked something of the line, and are there.
  var lineUsers: Set<Sharer.ID> = []
  /// What was asked last.
  var lineWork: Task<Void, Never>?
  /// When the modem lines are looked at next.
  var lineTimer: TimerToken?
  var hasModemLines = true
  /// When all that was given to the device is sent, at full speed.
  var lineBusyUntil: MonotonicTime
  /// When the device last sent something, or came.
  private(set) var lastArrival: MonotonicTime
  private var isClosed = false
  private var deviceWatchers: [@Sendable (Bool) -> Void] = []
  private var deviceEnd: (@Sendable (AccessoryError?) -> Void)?

  /// How long a client that is to go may take for what waits for it.
  private static let leavePatience = Duration.seconds(5)

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A hub without a device and without clients.
  public init(_ rules: SharingRules = SharingRules(), io: IOThread = .shared) {
    self.init(rules, io: io, clock: io)
  }

  /// As above, by another clock.
  package init(_ rules: SharingRules, io: IOThread, clock: any TimerClock) {
    self.rules = rules
    self.io = io
    self.clock = clock
    lastArrival = clock.now
    lineBusyUntil = clock.now
    (news, continuation) = AsyncStream<SharingNews>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  nonisolated func tell(_ one: SharingNews) { continuation.yield(one) }

  /// Runs `body` in the hub, at once where that is possible.
  nonisolated func onThread(_ body: @escaping @Sendable (isolated SharingHub) -> Void) {
    if io.isCurrent { enter(body) } else { io.post { self.enter(body) } }
  }

  // MARK: - The device

  /// The device is open, and belongs to the hub from now on. `onEnd` is called once, when it is gone, on the I/O thread; nil
  /// when the hub was closed.
  public func attach(_ transport: any Transport, onEnd: @escaping @Sendable (AccessoryError?) -> Void) {
    guard !isClosed, device == nil else {
      transport.beginClose()
      return onEnd(nil)
    }
    device = transport
    hasHadDevice = true
    deviceEnd = onEnd
    lastArrival = clock.now
    tell(.deviceCame)
    transport.output.onSpace { [weak self] in self?.onThread { $0.deviceHasSpace(transport) } }
    transport.input.onReadable { [weak self] in self?.onThread { $0.drain(transport) } }
    for watcher in deviceWatchers { watcher(true) }
    if transport.line == nil { isDeviceReady = true } else { lineOpened(transport) }
    deviceHasSpace(transport)
  }

  /// Calls `body` on the I/O thread when the device comes (true) and goes; at once if it is there.
  package func watchDevice(_ body: @escaping @Sendable (Bool) -> Void) {
    deviceWatchers.append(body)
    if device != nil { body(true) }
  }

  /// Somebody's buffer is full, and all wait for it.
  private var isHeldBack: Bool {
    rules.slowReader == .wait && sharers.values.contains { $0.backlog.count >= rules.bufferSize }
  }

  private func drain(_ transport: any Transport) {
    while device === transport, !isHeldBack {
      switch transport.input.take(into: &deviceBuffer) {
      case .nothing: return
      case .bytes:
        lastArrival = clock.now
        deliver()
      case .end(let error): return deviceEnded(error)
      }
    }
  }

  private func deviceEnded(_ error: AccessoryError?) {
    guard let transport = device else { return }
    device = nil
    isDeviceReady = false
    waiting = []
    transport.beginClose()
    if let error { tell(.deviceWent(error.message)) }
    for watcher in deviceWatchers { watcher(false) }
    lineClosed()
    let all = sharers.values.sorted { $0.id < $1.id }
    for sharer in all {
      sharer.isWaitingForDevice = false
      if rules.unplug == .hangUp { dismiss(sharer, error == nil ? nil : "the device is gone") } else { work(sharer) }
    }
    let onEnd = deviceEnd
    deviceEnd = nil
    onEnd?(error)
  }

  // MARK: - To the clients

  private func deliver() {
    let bytes = deviceBuffer
    var escaped: [UInt8]?
    for sharer in sharers.values where sharer.isListening && !sharer.isLeaving {
      if sharer.telnet == nil {
        pass(bytes, to: sharer)
      } else {
        escaped = escaped ?? Telnet.escaped(bytes)
        pass(escaped ?? bytes, to: sharer)
      }
    }
  }

  /// Sends bytes to a client: of the device, or, unless `isData`, an answer of ours, which isn't left out for being too much.
  func pass(_ bytes: [UInt8], to sharer: Sharer, isData: Bool = true) {
    if sharer.backlog.isEmpty, sharer.telnet?.isSuspended != true {
      switch sharer.transport.output.offer(bytes) {
      case .accepted, .closed: return
      case .full: break
      }
    }
    guard !isData || rules.slowReader == .wait || sharer.backlog.count + bytes.count <= rules.bufferSize else {
      return overflow(sharer)
    }
    sharer.backlog.append(bytes, isData: isData)
  }

  /// It doesn't take what the device sends.
  private func overflow(_ sharer: Sharer) {
    switch rules.slowReader {
    case .close:
      sharer.backlog.removeAll()
      dismiss(sharer, "it was too slow: \(rules.bufferSize) bytes waited for it")
    case .skip, .wait:
      if !sharer.isSkipping { tell(.skipping(sharer.name)) }
      sharer.isSkipping = true
    }
  }

  /// The client takes more.
  func hasSpace(_ id: Sharer.ID) {
    guard let sharer = sharers[id], sharer.telnet?.isSuspended != true || sharer.isLeaving else { return }
    while let piece = sharer.backlog.first {
      guard sharer.transport.output.offer(piece) == .accepted else { break }
      sharer.backlog.removeFirst()
    }
    if sharer.backlog.isEmpty {
      sharer.isSkipping = false
      if sharer.isLeaving { remove(sharer) }
    }
    if sharer.telnet != nil { work(sharer) }
    resumeDevice()
  }

  private func resumeDevice() {
    if rules.slowReader == .wait, let device { drain(device) }
  }

  // MARK: - Clients

  /// How many there are.
  public var sharerCount: Int { sharers.count }

  /// A client has come, whose connection belongs to the hub from now on. `name` is what it is called. Returns its number.
  @discardableResult
  func join(
    _ transport: any Transport, name: String, kind: SharerKind, isListening: Bool = true,
    onLeave: (@Sendable () -> Void)? = nil
  ) -> Sharer.ID {
    let id = nextID
    nextID += 1
    guard !isClosed else {
      transport.beginClose()
      return id
    }
    let sharer = Sharer(id, name: name, transport, kind: kind)
    sharer.isListening = isListening
    sharer.isTold = isListening
    sharer.onLeave = onLeave
    sharers[id] = sharer
    if sharer.isTold { tell(.joined(name)) }
    follow(sharer)
    greet(sharer)
    transport.output.onSpace { [weak self] in self?.onThread { $0.hasSpace(id) } }
    transport.input.onReadable { [weak self] in self?.onThread { $0.read(id) } }
    return id
  }

  /// A client has connected to an endpoint. Where there are as many as there may be, it is turned away, or takes the place of
  /// all that are there.
  func welcome(_ transport: any Transport, name: String, kind: SharerKind, at endpoint: EndpointLimit) {
    let others = sharers.values.filter { $0.endpoint == endpoint.id && !$0.isLeaving }
    if endpoint.newestWins {
      for other in others { dismiss(other, "\(name) took its place") }
    } else if others.count >= endpoint.maximum {
      transport.beginClose()
      return tell(.refused(name, reason: "\(others.count) clients are there, and no more are allowed"))
    }
    let id = join(transport, name: name, kind: kind)
    sharers[id]?.endpoint = endpoint.id
  }

  /// From now on the client takes what the device sends, or doesn't: what waits for it is dropped then, and it may write no
  /// more where only one may.
  func setListening(_ id: Sharer.ID, _ isListening: Bool) {
    guard let sharer = sharers[id], sharer.isListening != isListening else { return }
    sharer.isListening = isListening
    sharer.isTold = isListening
    tell(isListening ? .joined(sharer.name) : .left(sharer.name, reason: nil))
    guard !isListening else { return watchSettings(of: id) }
    lineLeft(by: id)
    sharer.backlog.removeAll()
    sharer.isUnheard = false
    if writer == id { writer = nil }
    resumeDevice()
  }

  /// Disconnects a client that is there; what waits for it still goes out, if it takes it soon.
  func dismiss(_ id: Sharer.ID, _ reason: String) { if let sharer = sharers[id] { dismiss(sharer, reason) } }

  func dismiss(_ sharer: Sharer, _ reason: String?) {
    guard !sharer.isLeaving, sharers[sharer.id] != nil else { return }
    if sharer.isTold { tell(.left(sharer.name, reason: reason)) }
    sharer.isLeaving = true
    release(sharer)
    guard !sharer.backlog.isEmpty else { return remove(sharer) }
    _ = clock.schedule(at: clock.now + Self.leavePatience) { [weak self, id = sharer.id] in
      self?.onThread { hub in if let sharer = hub.sharers[id] { hub.remove(sharer) } }
    }
  }

  /// It sends no more that counts.
  private func release(_ sharer: Sharer) {
    sharer.deeds.removeAll()
    waiting.removeAll { $0 == sharer.id }
    if writer == sharer.id { writer = nil }
    lineLeft(by: sharer.id)
  }

  func remove(_ sharer: Sharer) {
    guard sharers.removeValue(forKey: sharer.id) != nil else { return }
    if !sharer.isLeaving, sharer.isTold { tell(.left(sharer.name, reason: nil)) }
    release(sharer)
    sharer.transport.beginClose()
    sharer.onLeave?()
    resumeDevice()
  }

  // MARK: - The end

  /// Closes the device and disconnects everybody.
  public func close() async {
    guard !isClosed else { return }
    isClosed = true
    let transport = device
    device = nil
    for sharer in sharers.values {
      sharer.isLeaving = true
      remove(sharer)
    }
    continuation.finish()
    let onEnd = deviceEnd
    deviceEnd = nil
    deviceWatchers = []
    await transport?.close()
    onEnd?(nil)
  }
}
