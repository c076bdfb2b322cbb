// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessorySharing

/// The endpoints at which a profile's accessory is shared, with their hub and their clients. Used on the service's actor only.
final class ProfileEndpoints {
  let profile: String
  let sharing: ProfileSharing
  let hub: SharingHub
  var endpoints: [any SharingEndpoint] = []
  /// The transport between the hub and the accessory's line; nil while no accessory is connected.
  var feed: ShareFeed?
  /// The key of the attachment that is connected.
  var key: Int?
  /// What says that the accessory which was connected last is back.
  var again: SameAgain?
  /// Whether the connected accessory gets no bytes from programs: the profile says so, or writes aren't permitted.
  var isReadOnly = false
  /// The line control that the hub gets; nil if the accessory has no serial line.
  var line: SharedLineControl?
  /// The number of clients that get the accessory's bytes.
  var listeners = 0
  /// The number of this hub as a writer (see `addWriter`) while the line is lent to it; otherwise nil.
  var writer: Int?
  var isAsking = false
  var following: Task<Void, Never>?

  /// The permission bits of sockets and terminals: the owner and the group may read and write.
  static let mode: UInt16 = 0o660

  init(_ profile: String, _ sharing: ProfileSharing, io: IOThread) {
    (self.profile, self.sharing) = (profile, sharing)
    var rules = SharingRules()
    (rules.writers, rules.unplug) = (sharing.writers, sharing.unplug)
    rules.waitsForOnlyReader = false
    rules.bufferSize = Sharing.bufferSize
    hub = SharingHub(rules, io: io)
  }

  /// Whether an accessory is connected to the hub.
  var isConnected: Bool { feed.map { !$0.hasEnded } ?? false }

  var names: [String] { [sharing.terminal, sharing.socket].compactMap { $0 } }
}
