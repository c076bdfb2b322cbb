// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// COMMAND_LONG: a command to a component. This library only makes commands that ask for messages, none that changes
/// what a vehicle does.
public struct MAVLinkCommand: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 76
  /// SET_MESSAGE_INTERVAL: asks for a message at regular intervals.
  public static let setMessageInterval: UInt16 = 511
  /// REQUEST_MESSAGE: asks for a message once.
  public static let requestMessage: UInt16 = 512

  /// The number of the command.
  public var command: UInt16
  /// Its seven parameters.
  public var parameters: [Float]
  /// The system that the command is for; 0 for all.
  public var system: UInt8
  /// The component that the command is for; 0 for all.
  public var component: UInt8
  /// How often the command was sent before.
  public var confirmation: UInt8

  /// A command for a component of a system. Parameters that are left out are 0.
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

  /// The number of the message that the command asks for; nil for other commands.
  public var requestedMessage: UInt32? {
    guard command == Self.requestMessage || command == Self.setMessageInterval else { return nil }
    return UInt32(exactly: parameters[0])
  }
}

/// COMMAND_ACK: the outcome of a command.
public struct MAVLinkAcknowledgement: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 77

  /// The outcome of a command.
  public enum Result: UInt8, Sendable, Hashable, CaseIterable {
    case accepted = 0, temporarilyRejected, denied, unsupported, failed, inProgress, cancelled, longOnly, intOnly
  }

  /// The number of the command.
  public var command: UInt16
  /// The outcome, as a number.
  public var result: UInt8
  /// The progress in percent, 255 if it isn't known; an extension.
  public var progress: UInt8 = 0
  /// More about the result; an extension.
  public var detail: Int32 = 0
  /// The system that sent the command; 0 if the message doesn't say. An extension.
  public var system: UInt8 = 0
  /// The component that sent the command; 0 if the message doesn't say. An extension.
  public var component: UInt8 = 0

  /// The outcome of a command, for the system and component that sent it.
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

  /// The outcome in words; nil for unknown numbers.
  public var word: String? { Result(rawValue: result).map { Self.words[Int($0.rawValue)] } }

  private static let words = [
    "accepted", "temporarily rejected", "denied", "unsupported", "failed", "in progress", "cancelled",
    "taken as COMMAND_LONG only", "taken as COMMAND_INT only",
  ]
}
