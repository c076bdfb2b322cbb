// SPDX-License-Identifier: Apache-2.0

// The same program in Swift 5 mode, where the top level of a program is not the main actor's.

import ExternalAccessory

let model = MainActor.assumeIsolated {
  let model = AccessoryModel()
  model.start()
  return model
}
RunLoop.main.run()
