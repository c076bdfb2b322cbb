// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import ArgumentParser

/// The driver of a device, and how a serial line is set. What isn't said is as the device's profile has it.
struct SerialOptions: ParsableArguments {
  /// The heading of these in help.
  static let title = "Line options"

  @Option(
    help: ArgumentHelp(
      """
      The driver that speaks its protocol: \(KnownDrivers.library.names), or the file of a description (./mine.yaml); else \
      its profile's.
      """,
      valueName: "name"), completion: CompletionWords.drivers)
  var driver: String?
  @Option(
    name: [.customShort("b", allowingJoined: true), .long],
    help: ArgumentHelp(
      "Bits a second, any number the port can do; else as the profile says, or 115200.", valueName: "rate"))
  var baud: UInt32?
  @Option(
    name: [.customShort("d", allowingJoined: true), .long],
    help: ArgumentHelp("Data bits of a character, 5 to 8; else as the profile says, or 8.", valueName: "bits"))
  var dataBits: Int?
  @Option(
    name: [.customShort("p", allowingJoined: true), .long],
    help: "Parity bit; else as the profile says, or none. n, o and e are short for none, odd and even.")
  var parity: TerminalConfiguration.Parity?
  @Option(
    name: [.customShort("s", allowingJoined: true), .long],
    help: ArgumentHelp("Stop bits of a character, 1 or 2; else as the profile says, or 1.", valueName: "bits"))
  var stopBits: Int?
  @Option(
    name: [.customShort("f", allowingJoined: true), .long],
    help: ArgumentHelp(
      """
      Flow control: none, hardware (RTS and CTS), or software (XON and XOFF); else as the profile says, or none. n, h and x \
      are short for them.
      """,
      valueName: "kind"))
  var flow: TerminalConfiguration.FlowControl?
  @Option(
    help: ArgumentHelp(
      "DTR after opening; with keep it also stays when closing; else as the profile says, or keep.", valueName: "state")
  )
  var dtr: TerminalConfiguration.ModemLineSetting?
  @Option(help: ArgumentHelp("RTS after opening; else as the profile says, or keep.", valueName: "state"))
  var rts: TerminalConfiguration.ModemLineSetting?
  @Option(
    help: ArgumentHelp(
      "RS-485 with RTS while sending: high or low, then if need be milliseconds before and after, like high,1,1.",
      valueName: "level"), transform: RS485Argument.read)
  var rs485: RS485Argument?
  @Option(
    help: ArgumentHelp("Wait this long after opening, for a board that resets then.", valueName: "time"),
    transform: TimeArgument.read)
  var settle: TimeArgument?

  /// Whether the user wants anything otherwise than a profile says.
  var saysSomething: Bool {
    baud != nil || dataBits != nil || parity != nil || stopBits != nil || flow != nil || dtr != nil || rts != nil
      || rs485 != nil || settle != nil || driver != nil
  }

  func validate() throws {
    if let driver, !KnownDrivers.isFile(driver), KnownDrivers.library.driver(named: driver) == nil {
      throw ValidationError("--driver is \(KnownDrivers.library.names), or the file of a description, not \(driver)")
    }
    guard baud != 0 else { throw ValidationError("a baud rate is at least 1, for example 9600 or 115200") }
    guard (5...8).contains(dataBits ?? 8) else { throw ValidationError("--data-bits is 5, 6, 7 or 8") }
    guard (1...2).contains(stopBits ?? 1) else { throw ValidationError("--stop-bits is 1 or 2") }
    guard (rts ?? .keep) == .keep || flow != .hardware else {
      throw ValidationError("--rts and --flow hardware exclude each other: hardware flow control moves RTS itself")
    }
  }

  /// The settings of `profile`, but for what the user says otherwise.
  func settings(_ profile: Profile?) -> TerminalSettings {
    var settings = profile?.transport.terminal ?? TerminalSettings()
    // Hardware flow control moves RTS itself: who asks for one of them takes the place of a profile's other.
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
  /// A parity by its name, or by the letter that picocom has for it.
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
  /// A kind of flow control by its name, or by the letter that picocom has for it.
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

/// RS-485 on the command line: "high" or "low", then delays in milliseconds.
struct RS485Argument: FormArgument {
  static let form = "high or low, then if need be milliseconds before and after, like high,1,1,"
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
