// SPDX-License-Identifier: Apache-2.0

/// The profiles that are built into this package, in the same format as users' profiles.
///
/// 1209:0001 to 0003 are reserved for tests by anyone (https://pid.codes/1209/0001/), and all FT232Rs have 0403:6001,
/// so the rules for simulators also require the simulators' strings.
enum BuiltInProfiles {
  static let texts = [
    """
    name: framed
    description: An accessory that speaks AF1, as bridge-cli simulate framed pretends to be
    match:
      - driver: framed
      - {usb: {vendor: 1209, product: 0001}, manufacturer: Accessory Bridge}
      - {usb: {vendor: 1209, product: 0002}, manufacturer: Accessory Bridge}
      - {usb: {vendor: 0403, product: 6001}, manufacturer: Accessory Bridge, name: Simulated accessory}
    driver: framed
    protocols: [com.accessorybridge.framed]
    """,
    """
    name: framed-hid
    description: An accessory that speaks AF1 in HID reports, as bridge-cli simulate framed --usb --hid does
    match:
      usb: {vendor: 1209, product: 0003, interface_class: 03}
      manufacturer: Accessory Bridge
    transport:
      usb: {interface: 0}
    driver: framed
    protocols: [com.accessorybridge.framed]
    """,
    """
    name: ev3
    description: A LEGO MINDSTORMS EV3 brick, on USB, Bluetooth or the network
    match:
      - usb: {vendor: 0694, product: 0005}
      - driver: ev3
    transport:
      usb: {interface: 0}
    driver: ev3
    protocols: [COM.LEGO.MINDSTORMS.EV3]
    """,
    """
    name: hm10
    description: An HM-10 or HM-11 Bluetooth module on a serial line; say --driver hm10, or write a profile of your own
    match:
      driver: hm10
    transport:
      tty: {baud: 9600}
    driver: hm10
    protocols: [com.accessorybridge.hm10]
    """,
    """
    name: bluno
    description: A robot with a Bluno board, by its USB port; say --driver bluno, or write a profile of your own
    match:
      driver: bluno
    transport:
      tty: {baud: 115200, settle: 2s}
    driver: bluno
    protocols: [com.accessorybridge.bluno]
    """,
    """
    name: hm1x
    description: A car that takes HM-1X control frames; say --driver hm1x, or write a profile of your own
    match:
      driver: hm1x
    transport:
      tty: {baud: 9600}
    driver: hm1x
    protocols: [com.accessorybridge.hm1x]
    """,
    """
    name: mavlink
    description: An autopilot that speaks MAVLink; say --driver mavlink, or write a profile of your own
    match:
      driver: mavlink
    transport:
      tty: {baud: 57600}
    driver: mavlink
    protocols: [com.accessorybridge.mavlink]
    """,
  ]

  /// All built-in profiles. A test checks that each is valid, so none is missing here.
  static let all = texts.compactMap { try? ProfileReader.read(Array($0.utf8), file: "built in") }
}

extension Profile {
  /// The profile for AF1 accessories that simulators announce or provide on USB.
  public static let af1 = BuiltInProfiles.all.first { $0.name == AF1Accessory.driverName }!
  /// The profile for LEGO EV3 bricks on USB, or announced by simulators.
  public static let ev3 = BuiltInProfiles.all.first { $0.name == EV3Brick.driverName }!
  /// The profile for HM-10 modules that simulators announce, or that the user names as the driver.
  public static let hm10 = BuiltInProfiles.all.first { $0.name == HM10Module.driverName }!
  /// The profile for robots with a Bluno board that simulators announce, or that the user names as the driver.
  public static let bluno = BuiltInProfiles.all.first { $0.name == BlunoRobot.driverName }!
  /// The profile for HM-1X cars that simulators announce, or that the user names as the driver.
  public static let hm1x = BuiltInProfiles.all.first { $0.name == HM1XCar.driverName }!
  /// The profile for MAVLink autopilots that simulators announce, or that the user names as the driver.
  public static let mavlink = BuiltInProfiles.all.first { $0.name == MAVLinkAutopilot.driverName }!
}
