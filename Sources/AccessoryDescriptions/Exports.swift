// SPDX-License-Identifier: Apache-2.0

// These types of other modules are in this module's interface.

@_exported import struct AccessoryConfiguration.ProfileProblem
@_exported import struct AccessoryConfiguration.ProfileProblems
@_exported import enum AccessoryConfiguration.TextOrigin
@_exported import struct AccessoryIO.TerminalSettings
