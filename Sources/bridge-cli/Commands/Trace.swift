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
    abstract: "Shows the frames that pass, both ways, decoded.",
    discussion: """
      With a device: makes contact, asks who and how it is, and shows that and whatever the accessory sends, until \
      Ctrl-C; where a service has the device, also what passes between these two. When the accessory goes, it is waited \
      for. With a recording: decodes it.

      Messages are shown in the words of the accessory's protocol, which a recording remembers; --driver reads it as \
      another's. A device that no driver is known for is sent nothing: it is only listened to, and its bytes are shown.

      EXAMPLES
        bridge-cli trace
        bridge-cli trace ./acc --poll 1s --record session.trace
        bridge-cli trace session.trace --json
        bridge-cli trace old.trace --driver ev3
        bridge-cli trace /dev/ttyUSB0 --listen     send nothing, only listen
      """)

  @Argument(
    help: ArgumentHelp("The accessory, or a recording.", valueName: "device-or-file"),
    completion: CompletionWords.devices)
  var source: String?
  @Option(
    help: ArgumentHelp("Keep what passes in this file; appended to if it exists.", valueName: "file"),
    completion: .file())
  var record: String?
  @Option(
    help: ArgumentHelp("Ask for status and battery again and again, this long apart.", valueName: "time"),
    transform: TimeArgument.read)
  var poll: TimeArgument?
  @Flag(help: "Send nothing.")
  var listen = false
  @Flag(help: "End when the accessory goes, and don't wait for it to come back.")
  var once = false
  @Flag(help: "Show all bytes of long frames.")
  var full = false
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if listen, poll != nil { throw ValidationError("--listen sends nothing, --poll asks: choose one") }
    if let poll, poll.duration < .milliseconds(1) { throw ValidationError("--poll is at least 1ms") }
  }

  var view: TraceView { TraceView(json: output.json, full: full) }

  func run() async throws {
    if let source, RecordingFile.isRegular(source) {
      guard record == nil, poll == nil, !listen, !once else {
        throw UsageError("\(source) is a recording: --record, --poll, --listen and --once are for a device")
      }
      var framing: TraceFraming?
      if let driver = line.driver { framing = TraceFraming(driver: try await KnownDrivers.name(of: driver)) }
      return try RecordingFile.decode(source, as: framing) { view.show($0, began: $1) }
    }
    let (start, began) = (MonotonicTime.now, WallClock.seconds)
    let following = Following(name: source, line: line, isLine: true, once: once, json: output.json)
    try await following.run { name, line in
      try await TracedAccessory.open(name, line, since: start, began: began, for: self)
    } follow: { traced in
      Interruption.endWithOutput()
      switch traced.source {
      case .held(let held, let pieces, let events):
        try await trace(held, pieces, events, traced.live, since: start) { following.tell($0, traced.device) }
      case .open(let opener, let session, let tap): try await trace(opener, session, tap, traced.live)
      }
    }
  }

  /// Shows what passes between the service and the accessory. Without --listen it asks for something to show.
  private func trace(
    _ held: HeldDevice, _ pieces: BridgeStream<Bridge.Trace>, _ events: BridgeEvents, _ live: LiveTrace,
    since start: MonotonicTime, tell: @escaping @Sendable (DeviceEventName) -> Void
  ) async throws {
    let isListening = listen || held.accessory.driver == nil
    // Nothing of ours lies in between: what waits for this is bounded by the service, which tells what it had to drop.
    let reader = Task {
      await live.begin {
        Task { try? await live.take(TraceRecord(time: .now - start, direction: .fromDevice, bytes: [])) }
      }
      var conversation: Task<Void, any Error>?
      defer { conversation?.cancel() }
      for try await piece in pieces {
        if !isListening, conversation == nil { conversation = Task { try await converse(held) } }
        guard let direction = ByteDirection(rawValue: piece.direction), let bytes = piece.bytes,
          let moment = piece.moment
        else { throw held.calls.nonsense }
        // The service's clock is the kernel's, as ours.
        try await live.take(
          TraceRecord(
            time: max(.zero, moment - start), direction: direction, bytes: bytes, lostBytes: piece.lost_bytes ?? 0))
      }
    }
    // The service's trace goes on when the accessory goes and comes back.
    let end = Locked<AccessoryError?>(nil)
    let comings = Task {
      for try await event in events {
        switch event {
        case .disconnected(_, let error) where once || error.kind == .cancelled:
          end.withLock { $0 = error }
          return reader.cancel()
        case .disconnected: tell(.disconnected)
        case .connected: tell(.connected)
        default: break
        }
      }
    }
    let outcome = try await withTaskCancellationHandler {
      try await live.end(reader)
    } onCancel: {
      reader.cancel()
    }
    comings.cancel()
    try Task.checkCancellation()
    // Why it was let go says more than that it is gone.
    if let error = end.withLock({ $0 }) { throw error }
    try outcome.get()
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

  private func trace(
    _ opener: DeviceOpener, _ session: AccessorySession, _ tap: TraceTap, _ live: LiveTrace
  ) async throws {
    let conversation = Task {
      try await converse(session, isListening: listen || opener.driver == nil, opener)
    }
    let printer = Task {
      await live.begin { tap.mark() }
      do {
        for await record in tap.records { try await live.take(record) }
      } catch {
        conversation.cancel()  // a recording that can't be written ends the trace
        throw error
      }
    }
    let outcome = await withTaskCancellationHandler {
      await conversation.result
    } onCancel: {
      conversation.cancel()
    }
    await session.close()
    tap.finish()
    // What is shown comes first: the frames that led to an error, then the error.
    try await live.end(printer).get()
    try Task.checkCancellation()  // Ctrl-C is how a trace ends, also in the middle of a request
    try outcome.get()
  }

  /// Talks to the accessory, or only listens, until it goes or the task is cancelled.
  private func converse(_ session: AccessorySession, isListening: Bool, _ opener: DeviceOpener) async throws {
    if isListening {
      for try await _ in session.input {}
      throw CancellationError()
    }
    let accessory = try await opener.contact(over: session)
    let news = accessory.news()
    let listener = Task { for try await _ in news {} }
    defer { listener.cancel() }
    try await Self.ask { _ = try await accessory.identify() }
    repeat {
      try await Self.ask { _ = try await accessory.status() }
      try await Self.ask { _ = try await accessory.battery() }
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

  /// Not every kind tells everything.
  private static func ask(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as AccessoryError where error.kind == .unsupported {}
  }
}
