// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc

// Finding the device that a name means.

extension DeviceName {
  /// See `device(among:)`.
  static func resolve(
    _ text: String?, among devices: [Device], lookingAtFiles: Bool
  ) throws(ResolutionError) -> Device {
    let accessories = devices.filter(\.mayBeAccessory)
    guard let text else {
      let accessories = preferred(accessories)
      let known = accessories.filter { $0.driver != nil }
      let candidates = known.isEmpty ? accessories : known
      guard let only = candidates.first else { throw .noDevices }
      guard candidates.count == 1 else { throw .ambiguous(nil, accessories) }
      return only
    }
    if text.isEmpty { throw .noMatch("\"\"") }
    let bluetooth = BluetoothName(text)
    if let device = try bluetooth?.device(among: devices) { return device }
    if let name = UnitName(text), !devices.contains(where: { exact(text, $0) }),
      !lookingAtFiles || resolved(filePath(text)) == nil
    {
      return try unit(name, text, among: devices, lookingAtFiles)
    }
    // A text with a scheme is an address. A path may be a link, and is handled below.
    if !text.hasPrefix("/"), let address = DeviceAddress(text, in: lookingAtFiles ? WorkingFolder.path : nil) {
      // The adapter says how a device is reached, not which one it is.
      let found = try only(text, devices) { $0.address.ofAnyAdapter == address.ofAnyAdapter }
      // A device on USB may have it as another of its addresses.
      let other = devices.first { $0.addresses.contains(address) }?.choosing(address.transport)
      if let known = found?.by(address.adapter) ?? other { return known }
      var named = Device(address, source: .named)
      // A channel isn't a part of what the device is.
      if let place = address.bluetooth, let heard = devices.first(where: { $0.bluetooth?.address == place }) {
        named = heard
        named.address = address
      }
      return named
    }
    if let bluetooth { throw bluetooth.missing(text, among: devices) }
    if text.hasPrefix(TransportKind.esphome.rawValue + ":") { throw .malformed(text) }
    if text.contains("/") {
      // A device's name may look like a path; an existing path takes precedence.
      let paths = lookingAtFiles || !text.hasPrefix("/") ? [text, "/dev/" + text] : [text]
      if let device = try byPath(paths, devices, lookingAtFiles) { return device }
      if !lookingAtFiles, text.hasPrefix("/") { return Device(.node(text), source: .named) }
    }
    if let usb = try USBName(text), let device = try only(text, { usb.isMatch($0) }, accessories, devices) {
      return device
    }
    for isMatch in [exact, prefix] {
      if let device = try only(text, { isMatch(text, $0) }, accessories, devices) { return device }
    }
    if !text.contains("/"), let device = try byPath(["/dev/" + text, text], devices, lookingAtFiles) { return device }
    throw .missing(text, among: accessories)
  }

  /// Those of the accessories that nobody needs to name: the batteries and the like that the kernel knows count only where nothing else is there, and
  /// then the machine's own before a mouse's.
  private static func preferred(_ accessories: [Device]) -> [Device] {
    let others = accessories.filter { $0.address.files == nil }
    guard others.isEmpty else { return others }
    let own = accessories.filter { $0.supply?.isOfDevice == false }
    return own.isEmpty ? accessories : own
  }

  /// The accessory with this unit number on a line. If no units of the line are known, any number is accepted.
  private static func unit(
    _ name: UnitName, _ text: String, among devices: [Device], _ lookingAtFiles: Bool
  ) throws(ResolutionError) -> Device {
    let candidates = devices.compactMap { $0.unit == nil || $0.unit == name.unit ? $0.onLine(unit: name.unit) : nil }
    let others = devices.filter { $0.unit != nil && $0.unit != name.unit }
    // A full match takes precedence over a prefix of another name.
    let namesakes = others.filter { exact(name.line, $0) }
    if !namesakes.isEmpty, !candidates.contains(where: { exact(name.line, $0) }) {
      throw .noUnit(name.unit, namesakes)
    }
    var found: Device?
    do throws(ResolutionError) {
      found = try resolve(name.line, among: candidates, lookingAtFiles: lookingAtFiles)
    } catch {
      guard case .noMatch = error else { throw error }
    }
    if let found, candidates.contains(where: { $0.isSame(as: found.onLine(unit: name.unit)) }) {
      return found.onLine(unit: name.unit)
    }
    do throws(ResolutionError) {
      let other = try resolve(name.line, among: others, lookingAtFiles: lookingAtFiles)
      if others.contains(where: { $0.isSame(as: other) }) { throw .noUnit(name.unit, [other]) }
    } catch {
      switch error {
      case .noUnit: throw error
      case .ambiguous(_, let units): throw .noUnit(name.unit, units)
      case .noDevices, .noMatch, .otherCapitals, .malformed, .noDevice: break
      }
    }
    guard let found else { throw .missing(text, among: devices) }
    return found.onLine(unit: name.unit)
  }

