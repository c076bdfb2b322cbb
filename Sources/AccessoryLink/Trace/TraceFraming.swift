// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Which frames a trace contains, as a recording states it.
public enum TraceFraming: Sendable, Hashable {
  /// The frames of the driver with this name.
  case driver(String)
  /// Unknown frames: a trace shows the bytes.
  case none

  /// The frames of recordings that name no driver. The first version of the format had only these, and "af1" for their name.
  public static let unnamed = TraceFraming.driver("framed")

  /// The frames of a driver; `none` when there is no driver, or its name isn't allowed in a recording.
  public init(driver: String?) { self = driver.flatMap { Self(name: $0) } ?? .none }

  /// The frames with this name in a recording, of at most 64 letters, digits and `._-`; nil when the name isn't
  /// allowed.
  public init?(name: some StringProtocol) {
    guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(Self.isInName) else { return nil }
    switch name {
    case "none": self = .none
    case "af1": self = .unnamed
    default: self = .driver(String(name))
    }
  }

  /// The name in a recording.
  public var name: String {
    switch self {
    case .driver(let name): name
    case .none: "none"
    }
  }

  private static func isInName(_ byte: UInt8) -> Bool { byte.isLetterOrDigit(or: "._-") }
}
