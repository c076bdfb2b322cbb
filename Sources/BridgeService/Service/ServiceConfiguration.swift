// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO

/// The configuration of a service, for what profiles don't set.
package struct ServiceConfiguration: Sendable {
  /// The user's retry settings, which replace a profile's; nil keeps the profile's.
  package struct RetryChange: Sendable, Hashable {
    /// The number of tries.
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

  /// The retry settings after an accessory was unplugged.
  package var reconnect = RetryChange()
  /// The retry settings after making contact failed.
  package var retry = RetryChange()
  /// The greatest number of accessories that are attached at the same time.
  package var maximumAttached = 256
  /// The connections of the Bluetooth adapters.
  package var bluetoothConnections = BluetoothConnections()
  /// The interval of all polls; nil for the intervals of profiles and drivers.
  package var poll: PollPolicy.Interval?
  /// The service ends after this time without clients and without accessories to hold or to wait for; nil: never.
  package var exitIdle: Duration?
  /// After this time the log says how many accessories are attached; nil: never.
  package var scanTimeout: Duration?
  /// The paths of the control sockets and the limits of clients, as the service reports them.
  package var socket, readingsSocket: String?
  package var clientLimits = ControlServer.Limits()
  /// The commands that clients of the socket for readings may perform.
  package var commandRules = CommandRules()
  /// The alarm rules, in addition to those of profiles.
  package var alarmRules = AlarmRules()
  /// The folder for the terminals and sockets at which profiles share their accessories; nil: no profile shares.
  package var shareFolder: String?
  /// The names of the profiles that share their accessories; nil: every profile with a `share:` key.
  package var sharingProfiles: Set<String>?
  /// Identifies this boot of the machine. It tells the history whether times since boot can be compared. Empty if unknown.
  package var boot = ""
  /// The history's files; nil to keep the history in memory only.
  var history: HistoryDisk?
  /// The file of the identities that several accessories have; nil to keep them in memory only.
  var twinFile: (any HistoryFile)?
  /// The file of the accessories that are gone, and of names; nil to keep them in memory only.
  var accessoryFile: (any HistoryFile)?
  /// What accessories are called, by their ids or serial numbers, unless a user has given them another name.
  package var names: [String: GivenName] = [:]
  /// After how many seconds of absence an accessory is forgotten; nil for never.
  package var forgetAfter: Double? = ServiceSettings.usualForgetting
  /// The folder for the history's files, those identities and those accessories; nil to keep them in memory only.
  package var stateFolder: String? {
    didSet {
      history = stateFolder.map { HistoryDisk(in: $0) }
      twinFile = stateFolder.map { StateFile("twins", in: $0) }
      accessoryFile = stateFolder.map { StateFile(GivenNames.fileName, in: $0) }
    }
  }
  /// The wall clock: seconds since 1970, UTC.
  package var wallClock: @Sendable () -> Double = { WallClock.seconds }
  /// The product and the version of the service.
  package var information: ServiceInformation

  /// Sets a configuration for devices whose arrival isn't reported, such as those on the network: without a user's setting, the service
  /// retries without limit, with growing pauses. Only the profiles in `profiles` share their accessories.
  package mutating func keepTrying(profiles: Set<String>) {
    sharingProfiles = profiles
    for change in [\ServiceConfiguration.reconnect, \.retry] where self[keyPath: change].tries == nil {
      self[keyPath: change].tries = .forever
      if self[keyPath: change].backoffThousandths == nil { self[keyPath: change].backoffThousandths = 2_000 }
    }
  }

  package init(information: ServiceInformation) { self.information = information }

  /// Whether a profile's accessory is shared, if the profile has a `share:` key.
  func shares(_ profile: Profile) -> Bool { sharingProfiles?.contains(profile.name) ?? true }

  /// A profile's policies, with the user's settings in their place.
  func policies(_ profile: Profile?) -> AttachmentPolicies {
    var policies = profile?.policies ?? AttachmentPolicies()
    reconnect.apply(to: &policies.reconnect)
    retry.apply(to: &policies.retry)
    return policies
  }
}

/// Callbacks for the service manager (systemd), and for events.
package struct ServiceHooks: Sendable {
  /// The control socket is open, and devices are watched.
  package var onReady: @Sendable () -> Void
  /// The service is running. It works as long as `proof` returns.
  package var onRunning: @Sendable (_ proof: @escaping @Sendable () async -> Void) -> Void
  /// The service's state, as a line for people.
  package var onStatus: @Sendable (String) -> Void
  /// Profiles are reloaded; `onReady` follows.
  package var onReloading: @Sendable () -> Void
  /// The service is ending.
  package var onStopping: @Sendable () -> Void
  /// Receives all events that subscribers can get, including values. Called on the service's queue; nil for no
  /// receiver.
  package var onEvent: (@Sendable (Bridge.Event) -> Void)?
  /// Resets the USB device with this usbfs node on its bus. Tests, which have no bus, set another.
  package var resetUSB: @Sendable (String) async throws(AccessoryError) -> Void = { node throws(AccessoryError) in
    try await USBReset.reset(node)
  }

  package init(
    onReady: @escaping @Sendable () -> Void = {},
    onRunning: @escaping @Sendable (_ proof: @escaping @Sendable () async -> Void) -> Void = { _ in },
    onStatus: @escaping @Sendable (String) -> Void = { _ in },
    onReloading: @escaping @Sendable () -> Void = {}, onStopping: @escaping @Sendable () -> Void = {},
    onEvent: (@Sendable (Bridge.Event) -> Void)? = nil
  ) {
    self.onReady = onReady
    self.onRunning = onRunning
    self.onStatus = onStatus
    self.onReloading = onReloading
    self.onStopping = onStopping
    self.onEvent = onEvent
  }
}
