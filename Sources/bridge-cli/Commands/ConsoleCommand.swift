// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser
import CommandOutput
import Console

struct ConsoleCommand: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "console",
    abstract: "Sends what you type to an accessory, and shows what it sends.",
    discussion: """
      Ctrl-] ends the console; Ctrl-T ? lists its keys. You type a line, and Enter sends it. After an unplug the console waits for \
      the accessory. If a service has the accessory open, it lends it to the console.

      If raw bytes may change something in the accessory, the console sends only with --write and a profile with \
      `writes: allowed`; otherwise it shows what the accessory sends. From a pipe, each line is sent as it is read, and the console \
      ends when the accessory has been silent for a while.

      EXAMPLES
        bridge-cli console /dev/ttyUSB0 --baud 9600 --eol crlf
        bridge-cli console ./robot --keys --log drive.log
        bridge-cli console ./acc --show hex --timestamps
        echo AT | bridge-cli console /dev/ttyUSB0 --eol none
      """)

  @OptionGroup var device: DeviceArgument
  @Option(
    help: "The line end that is sent: none, lf, cr or crlf; default: by the protocol.") var eol: LineEnding?
  @Option(help: "How input is sent: line, raw (each key), hex, or keys (drive a robot).")
  var input: ConsoleInput?
  @Flag(help: "Same as --input raw.") var raw = false
  @Flag(help: "Same as --input keys.") var keys = false
  @Option(help: "How received bytes are shown: text, frames, hex, or as-is.") var show: ConsoleView?
  @Flag(help: "Show its colours even if it sends other control sequences.") var colour = false
  @Flag(help: "Show the time at which bytes arrived.") var timestamps = false
  @Option(help: .value("file", "Log what happens to the end of this file."), completion: .file()) var log: String?
  @Option(
    help: .rare("time", "From a pipe: at the end, wait until the accessory is silent this long; default: 500ms."),
    transform: TimeArgument.read)
  var linger: TimeArgument?
  @Option(help: .rare("time", "From a pipe: pause after each line."), transform: TimeArgument.read)
  var lineDelay: TimeArgument?
  @Flag(help: "From a pipe: wait after an unplug, and continue.")
  var reconnect = false
  @Flag(help: "Allow input to change the accessory, if its profile allows it too.")
  var write = false
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard [input != nil, raw, keys].count(where: { $0 }) <= 1 else {
      throw ValidationError("--input, --raw and --keys can't be used together")
    }
    if lineDelay != nil, mode == .raw {
      throw ValidationError("--line-delay is for lines: it can't be used with --raw")
    }
    if show == .asIs, mode != .raw {
      throw ValidationError("--show as-is needs --raw: it leaves no room for an input line")
    }
  }

  private var mode: ConsoleInput { input ?? (raw ? .raw : keys ? .keys : .line) }

  func run() async throws {
    let isInteractive = TerminalGuard.isThere && !output.json
    if mode == .keys, !isInteractive {
      throw UsageError("--keys needs a terminal")
    }
    let log = try log.map { path throws(AccessoryError) in try ConsoleLog(path) }
    defer { log?.close() }
    let opening = try await ConsoleConnection.open(device.text, line, write: write) { text in
      guard isInteractive else { return }
      let keys = mode == .keys ? "; keys typed before it is open are not sent" : ""
      let notice = TextWrap.lines(
        "--- " + SafeText.escape(text, limit: 800) + keys, columns: Output.columns ?? 80, indent: 4)
      for line in notice { Output.line(Style.standardOutput.dim(line)) }
    }
    // The default view: text for protocols of text, decoded frames for the others.
    let reader = TraceFraming(driver: opening.driver).reader
    let view = show ?? (reader?.isText == false ? .frames : .text)
    let settings = ConsoleSettings(
      name: device.text, line: line, write: write, input: mode, view: view,
      colours: Style.standardOutput.showsColour ? colour ? .all : .alone : .none,
      eol: eol ?? .usual(for: opening.driver), hasTimestamps: timestamps, log: log)
    if isInteractive {
      try await ConsoleSession(opening, settings).run()
    } else {
      try await PlainConsole(
        opening, settings, reconnects: reconnect, json: output.json, linger: linger?.duration ?? .milliseconds(500),
        lineDelay: lineDelay?.duration ?? .zero
      ).run()
    }
  }
}
