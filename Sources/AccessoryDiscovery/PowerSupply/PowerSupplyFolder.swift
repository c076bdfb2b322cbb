// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// The folder of a power supply in sysfs. The functions read files, for which the kernel may ask the battery.
struct PowerSupplyFolder: Sendable, Hashable {
  let name: String
  /// The folder below /sys.
  let devpath: String
  /// Distinguishes power supplies that have the same devpath one after another: the inode of the folder.
  let instance: UInt64

  /// What is kept of a text: the kernel's own limit is a page, and nothing in these files is that long.
  private static let textLimit = 256
  /// The most power supplies that are read.
  private static let limit = 256

  /// The folder of the power supply with this name; nil when there is none.
  init?(_ name: String) {
    let path = DeviceAddress.powerSupplies + name
    // The entry is a link like ../../devices/LNXSYSTM:00/…/power_supply/BAT0.
    guard let target = SymbolicLink.target(of: path), target.hasPrefix("../../") else { return nil }
    var file = stat()
    guard stat(path, &file) == 0 else { return nil }
    self.name = name
    devpath = "/" + target.dropFirst("../../".count)
    instance = UInt64(file.st_ino)
  }

  /// All power supplies that are present, sorted by name.
  static func all() -> [PowerSupplyFolder] {
    Directory.names(in: DeviceAddress.powerSupplies).sorted().prefix(limit).compactMap { PowerSupplyFolder($0) }
  }

  /// Whether the same power supply is still there.
  var isPresent: Bool { PowerSupplyFolder(name) == self }

  /// A file's text without blanks around it; nil when there is no such file, when it is empty, or when the battery can't say it now.
  func text(_ attribute: String) -> String? {
    let path = "\(DeviceAddress.powerSupplies)\(name)/\(attribute)"
    guard let bytes = try? SmallFile.read(path, limit: Self.textLimit) else { return nil }
    return UdevText.clean(String(decoding: bytes, as: UTF8.self))
  }

  /// The device as sources report it.
  var device: Device {
    let supply = PowerSupplyIdentity(kind: text("type") ?? "", isOfDevice: text("scope") == "Device")
    var device = Device(
      .powerSupply(name), source: .udev, name: text("model_name"), manufacturer: text("manufacturer"),
      // A laptop's battery is known by its place: many have no number, or all of a model the same. A mouse gets another place each time.
      serialNumber: supply.isOfDevice ? text("serial_number") : nil)
    device.supply = supply
    return device
  }
}
