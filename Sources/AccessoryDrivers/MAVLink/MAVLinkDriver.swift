// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

extension Driver {
  /// Autopilots that speak MAVLink. They have no commands here: what arms, moves or sets something isn't offered, and bytes
  /// that do need the permissions that `WriteRules` says.
  public static let mavlink = Driver(
    name: MAVLinkAutopilot.driverName, summary: "autopilots that speak MAVLink",
    polls: [
      .readings(every: .seconds(10)), AccessoryPoll("values", every: .seconds(10), gives: [.values]),
    ],
    freshness: MAVLinkAutopilot.freshness, hasWrites: true, lacks: [.files, .requests],
    frames: { MAVLinkWords.reader }
  ) { session, _, clock throws(AccessoryError) in
    try await MAVLinkAutopilot.open(session, clock: clock)
  }
}
