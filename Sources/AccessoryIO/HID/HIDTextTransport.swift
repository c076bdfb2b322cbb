// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Glibc
import SystemPackage

/// The text that a human interface device carries in its reports, as a stream of bytes, by its hidraw node: `HIDText` has the form.
///
/// Reports are read on the I/O thread. They are written on the device's setup queue, where the kernel waits for the device: up to five
/// seconds each. What is offered to `output` at once begins a report of its own. The kernel's driver keeps the device.
package actor HIDTextTransport: Transport, EventHandler, IOActor {
  /// The device's name for people.
  package nonisolated let label: String
  /// There is a serial line in the device, whose speed nobody tells: no time is counted.
  package nonisolated var timing: LineTiming { .instant }
  /// The text that has arrived.
  package nonisolated let input = InputQueue()
  /// The text to write.
  package nonisolated let output = OutputQueue(keepsMessages: true)

  package nonisolated let io: IOThread
  private nonisolated let setup: SetupQueue
  private nonisolated let file: FileDescriptor
  private nonisolated let reportSize: Int
  private var token: EventToken?
  private var interest: Interest = .read
  /// Whether reports are being written. Then the next ones wait.
  private var isWriting = false
  /// Ends it after a failed write, unless the device turns out to be gone.
  private var failing: TimerToken?
  /// Set by a close, while text is still to be sent.
  private var isClosing = false
  private var queued: [UInt8] = []
  private var lengths: [Int] = []
  /// Shared with the setup queue, which writes nothing any more once it is set.
  private nonisolated let isOver = Locked(false)
  private let closed = OneShot<Void>()

  /// The most reads for one event, so that a busy device doesn't delay others.
  private static let readsPerEvent = 16
  /// The largest report that is written. The kernel takes no larger one.
  private static let largestReport = 16_384
  /// How long after a failed write an unplug may be noticed.
  private static let graceTime = Duration.milliseconds(500)

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Opens the hidraw node at `path`. Nothing is sent. Throws `notFound`, `permissionDenied`, `disconnected`, and `unsupported` when it is
  /// no node of hidraw, or its reports have numbers: then they carry something else.
  package static func open(
    path: String, label: String? = nil, io: IOThread = .shared
  ) async throws(AccessoryError) -> HIDTextTransport {
    let label = label ?? path
    let setup = SetupQueue(label: path)
    let (file, size) = try await setup.run { () throws(AccessoryError) in
      let (file, bytes) = try HIDTransport.openNode(path, label)
      let descriptor = HIDReportDescriptor(bytes)
      guard !descriptor.hasNumberedReports else {
        SystemCall.close(file)
        throw AccessoryError(.unsupported, "\(label) has numbered reports, and they carry no text")
      }
      // An output report may be missing from the descriptor; the chip takes reports of the usual size then.
      let count = descriptor.byteCount(of: .init(kind: .output, number: 0))
      return (file, count.map { $0 - 1 } ?? HIDText.reportSize)
    }
    return HIDTextTransport(file, reportSize: size, label: label, io: io, setup: setup)
  }

  /// A transport over an open, non-blocking `file`, which it closes when it ends, with output reports of this size.
  package init(
    _ file: FileDescriptor, reportSize: Int = HIDText.reportSize, label: String, io: IOThread, setup: SetupQueue? = nil
  ) {
    (self.file, self.label, self.io) = (file, label, io)
    self.reportSize = min(Self.largestReport, max(1, reportSize))
    self.setup = setup ?? SetupQueue(label: label)
    // The closures keep the transport until `end` runs, even if nothing else uses it any more.
    input.onResume { self.io.post { self.enter { $0.watch(.read) } } }
    output.onQueued { self.io.post { self.enter { $0.write() } } }
    io.post { self.enter { $0.start() } }
  }

  private func start() {
    guard !hasEnded else { return }
    do throws(Errno) {
      token = try io.watch(file, for: interest, handler: self)
    } catch {
      end(AccessoryError(errno: error, "watching \(label)"))
    }
  }

  private nonisolated var hasEnded: Bool { isOver.withLock { $0 } }

  private func watch(_ wanted: Interest) {
    guard wanted != interest, let token else { return }
    interest = wanted
    do throws(Errno) {
      try io.change(file, token, to: wanted)
    } catch {
      end(AccessoryError(errno: error, "watching \(label)"))
    }
  }

  // MARK: - From the device

  /// The I/O thread calls this when the descriptor is ready.
  package nonisolated func ready(_ readiness: Readiness) { enter(readiness) { $0.handle($1) } }

  private func handle(_ readiness: Readiness) {
    if readiness.contains(.readable) { read() }
    if !hasEnded, !readiness.isDisjoint(with: [.hangUp, .error]) { end(.disconnected(label)) }
  }

  private func read() {
    defer { input.notify() }
    for _ in 0..<Self.readsPerEvent {
      do throws(Errno) {
        let wantsMore = try withReadBuffer { buffer throws(Errno) -> Bool? in
          let count = try SystemCall.read(file, into: buffer)
          guard count > 0 else { return nil }
          let report = UnsafeRawBufferPointer(rebasing: buffer[..<count])
          let text = UnsafeRawBufferPointer(rebasing: report[..<HIDText.textCount(in: report)])
          return text.isEmpty || input.append(text, notifying: false)
        }
        guard let wantsMore else { return end(.disconnected(label)) }
        if !wantsMore { return watch([]) }
      } catch .wouldBlock {
        return
      } catch {
        return end(.disconnected(label, code: .errno(error.rawValue)))
      }
    }
  }

  // MARK: - To the device

  private func write() {
    guard !isWriting, !hasEnded else { return }
    guard output.take(into: &queued, messages: &lengths) else {
      if isClosing { end(nil) }
      return
    }
    isWriting = true
    var (reports, start) = ([[UInt8]](), 0)
    for length in lengths {
      // A report's number stands in front, and is 0 where reports have none.
      reports += HIDText.reports(of: queued[start..<(start + length)], size: reportSize).map { [0] + $0 }
      start += length
    }
    setup.post { [self, file, reports, count = queued.count] in
      var failure: Errno?
      for report in reports where failure == nil && !hasEnded {
        failure = Self.write(report, to: file)
        // Such chips refuse a report once and take it the next time.
        if let first = failure, Self.refusals.contains(first) { failure = Self.write(report, to: file) }
      }
      io.post { [failure] in self.enter { $0.wrote(count, failure) } }
    }
  }

  private static let refusals: [Errno] = [.brokenPipe, .ioError, .protocolError]

  private static func write(_ report: [UInt8], to file: FileDescriptor) -> Errno? {
    do throws(Errno) {
      _ = try report.withUnsafeBufferPointer { bytes throws(Errno) in
        try SystemCall.write(file, UnsafeRawBufferPointer(bytes))
      }
      return nil
    } catch {
      return error
    }
  }

  private func wrote(_ count: Int, _ failure: Errno?) {
    guard !hasEnded else { return }
    guard let failure else {
      isWriting = false
      output.wrote(count)
      return write()
    }
    if isClosing { return end(nil) }
    let error = HIDTransport.failure(failure, "writing to \(label)")
    guard error.kind != .disconnected else {
      return end(.disconnected(label, code: .errno(failure.rawValue)))
    }
    // A write also fails so where the device is being unplugged; then its end follows.
    failing = io.schedule(at: io.now + Self.graceTime) { [self] in io.post { self.enter { $0.end(error) } } }
  }

  // MARK: - Ending

  private func end(_ error: AccessoryError?) {
    let isFirst = isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
    guard isFirst else { return }
    if let token { io.unwatch(file, token) }
    token = nil
    if let failing { io.cancel(failing) }
    failing = nil
    // Reports that are being written end before this: the queue is serial.
    setup.post { [file, closed] in
      SystemCall.close(file)
      closed.finish()
    }
    output.close(error)
    input.finish(error)
  }

  private func beginClosing() {
    guard !hasEnded, !isClosing else { return }
    if failing != nil { return end(nil) }
    isClosing = true
    output.seal()
    input.finish(nil)
    write()
  }

  /// Closes the device, after what was accepted for writing. Returns when other programs can open it. A device that doesn't answer delays
  /// that by the kernel's five seconds.
  package func close() async {
    beginClosing()
    await closed.value()
  }

  /// Starts `close()` without waiting for it.
  package nonisolated func beginClose() { io.post { self.enter { $0.beginClosing() } } }

  /// Ends the transport with `disconnected`.
  package nonisolated func deviceWasRemoved() { io.post { self.enter { $0.end(.disconnected($0.label)) } } }
}
