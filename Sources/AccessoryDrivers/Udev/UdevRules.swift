// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

/// udev rules for the accessories of profiles. They give their device nodes to a group and to the user at the seat,
/// make ModemManager ignore them, and have systemd start the service.
///
/// A udev rule matches what the profile's rule matches, as far as udev knows it: a terminal by the attributes of its
/// USB device and by its name by-id, and a USB device by its own attributes. Rules for simulators' announcements, and
/// rules that would match unrelated devices, are left out.
public struct UdevRules: Sendable, Hashable {
  /// The group of the device nodes.
  public var group = "accessory-bridge"
  /// The mode of the device nodes.
  public var mode: UInt16 = 0o660
  /// The systemd unit that is started; nil for none.
  public var unit: String? = usualUnit
  /// The path of `bridge-cli`, for systems without systemd: udev runs it for each accessory that is plugged in. Nil for
  /// none. A path that isn't valid according to `isPath` is left out.
  public var program: String?

  /// The unit of this package's service.
  public static let usualUnit = "accessory-bridge.service"

  /// The default rules.
  public init() {}

  /// The text of the rules file for these profiles.
  public func text(for profiles: [Profile]) -> String {
    let known = profiles.sorted { $0.name < $1.name }.map { (name: $0.name, lines: Self.lines(of: $0)) }
      .filter { !$0.lines.isEmpty }
    let sections = known.map { "# \(UdevPattern.word($0.name))\n" + $0.lines.joined(separator: "\n") + "\n" }
    return ([head(profiles)] + sections + [tail]).joined(separator: "\n")
  }

  /// Whether there is a udev rule for the profile.
  public static func know(_ profile: Profile) -> Bool { !lines(of: profile).isEmpty }

