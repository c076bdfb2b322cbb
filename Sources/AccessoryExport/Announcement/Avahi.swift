// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import MessageBus

/// The names and messages of Avahi on the system bus (its `org.freedesktop.Avahi.*.xml`).
enum Avahi {
  static let name = "org.freedesktop.Avahi"
  static let server = name + ".Server"
  static let group = name + ".EntryGroup"
  static let bus = "org.freedesktop.DBus"

  /// The state of the daemon: only a running one has a host name that is its own.
  static let runs: Int64 = 2

  /// The states of a group of announcements.
  enum GroupState: Int64 {
    case uncommitted, registering, established, collision, failure
  }

  /// The signals that count: of the daemon and of groups, and whether the daemon runs.
  static let rules = [
    "type='signal',sender='\(name)',interface='\(server)',member='StateChanged'",
    "type='signal',sender='\(name)',interface='\(group)',member='StateChanged'",
    "type='signal',sender='\(bus)',interface='\(bus)',member='NameOwnerChanged',arg0='\(name)'",
  ]

  static let findOwner = BusCall(bus, "/org/freedesktop/DBus", bus, "GetNameOwner", [.text(name)])
  static let state = BusCall(name, "/", server, "GetState")
  static let newGroup = BusCall(name, "/", server, "EntryGroupNew")

  static func call(_ path: String, _ member: String) -> BusCall { BusCall(name, path, group, member) }

  /// Puts a service into a group: on all interfaces, by all protocols, for this host.
  static func add(_ service: AnnouncedService, to path: String) -> BusCall {
    BusCall(
      name, path, group, "AddService",
      [
        .signed32(-1), .signed32(-1), .unsigned32(0), .text(service.name), .text(service.type), .text(""), .text(""),
        .unsigned16(service.port), .bytesList(service.text.map { Array($0.utf8) }),
      ])
  }

  static let collision = name + ".CollisionError"

  /// The error where the daemon doesn't run.
  static let isMissing = AccessoryError(
    .disconnected,
    "Avahi doesn't run on this machine: sudo apt install avahi-daemon, or sudo systemctl start avahi-daemon")

  /// The error of a failed call.
  static func error(_ failure: BusFailure) -> AccessoryError {
    let words = SafeText.escape(failure.text.isEmpty ? failure.name : failure.text, limit: 200)
    return switch failure.name {
    case bus + ".Error.NameHasNoOwner", bus + ".Error.ServiceUnknown": isMissing
    case "System.Error.2", "System.Error.111", BusFailure.disconnected.name:
      AccessoryError(
        .disconnected,
        "it needs Avahi and the system bus (D-Bus), which isn't running here: sudo apt install avahi-daemon")
    case "System.Error.65":
      AccessoryError(.unsupported, "it needs libsystemd, which isn't installed: the package libsystemd0 has it")
    case bus + ".Error.AccessDenied", "System.Error.13":
      AccessoryError(.permissionDenied, "the system bus doesn't let this user talk to Avahi: \(words)")
    case _ where failure.isTimeout:
      AccessoryError(.timedOut, "Avahi doesn't answer: systemctl status avahi-daemon says more")
    default: AccessoryError(.refused, "Avahi refuses it: \(words)")
    }
  }
}
