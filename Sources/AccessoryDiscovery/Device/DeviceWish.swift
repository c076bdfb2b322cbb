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
  /// The address of the device, if it is known. Then a search ends when that device was heard. Otherwise it goes on to the end of its
  /// time, and finds all that fit: anybody can tell anything.
  public var address: BluetoothAddress?
  /// Whether it is this device.
  public var fits: @Sendable (Device) -> Bool

  /// A wish for a device that `fits`.
  public init(
    _ transport: TransportKind = .ble, service: BluetoothUUID? = nil, adapter: BluetoothAdapterName? = nil,
    fits: @escaping @Sendable (Device) -> Bool
  ) {
    (self.transport, self.service, self.adapter, self.fits) = (transport, service, adapter, fits)
  }

  /// A wish for the device with this address.
  public init(_ transport: TransportKind, address: BluetoothAddress, adapter: BluetoothAdapterName? = nil) {
    self.init(transport, adapter: adapter) { $0.bluetooth?.address == address }
    self.address = address
  }
}
