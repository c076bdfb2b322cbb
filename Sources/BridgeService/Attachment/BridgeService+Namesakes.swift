// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

// Strangers' devices that a profile knows by the name alone that they tell. Anybody can tell any name, so that the first one that is
// heard needn't be the one that is meant.

extension BridgeService {
  /// How long others with its name are listened for, before a stranger's device is connected for the first time.
  private static let namesakeSearch = Duration.seconds(10)

  /// Listens for others with the device's name. Throws `misconfigured` when there is one. What was attached before is known by its
  /// address.
  func checkName(_ key: Int) async throws(AccessoryError) {
    guard let attachment = attachments[key], isUnlearned(attachment) else { return }
    await clock.sleep(for: Self.namesakeSearch)
    if Task.isCancelled || isClosing { throw AccessoryError(.cancelled, "listening for others was cancelled") }
    guard let attachment = attachments[key], isUnlearned(attachment) else { return }
    let device = attachment.device
    guard let other = (found.all + attachments.ordered.map(\.device)).first(where: { isNamesake($0, of: device) })
    else {
      return
    }
    let name = SafeText.escape(device.bluetooth?.toldName ?? "", limit: 64)
    throw AccessoryError(
      .misconfigured,
      "\(device.place) and \(other.place) have the name \(name), by which the profile \(attachment.profile?.name ?? "") goes, "
        + "and anybody can tell it: write the address of the one that is meant into the profile, as "
        + "bluetooth: {address: \"\(device.bluetooth?.address.description ?? "")\"}")
  }

  /// Says which device was taken for a name.
  func tellLearned(_ attachment: Attachment) {
    guard goesByName(attachment.device, attachment.profile), let bluetooth = attachment.device.bluetooth else { return }
    let text =
      "the profile \(attachment.profile?.name ?? "") goes by the name that a device tells, and has learned the address "
      + "\(bluetooth.address): bluetooth: {address: \"\(bluetooth.address)\"} keeps others out"
    log.notice("\(text)")
  }

  private func isUnlearned(_ attachment: Attachment) -> Bool {
    !attachment.machine.hasBeenAttached && !attachment.claim.isByHand
      && goesByName(attachment.device, attachment.profile)
  }

  private func goesByName(_ device: Device, _ profile: Profile?) -> Bool {
    guard let bluetooth = device.bluetooth, bluetooth.toldName != nil, !bluetooth.isPaired, !bluetooth.isTrusted,
      let rule = profile?.rules.first(where: { $0.fits(device) })?.bluetooth
    else { return false }
    return rule.address == nil && rule.name != nil
  }

  /// Whether another device in reach tells the same name, and the same profile is for it. A device that changes its address is none.
  private func isNamesake(_ other: Device, of device: Device) -> Bool {
    guard let (mine, theirs) = device.bluetooth.flatMap({ mine in other.bluetooth.map { (mine, $0) } }) else {
      return false
    }
    return mine.address != theirs.address && mine.toldName == theirs.toldName
      && !mine.hasPassingAddress && !theirs.hasPassingAddress && theirs.isInReach
      && profiles.profile(for: other) == profiles.profile(for: device)
  }
}
