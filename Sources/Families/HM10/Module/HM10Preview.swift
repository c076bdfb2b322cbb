// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

extension HM10Module {
  /// The bytes that these calls send to a genuine module.
  static func preview(of calls: [CommandCall]) throws(AccessoryError) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    for call in calls {
      do throws(HM10CommandError) {
        guard let command = try command(of: call) else { throw .notSendable }
        frames.append(try command.encoded(for: .genuine))
      } catch {
        throw AccessoryError(.misconfigured, "\(call.command.name) can't be sent: \(error)")
      }
    }
    return frames
  }

  static let previewRemark =
    "contact begins with AT, which tells whom commands reach: these are for a genuine module, and a clone gets CR LF behind "
    + "each and other words for some"

  private static let plain: [String: HM10Command] = [
    "attention": .attention, "name": .name, "address": .address, "last-address": .lastAddress,
    "version": .version(.vers), "help": .help, "battery-percent": .battery, "signal-strength": .signalStrength,
    "start": .start, "clear": .clear, "sleep": .sleep, "reset": .reset, "renew": .renew, "discover": .discover,
    "discover-beacons": .discoverBeacons, "discover-advertisements": .discoverAdvertisements,
    "connect-last": .connectLast,
  ]

  /// The command of a call; nil when an argument isn't valid.
  private static func command(of call: CommandCall) throws(HM10CommandError) -> HM10Command? {
    let name = call.command.name
    if let command = plain[name] { return command }
    switch name {
    case "set-name": return .setName(call.text("name"))
    case "connect-index": return .connectIndex(call.whole("index"))
    case "connect-address":
      return BluetoothAddress(call.text("address")).map { .connect($0, isDual: call.flag("dual")) }
    case "at": return try HM10Command(decoding: Array(call.text("command").utf8))
    default: break
    }
    if let form = HM10SettingForm.all.first(where: { $0.name == name }) { return .ask(form.setting) }
    guard let form = HM10SettingForm.all.first(where: { "set-" + $0.name == name }) else { return nil }
    return form.number(call).map { .set(form.setting, $0) }
  }
}
