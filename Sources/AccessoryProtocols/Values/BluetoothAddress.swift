// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The address of a Bluetooth device. The type is AccessoryCore's; this is its earlier place.
public typealias BluetoothAddress = AccessoryCore.BluetoothAddress
