// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A command for an EV3.
public struct EV3Request: Sendable, Hashable {
  /// What kind of message it is, and so whether it is answered.
  public var type: EV3MessageType
  /// What follows the type.
  public var body: [UInt8]
  /// Time for the answer; nil: what the link has for all. For commands that wait for something to happen.
  public var timeout: Duration?

  /// A command of these parts.
  public init(_ type: EV3MessageType, body: [UInt8], timeout: Duration? = nil) {
    self.type = type
    self.body = body
    self.timeout = timeout
  }

  /// Code to be run.
  public init(_ command: EV3DirectCommand, wantsReply: Bool, timeout: Duration? = nil) {
    self.init(wantsReply ? .directCommand : .directCommandNoReply, body: command.body, timeout: timeout)
  }

  /// A command about files and the system.
  ///
  /// - Throws: what the command's body throws.
  public init(_ command: EV3SystemCommand, timeout: Duration? = nil) throws(EV3MessageError) {
    self.init(command.hasReply ? .systemCommand : .systemCommandNoReply, body: try command.body(), timeout: timeout)
  }

  /// Which open handles there are: answered at once, whatever runs, and changes nothing.
  static let marker = EV3Request(.systemCommand, body: [EV3SystemCommand.listOpenHandles.code])

  /// For people.
  var name: String {
    switch type {
    case .directCommand, .directCommandNoReply: "a direct command"
    default: "system command 0x" + String(body.first ?? 0, radix: 16)
    }
  }
}