  /// The path that the text would mean as the name of a file.
  private static func filePath(_ text: String) -> String {
    text.hasPrefix(TransportKind.unix.rawValue + ":") ? String(text.dropFirst(5)) : text
  }

  /// See `device(there:awaited:)`.
  static func choose(
    _ text: String?, there: [Device], awaited: [Device], lookingAtFiles: Bool
  ) throws(ResolutionError) -> Device? {
    let all = there + awaited
    if let text, let device = try awaitedOnAir(text, there, awaited) { return device }
    if let text, !text.hasPrefix("/") {
      let namesakes = all.filter { exact(text, $0) }
      if namesakes.count == 1, identity(text, namesakes[0]) { return namesakes[0] }
      // The serial number of twins is the name of neither, also while one of them is away.
      let twins = namesakes.filter { $0.hasTwin && identity(text, $0) }
      if twins.count > 1 { throw .ambiguous(text, twins) }
    }
    do throws(ResolutionError) {
      if let device = try known(text, among: there, lookingAtFiles) { return device }
    } catch {
      // A unit that doesn't answer counts as awaited, even while other units of its line are present.
      let isOfLine = if case .noUnit = error { true } else { error.unitsOfALine != nil }
      guard isOfLine, !awaited.isEmpty else { throw error }
    }
    return awaited.isEmpty ? nil : try known(text, among: all, lookingAtFiles)
  }

  /// The awaited device that has this name on the air. A stranger that tells the same name doesn't take its place.
  private static func awaitedOnAir(
    _ text: String, _ there: [Device], _ awaited: [Device]
  ) throws(ResolutionError) -> Device? {
    guard let name = BluetoothName(text), !there.contains(where: { name.fits($0) && $0.bluetooth?.isKnown == true })
    else { return nil }
    return try name.device(among: awaited)
  }

  private static func known(
    _ text: String?, among devices: [Device], _ lookingAtFiles: Bool
  ) throws(ResolutionError) -> Device? {
    let device: Device
    do throws(ResolutionError) {
      device = try resolve(text, among: devices, lookingAtFiles: lookingAtFiles)
    } catch {
      switch error {
      case .noDevices, .noMatch, .otherCapitals: return nil
      case .noUnit, .ambiguous, .malformed, .noDevice: throw error
      }
    }
    // `resolve` also returns paths that are in neither list.
    return devices.contains { $0.isSame(as: device) } ? device : nil
  }

  /// The only accessory that matches, otherwise the only other device that does; nil when none does.
  private static func only(
    _ text: String, _ isMatch: (Device) -> Bool, _ accessories: [Device], _ devices: [Device]
  ) throws(ResolutionError) -> Device? {
    var found = accessories.filter(isMatch)
    if found.isEmpty { found = devices.filter(isMatch) }
    guard found.count > 1 else { return found.first }
    // The accessories of a USB device have its serial number, and one of them no other name.
    let own = found.filter { $0.id == text }
    guard own.count == 1, let node = own[0].usb?.node, found.allSatisfy({ $0.usb?.node == node }) else {
      throw .ambiguous(text, found)
    }
    return own[0]
  }

  private static func names(_ device: Device) -> [String] {
    let nodes = ([device.address.description] + device.links).flatMap { path in
      [path.hasPrefix("/dev/") ? String(path.dropFirst(5)) : path, String(path.split(separator: "/").last ?? "")]
    }
    // Anybody can tell a name: only that of a device which somebody has paired or trusts is enough.
    let name = device.bluetooth.map { $0.isPaired || $0.isTrusted } ?? true ? device.name : nil
    let place = device.address.bluetooth?.description ?? device.address.files?.name
    let names = ([device.serialNumber, name, device.line.id, place].compactMap { $0 } + nodes).filter { !$0.isEmpty }
    let given = [device.given?.name].compactMap { $0 }
    return given + names + (device.unit.map { unit in names.map { "\($0)@\(unit)" } } ?? [])
  }

