// SPDX-License-Identifier: Apache-2.0

// One import is enough: what `Accessories` gives, and what is done with it, is of these.

@_exported import AccessoryCore
@_exported import AccessoryDiscovery
@_exported import AccessoryDrivers
@_exported import AccessoryIO
@_exported import AccessoryLink
