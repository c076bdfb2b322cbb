// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import CLibudev
import Glibc
import SystemPackage

/// Queries libudev. Every call creates its own context, because two threads must not use the same libudev objects. So
/// any thread may call the functions. They read sysfs, which can block.
enum UdevLibrary {
  /// The most devices that are read.
  private static let limit = 8_192

  /// Whether udev's daemon runs, so that it sends messages and applies its rules.
  static var isRunning: Bool { access("/run/udev/control", F_OK) == 0 }

  /// The USB devices, their interfaces, the HID reports of these, and the terminals of USB and Bluetooth accessories. Empty
  /// when the system has no USB.
  static func records() -> [UdevRecord] {
    guard let udev = udev_new() else { return [] }
    defer { udev_unref(udev) }
    var records = paths(udev, subsystem: "usb").compactMap { record(udev, $0) }
    let devices = Set(records.filter { $0.kind == .device }.map(\.devpath))
    for path in paths(ofClass: "tty") where isWanted(path, devices) {
      if let terminal = record(udev, path) { records.append(terminal) }
    }
    for path in paths(ofClass: "hidraw") where isBelow(devices, path) {
      if let reports = record(udev, path) { records.append(reports) }
    }
    return records
  }

  /// The directories of the devices of a class. libudev isn't used for this, because it would open each directory and all
  /// directories on the way to it: some fifty system calls for each of the kernel's 64 virtual consoles.
  private static func paths(ofClass name: String) -> [String] {
    let folder = "/sys/class/" + name
    return Directory.names(in: folder).prefix(limit).compactMap { name in
      // Every entry is a link like ../../devices/pci0000:00/…/tty/ttyUSB0.
      guard let target = SymbolicLink.target(of: "\(folder)/\(name)"), target.hasPrefix("../../") else {
        return nil
      }
      return "/sys/" + target.dropFirst("../../".count)
    }
  }

  /// Leaves out virtual consoles and built-in UARTs, which are most terminals and for which the kernel has nodes
  /// whether or not the hardware exists.
  private static func isWanted(_ path: String, _ devices: Set<String>) -> Bool {
    path.split(separator: "/").last?.hasPrefix("rfcomm") == true || isBelow(devices, path)
  }

  /// Whether the directory is below that of one of these USB devices.
  private static func isBelow(_ devices: Set<String>, _ path: String) -> Bool {
    var ancestor = path.dropFirst("/sys".count)
    while let slash = ancestor.lastIndex(of: "/") {
      ancestor = ancestor[..<slash]
      if devices.contains(String(ancestor)) { return true }
    }
    return false
  }

  /// The directories of a subsystem's devices.
  private static func paths(_ udev: OpaquePointer, subsystem: String) -> [String] {
    guard let enumerate = udev_enumerate_new(udev) else { return [] }
    defer { udev_enumerate_unref(enumerate) }
    udev_enumerate_add_match_subsystem(enumerate, subsystem)
    // Fails when the system has no such bus; then there is no entry either.
    udev_enumerate_scan_devices(enumerate)
    var paths: [String] = []
    var entry = udev_enumerate_get_list_entry(enumerate)
    while let current = entry, paths.count < limit {
      if let path = udev_list_entry_get_name(current) { paths.append(String(cString: path)) }
      entry = udev_list_entry_get_next(current)
    }
    return paths
  }

