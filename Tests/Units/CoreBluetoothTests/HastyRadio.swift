// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryTesting
import Dispatch

/// A radio whose state is told, and handled on the client's queue as far as that is possible, before its session is there.
struct HastyRadio: Radio {
  let radio: ScriptedRadio
  let queue: DispatchQueue

  func begin(_ tell: @escaping @Sendable (RadioEvent) -> Void) -> any RadioSession {
    let told = DispatchSemaphore(value: 0)
    let session = radio.begin { event in
      tell(event)
      told.signal()
    }
    told.wait()
    queue.sync {}
    return session
  }

  func beginServing(_ tell: @escaping @Sendable (ServingEvent) -> Void) -> any ServingSession {
    let told = DispatchSemaphore(value: 0)
    let session = radio.beginServing { event in
      tell(event)
      told.signal()
    }
    told.wait()
    queue.sync {}
    return session
  }
}
