// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Builds the list of accessories from the kernel's devices: each terminal with its USB device, each power device beside a terminal,
/// and each USB device without a terminal. A pure function of the records.
enum UdevAssembly {
  /// An accessory with the instances of the kernel devices that it consists of, which distinguish a replugged device
  /// from the previous one.
  struct Entry: Sendable, Hashable {
    var device: Device
    var instances: [UInt64]
  }

  /// The accessories in these records, by the devpath of the terminal, of the interface of a power device beside it, or of the USB device
  /// if there is no terminal.
  /// Hubs, and USB devices that have no interface (not yet, or no longer), are left out.
  ///
  /// With `onlyInitialized`, devices to which udev's rules haven't been applied yet are left out, and so is a USB
  /// device while one of its terminals isn't initialized.
  static func entries(_ records: some Sequence<UdevRecord>, onlyInitialized: Bool) -> [String: Entry] {
    var tree = Tree(records)
    var entries: [String: Entry] = [:]
    for terminal in tree.loose where terminal.isInitialized || !onlyInitialized {
      if let node = terminal.node {
        var device = Device(.node(node), source: .udev, terminal: node)
        device.complete(from: terminal, onlyInitialized)
        entries[terminal.devpath] = Entry(device: device, instances: [terminal.instance])
      }
    }
    for group in tree.groups.values {
      let nodes = group.terminals + group.reports
      if onlyInitialized, !group.device.isInitialized || nodes.contains(where: { !$0.isInitialized }) { continue }
      entries.merge(group.entries(onlyInitialized)) { first, _ in first }
    }
    tree.groups = [:]
    return entries
  }

  /// The records, grouped by the USB device that they belong to.
  private struct Tree {
    var groups: [String: Group] = [:]
    /// Terminals that don't belong to a USB device.
    var loose: [UdevRecord] = []

    init(_ records: some Sequence<UdevRecord>) {
      for record in records where record.kind == .device { groups[record.devpath] = Group(device: record) }
      for record in records where record.kind != .device {
        // The nearest USB device above in the path: a hub is above the devices that are plugged into it.
        var path = record.devpath[...]
        while groups[String(path)] == nil, let slash = path.lastIndex(of: "/") { path = path[..<slash] }
        switch record.kind {
        case .interface: groups[String(path)]?.interfaces.append(record)
        case .terminal where groups[String(path)] != nil: groups[String(path)]?.terminals.append(record)
        case .hid: groups[String(path)]?.reports.append(record)
        default: loose.append(record)
        }
      }
    }
  }

  /// A USB device with its interfaces and terminals.
  private struct Group {
    var device: UdevRecord
    var interfaces: [UdevRecord] = []
    var terminals: [UdevRecord] = []
    /// Its HID reports: one record for each interface of that class.
    var reports: [UdevRecord] = []

    func entries(_ onlyInitialized: Bool) -> [String: Entry] {
      let description = USBDescriptorReader.read(device.descriptors)
      guard !interfaces.isEmpty, var identity = USBIdentity(device, description),
        identity.function.code != USBClass.hub
      else { return [:] }
      identity.interfaces = interfaces.compactMap { USBInterface($0, description) }
        .sorted { $0.description.number < $1.description.number }
      identity.configuration = interfaces.lazy.compactMap(\.configuration).first
      let ports = terminals.filter { $0.node != nil }
        .map { (terminal: $0, interface: interface(of: $0)?.number ?? 0) }
        .sorted { ($0.interface, $0.terminal.devpath) < ($1.interface, $1.terminal.devpath) }
      let hasSeveral = identity.interfaces.count(where: \.description.hasPair) > 1
      let reports = hid
      // A power device beside a serial port, or beside another one, is an accessory of its own.
      var power = reports.filter(\.identity.isPowerDevice)[...]
      let first = ports.isEmpty && !identity.interfaces.contains(where: \.makesTerminal) ? power.popFirst() : nil
      var entries: [String: Entry] = [:]
      for one in power {
        var own = identity
        own.interfaces = identity.interfaces.filter { Int($0.description.number) == one.interface }
        own.terminalInterface = UInt8(clamping: one.interface)
        entries[one.place] = entry(own, terminal: nil, one, onlyInitialized)
      }
      identity.interfaces.removeAll { interface in power.contains { $0.interface == Int(interface.description.number) }
      }
      let text = reports.filter(\.identity.mayCarryText)
      guard !ports.isEmpty else {
        entries[device.devpath] = entry(identity, terminal: nil, first ?? text.first, onlyInitialized)
        return entries
      }
      for (index, port) in ports.enumerated() {
        var own = identity
        // The terminal's own interface and those after it, up to the next terminal's. The first terminal also gets
        // those before its own.
        let start = index == 0 ? Int.min : port.interface
        let end = index + 1 < ports.count ? ports[index + 1].interface : Int.max
        own.interfaces = identity.interfaces.filter {
          start <= Int($0.description.number) && Int($0.description.number) < end
        }
        if hasSeveral { own.terminalInterface = UInt8(clamping: port.interface) }
        entries[port.terminal.devpath] = entry(
          own, terminal: port.terminal, text.first { start <= $0.interface && $0.interface < end }, onlyInitialized)
      }
      return entries
    }

    /// The interface that a terminal or HID reports belong to.
    private func interface(of record: UdevRecord) -> (devpath: String, number: Int)? {
      interfaces.first { record.isAtOrBelow($0.devpath) }
        .flatMap { interface in interface.number("bInterfaceNumber", radix: 16).map { (interface.devpath, $0) } }
    }

