// SPDX-License-Identifier: Apache-2.0

// These types were here before they moved to the core.
@_exported import struct AccessoryCore.Device
@_exported import struct AccessoryCore.USBIdentity
@_exported import struct AccessoryCore.USBInterface
