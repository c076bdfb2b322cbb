// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// AUTOPILOT_VERSION: the hardware and software versions of the autopilot, and its capabilities. 0 means "unknown".
public struct MAVLinkAutopilotVersion: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 148

  /// Its capabilities, one bit for each.
  public var capabilities: UInt64 = 0
  /// A unique number.
  public var uid: UInt64 = 0
  /// The version of the flight software: major, minor and patch number, and the kind of release.
  public var flightSoftware: UInt32 = 0
  /// The version of the middleware, between flight software and operating system.
  public var middleware: UInt32 = 0
  /// The version of the operating system.
  public var operatingSystem: UInt32 = 0
  /// The version of the board, which each manufacturer defines.
  public var board: UInt32 = 0
  /// The USB vendor number of the board's manufacturer.
  public var vendor: UInt16 = 0
  /// The USB product number of the board.
  public var product: UInt16 = 0
  /// Three identifiers of 8 bytes, of the builds of flight software, middleware and operating system.
  public var builds: [UInt8] = Array(repeating: 0, count: 24)
  /// A unique number of 18 bytes. An extension: all bytes are 0 if it is missing.
  public var longUID: [UInt8] = Array(repeating: 0, count: 18)

  /// A message in which all fields are unknown.
  public init() {}

  init(_ payload: RawSpan) {
    capabilities = payload.padded(0)
    uid = payload.padded(8)
    flightSoftware = payload.padded(16)
    middleware = payload.padded(20)
    operatingSystem = payload.padded(24)
    board = payload.padded(28)
    vendor = payload.padded(32)
    product = payload.padded(34)
    builds = payload.padded(36..<60)
    longUID = payload.padded(60..<78)
  }

  var payload: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: capabilities)
    bytes.append(littleEndian: uid)
    for version in [flightSoftware, middleware, operatingSystem, board] { bytes.append(littleEndian: version) }
    bytes.append(littleEndian: vendor)
    bytes.append(littleEndian: product)
    bytes.append(builds, count: 24)
    bytes.append(longUID, count: 18)
    return bytes
  }

  /// Encodes a version for the fields above. `kind` is the kind of release: 0 development, 64 alpha, 128 beta, 192
  /// candidate, 255 official.
  public static func packed(_ major: UInt8, _ minor: UInt8, _ patch: UInt8, kind: UInt8 = 255) -> UInt32 {
    UInt32(major) << 24 | UInt32(minor) << 16 | UInt32(patch) << 8 | UInt32(kind)
  }

  /// The version of the flight software for people, "4.5.7" or "1.15.0 beta"; nil if it isn't known.
  public var firmware: String? {
    guard flightSoftware != 0 else { return nil }
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: flightSoftware >> UInt32(24 - 8 * $0)) }
    let kind =
      switch bytes[3] {
      case 0..<64: " development"
      case 64..<128: " alpha"
      case 128..<192: " beta"
      case 192..<255: " candidate"
      default: ""
      }
    return "\(bytes[0]).\(bytes[1]).\(bytes[2])\(kind)"
  }

  /// The unique number in hexadecimal, the longer one if there are two; nil if there is none.
  public var serialNumber: String? {
    if longUID.contains(where: { $0 != 0 }) {
      return longUID.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    return uid == 0 ? nil : String(uid, radix: 16)
  }
}
