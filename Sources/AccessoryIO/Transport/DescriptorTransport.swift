// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import SystemPackage

/// The transport over a descriptor that is read and written as a stream: a terminal, a pseudo-terminal, a socket.
///
/// The code that opens the descriptor passes it on together with a closure that closes it.
public actor DescriptorTransport: Transport, EventHandler, IOWork, IOActor {
  /// The device's name for people.
  public nonisolated let label: String
  /// How long bytes take on the wire, by the line's settings now.
  public nonisolated var timing: LineTiming { line?.timing ?? fixedTiming }
  /// The line beside its bytes, where the descriptor is a terminal's.
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
  /// Whether the end of input ends the transport. If not, its owner can go on writing, and closes it.
  private let endsWithInput: Bool
  private var hasInputEnded = false
  private var token: EventToken?
  private var interest: Interest = .read
  private var isOver = false
  /// The bytes that are being written; the device has taken the first `writtenCount` of them.
  private var writing: [UInt8] = []
  private var writtenCount = 0
  /// How long the line is still busy with what was written, at full speed.
  private var lineWork = LineWork()
  /// Set after a close, while bytes are still to be sent.
  private var drain: DrainSchedule?
  private var look: TimerToken?
  private var closers: [CheckedContinuation<Void, Never>] = []

  /// A read of at least this much is taken for a stream, of which there is probably more.
  private static let streamingRead = 1_024
  /// Reads for one event, so that a busy device doesn't keep others waiting.
  private static let readsPerEvent = 8
  /// Writes for one event, likewise.
  private static let writesPerEvent = 4
  /// Bytes that may wait for a line, which is always slower than who writes.
  private static let lineHighWater = 16_384
  /// Bytes that may wait where there is no line: a writer that is woken for every few KiB costs more than the bytes do,
  /// a twentieth of what a pseudo-terminal carries.
  private static let highWater = 65_536
  /// The most bytes that are read after a hang-up: more than any kernel buffer holds.
  private static let lastBytes = 4 << 20

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A transport over a non-blocking `descriptor`, which it reads from now on. `release` runs once, when the transport has
  /// ended, on a thread that may block, and must close the descriptor.
  public init(
    descriptor: FileDescriptor, label: String, timing: LineTiming, io: IOThread = .shared,
    line: (any LineControl)? = nil, release: @escaping @Sendable () -> Void
  ) {
    self.init(
      descriptor: descriptor, label: label, timing: timing, io: io, setup: SetupQueue(label: label), line: line,
      release: release)
  }

  /// As above, with `release` on `setup`.
  package init(
    descriptor: FileDescriptor, label: String, timing: LineTiming, io: IOThread, setup: SetupQueue,
    line: (any LineControl)? = nil, release: @escaping @Sendable () -> Void
  ) {
    self.init(
      descriptor: descriptor, label: label, timing: timing, io: io, setup: setup, line: line,
      closing: .inOrder(unsent: { 0 }, hasLine: false), clock: io, release: { _ in release() })
  }

  /// As above; `closing` says what a close does with bytes that wait, by `clock`. `release` is told why all is over; nil:
  /// its owner has closed it. Unless `endsWithInput`, a peer that only says that it will send no more can still be written to:
  /// the input then ends normally, and who reads it is to close.
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

  /// The queues hold this until `end` closes them, which comes whether or not anybody still uses the transport.
  private nonisolated func connect() {
    input.onResume { self.io.post { self.assumeIsolated { $0.watch(adding: .read) } } }
    output.onQueued { self.io.post(self) }
    io.post { self.assumeIsolated { $0.start() } }
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

  /// Called by the loop.
  package nonisolated func ready(_ readiness: Readiness) { enter { $0.handle(readiness) } }

  /// Called by the loop when there is something to write.
  package nonisolated func perform() { enter { $0.flush() } }

  private func handle(_ readiness: Readiness) {
    if !readiness.isDisjoint(with: [.hangUp, .error]) {
      if drain != nil { return end(nil) }
      readToTheEnd()
    } else {
      if readiness.contains(.readable) { readAvailable() }
      if readiness.contains(.writable), !isOver { flush() }
    }
  }

  private func watch(adding added: Interest = [], removing removed: Interest = []) {
    let wanted = interest.union(drain == nil && !hasInputEnded ? added : added.subtracting(.read))
      .subtracting(removed)
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
    /// Nothing more will come.
    case over
    case end(AccessoryError)
  }

  private func readOnce() -> ReadOutcome {
    do throws(Errno) {
      return try withReadBuffer { buffer throws(Errno) in
        let count = try SystemCall.read(descriptor, into: buffer)
        // A terminal that was hung up reads as at its end, too.
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

  /// The consumer is told of all reads at once: to wake it takes longer than a read.
  private func readAvailable() {
    defer { input.notify() }
    for _ in 0..<Self.readsPerEvent {
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

  /// The other end is gone: what it sent before still counts, whether or not the consumer had asked for a pause.
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
          return lookAround()
        }
      }
      do throws(Errno) {
        let count = try writing.withUnsafeBufferPointer { bytes throws(Errno) in
          try SystemCall.write(
            descriptor, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[writtenCount...]))
        }
        if count == 0 { return watch(adding: .write) }  // no driver should, and none may make us spin
        writtenCount += count
        if closing.hasLine { lineWork.add(count, timing, now: clock.now) }
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
    io.post(self)  // go on when the others had their turn
  }

  private func failure(_ errno: Errno, _ action: String) -> AccessoryError {
    AccessoryError.Kind(stream: errno) == .disconnected
      ? .disconnected(label, code: .errno(errno.rawValue)) : AccessoryError(device: errno, "\(action) \(label)")
  }

  // MARK: - The end

  /// Ends the input, refuses new output, and closes when the device has taken what was queued.
  private func beginFarewell() {
    guard !isOver, drain == nil else { return }
    guard case .inOrder(let unsent, _) = closing else { return end(nil) }
    drain = DrainSchedule(timing: timing, now: clock.now, waiting: output.queuedCount + unsent())
    output.seal()
    input.finish(nil)
    watch(removing: .read)
    flush()
    if look == nil { lookAround() }
  }

  /// Closes, or schedules another call of this.
  private func lookAround() {
    guard !isOver, drain != nil, case .inOrder(let unsent, _) = closing else { return }
    if let look { clock.cancel(look) }
    look = nil
    let (unwritten, now) = (output.queuedCount, clock.now)
    let next = drain?.nextLook(
      now: now, unwritten: unwritten, unsent: unwritten > 0 ? 0 : unsent(),
      lineBusyUntil: lineWork.end(timing, now: now))
    guard let next else { return end(nil) }
    // The closure retains the transport: it must not be freed before it is closed.
    look = clock.schedule(at: next) { [self, io] in io.post { self.assumeIsolated { $0.lookAround() } } }
  }

  /// Ends both queues, once, and gives the descriptor back to the setup queue at once: while it stays open, a device
  /// that is plugged in again gets another name.
  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    if let token { io.unwatch(descriptor, token) }
    token = nil
    isOver = true
    if let look { clock.cancel(look) }
    look = nil
    setup.post { [release] in release(error) }
    output.close(error)
    input.finish(error)
    for closer in closers { closer.resume() }
    closers = []
  }

  /// Stops, and returns when the device is free for others.
  ///
  /// What was accepted for writing still goes out, if the device takes it within the time that the line needs and half
  /// a second, or five seconds in all; unplugging ends that at once. With nothing on its way there is no wait.
  public func close() async {
    beginFarewell()
    // Checked inside the actor: other jobs may run before this one.
    await withCheckedContinuation { if isOver { $0.resume() } else { closers.append($0) } }
    await setup.run {}  // behind the release
  }

  /// Does the same, without waiting for it.
  public nonisolated func beginClose() { io.post { self.assumeIsolated { $0.beginFarewell() } } }

  /// Ends with `disconnected`, behind what has arrived.
  public nonisolated func deviceWasRemoved() { io.post { self.assumeIsolated { $0.removed() } } }

  private func removed() { if !isOver { readToTheEnd() } }
}
