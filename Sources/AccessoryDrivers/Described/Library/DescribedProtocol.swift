// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A protocol that a file describes, with the settings of the line it is spoken on.
public struct DescribedProtocol: Sendable, Hashable {
  /// What the protocol is.
  public var description: ProtocolDescription
  /// What a profile gets that names this protocol, as far as the profile doesn't say it itself; nil where the
  /// description says nothing of the line.
  public var line: TerminalSettings?
  /// Its text as lines of a profile, where it stands in one.
  var text: String?

  /// A protocol on a line with these settings.
  public init(description: ProtocolDescription, line: TerminalSettings? = nil) {
    self.description = description
    self.line = line
  }

  /// The profile that the protocol has without anybody's writing one.
  public var profile: Profile {
    var profile = Profile(name: name, rules: [DeviceRule(driver: name)], driver: name)
    if !description.summary.isEmpty { profile.description = description.summary }
    if let line { profile.transport.terminal = line }
    profile.described = self
    return profile
  }

  /// What the protocol is called; profiles name it as their driver.
  public var name: String { description.name }
}
