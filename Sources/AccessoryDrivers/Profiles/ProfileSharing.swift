// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore

/// The endpoints at which the service shares a profile's accessory with other programs of this machine, and the rules of sharing.
public struct ProfileSharing: Sendable, Hashable {
  /// Which programs' bytes are sent to the accessory. With `none` the service goes on sending its own requests.
  public typealias Writers = SharingWriters

  /// What happens to the programs when the accessory is unplugged.
  public typealias Unplug = SharingUnplug

  /// The name of a pseudo-terminal in the service's folder of endpoints; nil for none.
  public var terminal: String?
  /// The name of a Unix socket in the same folder; nil for none.
  public var socket: String?
  /// The name of a serial port that phones find by Bluetooth; nil for none.
  public var airName: String?
  /// The form of that serial port. The default is `hm10`.
  public var airForm = GATTUART.hm10
  /// Which programs' bytes are sent to the accessory. The default is `many`.
  public var writers = Writers.many
  /// What happens to the programs when the accessory is unplugged. The default is `hangUp`.
  public var unplug = Unplug.hangUp
  /// Whether programs ask for the permission to write, which is needed where bytes may change something in the accessory. The profile
  /// must allow writes, too. The default is `false`.
  public var asksToWrite = false

  /// The default rules, without an endpoint.
  public init() {}
}
