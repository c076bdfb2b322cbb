// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryIO

/// A protocol that a description file defines, with the settings of its serial line.
public struct DescribedProtocol: Sendable, Hashable {
  /// The protocol's description.
  public var description: ProtocolDescription {
    get { boxedDescription }
    set { boxedDescription = newValue }
  }
  @Boxed private var boxedDescription: ProtocolDescription
  /// The settings of the serial line, which a profile for this protocol may override; nil when the description has none.
  public var line: TerminalSettings?
  /// The description's text, indented as part of a profile; nil when it isn't part of one.
  package var text: String?
  /// Notes that `check` prints in addition to errors: old keys with their new spelling, and values that can't be sent.
  package var notes: [ProfileProblem] = []

  /// A protocol, with the settings of its line.
  public init(description: ProtocolDescription, line: TerminalSettings? = nil) {
    boxedDescription = description
    self.line = line
  }

  /// The protocol's name, which is also the name of its driver.
  public var name: String { description.name }
}
