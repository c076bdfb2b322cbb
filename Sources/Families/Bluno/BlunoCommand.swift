// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A command to the radio of a Bluno in AT mode.
public enum BlunoCommand: Sendable, Hashable {
  /// `+++`, without a line end: enters AT mode, or leaves it.
  case toggle
  /// `AT`: asks whether the radio is in AT mode.
  case attention
  /// Asks for the value of a parameter.
  case ask(BlunoParameter)
  /// Sets a parameter to a text: a word, digits, an address, a name.
  case set(BlunoParameter, String)
  /// Restarts the radio, so that changed parameters take effect.
  case restart
  /// Leaves AT mode (firmware 1.8 and later).
  case exit
  /// Any other line that begins with AT: printable ASCII.
  case other(String)

  /// The bytes that are sent. All commands except `toggle` end with CR LF.
  ///
  /// - Throws: `BlunoError` if an argument can't be sent.
  public func encoded() throws(BlunoError) -> [UInt8] {
    if self == .toggle { return Array("+++".utf8) }
    return Array(try line().utf8) + WireText.lineEnd
  }

  private func line() throws(BlunoError) -> String {
    switch self {
    case .toggle: return "+++"
    case .attention: return "AT"
    case .ask(let parameter): return "AT+\(parameter.rawValue)=?"
    case .set(let parameter, let value): return "AT+\(parameter.rawValue)=\(try parameter.checked(value))"
    case .restart: return "AT+RESTART"
    case .exit: return "AT+EXIT"
    case .other(let text):
      guard text.hasPrefix("AT"), text.utf8.count <= 2 * BlunoLimits.value,
        text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
      else { throw .notSendable(argument: "command") }
      return text
    }
  }

  /// Reads a command as a board does, with or without its line end. A command that is unknown, or sets a value that the
  /// parameter can't have, becomes `other`.
  ///
  /// - Throws: `BlunoError.notACommand` if the bytes don't begin with AT, `notSendable` if they can't be part of any
  ///   command.
  public init(decoding bytes: [UInt8]) throws(BlunoError) {
    if bytes == Array("+++".utf8) {
      self = .toggle
      return
    }
    let line = WireText.withoutLineEnds(bytes[...])
    guard line.starts(with: "AT".utf8) else { throw .notACommand }
    let text = String(decoding: line, as: UTF8.self)
    switch text {
    case "AT": self = .attention
    case "AT+RESTART": self = .restart
    case "AT+EXIT": self = .exit
    default:
      if let command = Self.parameterized(line) {
        self = command
      } else {
        let other = BlunoCommand.other(text)
        _ = try other.line()
        self = other
      }
    }
  }

  private static func parameterized(_ line: ArraySlice<UInt8>) -> BlunoCommand? {
    guard let rest = WireText.rest(of: line, behind: "AT+"), let equals = rest.firstIndex(of: UInt8(ascii: "=")),
      let parameter = BlunoParameter(rawValue: String(decoding: rest[..<equals], as: UTF8.self))
    else { return nil }
    let bytes = rest[(equals + 1)...]
    if bytes.elementsEqual("?".utf8) { return .ask(parameter) }
    guard let value = String(validating: bytes, as: UTF8.self), let checked = try? parameter.checked(value) else {
      return nil
    }
    return .set(parameter, checked)
  }
}

/// A reply of a Bluno in AT mode: one line.
public enum BlunoReply: Sendable, Hashable {
  /// `OK`.
  case ok
  /// The radio is in AT mode now.
  case enteredATMode
  /// A value or any other text, as it was sent. Escape it before showing it.
  case value(String)

  /// Reads one reply, as the codec delivers it, with or without its line end.
  public init(decoding bytes: [UInt8]) {
    let text = String(decoding: WireText.withoutLineEnds(bytes[...]), as: UTF8.self)
    if text == "OK" {
      self = .ok
    } else if Self.contains(bytes, "Enter AT Mode") {
      self = .enteredATMode
    } else {
      self = .value(text)
    }
  }

  /// The bytes that a board sends.
  public var encoded: [UInt8] {
    let text =
      switch self {
      case .ok: "OK"
      case .enteredATMode: "Enter AT Mode"
      case .value(let text): text
      }
    return Array(text.utf8) + WireText.lineEnd
  }

  /// The framing of replies: lines. If the line end is missing, silence ends the reply.
  public static var codec: ReplyCodec {
    do {
      let line = ReplyPattern("", terminator: WireText.lineEnd)
      return try ReplyCodec(patterns: [line], maximumPayload: BlunoLimits.reply)
    } catch {
      preconditionFailure("\(error)")  // the arguments are constants within the codec's bounds
    }
  }

  /// The value as a number, for parameters that are numbers: `-06` is −6, `115200,8,N,1` is 115200. A signal strength
  /// of 0, which means that there is no connection, becomes `nil`.
  public func number(of parameter: BlunoParameter) -> Int? {
    guard case .value(let text) = self else { return nil }
    let field = Array(text.utf8).prefix { $0 != UInt8(ascii: ",") }
    switch parameter {
    case .minimumInterval, .maximumInterval, .speed, .major, .minor, .power: return WireText.signed(field)
    case .signalStrength: return WireText.signed(field).flatMap { $0 == 0 ? nil : $0 }
    default: return nil
    }
  }

  /// The value as an address, for parameters that are addresses.
  public var address: BluetoothAddress? {
    guard case .value(let text) = self else { return nil }
    return BlunoParameter.address(text)
  }

  /// The value as a boolean, for parameters that are `ON` or `OFF`.
  public var flag: Bool? {
    switch self {
    case .value("ON"): true
    case .value("OFF"): false
    default: nil
    }
  }

  private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    bytes.indices.contains { bytes[$0...].starts(with: text.utf8) }
  }
}
