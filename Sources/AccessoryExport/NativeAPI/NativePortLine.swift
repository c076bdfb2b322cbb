// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A port's line. It is open while a client has the port, and carries out that client's wishes one after another: what changes the line
/// comes after the bytes in front of it were sent.
actor NativePortLine: IOActor {
  /// A wish of a client that waits for its turn.
  private struct Waiting {
    var connection: Int
    var wish: NativePortCall.Wish
    /// When its answer must be given.
    var deadline: MonotonicTime
    /// Whether nobody waits for an answer.
    var isSilent = false
    var number = 0
    var timer: TimerToken?

    var topic: NativePortTopic? { NativePortCall(port: 0, wish: wish).topic }

    /// What it counts for in the queue.
    var size: Int { if case .write(let bytes) = wish { bytes.count } else { 64 } }
  }

  nonisolated let io: IOThread
  private let clock: any TimerClock
  private let source: @Sendable () async -> Result<NativeOpenPort, AccessoryError>
  /// Tells the server, for the client with a number; false: the client takes no bytes now.
  private let tell: @Sendable (_ connection: Int, NativePortNews) -> Bool

  private var queue: ArraySlice<Waiting> = []
  private var queuedSize = 0
  private var lastNumber = 0
  private var isWorking = false
  private var idle: [OneShot<Void>] = []
  /// The client for which the line is open or being opened.
  private var holder: Int?
  private var open: NativeOpenPort?
  /// What the holder still wishes is dropped: it has left, or its time for that is over.
  private var isAborted = false
  private var abortTimer: TimerToken?
  /// The client whose line is being closed.
  private var closing: Int?
  /// Resumes the wish that waits.
  private var wake: OneShot<Void>?
  private var isWaitingForEmpty = false
  /// Whether the client can't take bytes now.
  private var isHeld = false
  /// Bytes from the line; the client has got the first `passed` of them.
  private var buffer: [UInt8] = []
  private var passed = 0
  /// The outputs that were raised before the client had the port.
  private var formerLines: ModemLines = []
  private var applied: LineChanges?
  private var busyTime = LineBusyTime()

  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A client sends no more while this much waits. The line's own queue has 16 KiB more.
  static let queueLimit = 49_152
  /// The time of an answer, since clients wait for 10 s.
  static let patience = Duration.seconds(9)
  /// The time that bytes have to reach the line after the client has unsubscribed. Closing the line may take five seconds more.
  static let closePatience = Duration.seconds(3)
  private static let pieceSize = 16_384
  /// The pauses between two questions of how much is unsent.
  private static let pauses = (shortest: Duration.milliseconds(2), longest: Duration.milliseconds(50))
  /// Bytes that an adapter may hold and that the kernel doesn't count.
  private static let hardwareBuffer = 256

  init(
    io: IOThread, clock: any TimerClock, tell: @escaping @Sendable (Int, NativePortNews) -> Bool,
    open source: @escaping @Sendable () async -> Result<NativeOpenPort, AccessoryError>
  ) { (self.io, self.clock, self.tell, self.source) = (io, clock, tell, source) }

  private nonisolated func onThread(_ body: @escaping @Sendable (isolated NativePortLine) -> Void) {
    if io.isCurrent { enter(body) } else { io.post { self.enter(body) } }
  }

  // MARK: - Wishes

  /// Whether so much waits that the client must send no more.
  var isFull: Bool { queuedSize >= Self.queueLimit }

  /// The bytes that wait here and in the line's queue, for tests.
  var waitingSize: Int { queuedSize + (open?.transport.output.queuedCount ?? 0) }

  /// Takes a wish of a client that has the port; `getLines` also of others.
  func take(_ wish: NativePortCall.Wish, for connection: Int) {
    switch wish {
    case .getLines:
      Task { await self.tellLines(connection) }
      return
    case .write(let bytes) where !isWorking && queue.isEmpty:
      let rest = offer(bytes[...], for: connection)
      if rest.isEmpty { return }
      add(Waiting(connection: connection, wish: .write(Array(rest)), deadline: clock.now))
    case .unsubscribe:
      add(Waiting(connection: connection, wish: wish, deadline: clock.now + Self.closePatience))
      limitClosing(connection)
    default: add(Waiting(connection: connection, wish: wish, deadline: clock.now + Self.patience))
    }
    work()
  }

  private func add(_ one: Waiting) {
    var one = one
    lastNumber += 1
    one.number = lastNumber
    if isWorking, one.topic != nil, one.topic != .unsubscribe {
      let number = lastNumber
      one.timer = clock.schedule(at: one.deadline) { [weak self] in self?.onThread { $0.expire(number) } }
    }
    queue.append(one)
    queuedSize += one.size
  }

  /// Answers a wish whose turn didn't come in time.
  private func expire(_ number: Int) {
    guard let index = queue.firstIndex(where: { $0.number == number }) else { return }
    let one = queue.remove(at: index)
    if case .subscribe = one.wish { _ = tell(one.connection, .notOpened) }
    answer(one, .timedOut, "the line is busy")
    lessen(one.size, one.connection)
  }

  private func limitClosing(_ connection: Int) {
    stopAbortTimer()
    abortTimer = clock.schedule(at: clock.now + Self.closePatience) { [weak self] in
      self?.onThread { if $0.holder == connection { $0.abort() } }
    }
  }

  private func stopAbortTimer() {
    if let abortTimer { clock.cancel(abortTimer) }
    abortTimer = nil
  }

  private func abort() {
    isAborted = true
    wake?.finish()
  }

  /// The client is gone: what it wished is dropped, and the line is closed. A client that has unsubscribed before needn't wait until that
  /// is done.
  func leave(_ connection: Int) {
    let last = queue.last { $0.connection == connection }?.topic ?? (closing == connection ? .unsubscribe : nil)
    if last != .unsubscribe { endHolding(connection) { _ in } }
  }

  /// The device is gone, for this reason: the same, and the client is told.
  func wasRemoved(_ reason: String) {
    guard let holder else { return }
    endHolding(holder) { self.answer($0, .error, reason) }
  }

  private func endHolding(_ connection: Int, _ dropped: (Waiting) -> Void) {
    let own = queue.filter { $0.connection == connection }
    queue.removeAll { $0.connection == connection }
    for one in own {
      if let timer = one.timer { clock.cancel(timer) }
      dropped(one)
      lessen(one.size, connection)
    }
    guard holder == connection else { return }
    abort()
    let end = Waiting(connection: connection, wish: .unsubscribe, deadline: clock.now, isSilent: true)
    queue.insert(end, at: queue.startIndex)
    queuedSize += end.size
    work()
  }

  /// The client takes bytes again.
  func resume() {
    isHeld = false
    readLine()
  }

  // MARK: - One after another

  private func work() {
    guard !isWorking else { return }
    isWorking = true
    Task { await self.workOn() }
  }

  private func workOn() async {
    while let one = queue.popFirst() {
      if let timer = one.timer { clock.cancel(timer) }
      await carryOut(one)
      // The size of a write has gone down with its bytes.
      if case .write = one.wish { continue }
      lessen(one.size, one.connection)
    }
    isWorking = false
    for one in idle { one.finish() }
    idle = []
  }

  /// Waits until nothing is being done.
  func settle() async {
    guard isWorking else { return }
    let one = OneShot<Void>()
    idle.append(one)
    await one.value()
  }

  private func lessen(_ size: Int, _ connection: Int) {
    let wasFull = isFull
    queuedSize -= size
    if wasFull, !isFull { _ = tell(connection, .hasRoom) }
  }

  private func carryOut(_ one: Waiting) async {
    switch one.wish {
    case .subscribe: await subscribe(one)
    case .unsubscribe:
      await close(one)
      answer(one, .ok)
    case .write(let bytes): await write(bytes, one.connection)
    case .getLines: break
    case .flush, .configure, .setLines:
      guard holder == one.connection, let open else { return answer(one, .error, "the line isn't open") }
      let (status, text) = await change(one, open.transport)
      answer(one, status, text)
    }
  }

  private func answer(_ one: Waiting, _ status: NativePortStatus, _ text: String = "") {
    if let topic = one.topic, !one.isSilent { _ = tell(one.connection, .answer(topic, status, text)) }
  }

  /// Waits until something happens, and no longer than to `deadline`.
  private func wait(until deadline: MonotonicTime?) async {
    let one = OneShot<Void>()
    wake = one
    let timer = deadline.map { clock.schedule(at: $0) { one.finish() } }
    await one.value()
    if let timer { clock.cancel(timer) }
    wake = nil
  }

  // MARK: - Opening and closing

  private func subscribe(_ one: Waiting) async {
    if holder == one.connection { return answer(one, .ok) }
    (holder, isAborted) = (one.connection, false)
    let opening = Task { await source() }
    let timer = clock.schedule(at: one.deadline) { opening.cancel() }
    let result = await opening.value
    clock.cancel(timer)
    switch result {
    case .success(let opened) where isAborted:
      await opened.transport.close()
      answer(one, .error, "the device is gone")
    case .success(let opened):
      await use(opened)
      answer(one, isAborted ? .error : .ok)
    case .failure(let error):
      holder = nil
      let isLate = error.kind == .cancelled || error.kind == .timedOut
      _ = tell(one.connection, .notOpened)
      answer(one, isLate ? .timedOut : error.kind == .busy ? .inUse : .error, error.message)
    }
  }

  private func use(_ opened: NativeOpenPort) async {
    open = opened
    (applied, busyTime, formerLines, isHeld, isWaitingForEmpty) = (nil, LineBusyTime(), [], false, false)
    (buffer, passed) = ([], 0)
    let transport = opened.transport
    // As every serial port does when it is opened.
    if let line = transport.line {
      if opened.keepsModemLines { formerLines = (try? await line.modemLines()) ?? .outputs }
      try? await line.set(raising: .outputs, lowering: [])
    }
    transport.output.onSpace { [weak self] in self?.onThread { $0.wake?.finish() } }
    transport.input.onReadableOnIOThread { [weak self] in self?.onThread { $0.readLine() } }
  }

  private func close(_ one: Waiting) async {
    guard holder == one.connection else { return stopAbortTimer() }
    closing = one.connection
    if let open {
      if !isAborted { _ = await sending(until: one.deadline, open.transport) }
      let lowered = ModemLines.outputs.subtracting(open.keepsModemLines ? formerLines : [])
      if !lowered.isEmpty { try? await open.transport.line?.set(raising: [], lowering: lowered) }
      self.open = nil
      await open.transport.close()
    }
    stopAbortTimer()
    (holder, closing, isAborted) = (nil, nil, false)
  }

  // MARK: - To the line

  /// Gives bytes to the line, as many as it takes now; the rest is returned. Bytes of a client without the line are dropped.
  private func offer(_ bytes: ArraySlice<UInt8>, for connection: Int) -> ArraySlice<UInt8> {
    guard holder == connection, !isAborted, let transport = open?.transport else { return [] }
    var rest = bytes
    while !rest.isEmpty {
      let piece = rest.prefix(Self.pieceSize)
      switch transport.output.offer(piece.span.bytes) {
      case .accepted:
        busyTime.add(piece.count, transport.timing, now: clock.now)
        rest = rest.dropFirst(piece.count)
      case .full: return rest
      case .closed: return []
      }
    }
    return rest
  }

  private func write(_ bytes: [UInt8], _ connection: Int) async {
    var rest = bytes[...]
    while true {
      let left = offer(rest, for: connection)
      lessen(rest.count - left.count, connection)
      rest = left
      if rest.isEmpty { return }
      await wait(until: nil)
    }
  }

  /// Waits until the line has sent everything, and returns `ok`; `timedOut` where it hasn't by `deadline`, and `error` where it never will.
  private func sending(until deadline: MonotonicTime, _ transport: any Transport) async -> NativePortStatus {
    while transport.output.queuedCount > 0 {
      guard !isAborted else { return .error }
      guard clock.now < deadline else { return .timedOut }
      if !isWaitingForEmpty {
        isWaitingForEmpty = true
        transport.output.onEmpty { [weak self] in
          self?.onThread { line in
            line.isWaitingForEmpty = false
            line.wake?.finish()
          }
        }
      }
      await wait(until: deadline)
    }
    // The queue of a line that has ended is empty, too.
    if case .closed = transport.output.offer([]) { return .error }
    guard let line = transport.line else { return isAborted ? .error : .ok }
    var sent: MonotonicTime?
    while !isAborted {
      let unsent = try? await line.activity().unsentCount
      let now = clock.now
      var next = busyTime.end(transport.timing, now: now) ?? now
      switch unsent {
      case nil: break
      case 0?:
        next = min(next, sent ?? now + transport.timing.time(of: Self.hardwareBuffer))
        sent = next
      case let count?:
        next = now + max(Self.pauses.shortest, min(Self.pauses.longest, transport.timing.time(of: count)))
        sent = nil
      }
      if unsent ?? 0 == 0, next <= now { return .ok }
      guard now < deadline else { return .timedOut }
      await wait(until: min(next, deadline))
    }
    return .error
  }

  // MARK: - Changes

  private func change(_ one: Waiting, _ transport: any Transport) async -> (NativePortStatus, String) {
    if case .configure(let settings) = one.wish {
      guard transport.line != nil else { return (.assumed, "") }
      if settings == applied { return (.ok, "") }
    }
    let status = await sending(until: one.deadline, transport)
    guard status == .ok else {
      return (status, status == .timedOut ? "the line hasn't sent everything yet" : "the line is gone")
    }
    do throws(AccessoryError) {
      switch one.wish {
      case .configure(let settings):
        try await transport.line?.change(settings)
        applied = settings
      case .setLines(let lines):
        guard let line = transport.line else { return (.notSupported, "the line has no DTR and RTS") }
        try await line.set(raising: lines, lowering: ModemLines.outputs.subtracting(lines))
      default: break
      }
      return (.ok, "")
    } catch {
      switch error.kind {
      case .unsupported: return (.notSupported, error.message)
      case .misconfigured: return (.invalid, error.message)
      default: return (.error, error.message)
      }
    }
  }

  private func tellLines(_ connection: Int) async {
    var (lines, status) = (ModemLines(), NativePortStatus.ok)
    do throws(AccessoryError) {
      lines = try await open?.transport.line?.modemLines() ?? []
    } catch {
      if error.kind != .unsupported { status = .error }
    }
    _ = tell(connection, .lines(lines, status))
  }

  // MARK: - From the line

  private func readLine() {
    while let holder, !isHeld, let transport = open?.transport {
      // What comes while a client leaves is nobody's.
      while passed < buffer.count, !isAborted {
        let piece = Array(buffer[passed..<min(passed + NativeMessage.dataLimit, buffer.count)])
        guard tell(holder, .data(piece)) else {
          isHeld = true
          return
        }
        passed += piece.count
      }
      passed = 0
      switch transport.input.take(into: &buffer) {
      case .nothing: return
      case .bytes: continue
      case .end(let error):
        guard !isAborted else { return }
        let reason = error?.message ?? "\(transport.label) was closed"
        _ = tell(holder, .gone(reason))
        return
      }
    }
  }
}
