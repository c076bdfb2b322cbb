// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser
import CommandOutput

struct ResetCommand: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Resets a board with DTR and RTS, or a USB device on its bus.",
    discussion: """
      SEQUENCE is restart (the default), boot-loader, or another sequence that the profile or the file describes. A USB device \
      without a serial line is reset on its bus, as if it were plugged in anew.

      EXAMPLES
        bridge-cli reset /dev/ttyUSB0 --reset esp
        bridge-cli reset /dev/ttyUSB0 boot-loader --reset esp
      """)

  @OptionGroup var device: DeviceArgument
  @Argument(help: "The sequence to run; needs the device, too.", completion: CompletionWords.nothing)
  var sequence: String?
  @Option(
    help: .value("board", "esp, arduino, or a file that describes it; default: the profile's."),
    completion: CompletionWords.resets)
  var reset: ResetArgument?
  @Flag(help: .rare("Reset the USB device on its bus, also one with a serial line."))
  var bus = false
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if case .never? = reset { throw ValidationError("--reset none resets nothing: name a board") }
    if bus, reset != nil || sequence != nil {
      throw ValidationError("--bus has no sequence: leave out --reset and SEQUENCE")
    }
  }

  func run() async throws {
    let given = try await reset?.resets()
    let found = try await Door.find(device.text, line, asLine: true)
    if bus || given == nil && sequence == nil && Self.hasOnlyBus(found.device) { return try await resetBus(found) }
    let chosen: LineReset
    if let given {
      chosen = try choose(given, of: found.label)
    } else {
      chosen = try choose(await found.profile()?.reset?.resets ?? [], of: found.label)
    }
    try await run(chosen, on: try await found.lineSession(), of: found.label)
    show(chosen.name, DeviceDocument(found.device), found.device.id)
  }

  /// Whether it is on USB and has no serial line.
  private static func hasOnlyBus(_ device: Device) -> Bool {
    [.usb, .hidraw, .hidText].contains(device.address.transport)
  }

  /// Resets it whether or not a service has it open: what that makes of it, the service sees by itself.
  private func resetBus(_ found: any FoundAccessory) async throws {
    let usb: String? = if case .usb(let path) = found.device.address { path } else { found.device.usb?.node }
    guard let usb else {
      throw AccessoryError(
        .unsupported, "\(found.label) isn't known to be on USB, so there is no bus to reset it on")
    }
    try await USBReset.reset(usb, label: usb)
    show("bus", DeviceDocument(found.device), found.device.id)
  }

  /// The sequence that the user names; without a name the one that restarts the board.
  private func choose(_ resets: [LineReset], of label: String) throws -> LineReset {
    guard !resets.isEmpty else {
      throw AccessoryError(
        .misconfigured,
        "no reset sequence is known for \(label): use --reset esp or --reset arduino, or add reset: to its profile; "
          + "--bus resets a USB device on its bus")
    }
    let names = resets.map { $0.name.replacing(" ", with: "-") }
    if let sequence {
      if let place = names.firstIndex(of: sequence.replacing(" ", with: "-")) { return resets[place] }
    } else if resets.count == 1 {
      return resets[0]
    } else if let place = names.firstIndex(where: { $0 == "restart" || $0 == "reset" }) {
      return resets[place]
    }
    throw UsageError(
      "\(sequence.map { "there is no sequence \($0)" } ?? "say which sequence"): \(label) has \(names.joined(separator: ", "))"
    )
  }

  /// Runs the sequence, and closes the session.
  private func run(_ reset: LineReset, on session: AccessorySession, of label: String) async throws {
    try await attempt {
      guard let line = session.line else {
        throw AccessoryError(.unsupported, "\(label) has no serial line, and so no DTR and RTS")
      }
      try await reset.script.run(on: line)
    } finally: {
      await session.close()
    }
    try AccessoryWait.checkInterruption()
  }

  private func show(_ sequence: String, _ device: DeviceDocument, _ name: String) {
    if output.json { return Output.json(ResetDocument(device: device, sequence: sequence)) }
    Output.line("\(SafeText.escape(name)): \(SafeText.escape(sequence))")
  }
}

/// A board was reset by DTR and RTS, or a USB device on its bus.
struct ResetDocument: Encodable {
  let document = DocumentKind.lineReset
  let schema = DocumentSchema.name
  let event = "reset"
  let time = WallClock.seconds
  let device: DeviceDocument
  /// The name of the sequence, or `bus`.
  let sequence: String
}
