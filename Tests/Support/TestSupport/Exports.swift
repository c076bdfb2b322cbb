// SPDX-License-Identifier: Apache-2.0

// What users' tests have, these have too: clock, transport in memory, values to wait for.
@_exported import AccessoryTesting
