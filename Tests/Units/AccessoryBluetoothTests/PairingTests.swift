// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryBluetooth

/// Pairing, against a bus on which bluetoothd asks what a test says.
@Suite struct PairingTests {
  private static let path = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF"
  private static let device = BluetoothDevice(path: path, adapter: "/org/bluez/hci0")

  /// Asks one question of bluetoothd in the middle of pairing, and returns the client's answer to it.
  private func asked(
    _ member: String, _ values: [WireValue], sender: String = FakeBus.owner,
    _ answer: @escaping @Sendable (PairingQuestion) -> PairingAnswer
  ) async throws -> (questions: [PairingQuestion], answer: (error: String?, body: [UInt8])) {
    let bus = try FakeBus { call in call.member == "Pair" ? .nothing : nil }
    let bluez = try await BlueZ.open(bus.address)
    let questions = Locked<[PairingQuestion]>([])
    let pairing = Task {
      try await bluez.pair(Self.device, label: "ble:x") { question in
        questions.withLock { $0.append(question) }
        return answer(question)
      }
    }
    try await eventually("pairing has begun") { bus.calls.contains { $0.member == "Pair" } }
    bus.call("/org/accessorybridge/agent", "org.bluez.Agent1", member, values, sender: sender)
    try await eventually("an answer") { !bus.answers.isEmpty }
    pairing.cancel()
    _ = await pairing.result
    // The bus reads them when its thread runs.
    for member in ["CancelPairing", "UnregisterAgent"] {
      try await eventually("\(member) is called") { bus.calls.contains { $0.member == member } }
    }
    await bluez.close()
    return (questions.withLock { $0 }, bus.answers[0])
  }

  @Test func aPINIsAsked() async throws {
    let result = try await asked("RequestPinCode", [.path(Self.path)]) { _ in .pin("1234") }
    #expect(result.questions == [.pin])
    #expect(result.answer.error == nil && result.answer.body == [4, 0, 0, 0] + Array("1234".utf8) + [0])
  }

  @Test func aPasskeyIsAsked() async throws {
    let result = try await asked("RequestPasskey", [.path(Self.path)]) { _ in .passkey(258) }
    #expect(result.questions == [.passkey] && result.answer.body == [2, 1, 0, 0])
  }

  @Test(arguments: [PairingAnswer.yes, .no]) func numbersAreCompared(answer: PairingAnswer) async throws {
    let result = try await asked("RequestConfirmation", [.path(Self.path), .uint32(7)]) { _ in answer }
    #expect(result.questions == [.isSame(7)] && PairingQuestion.digits(7) == "000007")
    #expect(result.answer.error == (answer == .yes ? nil : "org.bluez.Error.Rejected"))
  }

  /// A PIN that is too long, an answer of another kind, a passkey of seven digits.
  @Test(arguments: [
    ("RequestPinCode", PairingAnswer.pin("12345678901234567")), ("RequestPinCode", .yes),
    ("RequestPasskey", .passkey(1_000_000)), ("RequestAuthorization", .no),
  ]) func anAnswerThatIsNone(member: String, answer: PairingAnswer) async throws {
    let result = try await asked(member, [.path(Self.path)]) { _ in answer }
    #expect(result.answer.error == "org.bluez.Error.Rejected")
  }

  @Test func onlyTheDeviceThatIsPairedIsAskedAbout() async throws {
    let result = try await asked("RequestAuthorization", [.path(Self.path + "0")]) { _ in .yes }
    #expect(result.questions.isEmpty && result.answer.error == "org.bluez.Error.Rejected")
  }

  @Test func onlyBluetoothdMayAsk() async throws {
    let result = try await asked("RequestPinCode", [.path(Self.path)], sender: ":1.66") { _ in .pin("1234") }
    #expect(result.questions.isEmpty && result.answer.error == "org.freedesktop.DBus.Error.AccessDenied")
  }

  /// What isn't a method of an agent, and a call without its arguments.
  @Test(arguments: ["Reboot", "RequestPinCode"]) func nonsenseIsRefused(member: String) async throws {
    let result = try await asked(member, []) { _ in .pin("1234") }
    #expect(result.questions.isEmpty && result.answer.error != nil)
  }

  @Test(arguments: [
    ("org.bluez.Error.AuthenticationFailed", AccessoryError.Kind.permissionDenied),
    ("org.bluez.Error.AuthenticationCanceled", .cancelled), ("org.bluez.Error.ConnectionAttemptFailed", .timedOut),
  ]) func pairingFails(name: String, kind: AccessoryError.Kind) async throws {
    let bus = try FakeBus { call in call.member == "Pair" ? .error(name, "no") : nil }
    let bluez = try await BlueZ.open(bus.address)
    let error = await #expect(throws: AccessoryError.self) {
      try await bluez.pair(Self.device, label: "ble:x") { _ in .no }
    }
    #expect(error?.kind == kind)
    await bluez.close()
  }

  @Test func whatIsPairedStaysSo() async throws {
    let bus = try FakeBus { call in call.member == "Pair" ? .error("org.bluez.Error.AlreadyExists", "yes") : nil }
    let bluez = try await BlueZ.open(bus.address)
    #expect(try await bluez.pair(Self.device, label: "ble:x") { _ in .no } == false)
    try await bluez.trust(Self.device, true, label: "ble:x")
    try await bluez.unpair(Self.device, label: "ble:x")
    #expect(bus.calls.suffix(2).map(\.member) == ["Set", "RemoveDevice"])
    await bluez.close()
  }
}
