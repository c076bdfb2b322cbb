// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser
import CommandOutput

struct Trace: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "trace",
    abstract: "Shows the frames that pass in both directions, decoded.",
    discussion: """
      Shows what passes, and sends nothing: with a service, between it and the accessory; otherwise what the accessory sends by \
      itself. --ask asks for its identity, status and battery. With a recording: decodes it.

      EXAMPLES
        bridge-cli trace
        bridge-cli trace ./acc --ask
        bridge-cli trace ./acc --poll 1s --record session.trace
        bridge-cli trace session.trace --json
        bridge-cli trace old.trace --driver ev3
        bridge-cli trace session.trace --pcapng session.pcapng
        bridge-cli trace ./acc --pcapng - | wireshark -k -i -
      """)

  @Argument(
    help: ArgumentHelp("The accessory, or a recording.", valueName: "device-or-file"),
    completion: CompletionWords.devices)
  var source: String?
  @Option(
    help: ArgumentHelp("Record to the end of this file.", valueName: "file"),
    completion: .file())
  var record: String?
  @Option(
    help: ArgumentHelp(
      "Write a file for Wireshark; - is standard output.",
      valueName: "file"), completion: .file())
  var pcapng: String?
  @Option(
    help: ArgumentHelp("Like --ask, and ask for status and battery again at this interval.", valueName: "time"),
    transform: TimeArgument.read)
  var poll: TimeArgument?
  @Flag(help: "Ask for identity, status and battery, so that there is something to see.")
  var ask = false
  // What it says is what a trace does without it, too. It was needed in earlier versions.
  @Flag(help: ArgumentHelp("Send nothing.", visibility: .hidden))
  var listen = false
  @Flag(help: "End when the accessory is unplugged.")
  var once = false
  @Flag(help: "Show long frames in full.")
  var full = false
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if listen, asks {
      throw ValidationError("--listen sends nothing, so it can't go with \(poll == nil ? "--ask" : "--poll")")
    }
    if let poll, poll.duration < .milliseconds(1) { throw ValidationError("--poll must be at least 1ms") }
    if pcapng == "-", output.json {
      throw ValidationError("--pcapng - and --json can't be used together: both write to standard output")
    }
  }

  /// Whether the trace sends requests.
  var asks: Bool { ask || poll != nil }

  func view(_ capture: CaptureFile?) -> TraceView {
    TraceView(json: output.json, full: full, isSilent: capture?.isOutput == true)
  }

  func run() async throws {
    if let source, RecordingFile.isRegular(source) {
      guard record == nil, !asks, !listen, !once else {
        throw UsageError("\(source) is a recording: --record, --ask, --poll, --listen and --once are for a device")
      }
      var framing: TraceFraming?
      if let driver = line.driver { framing = TraceFraming(driver: try await KnownDrivers.name(of: driver)) }
      let capture = try pcapng.map { path throws(AccessoryError) in try CaptureFile(path) }
      let view = view(capture)
      try RecordingFile.decode(source, as: framing, into: capture) { view.show($0, began: $1) }
      try capture?.close()
      return
    }
    let capture = try pcapng.map { path throws(AccessoryError) in try CaptureFile(path) }
    let (start, began) = (MonotonicTime.now, WallClock.seconds)
    let following = Following(name: source, line: line, isLine: true, once: once, json: output.json)
    try await following.run { name, line in
      try await TracedAccessory.open(name, line, since: start, began: began, capture: capture, for: self)
    } follow: { traced in
      Interruption.endWithOutput()
      switch traced.source {
      case .held(let held, let pieces, let events):
        try await trace(held, pieces, events, traced.live, since: start) { following.tell($0, traced.device) }
      case .open(let opener, let session, let tap):
        try await trace(opener, session, tap, traced.live, since: start)
      }
    }
  }

  /// Shows the bytes between the service and the accessory. With `--ask` it also has the service send requests.
  private func trace(
    _ held: HeldDevice, _ pieces: BridgeStream<Bridge.Trace>, _ events: BridgeEvents, _ live: LiveTrace,
    since start: MonotonicTime, tell: @escaping @Sendable (DeviceEventName) -> Void
  ) async throws {
    // This process buffers nothing: the service bounds the queue, and reports how many bytes it had to drop.
    let reader = Task {
      await live.begin {
        Task { try? await live.take(TraceRecord(time: .now - start, direction: .fromDevice, bytes: [])) }
      }
      var conversation: Task<Void, any Error>?
      defer { conversation?.cancel() }
      for try await piece in pieces {
        if asks, conversation == nil { conversation = Task { try await converse(held) } }
        guard let direction = ByteDirection(rawValue: piece.direction), let bytes = piece.bytes,
          let moment = piece.moment
        else { throw held.calls.invalidReplyError }
        // The service's monotonic clock is the same as ours, since both run on this kernel.
        try await live.take(
          TraceRecord(
            time: max(.zero, moment - start), direction: direction, bytes: bytes, lostBytes: piece.lost_bytes ?? 0))
      }
    }
    // The service's trace continues when the accessory is unplugged and comes back.
    let end = Locked<AccessoryError?>(nil)
    let eventTask = Task {
      for try await event in events {
        switch event {
        case .disconnected(_, let error) where once || error.kind == .cancelled:
          end.withLock { $0 = error }
          return reader.cancel()
        case .disconnected:
          try await live.plug(false, at: .now - start)
          tell(.disconnected)
        case .connected:
          try await live.plug(true, at: .now - start)
          tell(.connected)
        default: break
        }
      }
    }
    let outcome = try await withTaskCancellationHandler {
      try await live.end(reader)
    } onCancel: {
      reader.cancel()
    }
    // The end of the trace and its reason arrive on two connections, so the reason may arrive later.
    if isEndOfTrace(outcome), !Task.isCancelled {
      let limit = Task {
        await IOThread.shared.sleep(for: .seconds(5))
        eventTask.cancel()
      }
      _ = await eventTask.result
      limit.cancel()
    }
    eventTask.cancel()
    try Task.checkCancellation()
    // The service's reason for closing the accessory is more precise than the generic `disconnected`.
    if let error = end.withLock({ $0 }) { throw error }
    try outcome.get()
    throw AccessoryError.disconnected(held.name)
  }

  /// Whether the service has ended the trace because it closed the accessory.
  private func isEndOfTrace(_ outcome: Result<Void, any Error>) -> Bool {
    switch outcome {
    case .success: true
    case .failure(let error): (error as? AccessoryError)?.kind == .disconnected
    }
  }

  /// Has the service send the requests of `--ask`, repeated if `--poll` says so. A failed request shows in the trace.
  private func converse(_ held: HeldDevice) async throws {
    repeat {
      _ = try? await held.status()
      do { _ = try await held.battery() } catch { _ = try? await held.values() }
      guard let poll else { return }
      await IOThread.shared.sleep(for: poll.duration)
    } while !Task.isCancelled
  }

  private func trace(
    _ opener: DeviceOpener, _ session: AccessorySession, _ tap: TraceTap, _ live: LiveTrace,
    since start: MonotonicTime
  ) async throws {
    let conversation = Task {
      try await converse(session, opener)
    }
    let printer = Task {
      await live.begin { tap.mark() }
      do {
        for await record in tap.records { try await live.take(record) }
      } catch {
        conversation.cancel()  // A recording that can't be written ends the trace.
        throw error
      }
    }
    let outcome = await withTaskCancellationHandler {
      await conversation.result
    } onCancel: {
      conversation.cancel()
    }
    var unplugTime: Duration?
    if case .failure(let error as AccessoryError) = outcome, error.kind == .disconnected { unplugTime = .now - start }
    await session.close()
    tap.finish()
    // The frames that led to an error are printed before the error.
    try await live.end(printer, unpluggedAt: unplugTime).get()
    try Task.checkCancellation()  // Ctrl-C is the usual end of a trace, also in the middle of a request.
    try outcome.get()
  }

  /// Only listens, or sends requests to the accessory, until the accessory is gone or the task is cancelled.
  private func converse(_ session: AccessorySession, _ opener: DeviceOpener) async throws {
    guard asks else {
      for try await _ in session.input {}
      throw CancellationError()
    }
    let accessory = try await opener.contact(over: session)
    let news = accessory.news()
    let listener = Task { for try await _ in news {} }
    defer { listener.cancel() }
    // What sends its readings by itself, and is silent now, may still send them later.
    let mayBeSilent = opener.driver?.freshness != nil
    var lacks: [String] = []
    if try await !Self.has(mayBeSilent, { _ = try await accessory.identify() }) { lacks.append("identity") }
    var isFirst = true
    repeat {
      let hasStatus = try await Self.has(mayBeSilent) { _ = try await accessory.status() }
      let hasBattery = try await Self.has(mayBeSilent) { _ = try await accessory.battery() }
      // What has no battery has other values, or nothing that can be asked for.
      let hasValues =
        if hasBattery { true } else { try await Self.has(mayBeSilent) { _ = try await accessory.values() } }
      if isFirst {
        lacks += (hasStatus ? [] : ["status"]) + (hasBattery ? [] : ["battery"]) + (hasValues ? [] : ["values"])
        if let note = Self.waitingNote(opener.label, lacking: lacks) { Output.note(note) }
      }
      isFirst = false
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

  /// Makes a request. Returns false when the driver doesn't have it. A missing reply is an error, unless the accessory
  /// may be silent.
  private static func has(_ mayBeSilent: Bool, _ request: () async throws -> Void) async throws -> Bool {
    do {
      try await request()
      return true
    } catch let error as AccessoryError where error.kind == .unsupported || error.kind == .timedOut && mayBeSilent {
      return error.kind == .timedOut
    }
  }

  /// The note that some requests don't exist, so that not even they make traffic; nil if all exist.
  static func waitingNote(_ label: String, lacking lacks: [String]) -> String? {
    guard let last = lacks.last else { return nil }
    let first = lacks.dropLast().joined(separator: ", ")
    return
      "\(SafeText.escape(label)) can't be asked for its \(first.isEmpty ? last : "\(first) or \(last)"): waiting for what "
      + "it sends by itself"
  }

  /// The note of a trace that has opened a device itself and sends nothing.
  static func watchingNote(_ opener: DeviceOpener) -> String {
    let label = SafeText.escape(opener.label)
    let start = "only listening: waiting for what \(label) sends by itself"
    guard opener.driver != nil else {
      return "\(start); \(SafeText.escape(opener.withoutDriver.message, limit: 1_000))"
    }
    return "\(start). --ask asks it for its identity, status and battery. Other programs can't open it now; if "
      + "bridge-cli serve has it open, a trace and other commands can use it at the same time"
  }
}
