// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser
import CommandOutput

/// The argument that names the device.
struct DeviceArgument: ParsableArguments {
  @Argument(help: .value("device", "The accessory, if there are several."), completion: CompletionWords.devices)
  var text: String?
}
