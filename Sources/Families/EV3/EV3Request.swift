// SPDX-License-Identifier: Apache-2.0

import AccessoryLink
import AccessoryProtocols

/// A command for an EV3.
public struct EV3Request: Sendable, Hashable {
  /// The type of the message, which also says whether it has a reply.
  public var type: EV3MessageType
  /// The bytes after the type.
  public var body: [UInt8]
  /// Timeout for the reply, for commands that wait for something to happen; nil means the timeout of the exchange's
  /// options.
  public var timeout: Duration?

  /// A command with these parts.
  public init(_ type: EV3MessageType, body: [UInt8], timeout: Duration? = nil) {
    self.type = type
    self.body = body
    self.timeout = timeout
  }

  /// A direct command: byte code that the brick runs.
  public init(_ command: EV3DirectCommand, wantsReply: Bool, timeout: Duration? = nil) {
    self.init(wantsReply ? .directCommand : .directCommandNoReply, body: command.body, timeout: timeout)
  }

  /// A system command, which is about files or the system.
  ///
  /// - Throws: the error of encoding the command's body.
  public init(_ command: EV3SystemCommand, timeout: Duration? = nil) throws(EV3MessageError) {
    self.init(command.hasReply ? .systemCommand : .systemCommandNoReply, body: try command.body(), timeout: timeout)
  }

  /// A request for the list of open handles. The brick replies at once, whatever it runs, and nothing changes.
  static let marker = EV3Request(.systemCommand, body: [EV3SystemCommand.listOpenHandles.code])

  /// The command's name in error messages.
  var name: String {
    switch type {
    case .directCommand, .directCommandNoReply: "a direct command"
    default: "system command 0x" + String(body.first ?? 0, radix: 16)
    }
  }
}
