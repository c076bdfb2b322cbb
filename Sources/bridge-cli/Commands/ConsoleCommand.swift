// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser
import CommandOutput

struct ConsoleCommand: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "console",
    abstract: "Types to an accessory and shows what it answers.",
    discussion: """
      Ctrl-] ends. Ctrl-T and a key changes something: Ctrl-T ? shows what. Lines are typed, with the arrows for earlier \
      ones, and sent with Enter; with --raw each key is sent at once; with --keys the arrows drive a robot, as a Bluno's \
      remote control does, or an HM-1X car. Ctrl-C takes a line away, and in an empty one is sent.

      What comes is shown as text in which nothing is left that a terminal would act on; messages of AF1 and EV3 are \
      decoded. When the accessory goes, it is waited for. Where a service has it, the service lends it meanwhile.

      Where the accessory's protocol has commands that change something in it, nothing is sent unless you say --write, and its \
      profile writes: allowed. From a service that has the accessory, what it says is shown meanwhile; it isn't lent.

      From a pipe, lines are sent as they come, or --line-delay apart, and each reply begins a line; it ends when the input has ended and the accessory has been silent for a \
      while (--linger), or, with exit status 69, when it is gone; --reconnect waits for it instead.

      EXAMPLES
        bridge-cli console /dev/ttyUSB0 --baud 9600 --eol crlf
        bridge-cli console BLUNO1 --keys --log drive.log
        bridge-cli console ./acc --show hex --timestamps
        echo AT | bridge-cli console /dev/ttyUSB0 --eol none
        bridge-cli console /dev/ttyUSB0 --line-delay 200ms < commands.txt
        tail -f commands | bridge-cli console BLUNO1 --reconnect --log drive.log
      """)

  @OptionGroup var device: DeviceArgument
  @Option(help: "What is put behind a line that is sent: none, lf, cr or crlf.") var eol = LineEnding.lf
  @Option(help: "What is typed: line, raw (each key is sent at once), hex, or keys (a robot's).")
  var input: ConsoleInput?
  @Flag(help: "As --input raw.") var raw = false
  @Flag(help: "As --input keys.") var keys = false
  @Option(
    help: "How to show what comes: text, frames, hex, or as-is, with --raw; else frames of AF1 and EV3, and text.")
  var show: ConsoleView?
  @Flag(help: "Show when something came.") var timestamps = false
  @Option(
    help: ArgumentHelp("Keep what happens in this file; appended to if it exists.", valueName: "file"),
    completion: .file())
  var log: String?
  @Option(
    help: ArgumentHelp("From a pipe: wait for so much silence at the end; 500ms unless given.", valueName: "time"),
    transform: TimeArgument.read)
  var linger: TimeArgument?
  @Option(
    help: ArgumentHelp("From a pipe: wait so long behind each line before the next one is sent.", valueName: "time"),
    transform: TimeArgument.read)
  var lineDelay: TimeArgument?
  @Flag(help: "From a pipe: when the accessory goes, wait for it, and go on. At a terminal that is so anyway.")
  var reconnect = false
  @Flag(help: "Let what is typed change something in the accessory, if its profile allows that, too.")
  var write = false
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard [input != nil, raw, keys].count(where: { $0 }) <= 1 else {
      throw ValidationError("--input, --raw and --keys exclude each other")
    }
    if lineDelay != nil, mode == .raw { throw ValidationError("--line-delay is for lines: with --raw there are none") }
    if show == .asIs, mode != .raw {
      throw ValidationError("--show as-is needs --raw: it leaves no place for a line that is typed")
    }
  }

  private var mode: ConsoleInput { input ?? (raw ? .raw : keys ? .keys : .line) }

  func run() async throws {
    let isInteractive = TerminalGuard.isThere && !output.json
    if mode == .keys, !isInteractive {
      throw UsageError("--keys needs a terminal: keys come from there")
    }
    let log = try log.map { path throws(AccessoryError) in try ConsoleLog(path) }
    defer { log?.close() }
    let opening = try await ConsoleOpening.open(device.text, line, write: write) { text in
      guard isInteractive else { return }
      let keys = mode == .keys ? "; keys that are typed before it is open are not sent" : ""
      Output.line(Style.standardOutput.dim("--- " + SafeText.escape(text, limit: 800) + keys))
    }
    // Text is read best as it comes, anything else in the words of its protocol.
    let reader = TraceFraming(driver: opening.driver).reader
    let view = show ?? (reader?.isText == false ? .frames : .text)
    if isInteractive {
      try await ConsoleSession(
        opening, name: device.text, line, write: write, input: mode, view: view, eol: eol, hasTimestamps: timestamps,
        log: log
      ).run()
    } else {
      try await PlainConsole(
        opening, name: device.text, line, write: write, reconnects: reconnect, input: mode, view: view, eol: eol,
        hasTimestamps: timestamps, json: output.json, linger: linger?.duration ?? .milliseconds(500),
        lineDelay: lineDelay?.duration ?? .zero, log: log
      ).run()
    }
  }
}
