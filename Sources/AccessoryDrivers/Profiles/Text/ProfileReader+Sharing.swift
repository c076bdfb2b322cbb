// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryConfiguration

// Reads the `share:` key: the endpoints at which the service shares the accessory.
extension ProfileReader {
  mutating func sharing(_ node: YAMLNode, allowsWrites: Bool) -> ProfileSharing? {
    guard let fields = keys(node, ProfileKeys.share) else { return nil }
    var sharing = ProfileSharing()
    sharing.terminal = fields["pty"].flatMap { plainName($0, "the name of a terminal") }
    sharing.socket = fields["unix"].flatMap { plainName($0, "the name of a socket") }
    sharing.airName = fields["ble"].flatMap { airName($0) }
    set(&sharing.airForm, choice(fields, "uart"))
    if fields["ble"] == nil, let node = fields["uart"] {
      report(node.mark, "uart is the form of a serial port over Bluetooth: ble: NAME gives it a name")
    }
    if fields["pty"] == nil, fields["unix"] == nil, fields["ble"] == nil {
      report(node.mark, "share says where programs find the accessory: pty: NAME, unix: NAME, ble: NAME, or several")
    }
    if let name = sharing.terminal, name == sharing.socket, let node = fields["unix"] {
      report(node.mark, "the terminal has this name already: both are in one folder")
    }
    set(&sharing.writers, choice(fields, "writers"))
    set(&sharing.unplug, choice(fields, "unplug"))
    set(&sharing.asksToWrite, flag(fields, "write"))
    if sharing.asksToWrite, !allowsWrites, let node = fields["write"] {
      report(node.mark, "write: true needs writes: allowed in the profile, too")
    }
    if sharing.asksToWrite, sharing.writers == .none, let node = fields["write"] {
      report(node.mark, "write: true says that programs may change something, and writers: none that nobody writes")
    }
    return sharing
  }

  private mutating func airName(_ node: YAMLNode) -> String? {
    guard let name = text(node, "the name that phones see", limit: 64) else { return nil }
    guard let refusal = GATTUARTServer.Settings(name).refusal else { return name }
    report(node.mark, refusal)
    return nil
  }
}
