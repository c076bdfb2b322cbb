// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A service of this machine that others find on the local network (DNS-SD).
package struct AnnouncedService: Sendable, Hashable {
  /// The name of this instance, at most 63 bytes.
  package var name: String
  /// The kind, like `_esphomelib._tcp`.
  package var type: String
  /// The port where it listens.
  package var port: UInt16
  /// What is told with it, as `KEY=VALUE`, each at most 255 bytes.
  package var text: [String]

  /// A service with these properties.
  package init(name: String, type: String, port: UInt16, text: [String]) {
    (self.name, self.type, self.port, self.text) = (name, type, port, text)
  }
}

/// How far an announcement has come.
package enum AnnouncementState: Sendable, Hashable {
  /// Others on the network find it.
  case announced
  /// Another service has the name. It stays unannounced until Avahi starts again, or the service gets another name.
  case nameIsTaken
  /// It isn't announced, for this reason. It will be as soon as Avahi runs.
  case unavailable(AccessoryError)

  /// What has happened, and what to do instead; for people. `service` is its name.
  package func text(_ service: AnnouncedService) -> String {
    let name = SafeText.escape(service.name, limit: 63)
    return switch self {
    case .announced: "\(name) is announced on the local network (mDNS)"
    case .nameIsTaken:
      "\(name) isn't announced on the local network: another \(SafeText.escape(service.type, limit: 63)) has this name. Give this "
        + "one another name, or end the other"
    case .unavailable(let error): "\(name) isn't announced on the local network: \(error.message)"
    }
  }
}
