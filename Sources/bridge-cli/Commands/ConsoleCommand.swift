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
    abstract: "Sends what you type to an accessory, and shows what it sends.",
    discussion: """
      Ctrl-] ends the console. Ctrl-T and another key is a command: Ctrl-T ? lists them. You type a line, and Enter \
      sends it; the arrows bring earlier lines back. With --raw each key is sent at once. With --keys the arrows drive \
      a Bluno robot or an HM-1X car. Ctrl-C deletes the line; in an empty line it is sent.

      What the accessory sends is shown as text, with control characters made visible; messages of AF1 and EV3 are \
      decoded. After an unplug the console waits for the accessory. A service that has the accessory lends it meanwhile.

      If raw bytes may change something in the accessory, the console sends only if you use --write and its profile \
      says writes: allowed. Otherwise it shows what the accessory sends, also to a service that has it open.

      From a pipe, each line is sent as it is read, or --line-delay after the line before, and each reply begins on a \
      new line. The console ends when the input has ended and the accessory has been silent for a while (--linger). It \
      ends with exit status 69 when the accessory is unplugged; with --reconnect it waits for the accessory instead.

      EXAMPLES
        bridge-cli console /dev/ttyUSB0 --baud 9600 --eol crlf
        bridge-cli console BLUNO1 --keys --log drive.log
        bridge-cli console ./acc --show hex --timestamps
        echo AT | bridge-cli console /dev/ttyUSB0 --eol none
        bridge-cli console /dev/ttyUSB0 --line-delay 200ms < commands.txt
        tail -f commands | bridge-cli console BLUNO1 --reconnect --log drive.log
      """)

  @OptionGroup var device: DeviceArgument
  @Option(
    help: """
      The line end that is sent behind each line: none, lf, cr or crlf; default: none for HM-10 modules, cr for ELM327 and \
      Megatec; else lf.
      """) var eol: LineEnding?
  @Option(help: "How input is sent: line, raw (each key at once), hex, or keys (drive a robot).")
  var input: ConsoleInput?
  @Flag(help: "Same as --input raw.") var raw = false
  @Flag(help: "Same as --input keys.") var keys = false
  @Option(
    help:
      "How to show received bytes: text, frames, hex, or as-is (with --raw); default: frames for AF1, EV3; else text."
  )
  var show: ConsoleView?
  @Flag(help: "Show the time at which bytes arrived.") var timestamps = false
  @Option(
    help: ArgumentHelp("Log what happens to this file; an existing file is appended to.", valueName: "file"),
    completion: .file())
  var log: String?
  @Option(
    help: ArgumentHelp("From a pipe: wait for this much silence at the end; default: 500ms.", valueName: "time"),
    transform: TimeArgument.read)
  var linger: TimeArgument?
  @Option(
    help: ArgumentHelp("From a pipe: wait this long after each line before the next one is sent.", valueName: "time"),
    transform: TimeArgument.read)
  var lineDelay: TimeArgument?
  @Flag(help: "From a pipe: after an unplug wait for the accessory, and continue, as at a terminal.")
  var reconnect = false
  @Flag(help: "Allow input to change something in the accessory, if its profile allows it too.")
  var write = false
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard [input != nil, raw, keys].count(where: { $0 }) <= 1 else {
      throw ValidationError("--input, --raw and --keys can't be used together")
    }
    if lineDelay != nil, mode == .raw { throw ValidationError("--line-delay is for lines: it can't go with --raw") }
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
      Output.line(Style.standardOutput.dim("--- " + SafeText.escape(text, limit: 800) + keys))
    }
    // The default view: text for protocols of text, decoded frames for the others.
    let reader = TraceFraming(driver: opening.driver).reader
    let view = show ?? (reader?.isText == false ? .frames : .text)
    let eol = eol ?? .usual(for: opening.driver)
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
