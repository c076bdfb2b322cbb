// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

// Reads how often accessories are polled.
extension ProfileReader {
  /// Reads the polls. `known` are the polls of the profile's driver; nil when there is no driver.
  mutating func polls(_ node: YAMLNode, _ known: [AccessoryPoll]?) -> PollPolicy {
    var policy = PollPolicy()
    guard node.content != .scalar("standard") else { return policy }
    guard let known, !known.isEmpty else {
      let reason = known == nil ? "the profile names no driver" : "the profile's driver can ask nothing"
      report(node.mark, "poll needs a driver that can be polled, and \(reason)")
      return policy
    }
    guard case .mapping = node.content else {
      policy.all = interval(node, "poll (or standard, or {NAME: 10s})")
      return policy
    }
    for (name, node) in fields(node, "poll", known.map(\.name)) ?? [:] { policy.named[name] = interval(node, name) }
    return policy
  }

  private mutating func interval(_ node: YAMLNode, _ what: String) -> PollPolicy.Interval? {
    if node.content == .scalar("off") { return .off }
    return time(node, "\(what), if not off,", .milliseconds(100) ... .seconds(86_400)).map { .every($0) }
  }
}
