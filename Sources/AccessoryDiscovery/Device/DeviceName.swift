// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a person types to say which device is meant. Commands, services and other programs all read it here, so that a
/// name means the same everywhere.
///
/// The text may be:
/// - a path: of its terminal, of its usbfs node (which selects the USB transport), or of a link to one of them,
/// - a name below /dev: `ttyACM0`, `serial/by-id/usb-Lamp_A1-if00`,
/// - `tcp:HOST:PORT`, `rfc2217:HOST:PORT`, `esphome://HOST/PORT` or `unix:PATH`, which no source needs to know,
/// - `ble:ADDRESS`, `rfcomm:ADDRESS` or `rfcomm:ADDRESS/CHANNEL`, likewise; an address alone, of a device that is known,
/// - `ble:NAME` or `rfcomm:NAME`: the whole name that the user gave a Bluetooth device, or that it tells,
/// - `power_supply:NAME`, a battery or a charger that the kernel knows,
/// - one of these with the adapter that connects it: `ble:hci1/ADDRESS`,
/// - `usb:VENDOR:PRODUCT` or `usb:VENDOR:PRODUCT:SERIAL`, with the ids in hexadecimal,
/// - a serial number, a name, a link's name (by-id, by-path) with or without its directory,
/// - the beginning of one of these names, if no other name begins like that,
/// - one of these followed by `@UNIT`, for an accessory on a shared line,
/// - nothing, if there is only one accessory; batteries that the kernel knows count only if there is no other.
public struct DeviceName: Sendable, Hashable {
  /// The text; nil when none was typed.
  public let text: String?
  /// Whether the file system is accessed. Without it, a path is compared with the paths and links of the devices; an
  /// absolute path that doesn't match gives a device with the source `named`; and a word that is no device's name isn't
  /// looked up in `/dev`. It is for callers that must not block or reveal what the file system contains.
  package let looksAtFiles: Bool
  /// Which devices on the air `devices(of:)` searches for.
  package var searches = Searches.everything

  /// What is searched for on the air.
  package enum Searches: Sendable, Hashable {
    case nothing
    /// Devices that are meant by a name. For callers whose device is opened by somebody else, who searches for an address.
    case names
    case everything
  }

  /// The device that this text names; the only one, for nil.
  public init(_ text: String?) { self.init(text, lookingAtFiles: true) }

  /// Like `init(_:)`, where `lookingAtFiles` says whether the file system is accessed.
  package init(_ text: String?, lookingAtFiles: Bool) { (self.text, looksAtFiles) = (text, lookingAtFiles) }

  /// Finds the one of `devices` that is meant. Devices that can't be accessories match only when nothing else does.
  /// Without a text, returns the only accessory, or the only one whose protocol is known.
  ///
  /// An address or an existing path that belongs to none of `devices` gives a device with the source `named`, whose
  /// protocol isn't known.
  ///
  /// A device on the air is meant only by a text: nothing is connected that nobody has named.
  public func device(among devices: [Device]) throws(ResolutionError) -> Device {
    let devices = text == nil ? devices.filter { $0.source != .bluetooth } : devices
    return try Self.resolve(text, among: devices, lookingAtFiles: looksAtFiles)
  }

  /// Like `device(among:)`. Of the accessories of a USB device that the text can mean, it is the one that has `transport`.
  package func device(
    among devices: [Device], by transport: TransportKind?
  ) throws(ResolutionError) -> Device {
    let found: Device
    do throws(ResolutionError) {
      found = try device(among: devices)
    } catch {
      guard case .ambiguous(_, let several) = error, let transport else { throw error }
      let able = several.filter { $0.transports.contains(transport) }
      guard able.count == 1 else { throw error }
      return able[0]
    }
    guard let transport, !found.transports.contains(transport), let node = found.usb?.node else { return found }
    let beside = devices.filter { $0.usb?.node == node && $0.transports.contains(transport) }
    return beside.count == 1 ? beside[0] : found
  }

  /// Like `device(among:)`, when some accessories are present (`there`) and others are expected to return (`awaited`).
  /// Returns nil when none of them is meant. In order of precedence, the result is:
  /// - the accessory whose serial number or id is exactly the text, present or not, if no other has that name (not for a
  ///   path),
  /// - a present accessory, because an awaited one may have left its path to another device,
  /// - an awaited accessory.
  public func device(there: [Device], awaited: [Device]) throws(ResolutionError) -> Device? {
    try Self.choose(text, there: there, awaited: awaited, lookingAtFiles: looksAtFiles)
  }

