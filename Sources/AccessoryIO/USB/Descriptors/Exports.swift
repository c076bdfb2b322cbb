// SPDX-License-Identifier: Apache-2.0

// These types were here before they moved to the core.
@_exported import struct AccessoryCore.USBClass
@_exported import struct AccessoryCore.USBEndpointDescription
@_exported import struct AccessoryCore.USBInterfaceDescription
