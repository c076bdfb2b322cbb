// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

// Profiles that change while the service runs.

extension BridgeService {
  /// Replaces the rules of alarms of the configuration and of the command line. Rules that stay keep their state.
  package func use(_ rules: AlarmRules) { alarms.use(rules, on: self) }

  /// Applies other profiles: attaches devices that match, detaches those that no longer match, and reopens those with
  /// changed settings. Lent accessories stay as they are.
  package func use(_ profiles: ProfileStore) {
    guard !isClosing else { return }
    self.profiles = profiles
    for attachment in attachments.ordered where attachment.machine.state != .lent {
      let profile = profile(of: attachment, as: attachment.device)
      let isUnclaimed =
        profile == nil && !attachment.claim.isByHand
        && profiles.conflict(for: attachment.device, label: attachment.name) == nil
      // The profile no longer lists this unit, or it now lists several where there was one.
      if let profile, !attachment.claim.isByHand, !profile.hasAccessory(attachment.device.unit) {
        log.notice("\(attachment.name): its profile now names other units")
        release(attachment)
        continue
      }
      guard profile != attachment.profile || isUnclaimed else { continue }
      if profile == nil && !attachment.claim.isByHand {
        log.notice("\(attachment.name): no profile matches it any longer")
        release(attachment)
      } else {
        log.notice("\(attachment.name): its profile has changed")
        replace(attachment, by: attachment.device, profile)
      }
    }
    for device in found.all { appeared(device) }
    endpoints.renew(on: self)
    checkIdle()
  }
}
