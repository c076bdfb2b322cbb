// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A command with valid arguments.
public struct CommandCall: Sendable, Hashable {
  /// The command to carry out.
  public let command: CommandDescription
  /// The arguments by name, including defaults of those that were left out.
  public let values: [String: CommandValue]
  /// Whether the call may change something in the accessory. Drivers refuse a write without this.
  public private(set) var isPermitted = false

  /// A call that may not change anything.
  init(command: CommandDescription, values: [String: CommandValue]) { (self.command, self.values) = (command, values) }

  /// The same call, allowed to change something. Accessories from `DeviceOpener` that were opened for writing do this themselves.
  /// Call it only if you open a driver's own type, and have made sure in another way that the change is wanted.
  public func permitted() -> CommandCall {
    var call = self
    call.isPermitted = true
    return call
  }

  /// The whole number of an argument; 0 when there is none.
  public func whole(_ name: String) -> Int { if case .whole(let value)? = values[name] { value } else { 0 } }

  /// The text of an argument, or its chosen word; "" when there is none.
  public func text(_ name: String) -> String { if case .text(let value)? = values[name] { value } else { "" } }

  /// The chosen words of an argument.
  public func words(_ name: String) -> [String] {
    guard case .list(let list)? = values[name] else { return [] }
    return list.compactMap { if case .text(let word) = $0 { word } else { nil } }
  }

  /// The bytes of an argument.
  public func bytes(_ name: String) -> [UInt8] { if case .bytes(let value)? = values[name] { value } else { [] } }

  /// Whether an argument is yes.
  public func flag(_ name: String) -> Bool { values[name] == .flag(true) }
}
