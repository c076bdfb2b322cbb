// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import CommandOutput
import Glibc
import Synchronization

/// A recording that can't be written: said even when the command was interrupted, since what passed is lost.
struct RecordingFailure: Error {
  let error: AccessoryError
}

/// Shows what passes as it comes, and keeps it. Whoever gives it records waits until each is shown: nothing queues here.
actor LiveTrace {
  private let view: TraceView
  private let silence: Duration
  /// In seconds since 1970, UTC.
  private let began: Double
  private let recording: RecordingFile?
  private var tracer: FrameTracer
  /// Has a record without bytes given behind all that wait.
  private var mark: (@Sendable () -> Void)?
  /// The trace's time at which that is to happen; nil when it isn't.
  private var markTime: Duration?
  private var lostBytes = 0
  private var unshownBytes = 0
  /// What comes from now on is only recorded.
  private let isHurried = Atomic(false)

  /// How long an interrupted command goes on to show what waits, and then how long it waits for its output.
  private static let patience = Duration.seconds(1)

  /// Opens the recording, if there is to be one. `began` is when the time of what will be taken was 0, in seconds since
  /// 1970, UTC. Throws what `RecordingFile` throws.
  init(
    view: TraceView, silence: Duration, framing: TraceFraming, began: Double, record path: String?
  ) throws(AccessoryError) {
    self.view = view
    self.began = began
    self.silence = silence
    tracer = FrameTracer(silence: silence, reader: framing.reader)
    recording = try path.map { path throws(AccessoryError) in
      try RecordingFile(appendingTo: path, silence: silence, framing: framing, began: began)
    }
  }

  /// To be called before the first record.
  func begin(mark: @escaping @Sendable () -> Void) { self.mark = mark }

  /// Records and shows; blocks while nobody takes what is shown.
  func take(_ record: TraceRecord) throws(RecordingFailure) {
    do throws(AccessoryError) {
      try recording?.append(record)
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

  /// Waits until `reader` has given all that there is, shows what is left, and closes the recording; gives what `reader`
  /// came to. When the caller is cancelled, before or meanwhile, what waits is shown for one second more, and what is
  /// behind that only recorded; and after another second it is given up, for nobody takes the output.
  nonisolated func end(_ reader: Task<Void, any Error>) async throws -> Result<Void, any Error> {
    let (results, continuation) = AsyncStream<Result<Void, any Error>>.makeStream(bufferingPolicy: .bufferingOldest(1))
    Task {
      let result = await reader.result
      do {
        try await finish()
        continuation.yield(result)
      } catch {
        continuation.yield(.failure(error))
      }
    }
    // A task of its own: a sequence ends when the task that waits for it is cancelled.
    let waiting = Task { await results.first { _ in true } }
    let result = await withTaskCancellationHandler {
      await waiting.value
    } onCancel: {
      _ = IOThread.shared.schedule(at: .now + Self.patience) { self.isHurried.store(true, ordering: .relaxed) }
      _ = IOThread.shared.schedule(at: .now + Self.patience * 2) { continuation.finish() }
    }
    guard let result else {
      if Output.isReady(STDERR_FILENO) { Output.note("what passed last was not shown: nobody takes the output") }
      return .failure(CancellationError())
    }
    if case .failure(let error as RecordingFailure) = result { throw error }
    return result
  }

  private func finish() throws(RecordingFailure) {
    if !isHurried.load(ordering: .relaxed) { tracer.finish().forEach(show) }
    do throws(AccessoryError) {
      try recording?.close()
    } catch {
      throw RecordingFailure(error: error)
    }
    if lostBytes > 0 {
      Output.note("\(lostBytes) bytes came faster than they could be shown, and were dropped")
    }
    if unshownBytes > 0 {
      Output.note("the last \(unshownBytes) bytes were not shown\(recording == nil ? "" : ", only recorded")")
    }
  }
}
