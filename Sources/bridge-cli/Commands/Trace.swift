// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryIO
import ArgumentParser
import CommandOutput

struct Trace: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "trace",
    abstract: "Shows the frames that pass in both directions, decoded.",
    discussion: """
      Sends nothing. If a service has the accessory open, shows what the two send to each other; otherwise, what the accessory \
      sends unasked. --ask asks for its identity, status and battery. If a recording is named, decodes the recording.

      EXAMPLES
        bridge-cli trace
        bridge-cli trace ./acc --ask
        bridge-cli trace ./acc --poll 1s --record session.trace
        bridge-cli trace session.trace --json
        bridge-cli trace old.trace --driver ev3
        bridge-cli trace session.trace --pcapng session.pcapng
        bridge-cli trace ./acc --pcapng - | wireshark -k -i -
      """)

  @Argument(help: .value("device-or-file", "The accessory, or a recording."), completion: CompletionWords.devices)
  var source: String?
  @Option(help: .value("file", "Record to the end of this file."), completion: .file()) var record: String?
  @Option(help: .value("file", "Write a file for Wireshark; - is standard output."), completion: .file())
  var pcapng: String?
  @Option(
    help: .value("time", "Like --ask, and ask for status and battery again at this interval."),
    transform: TimeArgument.read)
  var poll: TimeArgument?
  @Flag(help: "Ask for identity, status and battery, so that there is something to see.")
  var ask = false
  // Has no effect: a trace doesn't send anything by default. Earlier versions needed it.
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
      throw ValidationError("--listen sends nothing: it can't be used with \(poll == nil ? "--ask" : "--poll")")
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
    try await following.run { found in
      let device = found.device
      let plan = TracePlan(since: start, asks: asks, poll: poll?.duration, once: once) { text in
        Output.note(text)
      } plugged: { isThere in
        following.tell(isThere ? .connected : .disconnected, device)
      }
      return try await TracedAccessory.open(found, plan, began: began, capture: capture, for: self)
    } follow: { traced in
      Interruption.endWithOutput()
      try await traced.trace.run(into: traced.live)
    }
  }
}
