// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A device that somebody waits for, and that no source reports without searching for it: one on the air.
public struct DeviceWish: Sendable {
  /// The transport by which it will be opened: `ble` or `rfcomm`.
  public var transport: TransportKind
  /// The service that it tells while it is searched; nil when that isn't known.
  public var service: BluetoothUUID?
  /// The adapter that it is searched with; nil means the usual one.
  public var adapter: BluetoothAdapterName?
  /// Whether it is this device.
  public var fits: @Sendable (Device) -> Bool

  /// A wish for a device that `fits`.
  public init(
    _ transport: TransportKind = .ble, service: BluetoothUUID? = nil, adapter: BluetoothAdapterName? = nil,
    fits: @escaping @Sendable (Device) -> Bool
  ) {
    (self.transport, self.service, self.adapter, self.fits) = (transport, service, adapter, fits)
  }
}
