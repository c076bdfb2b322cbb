// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryIO
import ArgumentParser
import CommandOutput

/// A device on the air, as it is typed.
struct AirDeviceArgument: ParsableArguments {
  @Argument(help: .value("device", "The device: ble: or rfcomm:, and its address."), completion: CompletionWords.air)
  var text: String

  /// The address, with which kind of search the device is found, and by which adapter.
  var place: (address: BluetoothAddress, kind: BluetoothKind, adapter: BluetoothAdapterName?)? {
    switch DeviceAddress(text) {
    case .ble(let address, let adapter): (address, .lowEnergy, adapter)
    case .rfcomm(let address, _, let adapter): (address, .classic, adapter)
    default: BluetoothAddress(text).map { ($0, .lowEnergy, nil) }
    }
  }

  func validate() throws {
    guard place != nil else {
      throw ValidationError("name the device by its address, as in ble:C4:BE:84:12:34:56 or rfcomm:00:16:53:12:34:56")
    }
  }

  /// Runs `body` with the device, which is looked for where BlueZ doesn't know it.
  func with(_ body: (BlueZ, BluetoothDevice, String) async throws(AccessoryError) -> Void) async throws {
    guard let place else { return }
    let bluez = try await BlueZ.open()
    try await attempt { () async throws(AccessoryError) in
      let device = try await WaitingLine.during("looking for the device", limit: GATTTransport.searchLimit) {
        () async throws(AccessoryError) in
        try await bluez.device(
          at: place.address, place.kind, by: place.adapter, within: GATTTransport.searchLimit)
      }
      let name = device.name.map { " (\(SafeText.escape($0, limit: 32)))" } ?? ""
      try await body(bluez, device, place.address.description + name)
    } finally: {
      await bluez.close()
    }
    try AccessoryWait.checkInterruption()
  }
}

struct PairCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pair",
    abstract: "Pairs a Bluetooth device with this computer.",
    discussion: """
      The device must be ready to be paired: most have a menu or a button for that. If it asks for a PIN, a number or a \
      confirmation, you are asked at the terminal. Without a terminal, only --pin and --passkey answer, and everything \
      else is refused.

      EXAMPLES
        bridge-cli bluetooth pair rfcomm:00:16:53:12:34:56 --pin 1234
        bridge-cli bluetooth pair ble:C4:BE:84:12:34:56
      """)

  @OptionGroup var device: AirDeviceArgument
  @Option(help: "The PIN of an older device: an EV3's is 1234 unless it was changed.")
  var pin: String?
  @Option(help: .value("number", "The six-digit number that the device shows.")) var passkey: UInt32?

  func validate() throws {
    if let pin, !(1...16 ~= pin.utf8.count) { throw ValidationError("--pin must have 1 to 16 characters") }
    if let passkey, passkey > 999_999 { throw ValidationError("--passkey must have six digits") }
    if pin != nil, passkey != nil { throw ValidationError("--pin and --passkey can't be used together") }
  }

  func run() async throws {
    try await device.with { bluez, device, label throws(AccessoryError) in
      let (pin, passkey) = (pin, passkey)
      let isNew = try await bluez.pair(device, label: label) { question in
        await Self.answer(question, label, pin, passkey)
      }
      Output.line(isNew ? "\(label) is paired." : "\(label) was paired already.")
    }
  }

  /// The options' answer, or else the person's. Nobody there means no.
  private static func answer(
    _ question: PairingQuestion, _ label: String, _ pin: String?, _ passkey: UInt32?
  ) async -> PairingAnswer {
    switch question {
    case .pin where pin != nil: return .pin(pin ?? "")
    case .passkey where passkey != nil: return .passkey(passkey ?? 0)
    case .isSame(let number) where passkey != nil: return number == passkey ? .yes : .no
    case .typePIN(let pin): Output.note("type this PIN at \(label): \(SafeText.escape(pin))")
    case .typePasskey(let number, 0): Output.note("type this number at \(label): \(PairingQuestion.digits(number))")
    case .typePasskey: break
    case .isAllowed where pin == nil && passkey == nil:
      // The device shows and asks nothing, and the command itself was the person's word.
      return .yes
    default:
      guard Consent.canBeAsked else {
        Output.note(
          "\(label) asks for \(what(question)), but there is no terminal to ask you at: run this command at one")
        return .no
      }
      return (try? await ask(question, label)) ?? .no
    }
    return .yes
  }

  private static func ask(_ question: PairingQuestion, _ label: String) async throws(AccessoryError) -> PairingAnswer {
    switch question {
    case .pin: return try await Consent.word("The PIN of \(label): ").map { .pin($0) } ?? .no
    case .passkey:
      return try await Consent.word("The number that \(label) shows: ").flatMap { UInt32($0) }.map { .passkey($0) }
        ?? .no
    case .isSame(let number):
      let text = PairingQuestion.digits(number)
      return try await Consent.ask("Does \(label) show \(text)? [y/N] ") ? .yes : .no
    case .isAllowed: return try await Consent.ask("Pair \(label)? [y/N] ") ? .yes : .no
    case .typePIN, .typePasskey: return .yes
    }
  }

  private static func what(_ question: PairingQuestion) -> String {
    switch question {
    case .pin: "a PIN (--pin NUMBER)"
    case .passkey: "a number that it shows (--passkey NUMBER)"
    // It is another number each time.
    case .isSame: "confirmation that it shows the same number as this computer"
    case .isAllowed, .typePIN, .typePasskey: "confirmation"
    }
  }
}

struct UnpairCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpair",
    abstract: "Ends the pairing with a Bluetooth device and forgets the device.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth unpair ble:C4:BE:84:12:34:56
      """)

  @OptionGroup var device: AirDeviceArgument

  func run() async throws {
    try await device.with { bluez, device, label throws(AccessoryError) in
      try await bluez.unpair(device, label: label)
      Output.line("\(label) is forgotten.")
    }
  }
}

struct TrustCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trust",
    abstract: "Lets a Bluetooth device connect to this computer without asking you.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth trust rfcomm:00:16:53:12:34:56
        bridge-cli bluetooth trust rfcomm:00:16:53:12:34:56 --off
      """)

  @OptionGroup var device: AirDeviceArgument
  @Flag(help: "Stop trusting the device.")
  var off = false

  func run() async throws {
    try await device.with { bluez, device, label throws(AccessoryError) in
      try await bluez.trust(device, !off, label: label)
      Output.line(off ? "\(label) is no longer trusted." : "\(label) is trusted.")
    }
  }
}
