// SPDX-License-Identifier: Apache-2.0

/// A message of RFC 2217 about a serial port. A client's request and the server's answer are the same case: the request
/// has the wanted value, or 0 to ask for the present one; the answer has the value in force.
public enum COMPortMessage: Sendable, Hashable {
  /// A text that names the program; an empty one asks for the other end's text.
  case signature([UInt8])
  /// The bit rate, in bits a second.
  case baudRate(UInt32)
  /// The bit rate as a code of one byte, which some older clients use.
  case baudCode(UInt8)
  /// Data bits, 5 to 8.
  case dataSize(UInt8)
  /// Parity: 1 none, 2 odd, 3 even, 4 mark, 5 space.
  case parity(UInt8)
  /// Stop bits: 1, 2, or 3 for one and a half.
  case stopSize(UInt8)
  /// Flow control, break, DTR, RTS: see `COMPortControl`.
  case control(UInt8)
  /// The state of the line: `COMPortLineState`.
  case lineState(UInt8)
  /// The state of the modem lines, and which of them have changed: `COMPortModemState`.
  case modemState(UInt8)
  /// Asks the other end to stop sending.
  case suspend
  /// Allows the other end to send again.
  case resume
  /// Which changes of the line's state the client wants to be notified of.
  case lineStateMask(UInt8)
  /// Which changes of modem lines the client wants to be notified of.
  case modemStateMask(UInt8)
  /// Discards bytes that the port has buffered: 1 received, 2 unsent, 3 both.
  case purge(UInt8)

  /// What a server adds to the number of a command.
  private static let serverOffset: UInt8 = 100

  /// Reads the payload of a sub-negotiation; nil if the command is unknown, or its value is missing.
  public init?(_ payload: [UInt8], fromServer: Bool) {
    guard let number = payload.first, !fromServer || number >= Self.serverOffset else { return nil }
    let value = payload.dropFirst()
    let byte = value.first
    switch fromServer ? number - Self.serverOffset : number {
    case 0: self = .signature(Array(value))
    case 1 where value.count >= 4: self = .baudRate(value.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
    case 8: self = .suspend
    case 9: self = .resume
    // A client may send these without a value, to ask for it.
    case 6: self = .lineState(byte ?? 0)
    case 7: self = .modemState(byte ?? 0)
    case let number:
      guard let byte else { return nil }
      switch number {
      case 1: self = .baudCode(byte)
      case 2: self = .dataSize(byte)
      case 3: self = .parity(byte)
      case 4: self = .stopSize(byte)
      case 5: self = .control(byte)
      case 10: self = .lineStateMask(byte)
      case 11: self = .modemStateMask(byte)
      case 12: self = .purge(byte)
      default: return nil
      }
    }
  }

  /// The payload of the message's sub-negotiation.
  public func payload(fromServer: Bool) -> [UInt8] {
    let (number, value): (UInt8, [UInt8]) =
      switch self {
      case .signature(let text): (0, text)
      case .baudRate(let rate):
        (1, [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rate >> UInt32($0)) })
      case .baudCode(let code): (1, [code])
      case .dataSize(let value): (2, [value])
      case .parity(let value): (3, [value])
      case .stopSize(let value): (4, [value])
      case .control(let value): (5, [value])
      case .lineState(let value): (6, [value])
      case .modemState(let value): (7, [value])
      case .suspend: (8, [])
      case .resume: (9, [])
      case .lineStateMask(let value): (10, [value])
      case .modemStateMask(let value): (11, [value])
      case .purge(let value): (12, [value])
      }
    return [number + (fromServer ? Self.serverOffset : 0)] + value
  }

  /// The whole sub-negotiation.
  public func bytes(fromServer: Bool) -> [UInt8] {
    Telnet.subnegotiation(.comPort, payload(fromServer: fromServer))
  }
}

/// The values of SET-CONTROL.
public enum COMPortControl: UInt8, Sendable, Hashable {
  case askFlow = 0, noFlow, softwareFlow, hardwareFlow
  case askBreak = 4, breakOn, breakOff
  case askDTR = 7, dtrOn, dtrOff
  case askRTS = 10, rtsOn, rtsOff
  case askInboundFlow = 13, noInboundFlow, softwareInboundFlow, hardwareInboundFlow
  case dcdFlow = 17, dtrInboundFlow, dsrFlow
}

/// The bits of NOTIFY-LINESTATE.
public struct COMPortLineState: OptionSet, Sendable, Hashable {
  /// The bits on the wire.
  public let rawValue: UInt8
  /// A set of these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Bytes have arrived.
  public static let dataReady = COMPortLineState(rawValue: 1)
  /// Bytes were lost.
  public static let overrun = COMPortLineState(rawValue: 2)
  /// A parity bit was wrong.
  public static let parityError = COMPortLineState(rawValue: 4)
  /// A stop bit was missing.
  public static let framingError = COMPortLineState(rawValue: 8)
  /// A break was received.
  public static let breakSeen = COMPortLineState(rawValue: 16)
  /// The transmitter has no byte waiting.
  public static let holdingRegisterEmpty = COMPortLineState(rawValue: 32)
  /// The transmitter has sent all bytes.
  public static let shiftRegisterEmpty = COMPortLineState(rawValue: 64)
  /// A time-out error.
  public static let timeOut = COMPortLineState(rawValue: 128)
}

/// The bits of NOTIFY-MODEMSTATE: the state of the modem inputs, and which of them have changed.
public struct COMPortModemState: OptionSet, Sendable, Hashable {
  /// The bits on the wire.
  public let rawValue: UInt8
  /// A set of these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Clear To Send has changed.
  public static let ctsChanged = COMPortModemState(rawValue: 1)
  /// Data Set Ready has changed.
  public static let dsrChanged = COMPortModemState(rawValue: 2)
  /// The ringing has ended.
  public static let ringEnded = COMPortModemState(rawValue: 4)
  /// Carrier Detect has changed.
  public static let cdChanged = COMPortModemState(rawValue: 8)
  /// Clear To Send is raised.
  public static let cts = COMPortModemState(rawValue: 16)
  /// Data Set Ready is raised.
  public static let dsr = COMPortModemState(rawValue: 32)
  /// Ring Indicator is raised.
  public static let ring = COMPortModemState(rawValue: 64)
  /// Carrier Detect is raised.
  public static let cd = COMPortModemState(rawValue: 128)

  /// The bits for the state of the inputs.
  public static let states: COMPortModemState = [.cts, .dsr, .ring, .cd]

  /// This state, with the bits for what has changed since `old`.
  public func changed(since old: COMPortModemState) -> COMPortModemState {
    let now = intersection(.states)
    let changed = now.symmetricDifference(old.intersection(.states))
    var result = now
    if changed.contains(.cts) { result.insert(.ctsChanged) }
    if changed.contains(.dsr) { result.insert(.dsrChanged) }
    if changed.contains(.cd) { result.insert(.cdChanged) }
    if changed.contains(.ring), !now.contains(.ring) { result.insert(.ringEnded) }
    return result
  }
}

/// The bit rates that have a code of one byte.
public enum COMPortBaudCodes {
  /// Rates in bits a second, by code.
  public static let rates: [UInt8: UInt32] = [
    3: 300, 4: 600, 5: 1_200, 6: 2_400, 7: 4_800, 8: 9_600, 10: 19_200, 12: 38_400, 13: 57_600, 14: 115_200,
    15: 230_400,
  ]

  /// The code of a bit rate; nil if it has none.
  public static func code(of rate: UInt32) -> UInt8? { rates.first { $0.value == rate }?.key }
}
