// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import CommandOutput

/// The driver of a device, and the settings of a serial line. Settings that the user leaves out are taken from the
/// device's profile.
struct SerialOptions: PlainOptions {
  /// The heading of these options in help.
  static let title = "Line options"

  @Option(
    help: .value(
      "name", "The driver (see drivers), or the file of a protocol; for options of the line see help line."),
    completion: CompletionWords.drivers)
  var driver: String?
  @Option(
    name: [.customShort("b", allowingJoined: true), .long],
    help: .rare("rate", "Bits per second, any rate that the port can do; default: the profile's, or 115200."))
  var baud: UInt32?
  @Option(
    name: [.customShort("d", allowingJoined: true), .long],
    help: .rare("bits", "Data bits of a character, 5 to 8; default: the profile's, or 8."))
  var dataBits: Int?
  @Option(
    name: [.customShort("p", allowingJoined: true), .long],
    help: .rare("Parity bit; default: the profile's, or none. n, o and e are short for none, odd and even."))
  var parity: TerminalConfiguration.Parity?
  @Option(
    name: [.customShort("s", allowingJoined: true), .long],
    help: .rare("bits", "Stop bits of a character, 1 or 2; default: the profile's, or 1."))
  var stopBits: Int?
  @Option(
    name: [.customShort("f", allowingJoined: true), .long],
    help: .rare(
      "flow",
      """
      Flow control: none, hardware (RTS and CTS), or software (XON and XOFF); default: the profile's, or none. n, h \
      and x are short for none, hardware and software.
      """))
  var flow: TerminalConfiguration.FlowControl?
  @Option(
    help: .rare(
      "state", "DTR after opening; keep leaves it as it is, also when closing; default: the profile's, or keep."))
  var dtr: TerminalConfiguration.ModemLineSetting?
  @Option(help: .rare("state", "RTS after opening; default: the profile's, or keep."))
  var rts: TerminalConfiguration.ModemLineSetting?
  @Option(
    help: .rare(
      "level",
      "RS-485: the level of RTS while sending, high or low; optionally milliseconds before and after, like high,1,1."),
    transform: RS485Argument.read)
  var rs485: RS485Argument?
  @Option(
    help: .rare("time", "Wait this long after opening, for a board that resets when it is opened."),
    transform: TimeArgument.read)
  var settle: TimeArgument?

  mutating func setDefaults() {
    (driver, baud, dataBits, parity, stopBits) = (nil, nil, nil, nil, nil)
    (flow, dtr, rts, rs485, settle) = (nil, nil, nil, nil, nil)
  }

  /// Whether the user gives an option that replaces a setting of the line in the profile.
  var changesTheLine: Bool {
    baud != nil || dataBits != nil || parity != nil || stopBits != nil || flow != nil || dtr != nil || rts != nil
      || rs485 != nil || settle != nil
  }

  func validate() throws {
    if let driver, !KnownDrivers.isFile(driver), KnownDrivers.library.driver(named: driver) == nil {
      throw ValidationError(
        "there is no driver \(driver): \(KnownDrivers.advice(driver, among: KnownDrivers.library.all.map(\.name)))")
    }
    guard baud != 0 else { throw ValidationError("the baud rate must be at least 1, for example 9600 or 115200") }
    guard (5...8).contains(dataBits ?? 8) else { throw ValidationError("--data-bits must be 5, 6, 7 or 8") }
    guard (1...2).contains(stopBits ?? 1) else { throw ValidationError("--stop-bits must be 1 or 2") }
    guard (rts ?? .keep) == .keep || flow != .hardware else {
      throw ValidationError("--rts can't be used with --flow hardware, which controls RTS itself")
    }
  }

  /// The settings of `profile`, with the user's options in their place.
  func settings(_ profile: Profile?) -> TerminalSettings {
    var settings = profile?.transport.terminal ?? TerminalSettings()
    // Hardware flow control drives RTS, so only one of the two can be set: the user's option replaces the profile's
    // setting of the other.
    if flow == .hardware { settings.rts = .keep }
    if let rts, rts != .keep, settings.flowControl == .hardware { settings.flowControl = .none }
    if let baud { settings.baudRate = baud }
    if let dataBits { settings.dataBits = dataBits }
    if let parity { settings.parity = parity }
    if let stopBits { settings.stopBits = stopBits }
    if let flow { settings.flowControl = flow }
    if let dtr { settings.dtr = dtr }
    if let rts { settings.rts = rts }
    if let rs485 { settings.rs485 = rs485.settings }
    if let settle { settings.settle = settle.duration }
    return settings
  }
}

extension TerminalConfiguration.Parity: ExpressibleByArgument {
  /// Reads a parity by its name, or by picocom's letter.
  public init?(argument: String) {
    switch argument {
    case "n": self = .none
    case "o": self = .odd
    case "e": self = .even
    default: self.init(rawValue: argument)
    }
  }
}

extension TerminalConfiguration.FlowControl: ExpressibleByArgument {
  /// Reads a kind of flow control by its name, or by picocom's letter.
  public init?(argument: String) {
    switch argument {
    case "n": self = .none
    case "h": self = .hardware
    case "x": self = .software
    default: self.init(rawValue: argument)
    }
  }
}

extension TerminalConfiguration.ModemLineSetting: ExpressibleByArgument {}

/// RS-485 settings on the command line: "high" or "low", then optional delays in milliseconds.
struct RS485Argument: FormArgument {
  static let form = "high or low, and optionally milliseconds before and after, like high,1,1"
  let settings: TerminalConfiguration.RS485

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count <= 3, let level = ["high": true, "low": false][String(parts[0])] else { return nil }
    let delays = parts.dropFirst().map { UInt32($0) }
    guard delays.allSatisfy({ $0 != nil && $0! <= 10_000 }) else { return nil }
    var settings = TerminalConfiguration.RS485()
    settings.rtsOnSend = level
    settings.rtsAfterSend = !level
    settings.delayBeforeSend = .milliseconds((delays.first ?? nil) ?? 0)
    settings.delayAfterSend = .milliseconds((delays.dropFirst().first ?? nil) ?? 0)
    self.settings = settings
  }
}
