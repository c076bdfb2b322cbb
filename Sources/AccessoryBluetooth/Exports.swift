// SPDX-License-Identifier: Apache-2.0

// This type was here before it moved to the core.
@_exported import struct AccessoryCore.BluetoothUUID
