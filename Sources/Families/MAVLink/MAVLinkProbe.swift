// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryProtocols

extension Driver {
  /// How `identify` finds autopilots.
  static let mavlinkProbe: Probe = { form, _, timeout in form == nil ? timeout.map { .mavlink($0) } : nil }
}

extension NativeProbe {
  /// Autopilots: listens for their heartbeats, which they send every second. Heartbeats of ground stations don't count.
  fileprivate static func mavlink(_ timeout: Duration) -> NativeProbe {
    let probe = CodecProbe(MAVLinkCodec(), timeout: nil) { header, payload in
      guard case .heartbeat(let heartbeat) = MAVLinkMessage(header.message, payload: payload),
        heartbeat.type != MAVLinkHeartbeat.groundStation
      else { return nil }
      return [
        .init("system", "\(header.system)"), .init("type", heartbeat.typeWord ?? "\(heartbeat.type)"),
        .init("autopilot", heartbeat.autopilotName ?? "\(heartbeat.autopilot)"),
      ]
    }
    return NativeProbe(kind: MAVLinkAutopilot.driverName, probe: probe, times: 1, timeout: timeout)
  }
}
