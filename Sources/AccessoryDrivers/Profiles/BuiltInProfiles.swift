// SPDX-License-Identifier: Apache-2.0

/// The profiles that come with this package, as the texts that users could have written.
enum BuiltInProfiles {
  static let texts = [
    """
    name: framed
    description: An accessory that speaks AF1, as bridge-cli simulate framed pretends to be
    match:
      driver: framed
    driver: framed
    protocols: [com.accessorybridge.framed]
    """,
    """
    name: ev3
    description: A LEGO MINDSTORMS EV3 brick, on USB, Bluetooth or the network
    match:
      - usb: {vendor: 0694, product: 0005}
      - driver: ev3
    driver: ev3
    protocols: [COM.LEGO.MINDSTORMS.EV3]
    """,
  ]

  /// All of them. That each can be read is a test's; here is nobody to tell otherwise.
  static let all = texts.compactMap { try? ProfileReader.read(Array($0.utf8), file: "built in") }
}

extension Profile {
  /// The framed accessory, as simulators announce it.
  public static let framed = BuiltInProfiles.all.first { $0.name == FramedAccessory.driverName }!
  /// LEGO's EV3 brick: as it shows itself on USB, and as simulators announce it.
  public static let ev3 = BuiltInProfiles.all.first { $0.name == EV3Brick.driverName }!
}
