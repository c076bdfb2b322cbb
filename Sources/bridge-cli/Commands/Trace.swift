// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser

struct Trace: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the frames that pass, both ways, decoded.",
    discussion: """
      With a device: makes contact, asks who and how it is, and shows that and whatever the accessory sends, until \
      Ctrl-C; where a service has the device, also what passes between these two. With a recording: decodes it.

      EXAMPLES
        bridge-cli trace
        bridge-cli trace ./acc --poll 1s --record session.trace
        bridge-cli trace session.trace --json
        bridge-cli trace /dev/ttyUSB0 --listen     send nothing, only listen
      """)

  @Argument(help: ArgumentHelp("The accessory, or a recording.", valueName: "device-or-file"))
  var source: String?
  @Option(help: ArgumentHelp("Keep what passes in this file; appended to if it exists.", valueName: "file"))
  var record: String?
  @Option(
    help: ArgumentHelp("Ask for status and battery again and again, this long apart.", valueName: "time"),
    transform: TimeArgument.read)
  var poll: TimeArgument?
  @Flag(help: "Send nothing.")
  var listen = false
  @Flag(help: "Show all bytes of long frames.")
  var full = false
  @OptionGroup var line: LineOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if listen, poll != nil { throw ValidationError("--listen sends nothing, --poll asks: choose one") }
    if let poll, poll.duration < .milliseconds(1) { throw ValidationError("--poll is at least 1ms") }
  }

  private var view: TraceView { TraceView(json: output.json, full: full) }

  func run() async throws {
    if let source, RecordingFile.isRegular(source) {
      guard record == nil, poll == nil, !listen else {
        throw UsageError(description: "\(source) is a recording: --record, --poll and --listen are for a device")
      }
      return try RecordingFile.decode(source) { view.show($0) }
    }
    if let held = try await HeldDevice.find(source, line) { return try await trace(held) }
    try await traceDevice()
  }

  /// Shows what passes between the service and the accessory. Without --listen it asks for something to show.
  private func trace(_ held: HeldDevice) async throws {
    let silence = held.silence
    let recording = try record.map { path throws(AccessoryError) in
      try RecordingFile(appendingTo: path, silence: silence)
    }
    let (records, continuation) = AsyncStream<TraceRecord>.makeStream(bufferingPolicy: .bufferingOldest(100_000))
    let printer = Task { try await LiveTrace(view: view, silence: silence, recording: recording).run(records) }
    let pieces = try await held.pieces()
    let isListening = listen
    let listening = await Task {
      let start = MonotonicTime.now
      var conversation: Task<Void, any Error>?
      defer { conversation?.cancel() }
      for try await piece in pieces {
        if !isListening, conversation == nil { conversation = Task { try await converse(held) } }
        guard let direction = ByteDirection(rawValue: piece.direction), let bytes = piece.bytes, !bytes.isEmpty else {
          continue
        }
        if let lost = piece.lost_bytes { Output.note("\(lost) bytes are missing here") }
        // The service's clock is the kernel's, as ours.
        let time = max(.zero, MonotonicTime(nanoseconds: Int64(piece.time * 1e9)) - start)
        continuation.yield(TraceRecord(time: time, direction: direction, bytes: bytes))
      }
    }.cancellingResult
    continuation.finish()
    let printing = await printer.result
    recording?.close()
    try printing.get()
    try Task.checkCancellation()
    do {
      try listening.get()
    } catch let error as ControlError {
      throw error.accessoryError
    }
    throw AccessoryError.disconnected(held.name)
  }

  /// Asks for what there is to show, as often as is wanted. What can't be had shows in the trace.
  private func converse(_ held: HeldDevice) async throws {
    repeat {
      _ = try? await held.status()
      _ = try? await held.battery()
      guard let poll else { return }
      await IOThread.shared.sleep(for: poll.duration)
    } while !Task.isCancelled
  }

  private func traceDevice() async throws {
    let (target, transport) = try await Attachment.openTransport(source, line)
    let silence = transport.timing.silence
    let recording: RecordingFile?
    do {
      recording = try record.map { path throws(AccessoryError) in try RecordingFile(appendingTo: path, silence: silence)
      }
    } catch {
      await transport.close()
      throw error
    }
    let tap = TraceTap()
    let session = AccessorySession(SpyingTransport(transport, tap: tap))
    let printer = Task { try await LiveTrace(view: view, silence: silence, recording: recording).run(tap.records) }
    let conversation = await Task { try await converse(session, target.profile) }.cancellingResult
    await session.close()
    tap.finish()
    // What is shown comes first: the frames that led to an error, then the error.
    let printing = await printer.result
    recording?.close()
    try printing.get()
    try Task.checkCancellation()  // Ctrl-C is how a trace ends, also in the middle of a request
    try conversation.get()
  }

  /// Talks to the accessory, or only listens, until it goes or the task is cancelled.
  private func converse(_ session: AccessorySession, _ profile: Profile?) async throws {
    if listen {
      for try await _ in session.input {}
      throw CancellationError()
    }
    let accessory = try await FramedAccessory.open(session, options: .init(profile))
    let events = accessory.events()
    let listener = Task { for try await _ in events {} }
    defer { listener.cancel() }
    _ = try await accessory.identify()
    repeat {
      _ = try await accessory.status()
      _ = try await accessory.battery()
      guard let poll else { break }
      await IOThread.shared.sleep(for: poll.duration)
    } while !Task.isCancelled
    if poll == nil {
      try await withTaskCancellationHandler {
        try await listener.value
      } onCancel: {
        listener.cancel()
      }
    }
    throw CancellationError()
  }
}

extension Task where Failure == any Error, Success == Void {
  /// The task's result; cancels it when the caller is cancelled.
  fileprivate var cancellingResult: Result<Void, any Error> {
    get async {
      await withTaskCancellationHandler {
        await result
      } onCancel: {
        cancel()
      }
    }
  }
}

/// Shows records as they come, and keeps them.
private struct LiveTrace {
  let view: TraceView
  let silence: Duration
  let recording: RecordingFile?

  private enum Step: Sendable {
    case record(TraceRecord)
    case silence
    case end
  }

  func run(_ records: AsyncStream<TraceRecord>) async throws {
    var tracer = FrameTracer(silence: silence)
    let start = ContinuousClock.now
    var offset: Duration?
    let (steps, continuation) = AsyncStream<Step>.makeStream()
    let reader = Task {
      for await record in records { continuation.yield(.record(record)) }
      continuation.yield(.end)
    }
    defer { reader.cancel() }
    for await step in steps {
      switch step {
      case .record(let record):
        // The tap's clock began a little earlier than ours.
        if offset == nil { offset = record.time - (ContinuousClock.now - start) }
        try recording?.append(record)
        tracer.add(record).forEach(view.show)
        if tracer.deadline != nil {
          _ = IOThread.shared.schedule(at: .now + silence + .milliseconds(1)) { continuation.yield(.silence) }
        }
      case .silence:
        tracer.timePassed(ContinuousClock.now - start + (offset ?? .zero)).forEach(view.show)
      case .end:
        tracer.finish().forEach(view.show)
        return
      }
    }
  }
}
