// SPDX-License-Identifier: Apache-2.0

/// Devices are `CBPeripheral`, and their data Foundation's.
@_exported import CoreBluetooth
