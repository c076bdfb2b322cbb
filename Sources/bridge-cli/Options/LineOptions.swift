// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import ArgumentParser

/// How a device is opened, and a serial line set.
struct LineOptions: ParsableArguments {
  @OptionGroup var way: WayOptions
  @Option(help: ArgumentHelp("Bits a second, any number the port can do.", valueName: "rate"))
  var baud: UInt32 = 115_200
  @Option(help: ArgumentHelp("Data bits of a character, 5 to 8.", valueName: "bits"))
  var dataBits = 8
  @Option(help: "Parity bit.")
  var parity = TerminalConfiguration.Parity.none
  @Option(help: ArgumentHelp("Stop bits of a character, 1 or 2.", valueName: "bits"))
  var stopBits = 1
  @Option(
    help: ArgumentHelp("Flow control: none, hardware (RTS and CTS), or software (XON and XOFF).", valueName: "kind"))
  var flow = TerminalConfiguration.FlowControl.none
  @Option(help: ArgumentHelp("DTR after opening; with keep it also stays when closing.", valueName: "state"))
  var dtr = TerminalConfiguration.LineState.keep
  @Option(help: ArgumentHelp("RTS after opening.", valueName: "state"))
  var rts = TerminalConfiguration.LineState.keep
  @Option(
    help: ArgumentHelp(
      "RS-485 with RTS while sending: high or low, then if need be milliseconds before and after, like high,1,1.",
      valueName: "level"), transform: RS485Argument.read)
  var rs485: RS485Argument?
  @Option(
    help: ArgumentHelp("Wait this long after opening, for a board that resets then.", valueName: "time"),
    transform: TimeArgument.read)
  var settle: TimeArgument?

  func validate() throws {
    guard baud > 0 else { throw ValidationError("a baud rate is at least 1, for example 9600 or 115200") }
    guard (5...8).contains(dataBits) else { throw ValidationError("--data-bits is 5, 6, 7 or 8") }
    guard (1...2).contains(stopBits) else { throw ValidationError("--stop-bits is 1 or 2") }
    guard rts == .keep || flow != .hardware else {
      throw ValidationError("--rts and --flow hardware exclude each other: hardware flow control moves RTS itself")
    }
  }

  func configuration(path: String, label: String) -> TerminalConfiguration {
    var configuration = TerminalConfiguration(path: path, baudRate: baud, label: label)
    configuration.dataBits = dataBits
    configuration.parity = parity
    configuration.stopBits = stopBits
    configuration.flowControl = flow
    configuration.dtr = dtr
    configuration.rts = rts
    configuration.rs485 = rs485?.settings
    configuration.settle = settle?.duration ?? .zero
    return configuration
  }
}

extension TerminalConfiguration.Parity: ExpressibleByArgument {}
extension TerminalConfiguration.FlowControl: ExpressibleByArgument {}
extension TerminalConfiguration.LineState: ExpressibleByArgument {}

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
    settings.delayBeforeSend = (delays.first ?? nil) ?? 0
    settings.delayAfterSend = (delays.dropFirst().first ?? nil) ?? 0
    self.settings = settings
  }
}
