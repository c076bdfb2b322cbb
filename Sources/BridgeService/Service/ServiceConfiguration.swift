// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDrivers

/// How a service behaves, where profiles don't say.
package struct ServiceConfiguration: Sendable {
  /// Settings of the user that override a profile's; nil keeps the profile's.
  package struct RetryChange: Sendable, Hashable {
    /// How often something is tried.
    package enum Tries: Sendable, Hashable {
      case off
      case count(Int)
      case forever
    }

    package var tries: Tries?
    package var interval: Duration?
    package var backoffThousandths: Int?

    package init(tries: Tries? = nil, interval: Duration? = nil, backoffThousandths: Int? = nil) {
      self.tries = tries
      self.interval = interval
      self.backoffThousandths = backoffThousandths
    }

    func apply(to policy: inout RetryPolicy) {
      switch tries {
      case nil: break
      case .off: policy.isEnabled = false
      case .count(let count): (policy.isEnabled, policy.tries) = (true, count)
      case .forever: (policy.isEnabled, policy.tries) = (true, nil)
      }
      if let interval {
        policy.interval = interval
        policy.longestInterval = max(policy.longestInterval, interval)
      }
      if let backoffThousandths { policy.backoffThousandths = backoffThousandths }
    }
  }

  /// After an accessory went away.
  package var reconnect = RetryChange()
  /// After making contact failed.
  package var retry = RetryChange()
  /// How many accessories are attached at most, of all kinds together.
  package var maximumAttached = 256
  /// How often every accessory is polled, whatever profiles and drivers say; nil: as they say.
  package var poll: PollPolicy.Interval?
  /// The service ends when it had nothing attached and no clients for so long; nil: never.
  package var exitIdle: Duration?
  /// When to say that the search is over; nil: never.
  package var scanTimeout: Duration?
  /// Where it answers, and what it lets clients cost: what it tells of itself.
  package var socket: String?
  package var clientLimits = ControlServer.Limits()
  /// Who the service is.
  package var information: ServiceInformation

  package init(information: ServiceInformation) { self.information = information }

  /// The policies of a profile, with what the user wants otherwise.
  func policies(_ profile: Profile?) -> AttachmentPolicies {
    var policies = profile?.policies ?? AttachmentPolicies()
    reconnect.apply(to: &policies.reconnect)
    retry.apply(to: &policies.retry)
    return policies
  }
}

/// What the manager of services (systemd) is told.
package struct ServiceHooks: Sendable {
  /// Clients are answered, and devices watched.
  package var onReady: @Sendable () -> Void
  /// The service runs, and works as long as this returns.
  package var onRunning: @Sendable (_ proof: @escaping @Sendable () async -> Void) -> Void
  /// How things are, in a line for people.
  package var onStatus: @Sendable (String) -> Void
  /// Profiles are read anew; `onReady` follows.
  package var onReloading: @Sendable () -> Void
  /// The service ends.
  package var onStopping: @Sendable () -> Void
  /// The events that subscribers get. Called on the service's queue.
  package var onEvent: @Sendable (Bridge.Event) -> Void

  package init(
    onReady: @escaping @Sendable () -> Void = {},
    onRunning: @escaping @Sendable (_ proof: @escaping @Sendable () async -> Void) -> Void = { _ in },
    onStatus: @escaping @Sendable (String) -> Void = { _ in },
    onReloading: @escaping @Sendable () -> Void = {}, onStopping: @escaping @Sendable () -> Void = {},
    onEvent: @escaping @Sendable (Bridge.Event) -> Void = { _ in }
  ) {
    self.onReady = onReady
    self.onRunning = onRunning
    self.onStatus = onStatus
    self.onReloading = onReloading
    self.onStopping = onStopping
    self.onEvent = onEvent
  }
}
