// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// A module's setting as a person types it, with its unit: two commands, one that asks and one that sets.
struct HM10SettingForm: Sendable {
  let setting: HM10Setting
  let name: String
  /// What it is, within a sentence.
  let summary: String
  let kind: CommandDescription.Kind
  var unit: String?

  static let all: [HM10SettingForm] = [
    Self(setting: .role, name: "role", summary: "what it is in a connection", kind: words(["peripheral", "central"])),
    Self(setting: .notify, name: "notify", summary: "whether it tells of connections", kind: .flag),
    Self(setting: .notifyAddress, name: "notify-address", summary: "whether that is with the address", kind: .flag),
    Self(
      setting: .immediate, name: "immediate", summary: "whether it waits for commands when it is switched on",
      kind: .flag),
    Self(
      setting: .speed, name: "speed", summary: "its line's speed, from its next start on",
      kind: words(HM10Speed.allCases.map { "\($0.bitsPerSecond)" }), unit: "bit/s"),
    Self(setting: .parity, name: "parity", summary: "its line's parity", kind: words(["none", "even", "odd"])),
    Self(setting: .stopBits, name: "stop-bits", summary: "its line's stop bits", kind: words(["1", "2"])),
    Self(
      setting: .mode, name: "mode", summary: "what it does besides passing bytes on",
      kind: words(["transparent", "pins-and-remote", "remote"])),
    Self(setting: .type, name: "pin-type", summary: "whether and how a connection needs the PIN", kind: .whole(0...3)),
    Self(setting: .pin, name: "pin", summary: "its PIN", kind: .whole(HM10Setting.pin.range)),
    Self(
      setting: .power, name: "power", summary: "how strongly it sends",
      kind: words(HM10Power.allCases.map { "\($0.decibels)" }), unit: "dBm"),
    Self(
      setting: .show, name: "show", summary: "what a scan tells besides addresses",
      kind: words(["nothing", "names", "strengths", "both"])),
    Self(
      setting: .scanTime, name: "scan-time", summary: "how long a scan lasts",
      kind: .whole(HM10Setting.scanTime.range), unit: "s"),
    Self(
      setting: .connectTime, name: "connect-time", summary: "how long a connection may take",
      kind: .whole(HM10Setting.connectTime.range), unit: "ms"),
    Self(setting: .service, name: "service", summary: "its service's short UUID", kind: .bytes(2)),
    Self(setting: .characteristic, name: "characteristic", summary: "its characteristic's short UUID", kind: .bytes(2)),
  ]

  private static func words(_ words: [String]) -> CommandDescription.Kind { .choice(words) }

  /// "role": asks.
  var get: HM10NamedCommand {
    HM10NamedCommand(name, "Asks " + summary, results: [.init(name, unit: unit)]) {
      module, _ throws(AccessoryError) in [value(try await module.value(of: setting))]
    }
  }

  /// "set-role": sets.
  var set: HM10NamedCommand {
    HM10NamedCommand("set-" + name, "Sets " + summary, [.init(name, kind, unit: unit)]) {
      module, call throws(AccessoryError) in
      guard let number = number(call) else {
        throw AccessoryError(.misconfigured, "\(name) is two bytes in hexadecimal, such as FFE0")
      }
      try await module.set(setting, to: number)
      return []
    }
  }

  /// What the module calls it.
  func number(_ call: CommandCall) -> Int? {
    switch kind {
    case .choice(let words): return words.firstIndex(of: call.text(name))
    case .flag: return call.flag(name) ? 1 : 0
    case .bytes:
      let bytes = call.bytes(name)
      return bytes.count == 2 ? Int(bytes[0]) << 8 | Int(bytes[1]) : nil
    default: return call.whole(name)
    }
  }

  /// What people call it.
  private func value(_ number: Int) -> CommandValue {
    switch kind {
    case .choice(let words): words.indices.contains(number) ? .text(words[number]) : .whole(number)
    case .flag: .flag(number == 1)
    case .bytes: .bytes([UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)])
    default: .whole(number)
    }
  }
}
