// SPDX-License-Identifier: Apache-2.0

/// The bytes of telnet (RFC 854, 855).
public enum Telnet {
  /// Begins a command; as a byte of data it is doubled.
  public static let iac: UInt8 = 0xFF
  /// Begins a sub-negotiation.
  public static let sb: UInt8 = 0xFA
  /// Ends a sub-negotiation.
  public static let se: UInt8 = 0xF0

  /// Commands without more, of those that mean something here.
  public enum Command: UInt8, Sendable, Hashable {
    /// Does nothing.
    case noOperation = 0xF1
    /// The place in the data up to which an urgent notice has it thrown away.
    case dataMark = 0xF2
    /// A break on the line.
    case lineBreak = 0xF3
    /// Asks whether somebody is there.
    case areYouThere = 0xF6
  }

  /// What is said about an option.
  public enum Verb: UInt8, Sendable, Hashable {
    /// "I will use it", as an offer or an answer.
    case will = 0xFB
    /// "I won't."
    case wont = 0xFC
    /// "Do use it", as a wish or an answer.
    case `do` = 0xFD
    /// "Don't."
    case dont = 0xFE
  }

  /// Options, of those that mean something here.
  public enum Option: UInt8, Sendable, Hashable {
    /// Every byte is data as it is (RFC 856).
    case binary = 0
    /// The other end shows what is typed (RFC 857).
    case echo = 1
    /// Nobody waits for a go-ahead (RFC 858).
    case suppressGoAhead = 3
    /// The settings and modem lines of a serial port (RFC 2217).
    case comPort = 44
  }

  /// Appends data, with each FF doubled.
  public static func append(_ data: some Collection<UInt8>, to bytes: inout [UInt8]) {
    for byte in data {
      bytes.append(byte)
      if byte == iac { bytes.append(iac) }
    }
  }

  /// Data, with each FF doubled.
  public static func escaped(_ data: [UInt8]) -> [UInt8] {
    guard data.contains(iac) else { return data }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count + 16)
    append(data, to: &bytes)
    return bytes
  }

  /// What says something about an option.
  public static func say(_ verb: Verb, _ option: UInt8) -> [UInt8] { [iac, verb.rawValue, option] }

  /// A sub-negotiation.
  public static func subnegotiation(_ option: Option, _ payload: [UInt8]) -> [UInt8] {
    var bytes = [iac, sb, option.rawValue]
    append(payload, to: &bytes)
    return bytes + [iac, se]
  }
}