  /// The devices of these sources, for `device(among:)`. A source that fails is left out if the text is a path, since a
  /// path can be opened without a source; otherwise its error is thrown.
  ///
  /// A Bluetooth device that is meant by its address or its name, and isn't among them, is searched for; see `searchLimit`. What it tells
  /// counts, by whatever it is meant. By a name the search finds all devices that tell it: nobody knows which one is meant of several.
  public func devices(of sources: [any DeviceSource]) async throws(AccessoryError) -> [Device] {
    var devices: [Device] = []
    for source in sources {
      do throws(AccessoryError) {
        devices += try await source.devices()
      } catch {
        guard isPath else { throw error }
      }
    }
    guard let (wish, limit) = wish(among: devices) else { return Twins.marked(devices) }
    let found = try await CombinedSource(sources).search(for: wish, within: limit)
    return Twins.marked(devices.filter { device in !found.contains { $0.isSame(as: device) } }) + found
  }

  /// What is searched for, and for how long; nil where the text means nothing on the air, or a device that is known there.
  package func wish(among devices: [Device] = []) -> (wish: DeviceWish, limit: Duration)? {
    guard let text, searches != .nothing else { return nil }
    let texts = [text, UnitName(text)?.line].compactMap { $0 }
    if let place = texts.compactMap({ DeviceAddress($0) }).first, let address = place.bluetooth {
      guard searches == .everything, !devices.contains(where: { $0.bluetooth?.address == address }) else { return nil }
      // An inquiry for Bluetooth Classic takes longer than opening a port whose channel is known.
      return (
        DeviceWish(place.transport, address: address, adapter: place.adapter),
        place.transport == .ble ? Self.searchLimit : .zero
      )
    }
    let names = texts.compactMap { BluetoothName($0) }
    // Those that somebody has made known go before strangers, who may tell the same.
    guard let first = names.first, !first.name.isEmpty, !names.contains(where: \.isAddress),
      !devices.contains(where: { device in device.bluetooth?.isKnown == true && names.contains { $0.fits(device) } })
    else { return nil }
    let wish = DeviceWish(first.transport, adapter: first.adapter) { device in
      names.contains { $0.fits(device) || $0.fitsInOtherCapitals(device) }
    }
    return (wish, Self.searchLimit)
  }

  /// How long a Bluetooth device is searched for.
  package static let searchLimit = Duration.seconds(12)

  /// Whether neither a device nor, as far as is looked, a file has this name.
  package func isUnknown(among devices: [Device]) -> Bool {
    do throws(ResolutionError) {
      _ = try device(among: devices)
      return false
    } catch {
      if case .noMatch = error { return true } else { return false }
    }
  }

  /// Whether the text names a Bluetooth device, by its address or by the name that it tells.
  package var isBluetooth: Bool {
    guard let text else { return false }
    let line = UnitName(text)?.line ?? text
    return BluetoothName(line) != nil || DeviceAddress(line)?.transport.isBluetooth == true
  }

  /// Whether the text has the form of a path.
  package var isPath: Bool { text?.contains("/") == true }

  /// Whether the text says by which of its transports this device is opened, whatever its profile prefers: it is a path,
  /// or the name of the device's node below /dev.
  package func choosesTransport(of device: Device) -> Bool {
    if isBluetooth { return true }
    guard let text else { return false }
    let node = device.address.node
    return isPath || [text, UnitName(text)?.line].contains { $0.map { "/dev/" + $0 == node } ?? false }
  }

  /// The device's name in messages: the text with the device's place, or the place alone.
  package func label(of place: String) -> String {
    guard let text, text != place else { return place }
    return "\(text) (\(place))"
  }

  /// The path that the text means where no device has this name: the text itself, or a name below /dev.
  package var path: String? { isPath ? text : pathBelowDev }

  /// The path that the text means as a name below /dev; nil for an absolute path.
  package var pathBelowDev: String? { text.flatMap { $0.isEmpty || $0.hasPrefix("/") ? nil : "/dev/" + $0 } }
}

/// The earlier name for what `DeviceName` does.
@available(*, deprecated, renamed: "DeviceName")
public enum DeviceResolver {
  /// See `DeviceName.device(among:)`.
  public static func resolve(_ text: String?, among devices: [Device]) throws(ResolutionError) -> Device {
    try DeviceName(text).device(among: devices)
  }

  /// See `DeviceName.device(there:awaited:)`.
  public static func choose(
    _ text: String?, there: [Device], awaited: [Device]
  ) throws(ResolutionError) -> Device? {
    try DeviceName(text).device(there: there, awaited: awaited)
  }
}
