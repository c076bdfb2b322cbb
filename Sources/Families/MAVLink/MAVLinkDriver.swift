// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// The driver of autopilots that speak MAVLink. It has no commands, because it never arms, moves or configures the
  /// vehicle. Other bytes to an autopilot need the permissions that `WriteRules` describes.
  ///
  /// Raw bytes are guarded: MAVLink has commands that arm and move the vehicle.
  public static let mavlink = Driver(
    name: MAVLinkAutopilot.driverName, summary: "autopilots that speak MAVLink",
    polls: [
      .readings(every: .seconds(10)), AccessoryPoll("values", every: .seconds(10), parts: [.values]),
    ],
    freshness: MAVLinkAutopilot.freshness,
    rawBytes: .guarded, lacks: [.files, .requests],
    frames: { MAVLinkWords.reader }
  ) { session, _, clock throws(AccessoryError) in
    try await MAVLinkAutopilot.open(session, clock: clock)
  }
  .shipping { [.mavlink] }
  .found(by: mavlinkProbe, at: [57_600, 115_200, 921_600].map { .init($0, .none) })
}

extension Profile {
  /// The profile for MAVLink autopilots that simulators announce, or that the user names as the driver.
  public static let mavlink = shipped(PackageResources.mavlink_yaml, driver: MAVLinkAutopilot.driverName)
}
