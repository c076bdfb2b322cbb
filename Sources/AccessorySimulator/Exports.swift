// SPDX-License-Identifier: Apache-2.0

/// Types of descriptions are in this module's interface.
@_exported import AccessoryDescriptions
