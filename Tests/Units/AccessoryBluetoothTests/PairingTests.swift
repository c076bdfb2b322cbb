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

  /// A device that is connected, with a characteristic.
  private static func objects(isInUse: Bool) -> WireValue {
    func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
      .entry(.path(path), .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))]))
    }
    return .array(
      "{oa{sa{sv}}}",
      [
        object(
          path, "org.bluez.Device1", [("Address", .text("AA:BB:CC:DD:EE:FF")), ("Connected", .boolean(true))]),
        object(
          path + "/service0001/char0002", "org.bluez.GattCharacteristic1",
          [("Service", .path(path + "/service0001")), ("NotifyAcquired", .boolean(isInUse))]),
      ])
  }

  /// A connection on which pairing has failed before, and that nobody uses, is ended first.
  @Test(arguments: [false, true]) func aConnectionThatIsLeftOver(isInUse: Bool) async throws {
    let place = Locked<FakeBus?>(nil)
    let bus = try FakeBus { call in
      if call.member == "Disconnect" {
        place.withLock { $0 }?.changed(Self.path, "org.bluez.Device1", [("Connected", .boolean(false))])
      }
      return call.member == "GetManagedObjects" ? .values([Self.objects(isInUse: isInUse)]) : nil
    }
    place.withLock { $0 = bus }
    defer { place.withLock { $0 = nil } }
    let bluez = try await BlueZ.open(bus.address)
    #expect(try await bluez.pair(Self.device, label: "ble:x") { _ in .no })
    let members = bus.calls.map(\.member).filter { ["Disconnect", "Pair"].contains($0) }
    #expect(members == (isInUse ? ["Pair"] : ["Disconnect", "Pair"]))
    await bluez.close()
  }

  /// The connection of the last program ends in the middle of it, and bluetoothd never answers: it is cancelled, and begun again.
  /// Where the person was asked before, that isn't repeated behind their back.
  @Test(arguments: [false, true]) func aConnectionThatEndsMeanwhile(isAsked: Bool) async throws {
    let place = Locked<FakeBus?>(nil)
    let pairs = Locked(0)
    let bus = try FakeBus { call in
      let bus = place.withLock { $0 }
      switch call.member {
      case "GetManagedObjects": return .values([Self.objects(isInUse: true)])
      case "Pair":
        let number = pairs.withLock { pairs in
          pairs += 1
          return pairs
        }
        guard number == 1 else { return nil }
        if isAsked {
          bus?.call(
            "/org/accessorybridge/agent", "org.bluez.Agent1", "RequestConfirmation", [.path(Self.path), .uint32(7)])
        } else {
          bus?.changed(Self.path, "org.bluez.Device1", [("Connected", .boolean(false))])
        }
        return .nothing
      default: return nil
      }
    }
    place.withLock { $0 = bus }
    defer { place.withLock { $0 = nil } }
    let bluez = try await BlueZ.open(bus.address)
    let pairing = Task {
      try await bluez.pair(Self.device, label: "ble:x") { [bus] _ in
        bus.changed(Self.path, "org.bluez.Device1", [("Connected", .boolean(false))])
        return .yes
      }
    }
    try await eventually("pairing is cancelled") { bus.calls.contains { $0.member == "CancelPairing" } }
    bus.fail("Pair", "org.bluez.Error.AuthenticationCanceled")
    if isAsked {
      let error = await #expect(throws: AccessoryError.self) { try await pairing.value }
      #expect(error?.kind == .disconnected)
    } else {
      #expect(try await pairing.value)
    }
    #expect(pairs.withLock { $0 } == (isAsked ? 1 : 2))
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
