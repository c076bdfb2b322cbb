// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import CommandOutput
import Glibc
import Synchronization

/// A recording can't be written. This error is printed even when the command was interrupted, since the trace is lost.
struct RecordingFailure: Error {
  let error: AccessoryError
}

/// Prints records as they come, and appends them to a recording. The caller waits until each record is printed, so
/// nothing queues here.
actor LiveTrace {
  private let view: TraceView
  private let silence: Duration
  /// The moment of the trace's time 0, in seconds since 1970, UTC.
  private let began: Double
  private let recording: RecordingFile?
  private let capture: CaptureFile?
  private var tracer: FrameTracer
  /// Makes the caller queue an empty record behind the records that wait, so that the tracer sees that time has passed.
  private var mark: (@Sendable () -> Void)?
  /// The trace's time at which `mark` is called next; nil when no call is scheduled.
  private var markTime: Duration?
  private var lostBytes = 0
  private var unshownBytes = 0
  /// Whether records are only recorded from now on, and no longer printed.
  private let isHurried = Atomic(false)

  /// How long an interrupted command continues to print records that wait, and how long it waits for its output after
  /// that.
  private static let flushTimeout = Duration.seconds(1)

  /// Opens the recording at `path`, if given, and begins a trace in `capture`. `name` is the accessory's name. `began` is
  /// the moment of the records' time 0, in seconds since 1970, UTC. Throws what `RecordingFile` and `CaptureFile.begin`
  /// throw.
  init(
    view: TraceView, silence: Duration, framing: TraceFraming, began: Double, record path: String?,
    capture: CaptureFile? = nil, name: String
  ) throws(AccessoryError) {
    self.view = view
    self.capture = capture
    self.began = began
    self.silence = silence
    tracer = FrameTracer(silence: silence, reader: framing.reader)
    recording = try path.map { path throws(AccessoryError) in
      try RecordingFile(appendingTo: path, silence: silence, framing: framing, began: began)
    }
    do throws(AccessoryError) {
      try capture?.begin(name: name, framing: framing, began: began)
    } catch {
      try? recording?.close()
      throw error
    }
  }

  /// Records that the accessory was unplugged (`isThere` is false) or plugged in again, at this time since the trace
  /// began. Throws when the recording or the capture can't be written.
  func plug(_ isThere: Bool, at time: Duration) throws(RecordingFailure) {
    do throws(AccessoryError) {
      if isThere { try recording?.plugged(time) } else { try recording?.unplugged(time) }
      try capture?.plug(isThere, at: time)
    } catch {
      throw RecordingFailure(error: error)
    }
  }

  /// Sets the callback `mark`. Call this before the first record.
  func begin(mark: @escaping @Sendable () -> Void) { self.mark = mark }

  /// Records and prints a record; blocks while the output isn't read.
  func take(_ record: TraceRecord) throws(RecordingFailure) {
    do throws(AccessoryError) {
      try recording?.append(record)
      try capture?.add(record)
    } catch {
      throw RecordingFailure(error: error)
    }
    lostBytes = Self.sum(lostBytes, record.lostBytes)
    guard !isHurried.load(ordering: .relaxed) else {
      unshownBytes = Self.sum(unshownBytes, record.bytes.count)
      return
    }
    tracer.add(record).forEach(show)
    if let time = markTime, record.time >= time { markTime = nil }
    guard markTime == nil, let deadline = tracer.deadline, let mark else { return }
    let time = max(deadline, record.time) + .milliseconds(1)
    markTime = time
    _ = IOThread.shared.schedule(at: .now + (time - record.time)) { mark() }
  }

  private func show(_ entry: TraceEntry) { view.show(entry, began: began) }

  private static func sum(_ a: Int, _ b: Int) -> Int {
    let (sum, isTooMuch) = a.addingReportingOverflow(b)
    return isTooMuch ? .max : sum
  }

  // MARK: - The end

  /// Waits until `reader` ends, prints what is left, closes the recording, and returns the result of `reader`. When the
  /// calling task is cancelled, waiting records are printed for one second more, and only recorded for another second;
  /// then the wait ends, since nobody reads the output. `unplugTime` is the time of the unplug that ended the trace; the
  /// recording states it after the last record.
  ///
  /// Not isolated, because an interrupted command waits for this, and the actor may be blocked by its output for ever.
  nonisolated func end(
    _ reader: Task<Void, any Error>, unpluggedAt unplugTime: Duration? = nil
  ) async throws -> Result<Void, any Error> {
    let (results, continuation) = AsyncStream<Result<Void, any Error>>.makeStream(bufferingPolicy: .bufferingOldest(1))
    Task {
      let result = await reader.result
      do {
        try await finish(unpluggedAt: unplugTime)
        continuation.yield(result)
      } catch {
        continuation.yield(.failure(error))
      }
    }
    // Use a separate task, because iterating a stream ends when the iterating task is cancelled.
    let waiting = Task { await results.first { _ in true } }
    let result = await withTaskCancellationHandler {
      await waiting.value
    } onCancel: {
      _ = IOThread.shared.schedule(at: .now + Self.flushTimeout) { self.isHurried.store(true, ordering: .relaxed) }
      _ = IOThread.shared.schedule(at: .now + Self.flushTimeout * 2) { continuation.finish() }
    }
    guard let result else {
      if Output.isReady(STDERR_FILENO) { Output.note("the last frames were not shown: nobody reads the output") }
      return .failure(CancellationError())
    }
    if case .failure(let error as RecordingFailure) = result { throw error }
    return result
  }

  private func finish(unpluggedAt unplugTime: Duration?) throws(RecordingFailure) {
    if !isHurried.load(ordering: .relaxed) { tracer.finish().forEach(show) }
    do throws(AccessoryError) {
      if let unplugTime {
        try recording?.unplugged(unplugTime)
        try capture?.plug(false, at: unplugTime)
      }
      try recording?.close()
    } catch {
      throw RecordingFailure(error: error)
    }
    if lostBytes > 0 {
      Output.note(
        "\(Amount.bytes(lostBytes)) came too fast to be shown, and \(lostBytes == 1 ? "was" : "were") dropped")
    }
    if unshownBytes > 0 {
      Output.note("not shown: the last \(Amount.bytes(unshownBytes))\(recording == nil ? "" : ", only recorded")")
    }
  }
}