  /// Whether a name can be used in rules without changes, as a group or a unit.
  public static func isName(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count) && UdevPattern.word(text) == text
  }

  /// Whether a path can be used in rules without changes. Blanks aren't allowed, because udev splits a command at them.
  public static func isPath(_ text: String) -> Bool {
    text.hasPrefix("/") && text.split(separator: "/").allSatisfy { isName(String($0)) }
  }

  // MARK: - Parts of the file

  /// The beginning of the file. When a device is removed, the events `unbind` and then `remove` come without its sysfs attributes. So
  /// ID_ACCESSORY_BRIDGE is imported from udev's database, because systemd learns only of tagged devices. If another device is in the
  /// same port by then, the database has that one's data, and only the kernel's PRODUCT identifies the removed device.
  private func head(_ profiles: [Profile]) -> String {
    let products = Set(profiles.flatMap(\.rules).compactMap(Self.product)).sorted()
    let removed = products.map { #"ACTION=="remove", ENV{PRODUCT}=="\#($0)", TAG+="systemd""# + "\n" }
    return """
      # SPDX-License-Identifier: Apache-2.0
      # Made by 'bridge-cli profile udev-rules' from its profiles: change those, not this.

      SUBSYSTEM!="tty|usb|hidraw", GOTO="accessory_bridge_end"
      SUBSYSTEM=="usb", ENV{DEVTYPE}!="usb_device", GOTO="accessory_bridge_end"
      \(unit == nil ? "" : removed.joined())ACTION=="unbind|remove", IMPORT{db}="ID_ACCESSORY_BRIDGE"
      ACTION=="unbind|remove", GOTO="accessory_bridge_known"

      """
  }

  /// The ids as in the kernel's `PRODUCT`, with any release: "1209/1/*".
  private static func product(_ rule: DeviceRule) -> String? {
    guard let vendor = rule.usbVendor, matches(of: rule) != nil else { return nil }
    let product = rule.usbProduct.map { String($0, radix: 16) } ?? "*"
    return "\(String(vendor, radix: 16))/\(product)/*"
  }

  private var tail: String {
    var octal = String(mode, radix: 8)
    octal = String(repeating: "0", count: max(0, 4 - octal.count)) + octal
    let wants = unit.map { #"TAG+="systemd", ENV{SYSTEMD_WANTS}+="\#(UdevPattern.word($0))""# + "\n" } ?? ""
    let run = program.flatMap { Self.isPath($0) ? $0 : nil }
      .map { #"ACTION=="add", RUN+="\#($0) attach --udev""# + "\n" }
    return """
      LABEL="accessory_bridge_known"
      ENV{ID_ACCESSORY_BRIDGE}!="1", GOTO="accessory_bridge_end"
      \(wants)\(run ?? "")ENV{ID_MM_DEVICE_IGNORE}="1", ENV{ID_MM_PORT_IGNORE}="1"
      TAG+="uaccess", GROUP="\(UdevPattern.word(group))", MODE="\(octal)"
      LABEL="accessory_bridge_end"

      """
  }

  // MARK: - Matches

  private static func lines(of profile: Profile) -> [String] {
    profile.rules.flatMap { rule -> [String] in
      guard let matches = matches(of: rule) else { return [] }
      if let usage = rule.hidUsage { return reports(usage, matches) }
      // Hubs are excluded, because the rule matches any of the terminal's parent devices.
      var terminal = [#"SUBSYSTEM=="tty""#, #"SUBSYSTEMS=="usb""#, #"ATTRS{bDeviceClass}!="09""#]
      terminal += matches.map { "ATTRS{\($0.attribute)}==\"\($0.value)\"" } + interfaces(of: rule)
      if let byID = rule.byID { terminal.append("SYMLINK==\"serial/by-id/\(UdevPattern.match(byID))\"") }
      if let path = rule.path { terminal.append(Self.place(path)) }
      var lines = [terminal]
      // Only terminals have names by-id, and paths that a rule can contain.
      if rule.byID == nil, rule.path == nil {
        let device = [#"SUBSYSTEM=="usb""#, #"ATTR{bDeviceClass}!="09""#]
        lines.append(device + matches.map { "ATTR{\($0.attribute)}==\"\($0.value)\"" } + interfaces(of: rule))
        // HID reports have a node of their own.
        if let way = profile.transport.preferredTransport, [.hidraw, .hidText].contains(way) {
          let reports = [#"SUBSYSTEM=="hidraw""#, #"SUBSYSTEMS=="usb""#]
          lines.append(reports + matches.map { "ATTRS{\($0.attribute)}==\"\($0.value)\"" })
        }
      }
      return lines.map { ($0 + [#"ENV{ID_ACCESSORY_BRIDGE}="1""#]).joined(separator: ", ") }
    }
  }

  /// Matches for the node of HID reports, and for that of its USB device, which a reset on the bus needs. udev has no property for what a
  /// device is: its report descriptor begins with it, as the items Usage Page and Usage (HID 1.11, 6.2.2). The USB device's own events come
  /// before its descriptor is known, so the node of its reports brings about another.
  private static func reports(_ usage: HIDUsage, _ matches: [(attribute: String, value: String)]) -> [String] {
    let pattern = "'^\(item(0x04, usage.page) + item(0x08, usage.id))'"
    let mark = #"ENV{ID_ACCESSORY_BRIDGE}="1""#
    func line(_ parts: [String], _ attributes: String, _ last: [String]) -> String {
      (parts + matches.map { "\(attributes){\($0.attribute)}==\"\($0.value)\"" } + last).joined(separator: ", ")
    }
    return [
      line(
        [#"SUBSYSTEM=="hidraw""#, #"ACTION!="remove""#], "ATTRS",
        ["PROGRAM==\"/bin/grep -qaP \(pattern) /sys%p/device/report_descriptor\"", mark]),
      line(
        [#"SUBSYSTEM=="hidraw""#, #"ACTION=="add""#, #"SUBSYSTEMS=="usb""#], "ATTRS",
        [
          #"ENV{ID_ACCESSORY_BRIDGE}=="1""#, #"RUN+="/bin/sh -c 'echo change > /sys%p/../../../../uevent'""#,
        ]),
      line(
        [#"SUBSYSTEM=="usb""#, #"ENV{ID_USB_INTERFACES}=="*:03????:*""#], "ATTR",
        ["PROGRAM==\"/bin/grep -rqaP --include=report_descriptor \(pattern) /sys%p\"", mark]),
    ]
  }

  /// A short item of a report descriptor, as a pattern: its number has one byte or two.
  private static func item(_ tag: UInt8, _ number: UInt16) -> String {
    let low = "\\x" + Hexadecimal.string(UInt8(truncatingIfNeeded: number))
    let high = UInt8(truncatingIfNeeded: number >> 8)
    guard high > 0 else { return "\\x" + Hexadecimal.string(tag | 1) + low }
    return "\\x" + Hexadecimal.string(tag | 2) + low + "\\x" + Hexadecimal.string(high)
  }

  /// A match for the node of a terminal, or for a link to it.
  private static func place(_ path: String) -> String {
    let name = UdevPattern.match(TextPattern(String(path.dropFirst("/dev/".count))))
    return path.dropFirst("/dev/".count).contains("/") ? "SYMLINK==\"\(name)\"" : "KERNEL==\"\(name)\""
  }

  /// The attributes that the USB device must have; nil when no USB device can match, or unrelated ones would.
  private static func matches(of rule: DeviceRule) -> [(attribute: String, value: String)]? {
    guard rule != DeviceRule(), rule.bluetooth == nil, rule.driver == nil, rule.model == nil,
      rule.overreachProblem == nil
    else { return nil }
    var matches: [(attribute: String, value: String)] = []
    if let vendor = rule.usbVendor { matches.append(("idVendor", HexNumber.text(vendor))) }
    if let product = rule.usbProduct { matches.append(("idProduct", HexNumber.text(product))) }
    let texts = [("product", rule.name), ("manufacturer", rule.manufacturer), ("serial", rule.serialNumber)]
    for case (let attribute, let pattern?) in texts {
      // An empty text would match devices without the attribute.
      if pattern.text.isEmpty { return nil }
      matches.append((attribute, UdevPattern.match(pattern)))
    }
    return rule.byID?.text.isEmpty == true ? nil : matches
  }

  /// A match for the classes of the interfaces, which udev lists like ":020201:0a0000:".
  private static func interfaces(of rule: DeviceRule) -> [String] {
    guard let code = rule.interfaceClass else { return [] }
    return ["ENV{ID_USB_INTERFACES}==\"*:\(HexNumber.text(code))????:*\""]
  }
}
