// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An accessory's state with the service that holds it, with its published keys: the field `service` of a device in JSON
/// documents and in a gateway's messages. They add why it isn't attached, in their own words; `Bridge.Accessory` reads it.
package struct HeldState: Encodable, Sendable {
  private enum CodingKeys: CodingKey {
    case state, profile, driver, tries, tries_limit, next_try_ms, holder, writes, readings_age_ms, stale, missing
    case absent, connected_since, last_seen, last
  }

  /// The service's record.
  package let accessory: Bridge.Accessory

  /// The state in this record.
  package init(_ accessory: Bridge.Accessory) { self.accessory = accessory }

  /// Writes the fields.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(accessory.state, forKey: .state)
    try fields.encodeIfPresent(accessory.profile, forKey: .profile)
    try fields.encodeIfPresent(accessory.driver, forKey: .driver)
    // The number of tries since it was last attached; while it is waited for, the number of the next try.
    try fields.encode(accessory.tries, forKey: .tries)
    // While it is waited for: the number of tries that are allowed, null for no limit; and the time until the next try, null
    // where that waits until the accessory is plugged in.
    try fields.encodeIfPresent(accessory.tries_limit, forKey: .tries_limit)
    try fields.encodeIfPresent(accessory.next_try_ms, forKey: .next_try_ms)
    // The client that has borrowed it.
    try fields.encodeIfPresent(accessory.holder, forKey: .holder)
    // Null where its protocol has no writes.
    try fields.encodeIfPresent(accessory.writes, forKey: .writes)
    // The age of the older of its last status and its last battery reading, and whether that age exceeds the expected one.
    try fields.encodeIfPresent(accessory.readings_age_ms, forKey: .readings_age_ms)
    try fields.encode(accessory.stale ?? false, forKey: .stale)
    // What it doesn't answer or refuses.
    try fields.encodeIfPresent(accessory.missing, forKey: .missing)
    // Whether it was attached and is gone; when it was connected last, and when it was last there; what was read then.
    try fields.encode(accessory.absent ?? false, forKey: .absent)
    try fields.encodeIfPresent(accessory.connected_since, forKey: .connected_since)
    try fields.encodeIfPresent(accessory.last_seen, forKey: .last_seen)
    try fields.encodeIfPresent(accessory.last, forKey: .last)
  }
}
