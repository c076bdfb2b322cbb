// SPDX-License-Identifier: Apache-2.0

// These modules are re-exported, so that one import is enough to use `Accessories` and its results.

@_exported import AccessoryCore
@_exported import AccessoryDiscovery
@_exported import AccessoryDrivers
@_exported import AccessoryFamilies
@_exported import AccessoryIO
@_exported import AccessoryLink