  private static func identity(_ text: String, _ device: Device) -> Bool {
    device.id == text || device.serialNumber == text && device.unit == nil
  }

  private static func exact(_ text: String, _ device: Device) -> Bool {
    names(device).contains(text) || [device.identityAtPort, device.identityAtPort + device.unitSuffix].contains(text)
  }

  /// The beginning of a path never matches, nor that of a stranger's name.
  private static func prefix(_ text: String, _ device: Device) -> Bool {
    !text.contains("/") && device.bluetooth?.isKnown ?? true && names(device).contains { $0.hasPrefix(text) }
  }

  /// The device at the first of these paths that leads to one.
  private static func byPath(
    _ paths: [String], _ devices: [Device], _ lookingAtFiles: Bool
  ) throws(ResolutionError) -> Device? {
    for path in paths {
      if let device = try lookingAtFiles ? byPath(path, devices) : byName(path, devices) { return device }
    }
    return nil
  }

  /// The first device that matches; throws `ambiguous` when several units on its line match.
  private static func only(
    _ text: String, _ devices: [Device], _ isMatch: (Device) -> Bool
  ) throws(ResolutionError) -> Device? {
    guard let first = devices.first(where: isMatch) else { return nil }
    let units = devices.filter { $0.unit != nil && isMatch($0) }
    guard first.unit == nil || units.count == 1 else { throw .ambiguous(text, units) }
    return first
  }

  /// The device that has this path or link, without access to the file system.
  private static func byName(_ path: String, _ devices: [Device]) throws(ResolutionError) -> Device? {
    if let device = try only(path, devices, { $0.address.node == path || $0.terminal == path }) { return device }
    let onUSB = devices.filter { $0.usb?.node == path }
    if onUSB.count > 1 { throw .ambiguous(path, onUSB) }
    if let device = onUSB.first { return device.choosing(.usb) ?? device }
    let linked = devices.filter { $0.links.contains(path) || $0.link == path }
    if linked.count > 1 { throw .ambiguous(path, linked) }
    return linked.first
  }

  private static func byPath(_ text: String, _ devices: [Device]) throws(ResolutionError) -> Device? {
    // Two devices may list the same link; the file system shows which device it leads to. A link that doesn't exist
    // belongs to the device that lists it. An unplugged device has no node, and is found by its path.
    let path = resolved(text) ?? devices.first { $0.isKnown(at: WorkingFolder.absolute(text)) }?.address.node
    guard let path else { return nil }
    if let device = try only(text, devices, { $0.address.node == path || $0.terminal == path }) { return device }
    let found = devices.filter { $0.usb?.node == path }
    if found.count > 1 { throw .ambiguous(text, found) }
    if let device = found.first { return device.choosing(.usb) ?? device }
    if let kind = kindOfFile(path) { throw .noDevice(text, kind: kind) }
    return Device(.node(path), link: text == path ? nil : text, source: .named)
  }

  /// The kind of file, if the path leads to a regular file or a folder; otherwise nil.
  private static func kindOfFile(_ path: String) -> String? {
    var file = stat()
    guard stat(path, &file) == 0 else { return nil }
    switch file.st_mode & S_IFMT {
    case S_IFREG: return "file"
    case S_IFDIR: return "folder"
    default: return nil
    }
  }

  /// The path with all links resolved; nil when nothing is there. May block.
  package static func resolved(_ path: String) -> String? {
    guard let real = realpath(path, nil) else {
      // A directory may be unreadable or a link broken; opening the path will report that.
      return errno == ENOENT || errno == ENOTDIR ? nil : path
    }
    defer { free(real) }
    return String(cString: real)
  }
}

extension Device {
  /// Whether this is the path of one of the device's nodes or links, even if no such file exists.
  fileprivate func isKnown(at path: String) -> Bool {
    [address.node, terminal, usb?.node, link].contains(path) || links.contains(path)
  }
}
