// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

/// A setting of a module on the command line: two commands, one that asks for it and one that sets it.
struct HM10SettingForm: Sendable {
  let setting: HM10Setting
  let name: String
  /// The setting's meaning, as a part of a sentence.
  let summary: String
  let kind: CommandDescription.Kind
  var unit: String?

  static let all: [HM10SettingForm] = [
    Self(setting: .role, name: "role", summary: "its role in a connection", kind: words(["peripheral", "central"])),
    Self(setting: .notify, name: "notify", summary: "whether it reports connections", kind: .flag),
    Self(
      setting: .notifyAddress, name: "notify-address", summary: "whether it reports the address with a connection",
      kind: .flag),
    Self(
      setting: .immediate, name: "immediate", summary: "whether it waits for commands after power-on",
      kind: .flag),
    Self(
      setting: .speed, name: "speed", summary: "the baud rate of its line, from its next start on",
      kind: words(HM10Speed.allCases.map { "\($0.bitsPerSecond)" }), unit: "bit/s"),
    Self(setting: .parity, name: "parity", summary: "the parity of its line", kind: words(["none", "even", "odd"])),
    Self(setting: .stopBits, name: "stop-bits", summary: "the stop bits of its line", kind: words(["1", "2"])),
    Self(
      setting: .mode, name: "mode", summary: "what it does beside passing bytes on",
      kind: words(["transparent", "pins-and-remote", "remote"])),
    Self(setting: .type, name: "pin-type", summary: "whether and how a connection needs the PIN", kind: .whole(0...3)),
    Self(setting: .pin, name: "pin", summary: "its PIN", kind: .whole(HM10Setting.pin.range)),
    Self(
      setting: .power, name: "power", summary: "its transmission power",
      kind: words(HM10Power.allCases.map { "\($0.decibels)" }), unit: "dBm"),
    Self(
      setting: .show, name: "show", summary: "what a scan reports beside addresses",
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

  /// The command that asks for the setting, such as "role".
  var get: HM10NamedCommand {
    HM10NamedCommand(name, "Asks " + summary, results: [.init(name, unit: unit)]) {
      module, _ throws(AccessoryError) in [value(try await module.value(of: setting))]
    }
  }

  /// The command that sets the setting, such as "set-role".
  var set: HM10NamedCommand {
    HM10NamedCommand("set-" + name, "Sets " + summary, [.init(name, kind, unit: unit)]) {
      module, call throws(AccessoryError) in
      guard let number = number(call) else {
        throw AccessoryError(.misconfigured, "\(name) must be two bytes in hexadecimal, such as FFE0")
      }
      try await module.set(setting, to: number)
      return []
    }
  }

  /// The module's number for the argument of a call; nil when the argument isn't valid.
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

  /// The value that the user sees for the module's number.
  private func value(_ number: Int) -> CommandValue {
    switch kind {
    case .choice(let words): words.indices.contains(number) ? .text(words[number]) : .whole(number)
    case .flag: .flag(number == 1)
    case .bytes: .bytes([UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)])
    default: .whole(number)
    }
  }
}
