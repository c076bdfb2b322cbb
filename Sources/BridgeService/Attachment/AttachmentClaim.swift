// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

/// A device to attach, with its profile and driver.
struct AttachmentClaim {
  /// The device as its source last reported it, with its default transport.
  var device: Device
  /// The Bluetooth adapter that a client has named; nil for the profile's, or the one that knows the device.
  var adapter: BluetoothAdapterName?
  @Boxed private(set) var profile: Profile?
  /// Nil if clients use the protocol themselves.
  @Boxed private(set) var driver: Driver?
  /// Whether a client asked for the attachment. Otherwise a profile matched the device.
  let isByHand: Bool
  /// The name of the profile that a client chose. It applies even where another profile matches.
  let chosenProfile: String?
  /// The protocol strings that programs written for ExternalAccessory ask for.
  let protocolStrings: [String]
  /// Whether writes are allowed; nil where the protocol has no writes. Only another profile changes it.
  var writes: Bridge.Writes?

  /// The device, with the transport that the profile prefers.
  var target: Device { (profile?.choosingTransport(device) ?? device).by(adapter) }
}
