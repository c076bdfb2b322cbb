// SPDX-License-Identifier: Apache-2.0

/// Clients use `CBPeripheral`, and Foundation's `Data` and `UUID`.
@_exported import CoreBluetooth
