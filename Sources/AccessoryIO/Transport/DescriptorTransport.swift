// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import SystemPackage

/// The transport over a descriptor that is read and written as a byte stream: a terminal, a pseudo-terminal, a socket.
///
/// The code that opens the descriptor passes it to the transport, with a closure that closes it.
public actor DescriptorTransport: Transport, EventHandler, IOWork, IOActor {
  /// The device's name for people.
  public nonisolated let label: String
  /// How long bytes take on the wire with the line's current settings.
  public nonisolated var timing: LineTiming { line?.timing ?? fixedTiming }
  /// The settings and modem lines, if the descriptor is a terminal.
  public nonisolated let line: (any LineControl)?
  /// The address of the other end, if the descriptor is a network socket.
  public nonisolated let peer: NetworkAddress?
  /// The bytes that have arrived.
  public nonisolated let input = InputQueue()
  /// The bytes to write.
  public nonisolated let output: OutputQueue

  package nonisolated let io: IOThread
  private nonisolated let fixedTiming: LineTiming
  private nonisolated let clock: any TimerClock
  private let setup: SetupQueue
  private let closing: Closing
  private let descriptor: FileDescriptor
  private let release: @Sendable (AccessoryError?) -> Void
  /// Whether the end of input ends the transport. If not, the owner can continue to write, and must close the
  /// transport.
  private let endsWithInput: Bool
  private var hasInputEnded = false
  private var token: EventToken?
  private var interest: Interest = .read
  /// Called when the other end has sent urgent data that was not read.
  private var onUrgent: (@Sendable () -> Void)?
  private var isOver = false
  /// The bytes that are being written; the device has taken the first `writtenCount` of them.
  private var writing: [UInt8] = []
  private var writtenCount = 0
  /// How long the line is busy with the bytes that were written, at full speed.
  private var lineBusyTime = LineBusyTime()
  /// Set by a close, while bytes are still to be sent.
  private var drain: DrainSchedule?
  private var drainTimer: TimerToken?
  private let closed = OneShot<Void>()

  /// A read of at least this many bytes indicates a stream, of which more has probably arrived.
  private static let streamingRead = 1_024
  /// The most reads for one event, so that a busy device doesn't delay others.
  private static let readsPerEvent = 8
  /// The same for a consumer on the I/O thread, which is not woken: it passes small pieces on sooner, while the writer
  /// is still busy. From terminal to terminal that is a fifth faster.
  private static let readsPerEventOnIOThread = 2
  /// The most writes for one event, for the same reason.
  private static let writesPerEvent = 4
  /// The most bytes that may be queued for a serial line, which is always slower than the producer.
  private static let lineHighWater = 16_384
  /// The most bytes that may be queued when there is no serial line. With less, the producer is woken more often, which
  /// costs more than copying the bytes: a twentieth of a pseudo-terminal's throughput.
  private static let highWater = 65_536
  /// The most bytes that are read after a hang-up: more than any kernel buffer can contain.
  private static let lastBytes = 4 << 20

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A transport over a non-blocking `descriptor`, which it starts to read. `release` runs once after the transport has
  /// ended, on a thread that may block, and must close the descriptor.
  public init(
    descriptor: FileDescriptor, label: String, timing: LineTiming, io: IOThread = .shared,
    line: (any LineControl)? = nil, release: @escaping @Sendable () -> Void
  ) {
    self.init(
      descriptor: descriptor, label: label, timing: timing, io: io, setup: SetupQueue(label: label), line: line,
      release: release)
  }

  /// Like the initializer above; `release` runs on `setup`.
  package init(
    descriptor: FileDescriptor, label: String, timing: LineTiming, io: IOThread, setup: SetupQueue,
    line: (any LineControl)? = nil, release: @escaping @Sendable () -> Void
  ) {
    self.init(
      descriptor: descriptor, label: label, timing: timing, io: io, setup: setup, line: line,
      closing: .inOrder(unsent: { 0 }, hasLine: false), clock: io, release: { _ in release() })
  }

  /// Like the initializer above. `closing` says what a close does with bytes that aren't sent yet; `clock` measures its
  /// timeout. `release` gets the error with which the transport ended, nil when its owner closed it. With
  /// `endsWithInput` false, the transport can still write to a peer that has ended its own stream: the input then ends
  /// without an error, and its consumer must close the transport.
  package init(
    descriptor: FileDescriptor, label: String, timing: LineTiming, io: IOThread, setup: SetupQueue,
    line: (any LineControl)? = nil, peer: NetworkAddress? = nil, endsWithInput: Bool = true, closing: Closing,
    clock: any TimerClock, release: @escaping @Sendable (AccessoryError?) -> Void
  ) {
    self.label = label
    fixedTiming = timing
    self.line = line
    self.peer = peer
    self.io = io
    self.clock = clock
    self.closing = closing
    self.setup = setup
    self.descriptor = descriptor
    self.endsWithInput = endsWithInput
    self.release = release
    output = OutputQueue(highWater: closing.hasLine ? Self.lineHighWater : Self.highWater)
    connect()
  }

  /// The queues retain the transport until `end` closes them. `end` runs even if nothing else uses the transport any
  /// more.
  private nonisolated func connect() {
    input.onResume { self.io.post { self.assumeIsolated { $0.watch(adding: .read) } } }
    output.onQueued { self.io.post(self) }
    io.post { self.assumeIsolated { $0.start() } }
  }

  /// Calls `body` on the I/O thread before bytes are read that urgent data of a TCP connection follows, perhaps more than once
  /// for the same data. For telnet's Synch (RFC 854). To be called on the I/O thread, before any event.
  package func watchUrgent(_ body: @escaping @Sendable () -> Void) {
    onUrgent = body
    if interest.contains(.read) { interest.insert(.urgent) }
  }

  private func start() {
    guard !isOver else { return }
    do throws(Errno) {
      token = try io.watch(descriptor, for: interest, handler: self)
    } catch {
      end(AccessoryError(errno: error, "watching \(label)"))
    }
  }

  // MARK: - Events

  /// The I/O thread calls this when the descriptor is ready.
  package nonisolated func ready(_ readiness: Readiness) { enter(readiness) { $0.handle($1) } }

  /// The I/O thread calls this when there is something to write.
  package nonisolated func perform() { enter { $0.flush() } }

  private func handle(_ readiness: Readiness) {
    if !readiness.isDisjoint(with: [.hangUp, .error]) {
      if drain != nil { return end(nil) }
      readToTheEnd()
    } else {
      if readiness.contains(.urgent) { onUrgent?() }
      if readiness.contains(.readable) { readAvailable() }
      if readiness.contains(.writable), !isOver { flush() }
    }
  }

  private func watch(adding added: Interest = [], removing removed: Interest = []) {
    var wanted = interest.union(drain == nil && !hasInputEnded ? added : added.subtracting(.read))
      .subtracting(removed)
    // Urgent data is reported until it is read.
    if wanted.contains(.read), onUrgent != nil { wanted.insert(.urgent) } else { wanted.remove(.urgent) }
    guard wanted != interest, let token else { return }
    interest = wanted
    do throws(Errno) {
      try io.change(descriptor, token, to: wanted)
    } catch {
      end(AccessoryError(errno: error, "watching \(label)"))
    }
  }

  // MARK: - Reading

  private enum ReadOutcome {
    case bytes(Int, wantsMore: Bool)
    case nothing
    /// The input has ended.
    case over
    case end(AccessoryError)
  }

  private func readOnce() -> ReadOutcome {
    do throws(Errno) {
      return try withReadBuffer { buffer throws(Errno) in
        let count = try SystemCall.read(descriptor, into: buffer)
        // A terminal that was hung up also reads as ended.
        if count == 0 { return endsWithInput ? .end(.disconnected(label)) : .over }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        return .bytes(count, wantsMore: input.append(bytes, notifying: false))
      }
    } catch .wouldBlock {
      return .nothing
    } catch {
      return .end(failure(error, "reading from"))
    }
  }

  /// The consumer is notified once for all reads, because waking it takes longer than a read.
  private func readAvailable() {
    defer { input.notify() }
    for _ in 0..<(input.isConsumedOnIOThread ? Self.readsPerEventOnIOThread : Self.readsPerEvent) {
      switch readOnce() {
      case .bytes(let count, let wantsMore):
        if !wantsMore { return watch(removing: .read) }
        if count < Self.streamingRead { return }
      case .nothing: return
      case .over:
        hasInputEnded = true
        input.finish(nil)
        return watch(removing: .read)
      case .end(let error): return end(error)
      }
    }
  }

  /// Reads what the other end sent before it hung up, even if the consumer had asked for a pause, and ends.
  private func readToTheEnd(_ error: AccessoryError? = nil) {
    var left = Self.lastBytes
    while left > 0 {
      switch readOnce() {
      case .bytes(let count, _): left -= count
      case .nothing, .over: return end(error ?? .disconnected(label))
      case .end(let readError): return end(error ?? readError)
      }
    }
    end(error ?? .disconnected(label))
  }

  // MARK: - Writing

  private func flush() {
    guard !isOver else { return }
    for _ in 0..<Self.writesPerEvent {
      if writtenCount == writing.count {
        writtenCount = 0
        guard output.take(into: &writing) else {
          watch(removing: .write)
          return checkDrain()
        }
      }
      do throws(Errno) {
        let count = try writing.withUnsafeBufferPointer { bytes throws(Errno) in
          try SystemCall.write(
            descriptor, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[writtenCount...]))
        }
        if count == 0 { return watch(adding: .write) }  // prevents spinning, though no driver should return 0
        writtenCount += count
        if closing.hasLine { lineBusyTime.add(count, timing, now: clock.now) }
        output.wrote(count)
        // The device took as much as it has room for; another write would only fail with EAGAIN.
        if writtenCount < writing.count { return watch(adding: .write) }
      } catch .wouldBlock {
        return watch(adding: .write)
      } catch {
        if drain != nil { return end(nil) }
        return readToTheEnd(failure(error, "writing to"))
      }
    }
    io.post(self)  // continue after other descriptors were served
  }

  /// Whether the other end of a TCP connection is on this machine and no program has it open any more. A peer that has only ended its
  /// own stream still reads; its packets look the same. Costs a few microseconds.
  package var hasLocalPeerLeft: Bool { peer != nil && !isOver && LocalConnections.hasPeerLeft(descriptor) }

  private func failure(_ errno: Errno, _ action: String) -> AccessoryError {
    AccessoryError.Kind(stream: errno) == .disconnected
      ? .disconnected(label, code: .errno(errno.rawValue)) : AccessoryError(device: errno, "\(action) \(label)")
  }

  // MARK: - Ending

  /// Ends the input, refuses new output, and closes the transport when the device has taken what was queued.
  private func beginClosing() {
    guard !isOver, drain == nil else { return }
    guard case .inOrder(let unsent, _) = closing else { return end(nil) }
    drain = DrainSchedule(timing: timing, now: clock.now, waiting: output.queuedCount + unsent())
    output.seal()
    input.finish(nil)
    watch(removing: .read)
    flush()
    if drainTimer == nil { checkDrain() }
  }

  /// Closes the transport when it is time, or schedules the next call of this function.
  private func checkDrain() {
    guard !isOver, drain != nil, case .inOrder(let unsent, _) = closing else { return }
    if let drainTimer { clock.cancel(drainTimer) }
    drainTimer = nil
    let (unwritten, now) = (output.queuedCount, clock.now)
    let next = drain?.nextLook(
      now: now, unwritten: unwritten, unsent: unwritten > 0 ? 0 : unsent(),
      lineBusyUntil: lineBusyTime.end(timing, now: now))
    guard let next else { return end(nil) }
    // The closure retains the transport, which must not be freed before it is closed.
    drainTimer = clock.schedule(at: next) { [self, io] in io.post { self.assumeIsolated { $0.checkDrain() } } }
  }

  /// Ends both queues, once, and closes the descriptor at once on the setup queue: while it stays open, a device that
  /// is plugged in again gets another name.
  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    if let token { io.unwatch(descriptor, token) }
    token = nil
    isOver = true
    if let drainTimer { clock.cancel(drainTimer) }
    drainTimer = nil
    setup.post { [release] in release(error) }
    output.close(error)
    input.finish(error)
    closed.finish()
  }

  /// Ends the transport, and returns when other programs can open the device.
  ///
  /// Accepted bytes are still sent, if the device takes them within the time that the line needs plus half a second,
  /// and within five seconds at most. Unplugging ends the wait at once. Without unsent bytes there is no wait.
  public func close() async {
    beginClosing()
    await closed.value()
    await setup.run {}  // runs after the release
  }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { io.post { self.assumeIsolated { $0.beginClosing() } } }

  /// Ends the transport with `disconnected`, after the bytes that have arrived.
  public nonisolated func deviceWasRemoved() { io.post { self.assumeIsolated { $0.removed() } } }

  private func removed() { if !isOver { readToTheEnd() } }
}
