// SPDX-License-Identifier: Apache-2.0

/// COMMAND_LONG: something is to be done. Made here are only those that ask for messages: nothing that changes what a
/// vehicle does.
public struct MAVLinkCommand: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 76
  /// SET_MESSAGE_INTERVAL: send a message again and again.
  public static let setMessageInterval: UInt16 = 511
  /// REQUEST_MESSAGE: send a message once.
  public static let requestMessage: UInt16 = 512

  /// What is to be done.
  public var command: UInt16
  /// Its seven parameters.
  public var parameters: [Float]
  /// Which system is to do it; 0 for all.
  public var system: UInt8
  /// Which component is to do it; 0 for all.
  public var component: UInt8
  /// How often it was sent before.
  public var confirmation: UInt8

  /// A command for somebody. Parameters that are left out are 0.
  public init(_ command: UInt16, _ parameters: [Float], system: UInt8, component: UInt8, confirmation: UInt8 = 0) {
    self.command = command
    self.parameters = Array((parameters + Array(repeating: 0, count: 7)).prefix(7))
    (self.system, self.component, self.confirmation) = (system, component, confirmation)
  }

  init(_ payload: RawSpan) {
    parameters = (0..<7).map { payload.paddedFloat(4 * $0) }
    command = payload.padded(28)
    system = payload.padded(30)
    component = payload.padded(31)
    confirmation = payload.padded(32)
  }

  var payload: [UInt8] {
    var bytes: [UInt8] = []
    for index in 0..<7 {
      bytes.append(littleEndian: parameters.indices.contains(index) ? parameters[index] : Float(0))
    }
    bytes.append(littleEndian: command)
    bytes += [system, component, confirmation]
    return bytes
  }

  /// The message that it asks for; nil for commands that ask for none.
  public var requestedMessage: UInt32? {
    guard command == Self.requestMessage || command == Self.setMessageInterval else { return nil }
    return UInt32(exactly: parameters[0])
  }
}

/// COMMAND_ACK: what became of a command.
public struct MAVLinkAcknowledgement: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 77

  /// What became of it.
  public enum Result: UInt8, Sendable, Hashable, CaseIterable {
    case accepted = 0, temporarilyRejected, denied, unsupported, failed, inProgress, cancelled, longOnly, intOnly
  }

  /// Which command.
  public var command: UInt16
  /// What became of it, as a number.
  public var result: UInt8
  /// How far it is, in percent, and 255 where that isn't known; an extension.
  public var progress: UInt8 = 0
  /// More about the result; an extension.
  public var detail: Int32 = 0
  /// Who sent the command; 0 where that isn't said. An extension.
  public var system: UInt8 = 0
  /// Likewise.
  public var component: UInt8 = 0

  /// What became of a command of somebody's.
  public init(_ command: UInt16, _ result: Result, system: UInt8 = 0, component: UInt8 = 0) {
    (self.command, self.result, self.system, self.component) = (command, result.rawValue, system, component)
  }

  init(_ payload: RawSpan) {
    command = payload.padded(0)
    result = payload.padded(2)
    progress = payload.padded(3)
    detail = payload.padded(4)
    system = payload.padded(8)
    component = payload.padded(9)
  }

  var payload: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: command)
    bytes += [result, progress]
    bytes.append(littleEndian: detail)
    bytes += [system, component]
    return bytes
  }

  /// The result in a word; nil for numbers that mean nothing.
  public var word: String? { Result(rawValue: result).map { Self.words[Int($0.rawValue)] } }

  private static let words = [
    "accepted", "temporarily rejected", "denied", "unsupported", "failed", "in progress", "cancelled",
    "taken as COMMAND_LONG only", "taken as COMMAND_INT only",
  ]
}
