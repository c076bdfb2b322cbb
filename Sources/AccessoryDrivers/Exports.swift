// SPDX-License-Identifier: Apache-2.0

/// Drivers are made of descriptions, and profiles name them.
@_exported import AccessoryDescriptions

@_exported import struct AccessoryConfiguration.TextPattern
@_exported import struct AccessoryCore.CommandDescription
@_exported import struct AccessoryCore.CommandReply
@_exported import struct AccessoryCore.FileEntry
@_exported import struct AccessoryCore.ProtocolDetails
