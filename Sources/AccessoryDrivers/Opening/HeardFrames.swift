// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryIO

/// The frames that a description has for what a device advertises, as a stream of bytes from the device. Nothing can be sent.
final class HeardFrames: Transport {
  private let heard: AdvertisementTransport
  let output = OutputQueue()

  /// The frames that the reading of `heard` makes. Closes it when it is closed.
  init(_ heard: AdvertisementTransport) {
    self.heard = heard
    output.close(AccessoryError(.unsupported, "\(heard.label) is only heard: no bytes are written to it"))
  }

  var label: String { heard.label }
  var timing: LineTiming { .instant }
  var input: InputQueue { heard.input }
  func close() async { await heard.close() }
  func beginClose() { heard.beginClose() }
  func deviceWasRemoved() { heard.deviceWasRemoved() }
}
