// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

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
  /// Until it comes for the first time, what clients send waits for it; later it is thrown away when the device isn't there.
  private var hasHadDevice = false
  private var deviceBuffer: [UInt8] = []
  private var sharers: [Sharer.ID: Sharer] = [:]
  private var nextID = 1
  /// Clients whose bytes the device had no room for, in the order in which they go on.
  private var waiting: [Sharer.ID] = []
  /// Who may write, where only one may.
  private var writer: Sharer.ID?
  /// When the device last sent something, or came.
  private var lastArrival: MonotonicTime
  private var isClosed = false
  private var deviceWatchers: [@Sendable (Bool) -> Void] = []
  private var deviceEnd: (@Sendable (AccessoryError?) -> Void)?

  /// How long a beginning that a browser's could be is held back.
  private static let guardPatience = Duration.milliseconds(250)
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
    (news, continuation) = AsyncStream<SharingNews>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
  }

  nonisolated func tell(_ one: SharingNews) { continuation.yield(one) }

  /// Runs `body` in the hub, at once where that is possible.
  private nonisolated func onThread(_ body: @escaping @Sendable (isolated SharingHub) -> Void) {
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
    waiting = []
    transport.beginClose()
    if let error { tell(.deviceWent(error.message)) }
    for watcher in deviceWatchers { watcher(false) }
    let all = sharers.values.sorted { $0.id < $1.id }
    for sharer in all {
      sharer.isWaitingForDevice = false
      if rules.unplug == .hangUp { dismiss(sharer, "the device is gone") } else { work(sharer) }
    }
    let onEnd = deviceEnd
    deviceEnd = nil
    onEnd?(error)
  }

  // MARK: - To the clients

  private func deliver() {
    let bytes = deviceBuffer
    for sharer in sharers.values where sharer.isListening && !sharer.isLeaving { pass(bytes, to: sharer) }
  }

  private func pass(_ bytes: [UInt8], to sharer: Sharer) {
    if sharer.backlog.isEmpty {
      switch sharer.transport.output.offer(bytes) {
      case .accepted, .closed: return
      case .full: break
      }
    }
    guard rules.slowReader == .wait || sharer.backlog.count + bytes.count <= rules.bufferSize else {
      return overflow(sharer)
    }
    sharer.backlog.append(bytes)
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
  private func hasSpace(_ id: Sharer.ID) {
    guard let sharer = sharers[id] else { return }
    while let piece = sharer.backlog.first {
      guard sharer.transport.output.offer(piece) == .accepted else { break }
      sharer.backlog.removeFirst()
    }
    guard sharer.backlog.isEmpty else { return resumeDevice() }
    sharer.isSkipping = false
    if sharer.isLeaving { remove(sharer) }
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
    guard !isListening else { return }
    sharer.backlog.removeAll()
    sharer.isUnheard = false
    if writer == id { writer = nil }
    resumeDevice()
  }

  /// Disconnects a client that is there; what waits for it still goes out, if it takes it soon.
  func dismiss(_ id: Sharer.ID, _ reason: String) { if let sharer = sharers[id] { dismiss(sharer, reason) } }

  private func dismiss(_ sharer: Sharer, _ reason: String?) {
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
  }

  private func remove(_ sharer: Sharer) {
    guard sharers.removeValue(forKey: sharer.id) != nil else { return }
    if !sharer.isLeaving, sharer.isTold { tell(.left(sharer.name, reason: nil)) }
    release(sharer)
    sharer.transport.beginClose()
    sharer.onLeave?()
    resumeDevice()
  }

  // MARK: - From the clients

  private func read(_ id: Sharer.ID) { if let sharer = sharers[id] { work(sharer) } }

  /// Does what a client asks for, until there is no more, or something has to be waited for.
  private func work(_ sharer: Sharer) {
    while !sharer.isBusy, !sharer.isWaitingForDevice, !sharer.isLeaving, sharers[sharer.id] != nil {
      if let deed = sharer.deeds.first {
        guard perform(deed, of: sharer) else { return }
        if !sharer.deeds.isEmpty { sharer.deeds.removeFirst() }
        continue
      }
      guard !sharer.hasInputEnded else { return }
      switch sharer.transport.input.take(into: &sharer.buffer) {
      case .nothing: return
      case .bytes: take(sharer.buffer, of: sharer)
      case .end(let error): inputEnded(sharer, error)
      }
    }
  }

  /// Turns what came into what is to be done.
  private func take(_ bytes: [UInt8], of sharer: Sharer) {
    guard var guardian = sharer.guardian else { return sharer.deeds.append(.send(bytes)) }
    let verdict = guardian.take(bytes)
    sharer.guardian = guardian
    switch verdict {
    case .pass(let all):
      sharer.guardian = nil
      sharer.deeds.append(.send(all))
    case .refuse:
      tell(.refused(sharer.name, reason: "it began as a web browser does"))
      sharer.isLeaving = true
      remove(sharer)
    case .hold:
      _ = clock.schedule(at: clock.now + Self.guardPatience) { [weak self, id = sharer.id] in
        self?.onThread { $0.passHeld(id) }
      }
    }
  }

  private func passHeld(_ id: Sharer.ID) {
    guard let sharer = sharers[id], let held = sharer.guardian?.giveUp(), !held.isEmpty else { return }
    sharer.guardian = nil
    sharer.deeds.append(.send(held))
    work(sharer)
  }

  /// False when it can't be done now: then `work` is called again.
  private func perform(_ deed: SharerDeed, of sharer: Sharer) -> Bool {
    switch deed {
    case .send(let bytes):
      guard mayWrite(sharer) else { return true }
      guard device != nil || !hasHadDevice else { return true }
      // Who comes while others wait comes behind them.
      if waiting.isEmpty, let device, device.output.offer(bytes) != .full { return true }
      sharer.isWaitingForDevice = true
      waiting.append(sharer.id)
      return false
    }
  }

  private func mayWrite(_ sharer: Sharer) -> Bool {
    switch rules.writers {
    case .many: return true
    case .one:
      if writer == nil { writer = sharer.id }
      if writer == sharer.id { return true }
    case .none: break
    }
    if !sharer.isUnheard { tell(.unheard(sharer.name)) }
    sharer.isUnheard = true
    return false
  }

  /// The device takes bytes again: those who wait have a turn each, in the order in which they came.
  private func deviceHasSpace(_ transport: any Transport) {
    while device === transport, let id = waiting.first {
      guard let sharer = sharers[id], case .send(let bytes)? = sharer.deeds.first else {
        waiting.removeFirst()
        if let sharer = sharers[id] {
          sharer.isWaitingForDevice = false
          work(sharer)
        }
        continue
      }
      if transport.output.offer(bytes) == .full { return }
      waiting.removeFirst()
      sharer.deeds.removeFirst()
      sharer.isWaitingForDevice = false
      work(sharer)
    }
  }

  /// The client sends no more. It stays for the device's answer where it can still be written to.
  private func inputEnded(_ sharer: Sharer, _ error: AccessoryError?) {
    sharer.hasInputEnded = true
    guard error == nil else { return remove(sharer) }
    if writer == sharer.id { writer = nil }
    passHeld(sharer.id)
    linger(sharer.id, since: clock.now)
  }

  private func linger(_ id: Sharer.ID, since end: MonotonicTime) {
    guard let sharer = sharers[id] else { return }
    let due = max(lastArrival, end) + rules.linger
    guard due <= clock.now else {
      _ = clock.schedule(at: due) { [weak self] in self?.onThread { $0.linger(id, since: end) } }
      return
    }
    dismiss(sharer, nil)
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
