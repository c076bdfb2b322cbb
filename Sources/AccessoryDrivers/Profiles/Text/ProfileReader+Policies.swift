// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

extension ProfileReader {
  /// Reads whether a service may connect the devices of these rules.
  mutating func connects(_ fields: KeyedNodes, _ rules: [DeviceRule]) -> Bool {
    guard word(fields, "connect") == "allowed", let node = fields["connect"] else { return false }
    // Errors in the rules were reported at their own place.
    if problems.isEmpty, !rules.contains(where: { $0.bluetooth != nil }) {
      report(node.mark, "connect: allowed is for devices on the air: say which, as in match: {bluetooth: {address: …}}")
    }
    return true
  }

  /// Reads the policies. What the text leaves out stays as it is in `policies`.
  mutating func policies(_ node: YAMLNode, from policies: AttachmentPolicies) -> AttachmentPolicies {
    var policies = policies
    guard let fields = keys(node, ProfileKeys.policies) else { return policies }
    if let node = fields["reconnect"] { policies.reconnect = attempts(node, "reconnect", from: policies.reconnect) }
    if let node = fields["retry"] { policies.retry = attempts(node, "retry", from: policies.retry) }
    policies.maximumAttached = fields["max_attached"].flatMap { node in
      isWord(node, "any") ? nil : whole(node, "max_attached (or any)", 1...1_000)
    }
    policies.idleClose = fields["idle_close"].flatMap { node in
      isWord(node, "never") ? nil : time(node, "idle_close (or never)", .seconds(1) ... .seconds(86_400))
    }
    if let node = fields["silent"] { policies.recovery = recovery(node) }
    return policies
  }

  /// Reads what is done with a silent device: `ignore`, `reopen`, or details.
  private mutating func recovery(_ node: YAMLNode) -> RecoveryPolicy? {
    if isWord(node, "ignore") { return nil }
    var policy = RecoveryPolicy()
    if isWord(node, "reopen") { return policy }
    guard let fields = keys(node, ProfileKeys.silent) else { return nil }
    set(&policy.polls, number(fields, "polls"))
    policy.resetsBus = word(fields, "reset") == "allowed"
    pauses(&policy.interval, &policy.longestInterval, fields)
    return policy
  }

  private mutating func attempts(_ node: YAMLNode, _ what: String, from policy: RetryPolicy) -> RetryPolicy {
    var policy = policy
    guard let fields = keys(node, ProfileKeys.attempts, called: what) else { return policy }
    set(&policy.isEnabled, flag(fields, "enabled"))
    if let node = fields["tries"] {
      policy.tries = isWord(node, "forever") ? nil : whole(node, "tries (or forever)", 1...1_000_000)
    }
    set(&policy.backoffThousandths, fields["backoff"].flatMap { factor($0) })
    pauses(&policy.interval, &policy.longestInterval, fields)
    return policy
  }

  /// Reads the first pause between tries, and the longest one.
  private mutating func pauses(_ interval: inout Duration, _ longest: inout Duration, _ fields: KeyedNodes) {
    set(&interval, time(fields, "interval"))
    guard let node = fields["longest"] else {
      // An interval that is longer than the default of `longest` is valid, so `longest` is raised to it.
      longest = max(longest, interval)
      return
    }
    set(&longest, time(fields, "longest"))
    if longest < interval { report(node.mark, "longest is shorter than interval, which is \(TimeText.text(interval))") }
  }

  /// Reads a factor from 1 to 10 with up to three decimals, in thousandths.
  private mutating func factor(_ node: YAMLNode) -> Int? {
    if case .scalar(let text) = node.content {
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      let areDigits = parts.allSatisfy {
        (1...3).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x30...0x39).contains($0) }
      }
      if (1...2).contains(parts.count), areDigits, let whole = Int(parts[0]) {
        let decimals = parts.count == 2 ? parts[1] + String(repeating: "0", count: 3 - parts[1].count) : "000"
        let thousandths = whole * 1_000 + (Int(decimals) ?? 0)
        if (1_000...10_000).contains(thousandths) { return thousandths }
      }
    }
    report(node.mark, "backoff must be a factor from 1 to 10, like 2 or 1.5, not \(kind(node))")
    return nil
  }

  private func isWord(_ node: YAMLNode, _ word: String) -> Bool { node.content == .scalar(word) }
}