    private func entry(
      _ identity: USBIdentity, terminal: UdevRecord?, _ reports: Reports?, _ onlyInitialized: Bool
    ) -> Entry {
      var made = Device(
        .node(terminal?.node ?? identity.node), source: .udev,
        name: text("product", "ID_MODEL_ENC", "ID_MODEL_FROM_DATABASE"),
        manufacturer: text("manufacturer", "ID_VENDOR_ENC", "ID_VENDOR_FROM_DATABASE"),
        serialNumber: text("serial", "ID_SERIAL_SHORT", nil), terminal: terminal?.node, usb: identity)
      made.hid = reports?.identity
      // Endpoints that carry a power device's reports are no stream of bytes.
      let power = reports.flatMap { $0.identity.isPowerDevice ? $0 : nil }
      if let power { made.address = .hidraw(power.identity.node) }
      made.complete(from: terminal ?? power?.record ?? device, onlyInitialized)
      // The node of its reports comes later than the device, and may come anew: it is the same device.
      return Entry(device: made, instances: [device.instance] + (terminal.map { [$0.instance] } ?? []))
    }

    /// The HID reports of one interface.
    private struct Reports {
      let record: UdevRecord
      let identity: HIDIdentity
      /// The devpath of the interface, which stays when the reports get another node.
      let place: String
      let interface: Int
    }

    /// The reports by which power devices are asked, and those that may carry text, by the numbers of their interfaces.
    private var hid: [Reports] {
      let found = reports.sorted { $0.devpath < $1.devpath }.compactMap { record -> Reports? in
        guard let node = record.node else { return nil }
        let descriptor = HIDReportDescriptor(record.descriptors)
        let identity = HIDIdentity(
          node: node, applications: descriptor.applications.map(\.extended),
          mayCarryText: HIDText.mayBeIn(reportsOf: descriptor))
        guard identity.isPowerDevice || identity.mayCarryText else { return nil }
        let interface = interface(of: record)
        return Reports(
          record: record, identity: identity, place: interface?.devpath ?? record.devpath,
          interface: interface?.number ?? 0)
      }
      return found.sorted { $0.interface < $1.interface }
    }

    /// A text that the device reports, from sysfs or from udev's database; otherwise the text that udev's database has
    /// for the device's ids.
    private func text(_ attribute: String, _ property: String, _ database: String?) -> String? {
      UdevText.clean(device.attributes[attribute]) ?? UdevText.clean(device.properties.decoded(property))
        ?? database.flatMap { UdevText.clean(device.properties[$0]) }
    }
  }
}

extension Device {
  /// Adds the links and the state that udev has for the node to be opened.
  fileprivate mutating func complete(from record: UdevRecord, _ hasUdev: Bool) {
    links = record.properties.links
    isInitialized = record.isInitialized || !hasUdev
  }
}

extension USBIdentity {
  /// The identity from a record and its descriptors; nil when ids, bus or address are missing.
  fileprivate init?(_ record: UdevRecord, _ description: USBDeviceDescription?) {
    let vendor = description?.vendorID ?? record.number("idVendor", radix: 16).flatMap(UInt16.init(exactly:))
    let product = description?.productID ?? record.number("idProduct", radix: 16).flatMap(UInt16.init(exactly:))
    guard let vendor, let product, let bus = record.number("busnum"), let address = record.number("devnum") else {
      return nil
    }
    let `class` = record.number("bDeviceClass", radix: 16).flatMap(UInt8.init(exactly:)) ?? 0
    self.init(
      vendorID: vendor, productID: product,
      release: description?.release ?? record.number("bcdDevice", radix: 16).flatMap(UInt16.init(exactly:)), bus: bus,
      address: address, node: record.node ?? "/dev/bus/usb/\(Self.padded(bus))/\(Self.padded(address))",
      port: String(record.name), devpath: record.devpath,
      speed: record.attributes["speed"].flatMap { Double($0) }.flatMap { $0.isFinite && $0 > 0 ? $0 : nil },
      function: description?.function ?? USBClass(code: `class`), damage: description?.damage)
  }

  private static func padded(_ number: Int) -> String {
    String(repeating: "0", count: max(0, 3 - String(number).count)) + String(number)
  }
}

extension USBInterface {
  /// Whether a terminal belongs to the interface, or comes with it: a serial port of the class for modems, or one that a driver has.
  fileprivate var makesTerminal: Bool {
    let function = description.function
    return (function.code, function.subclass) == (USBClass.communications, 2)
      || function.code == USBClass.vendorSpecific && driver != nil && driver != "usbfs"
  }
}

extension UdevRecord {
  /// The value of an interface's configuration, which is the number before the point in its name: "1-1.4:1.0".
  fileprivate var configuration: UInt8? {
    name.split(separator: ":").last?.split(separator: ".").first.flatMap { UInt8($0) }
  }
}

extension USBInterface {
  /// The interface with its current alternate setting; nil when the descriptors don't contain it.
  fileprivate init?(_ record: UdevRecord, _ device: USBDeviceDescription?) {
    let number = record.number("bInterfaceNumber", radix: 16)
    let setting = record.number("bAlternateSetting") ?? 0
    let configuration = record.configuration.flatMap { device?.configuration($0) }
    let description = (configuration ?? device?.configurations.first)?.interfaces
      .first { Int($0.number) == number && Int($0.alternateSetting) == setting }
    guard let description else { return nil }
    self.init(description: description, driver: record.driver)
  }
}
