// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// The identities that several accessories have, in memory and in a file, so that they have their names by their ports also when only one
/// of them is there after the service's next start. Used on the service's actor only.
final class KnownTwins: KeptState {
  private var twins = Twins()
  let kept = KeptText("known of equal serial numbers", sizeLimit: 1 << 20) { $0.twins }

  func text(on service: isolated BridgeService) -> String { twins.text }

  func take(_ text: String, on service: isolated BridgeService) -> Bool {
    let before = twins
    let isText = twins.take(text)
    guard twins != before else { return isText }
    // Those that are there already have their ports in their names from now on.
    service.mark(twins.marked)
    // Twins that were seen before the file was read.
    if twins.text.utf8.count != text.utf8.count { kept.write(on: service) }
    return isText
  }

  /// The event with its devices marked, after the changes of those that have become twins by it.
  func take(_ event: DeviceEvent, on service: isolated BridgeService) -> [DeviceEvent] {
    let events = twins.take(event)
    if events.count > 1 {
      let id = events.last.map { SafeText.escape($0.device.lineIdentity) } ?? ""
      service.log.notice("several accessories have the identity \(id): from now on the name of each has its port")
      kept.write(on: service)
    }
    return events
  }

  /// Whether what was recorded for the identity alone belongs to this one of the twins.
  func inherits(_ device: Device, on service: isolated BridgeService) -> Bool {
    let before = twins
    defer { if twins != before { kept.write(on: service) } }
    return twins.inherits(device)
  }
}
