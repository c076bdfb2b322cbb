// SPDX-License-Identifier: Apache-2.0

/// The rules by which udev knows the accessories of profiles: it gives their nodes to a group and to who sits at the
/// machine, keeps ModemManager away, and has systemd start the service.
///
/// A rule fits what the profile's fits, as far as udev can know that: a terminal by what its USB device says, and by its
/// name by-id; the USB device by itself. What only simulators announce has no rule, and neither has what would take over
/// strangers' devices.
public struct UdevRules: Sendable, Hashable {
  /// The group that the nodes get.
  public var group = "accessory-bridge"
  /// The mode that the nodes get.
  public var mode: UInt16 = 0o660
  /// The unit that systemd starts; nil for none.
  public var unit: String? = usualUnit
  /// The path of `bridge-cli`, which udev is to run for each accessory that comes, where there is no systemd; nil for
  /// none. One that is no `isPath` is left out.
  public var program: String?

  /// The unit of this package's service.
  public static let usualUnit = "accessory-bridge.service"

  /// The usual ones.
  public init() {}

  /// The file of the rules of these profiles.
  public func text(for profiles: [Profile]) -> String {
    let known = profiles.sorted { $0.name < $1.name }.map { (name: $0.name, lines: Self.lines(of: $0)) }
      .filter { !$0.lines.isEmpty }
    let sections = known.map { "# \(UdevPattern.word($0.name))\n" + $0.lines.joined(separator: "\n") + "\n" }
    return ([head(profiles)] + sections + [tail]).joined(separator: "\n")
  }

  /// Whether there is a rule for what the profile fits.
  public static func know(_ profile: Profile) -> Bool { !lines(of: profile).isEmpty }

  /// Whether this is a name that can stand in rules as it is: of a group, or a unit.
  public static func isName(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count) && UdevPattern.word(text) == text
  }

  /// Whether this is a path that can stand in rules as it is: udev splits a command at its blanks.
  public static func isPath(_ text: String) -> Bool {
    text.hasPrefix("/") && text.split(separator: "/").allSatisfy { isName(String($0)) }
  }

  // MARK: - What is done

  /// What goes has nothing in sysfs any more, first at `unbind` and then at `remove`: what was known of it is kept, for
  /// systemd is only told of what is tagged. Where another device is in the same port already, udev reads that one's, and
  /// there is only what the kernel's message says.
  private func head(_ profiles: [Profile]) -> String {
    let products = Set(profiles.flatMap(\.rules).compactMap(Self.product)).sorted()
    let removed = products.map { #"ACTION=="remove", ENV{PRODUCT}=="\#($0)", TAG+="systemd""# + "\n" }
    return """
      # SPDX-License-Identifier: Apache-2.0
      # Made by 'bridge-cli udev-rules' from its profiles: change those, not this.

      SUBSYSTEM!="tty|usb", GOTO="accessory_bridge_end"
      SUBSYSTEM=="usb", ENV{DEVTYPE}!="usb_device", GOTO="accessory_bridge_end"
      \(unit == nil ? "" : removed.joined())ACTION=="unbind|remove", IMPORT{db}="ID_ACCESSORY_BRIDGE"
      ACTION=="unbind|remove", GOTO="accessory_bridge_known"

      """
  }

  /// Numbers as the kernel writes them in `PRODUCT`, with any release: "1209/1/*".
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

  // MARK: - What fits

  private static func lines(of profile: Profile) -> [String] {
    profile.rules.flatMap { rule -> [String] in
      guard let matches = matches(of: rule) else { return [] }
      // No hub: a terminal's device is looked for among all that are above it.
      var terminal = [#"SUBSYSTEM=="tty""#, #"SUBSYSTEMS=="usb""#, #"ATTRS{bDeviceClass}!="09""#]
      terminal += matches.map { "ATTRS{\($0.attribute)}==\"\($0.value)\"" } + interfaces(of: rule)
      if let byID = rule.byID { terminal.append("SYMLINK==\"serial/by-id/\(UdevPattern.match(byID))\"") }
      if let path = rule.path { terminal.append(Self.place(path)) }
      var lines = [terminal]
      // Only terminals have names by-id, and paths that a rule can name.
      if rule.byID == nil, rule.path == nil {
        let device = [#"SUBSYSTEM=="usb""#, #"ATTR{bDeviceClass}!="09""#]
        lines.append(device + matches.map { "ATTR{\($0.attribute)}==\"\($0.value)\"" } + interfaces(of: rule))
      }
      return lines.map { ($0 + [#"ENV{ID_ACCESSORY_BRIDGE}="1""#]).joined(separator: ", ") }
    }
  }

  /// The node of a terminal, or a link to it.
  private static func place(_ path: String) -> String {
    let name = UdevPattern.match(TextPattern(String(path.dropFirst("/dev/".count))))
    return path.dropFirst("/dev/".count).contains("/") ? "SYMLINK==\"\(name)\"" : "KERNEL==\"\(name)\""
  }

  /// What the device on USB must say; nil when no device on USB can fit, or too many would.
  private static func matches(of rule: DeviceRule) -> [(attribute: String, value: String)]? {
    guard rule != DeviceRule(), rule.driver == nil, rule.model == nil, rule.strangers == nil else { return nil }
    var matches: [(attribute: String, value: String)] = []
    if let vendor = rule.usbVendor { matches.append(("idVendor", HexNumber.text(vendor))) }
    if let product = rule.usbProduct { matches.append(("idProduct", HexNumber.text(product))) }
    let texts = [("product", rule.name), ("manufacturer", rule.manufacturer), ("serial", rule.serialNumber)]
    for case (let attribute, let pattern?) in texts {
      // An empty text would fit where there is none; no device says that.
      if pattern.text.isEmpty { return nil }
      matches.append((attribute, UdevPattern.match(pattern)))
    }
    return rule.byID?.text.isEmpty == true ? nil : matches
  }

  /// As udev lists the classes of all interfaces: ":020201:0a0000:".
  private static func interfaces(of rule: DeviceRule) -> [String] {
    guard let code = rule.interfaceClass else { return [] }
    return ["ENV{ID_USB_INTERFACES}==\"*:\(HexNumber.text(code))????:*\""]
  }
}
