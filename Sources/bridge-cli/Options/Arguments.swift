// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import ArgumentParser
import CommandOutput

/// A time on the command line: "200ms", "3s", "1.5s", "2m".
struct TimeArgument: FormArgument {
  static let form = "a time with its unit, like 200ms, 1.5s or 2m"
  let duration: Duration

  init?(argument: String) {
    let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60)]
    guard let unit = units.first(where: { argument.hasSuffix($0.suffix) }),
      let count = Double(argument.dropLast(unit.suffix.count)), count >= 0, count * unit.seconds <= 1e8
    else { return nil }
    duration = .nanoseconds(Int64(count * unit.seconds * 1e9))
  }
}

/// A time on the command line, in seconds where it has no unit: "5", "500ms".
struct SecondsArgument: FormArgument {
  static let form = "a time, in seconds or with its unit, like 5 or 500ms"
  let duration: Duration
  /// The text as the user wrote it, with a unit.
  let text: String

  init?(argument: String) {
    text = argument.last.map { $0.isNumber } == true ? argument + "s" : argument
    guard let time = TimeArgument(argument: text) else { return nil }
    duration = time.duration
  }
}

/// When a fault happens, on the command line: after a time, or after a number of requests.
struct MomentArgument: FormArgument {
  static let form = "a number of requests, or a time with its unit, like 5 or 200ms"
  let moment: Faults.Moment

  init?(argument: String) {
    if let count = Int(argument) {
      guard count > 0 else { return nil }
      moment = .request(count)
    } else {
      guard let time = TimeArgument(argument: argument) else { return nil }
      moment = .after(time.duration)
    }
  }
}

/// A file's permission bits on the command line: "0660".
struct ModeArgument: FormArgument {
  static let form = "a mode in octal, like 0660"
  let bits: UInt16

  init(bits: UInt16) { self.bits = bits }

  init?(argument: String) {
    guard (3...4).contains(argument.utf8.count), argument.first != "+", let bits = UInt16(argument, radix: 8),
      bits <= 0o777
    else { return nil }
    self.bits = bits
  }
}

/// Bytes on the command line, in hexadecimal.
struct HexArgument: FormArgument {
  static let form = "hexadecimal bytes, two digits a byte, like 0239800e02"
  let bytes: [UInt8]

  init?(argument: String) {
    guard let bytes = Hex.bytes(argument) else { return nil }
    self.bytes = bytes
  }
}

/// A USB vendor or product ID on the command line: up to four hexadecimal digits.
struct USBNumberArgument: FormArgument {
  static let form = "a number of up to four hexadecimal digits, like 1209"
  let number: UInt16

  init?(argument: String) {
    guard argument.allSatisfy(\.isHexDigit), let number = UInt16(argument, radix: 16) else { return nil }
    self.number = number
  }
}
