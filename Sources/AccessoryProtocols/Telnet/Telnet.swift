// SPDX-License-Identifier: Apache-2.0

/// Constants of telnet, and functions that write it (RFC 854, 855).
public enum Telnet {
  /// Begins a command. A data byte with this value is sent twice.
  public static let iac: UInt8 = 0xFF
  /// Begins a sub-negotiation.
  public static let sb: UInt8 = 0xFA
  /// Ends a sub-negotiation.
  public static let se: UInt8 = 0xF0

  /// The commands without parameters that are used here.
  public enum Command: UInt8, Sendable, Hashable {
    /// Does nothing.
    case noOperation = 0xF1
    /// Marks the place up to which a receiver discards data after an urgent notification.
    case dataMark = 0xF2
    /// Requests a break on the serial line.
    case lineBreak = 0xF3
    /// Asks the other end for a sign of life.
    case areYouThere = 0xF6
  }

  /// What one end says about an option.
  public enum Verb: UInt8, Sendable, Hashable {
    /// The sender offers or agrees to use the option.
    case will = 0xFB
    /// The sender refuses or stops to use the option.
    case wont = 0xFC
    /// The sender asks or allows the other end to use the option.
    case `do` = 0xFD
    /// The sender asks the other end not to use the option.
    case dont = 0xFE
  }

  /// The options that are used here.
  public enum Option: UInt8, Sendable, Hashable {
    /// Bytes are sent without conversions (RFC 856).
    case binary = 0
    /// The other end echoes what is typed (RFC 857).
    case echo = 1
    /// Neither end waits for a go-ahead (RFC 858).
    case suppressGoAhead = 3
    /// The settings and modem lines of a serial port (RFC 2217).
    case comPort = 44
  }

  /// Appends data, with each FF sent twice.
  public static func append(_ data: some Collection<UInt8>, to bytes: inout [UInt8]) {
    for byte in data {
      bytes.append(byte)
      if byte == iac { bytes.append(iac) }
    }
  }

  /// The data, with each FF twice.
  public static func escaped(_ data: [UInt8]) -> [UInt8] {
    guard data.contains(iac) else { return data }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count + 16)
    append(data, to: &bytes)
    return bytes
  }

  /// The bytes of a command about an option.
  public static func optionCommand(_ verb: Verb, _ option: UInt8) -> [UInt8] { [iac, verb.rawValue, option] }

  /// The bytes of a sub-negotiation.
  public static func subnegotiation(_ option: Option, _ payload: [UInt8]) -> [UInt8] {
    var bytes = [iac, sb, option.rawValue]
    append(payload, to: &bytes)
    return bytes + [iac, se]
  }
}
