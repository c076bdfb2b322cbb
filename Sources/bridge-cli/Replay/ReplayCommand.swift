// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryLink
import AccessorySimulator
import ArgumentParser
import CommandOutput

struct ReplayCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Plays the accessory's side of a recording, and checks what the host sends.",
    discussion: """
      The accessory's bytes are sent as soon as the host has sent the same bytes as in the recording. At the first difference the \
      command shows the recorded byte and the received one, and ends with exit status 65.

      EXAMPLES
        bridge-cli replay session.trace --link ./acc
        bridge-cli replay session.trace --tcp 127.0.0.1:5555 --speed 10
        sudo bridge-cli replay session.trace --usb --tty
      """)

  @Argument(help: .value("file", "The recording."), completion: .file()) var file: String
  @Option(help: .value("path", "Keep a link to the terminal at this path."), completion: .file()) var link: String?
  @Option(help: .value("host:port", "Listen for one TCP client at a time."), transform: PlaceArgument.read)
  var tcp: PlaceArgument?
  @OptionGroup var usb: ValueOptions<SimulatedUSB>
  @Option(
    help: .value("factor", "How many times as fast as the recording; max: without pauses."),
    transform: SpeedArgument.read)
  var speed = SpeedArgument(speed: .times(1))
  @Flag(help: "Let the host send more after the end.")
  var openEnd = false
  @Option(
    help: .value("time", "End with exit status 75 when the host is silent for this long."), transform: TimeArgument.read
  )
  var patience: TimeArgument?
  @Option(
    help: .value("name|file", "The driver, or the file of a protocol; default: as the recording says."),
    completion: CompletionWords.drivers)
  var driver: String?
  @Option(help: .value("text", "Serial number.")) var serial: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    try usb.check()
    guard [link != nil, tcp != nil, usb.values.usb].count(where: { $0 }) <= 1 else {
      throw ValidationError("--link, --tcp and --usb can't be used together")
    }
    if let link, link.isEmpty { throw ValidationError("--link needs a path, for example ./acc") }
    guard (1...64).contains(serial?.utf8.count ?? 1) else { throw ValidationError("--serial must have 1 to 64 bytes") }
  }

  func run() async throws {
    let named = try await driver.asyncMap { TraceFraming(driver: try await KnownDrivers.name(of: $0)) }
    let recorded = try await SetupQueue(label: "replay").run { [file] () throws(AccessoryError) in
      try RecordedScript.read(file)
    }
    let framing = named ?? recorded.framing
    if recorded.framing == framing { framing.noteIfUnknown(in: file) }
    let configuration = try await configuration(recorded.script, framing)
    let view = ReplayView(
      json: output.json, link: link, serial: configuration.announcement?.serial, framing: framing, file: file)
    let replay = ReplaySimulator(configuration)
    try await attempt {
      try await replay.plugIn()
      try await follow(replay, view)
    } finally: {
      await replay.stop()
    }
  }

  private func follow(_ replay: ReplaySimulator, _ view: ReplayView) async throws {
    // The sequence of events ends when the task is cancelled, which Ctrl-C does.
    for await event in replay.events {
      let progress = await replay.progress
      view.show(event, progress)
      switch event {
      case .finished: return
      case .failed(let error): throw error
      case .differed(let difference): throw view.error(difference)
      case .pluggedIn, .unplugged, .lost: break
      }
    }
    view.showInterrupted(await replay.progress)
    // An error, unlike Ctrl-C in commands that run without an end: the rest of the recording wasn't checked.
    throw AccessoryError(.cancelled, "the replay was interrupted")
  }

  private func configuration(
    _ script: ReplayScript, _ framing: TraceFraming
  ) async throws -> ReplaySimulator.Configuration {
    var configuration = ReplaySimulator.Configuration(script)
    configuration.link = link
    configuration.speed = speed.speed
    configuration.hostMayGoOn = openEnd
    configuration.patience = patience?.duration
    var driver: String?
    if case .driver(let name) = framing { driver = name }
    configuration.numbering = driver.flatMap { KnownDrivers.driver(named: $0)?.numbering } ?? .none
    let serial = try await SimulatedSerial.chosen(serial, or: "REPLAY", digits: 1)
    if let tcp { configuration.connection = .network(host: tcp.host, port: tcp.port) }
    if var identity = usb.values.identity {
      identity.product = "Replayed accessory"
      identity.serialNumber = serial
      configuration.connection = .usb(identity)
    }
    // Without a driver, commands can't send the accessory any requests, so it isn't announced. Hosts open it by its path.
    configuration.announcement = driver.map {
      Announcement(
        path: "", driver: $0, name: "Replayed accessory", manufacturer: "Accessory Bridge", model: "replay",
        serial: serial)
    }
    return configuration
  }
}

extension Optional {
  /// Like `map`, with an asynchronous body.
  fileprivate func asyncMap<Result>(_ body: (Wrapped) async throws -> Result) async rethrows -> Result? {
    if let self { try await body(self) } else { nil }
  }
}

/// A speed on the command line: "1", "0.5", "10", "max".
struct SpeedArgument: FormArgument {
  static let form = "a factor from 0.001 to 1000000, like 10, or max,"
  let speed: ReplaySpeed

  init(speed: ReplaySpeed) { self.speed = speed }

  init?(argument: String) {
    if argument == "max" {
      speed = .atOnce
    } else {
      guard let factor = Double(argument), (0.001...1_000_000).contains(factor) else { return nil }
      speed = .times(factor)
    }
  }
}
