// SPDX-License-Identifier: Apache-2.0

// Prints battery and status of the AF1 accessory, in the way of an iOS app. Try it beside a pretended one:
//
//     bridge-cli simulate framed
//     swift run DelegateClient

import ExternalAccessory

setvbuf(stdout, nil, _IOLBF, 0)
let controller = AccessoryController()
controller.start()
RunLoop.main.run()
