// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import FoundationEssentials
import Glibc

/// The devices of a module's last scan, in the order in which they were shown, so that `connect` accepts a number from
/// that list. Stored in the user's runtime directory.
struct RememberedScan {
  private struct Contents: Codable {
    var addresses: [String]
    var names: [String?]
  }

  private let path: String
  /// At most this many devices are stored.
  private static let limit = 256

  /// The stored scan of a module; nil where there is no runtime directory.
  init?(_ device: Device) {
    guard let directory = try? RuntimeDirectory.path() else { return nil }
    // The name is encoded in hexadecimal, since a device's own text must not become part of a path.
    let name = Hexadecimal.string(Array((device.serialNumber ?? device.address.description).utf8.prefix(64)))
    path = "\(directory)/scan-\(name).json"
  }

  /// The stored devices in the order shown; empty when there was no scan.
  func load() -> [RadioNeighbour] {
    guard let bytes = try? SmallFile.read(path, limit: 1 << 18),
      let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes))
    else { return [] }
    return zip(contents.addresses, contents.names).prefix(Self.limit).compactMap { address, name in
      BluetoothAddress(address).map { RadioNeighbour(address: $0, name: name) }
    }
  }

  /// Stores the devices. A failure is ignored: the scan itself has succeeded.
  func save(_ neighbours: [RadioNeighbour]) {
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
