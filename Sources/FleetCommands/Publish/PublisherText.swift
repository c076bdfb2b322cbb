// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryFleet

/// The file of a publisher's settings, for programs that write one.
package enum PublisherText {
  /// What a broker's address must be; nil if it is right.
  package static func problem(broker: String) -> String? {
    (try? BrokerAddress(broker)) == nil ? "mqtt://[USER@]HOST[:PORT] or mqtts://…, without a password" : nil
  }

  /// Whether the address names a user, who has a password.
  package static func hasUser(broker: String) -> Bool { (try? BrokerAddress(broker))?.user != nil }

  /// The text of the file. `passwordFile` is for a publisher that gets no credentials of systemd.
  package static func text(broker: String, passwordFile: String?) -> String {
    "broker: \(Quoted.whole(broker))\n" + (passwordFile.map { "password_file: \(Quoted.whole($0))\n" } ?? "")
  }
}
