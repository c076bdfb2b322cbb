// SPDX-License-Identifier: Apache-2.0

// A program as it is written for iOS today, in Swift 6 mode: waits for the AF1 accessory, asks it for its battery,
// prints the reply's bytes, waits until it is unplugged and ends.

import ExternalAccessory

let model = AccessoryModel()
model.start()
RunLoop.main.run()
