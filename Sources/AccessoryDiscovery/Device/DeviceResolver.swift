// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc

/// Why what a user typed is not one device.
public enum ResolutionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Nothing was typed, and no accessory is there.
  case noDevices
  /// No accessory has this name, and no file either.
  case noMatch(String)
  /// More than one fits.
  case ambiguous(String?, [Device])

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .noDevices:
      "no accessory found: plug one in, name its port (/dev/ttyUSB0), or try a pretended one: bridge-cli simulate framed"
    case .noMatch(let text):
      "there is no accessory \(text): bridge-cli list shows what there is"
    case .ambiguous(nil, let devices):
      "there are \(devices.count) accessories, say which: \(Self.names(devices))"
    case .ambiguous(let text?, let devices):
      "\(text) fits \(devices.count) accessories, say more of one: \(Self.names(devices))"
    }
  }

  /// Their identities, with the paths of those that have the same.
  private static func names(_ devices: [Device]) -> String {
    let namesakes = Dictionary(grouping: devices, by: \.id)
    return devices.map { device in
      namesakes[device.id]?.count == 1 ? device.id : "\(device.id) at \(device.path)"
    }.sorted().joined(separator: ", ")
  }
}

/// Turns what a user typed into one device.
public enum DeviceResolver {
  /// Finds the one of `devices` that `text` means: a path (of the node or of a link to it), a serial number, a name, a
  /// name below /dev, or a beginning of one of these that no other has. With nil, the only one there is.
  ///
  /// A path that none of them has is a device that the user names; its protocol is then not known.
  public static func resolve(_ text: String?, among devices: [Device]) throws(ResolutionError) -> Device {
    guard let text else {
      guard let only = devices.first else { throw .noDevices }
      guard devices.count == 1 else { throw .ambiguous(nil, devices) }
      return only
    }
    if text.isEmpty { throw .noMatch("\"\"") }
    if text.contains("/") {
      if let device = byPath(text, devices) ?? byPath("/dev/" + text, devices) { return device }
      throw .noMatch(text)
    }
    for isMatch in [exact, prefix] {
      let found = devices.filter { isMatch(text, $0) }
      if found.count > 1 { throw .ambiguous(text, found) }
      if let device = found.first { return device }
    }
    if let device = byPath("/dev/" + text, devices) ?? byPath(text, devices) { return device }
    throw .noMatch(text)
  }

  private static func names(_ device: Device) -> [String] {
    let node = device.path.hasPrefix("/dev/") ? String(device.path.dropFirst(5)) : device.path
    return [device.serialNumber, device.name, device.id, node].compactMap { $0 }.filter { !$0.isEmpty }
  }

  private static func exact(_ text: String, _ device: Device) -> Bool { names(device).contains(text) }

  private static func prefix(_ text: String, _ device: Device) -> Bool {
    names(device).contains { $0.hasPrefix(text) }
  }

  private static func byPath(_ text: String, _ devices: [Device]) -> Device? {
    guard let path = resolved(text) else { return nil }
    return devices.first { $0.path == path } ?? Device(path: path, link: text == path ? nil : text, source: .named)
  }

  /// The path with all links followed; nil when nothing is there.
  private static func resolved(_ path: String) -> String? {
    guard let real = realpath(path, nil) else {
      // A closed directory on the way, or a link that leads nowhere: let opening it say what is wrong.
      return errno == ENOENT || errno == ENOTDIR ? nil : path
    }
    defer { free(real) }
    return String(cString: real)
  }
}
