// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus

/// Finds out whether services of this machine can be announced on the local network. Looks, and changes nothing.
package enum AvahiDoctor {
  /// The unit that announces this machine to Home Assistant.
  private static let unit = "accessory-bridge-home-assistant.service"

  /// The report, if the machine starts that unit; `folder` has the links to what it starts.
  package static func reportIfUsed(
    _ folder: String = "/etc/systemd/system/multi-user.target.wants", address: String? = nil, io: IOThread = .shared
  ) async -> PortReport? {
    guard Directory.names(in: folder).contains(unit) else { return nil }
    return await report(address: address, io: io)
  }

  /// The report, by the bus at `address`, by default the system bus.
  package static func report(address: String? = nil, io: IOThread = .shared) async -> PortReport {
    var report = PortReport(named: "mdns")
    let bus = BusConnection(io: io, onSignal: { _ in }, onEnd: { _ in })
    do throws(BusFailure) {
      try await bus.open(address, rules: [])
      _ = try await bus.call(Avahi.findOwner)
      if try await bus.call(Avahi.state).values.first?.integer == Avahi.runs {
        report.add("avahi", .ok, "it is running: others on the local network find what is announced")
      } else {
        report.add(
          "avahi", .warning, "it is running, and announces nothing yet: systemctl status avahi-daemon says more")
      }
    } catch {
      report.add(
        "avahi", .warning,
        "nobody finds this machine by itself: \(Avahi.error(error).message). Without it, type host, port and key into Home Assistant by hand"
      )
    }
    await bus.close()
    return report
  }
}
