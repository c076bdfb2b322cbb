// SPDX-License-Identifier: Apache-2.0

// These were declared here before they moved to AccessoryCore.

@_exported import struct AccessoryConfiguration.ProfileProblem
@_exported import struct AccessoryConfiguration.ProfileProblems
@_exported import struct AccessoryCore.CommandDescription
@_exported import struct AccessoryCore.CommandReply
@_exported import struct AccessoryCore.FileEntry
@_exported import struct AccessoryCore.ProtocolDetails
