// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import FoundationEssentials
import Glibc

/// What the last scan with a module has found, in the order in which it was shown: so that `connect` can be told a
/// number. It lives in the user's runtime directory.
struct RememberedScan {
  private struct Contents: Codable {
    var addresses: [String]
    var names: [String?]
  }

  private let path: String
  /// Devices that are remembered.
  private static let limit = 256

  /// That of a device; nil where there is no place for it.
  init?(_ device: Device) {
    guard let directory = try? RuntimeDirectory.path() else { return nil }
    // The device's own texts are no part of a path.
    let name = Hexadecimal.string(Array((device.serialNumber ?? device.address.description).utf8.prefix(64)))
    path = "\(directory)/scan-\(name).json"
  }

  /// The devices, the first shown first; none when there was no scan.
  func load() -> [HM10Neighbour] {
    guard let bytes = try? SmallFile.read(path, limit: 1 << 18),
      let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes))
    else { return [] }
    return zip(contents.addresses, contents.names).prefix(Self.limit).compactMap { address, name in
      BluetoothAddress(address).map { HM10Neighbour(address: $0, name: name) }
    }
  }

  /// Keeps these. That it can't be kept is no failure of a scan.
  func save(_ neighbours: [HM10Neighbour]) {
    let kept = neighbours.prefix(Self.limit)
    let contents = Contents(addresses: kept.map(\.address.digits), names: kept.map(\.name))
    guard let data = try? JSONEncoder().encode(contents) else { return }
    let temporary = "\(path).\(getpid())"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let isWritten = data.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) == $0.count }
    close(descriptor)
    if !isWritten || rename(temporary, path) != 0 { unlink(temporary) }
  }
}