  /// The record of the device in this directory; nil when the device is gone or of another kind.
  private static func record(_ udev: OpaquePointer, _ path: String) -> UdevRecord? {
    guard let device = udev_device_new_from_syspath(udev, path) else { return nil }
    defer { udev_device_unref(device) }
    guard let kind = kind(device), let devpath = udev_device_get_devpath(device), let instance = instance(path) else {
      return nil
    }
    var record = UdevRecord(kind: kind, devpath: String(cString: devpath), instance: instance)
    record.node = udev_device_get_devnode(device).map { String(cString: $0) }
    record.driver = udev_device_get_driver(device).map { String(cString: $0) }
    record.isInitialized = udev_device_get_is_initialized(device) > 0
    record.properties = properties(device)
    for name in kind.attributes { record.attributes[name] = attribute(path, name) }
    // The kernel lets everybody read what a device says of its reports.
    if kind == .hid { record.descriptors = reportDescriptor(below: path) }
    if kind == .device {
      record.descriptors = (try? SmallFile.read(path + "/descriptors", limit: USBDescriptorReader.sizeLimit)) ?? []
      // Reading these attributes waits for the device's lock in the kernel, which may take seconds. So they are read
      // only if udev's database doesn't contain them, or may contain a changed serial number (udev replaces some
      // characters with `_`).
      let serial = record.properties["ID_SERIAL_SHORT"]
      if record.properties["ID_VENDOR_ENC"] == nil {
        for name in ["manufacturer", "product", "serial"] { record.attributes[name] = attribute(path, name) }
      } else if serial?.contains("_") == true {
        record.attributes["serial"] = attribute(path, "serial")
      }
    }
    return record
  }

  private static func kind(_ device: OpaquePointer) -> UdevRecord.Kind? {
    guard let subsystem = udev_device_get_subsystem(device) else { return nil }
    if strcmp(subsystem, "tty") == 0 { return .terminal }
    if strcmp(subsystem, "hidraw") == 0 { return .hid }
    guard strcmp(subsystem, "usb") == 0, let type = udev_device_get_devtype(device) else { return nil }
    if strcmp(type, "usb_device") == 0 { return .device }
    return strcmp(type, "usb_interface") == 0 ? .interface : nil
  }

  private static func reportDescriptor(below path: String) -> [UInt8] {
    (try? SmallFile.read(path + "/device/report_descriptor", limit: HIDReportDescriptor.sizeLimit)) ?? []
  }

  private static func instance(_ path: String) -> UInt64? {
    var file = stat()
    return stat(path, &file) == 0 ? UInt64(file.st_ino) : nil
  }

  private static func attribute(_ path: String, _ name: String) -> String? {
    guard let bytes = try? SmallFile.read("\(path)/\(name)", limit: 4_096) else { return nil }
    return String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self)
  }

  /// The properties that are kept of the terminal with this node; none when it doesn't exist.
  static func properties(ofTerminal node: String) -> UdevProperties {
    let name = node.split(separator: "/").last.map(String.init) ?? ""
    return properties { udev_device_new_from_subsystem_sysname($0, "tty", name) }
  }

  /// The properties that are kept of the device at this path below /sys; none when it doesn't exist.
  static func properties(ofDevice devpath: String) -> UdevProperties {
    properties { udev_device_new_from_syspath($0, "/sys" + devpath) }
  }

  private static func properties(_ make: (OpaquePointer) -> OpaquePointer?) -> UdevProperties {
    guard let udev = udev_new() else { return UdevProperties() }
    defer { udev_unref(udev) }
    guard let device = make(udev) else { return UdevProperties() }
    defer { udev_device_unref(device) }
    return properties(device)
  }

  /// The properties that are kept of a device.
  static func properties(_ device: OpaquePointer) -> UdevProperties {
    var properties = UdevProperties()
    for name in UdevProperties.names {
      guard let value = udev_device_get_property_value(device, name) else { continue }
      let bytes = UnsafeRawBufferPointer(start: value, count: strnlen(value, UdevProperties.limit))
      properties[name] = String(decoding: bytes, as: UTF8.self)
    }
    return properties
  }
}

extension UdevRecord.Kind {
  /// The attributes to read. None of them makes the kernel wait for the device.
  fileprivate var attributes: [String] {
    switch self {
    case .device: ["idVendor", "idProduct", "bcdDevice", "busnum", "devnum", "speed", "bDeviceClass"]
    case .interface: ["bInterfaceNumber", "bAlternateSetting"]
    case .terminal, .hid: []
    }
  }
}
