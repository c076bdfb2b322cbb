// SPDX-License-Identifier: Apache-2.0

import AccessorySimulator
import FamilyEV3

/// The greeting that a host on the network must send before commands: two lines, of which the first begins with
/// `GET /target?sn=` and the second names the protocol. The end of the second line may be missing.
struct EV3GreetingReader: Sendable {
  enum Progress {
    case unfinished
    case accepted([UInt8])
    case refused
  }

  private var said: [UInt8] = []

  /// Handles further bytes of the greeting.
  mutating func take(_ more: [UInt8]) -> Progress {
    said += more
    let text = String(decoding: said.prefix(256), as: UTF8.self)
    let start = "GET /target?sn="
    guard text.hasPrefix(start) || start.hasPrefix(text), said.count < 256 else { return .refused }
    // A host that ends lines with CR LF also ends the last line.
    let isFormal = said.contains(UInt8(ascii: "\r"))
    guard said.contains(UInt8(ascii: "\n")), text.hasSuffix(isFormal ? "EV3\r\n\r\n" : "EV3") else {
      return .unfinished
    }
    return .accepted(Array("Accept:EV340\r\n\r\n".utf8))
  }
}
