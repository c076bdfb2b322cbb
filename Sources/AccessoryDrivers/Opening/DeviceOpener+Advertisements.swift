// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDescriptions
import AccessoryIO
import AccessoryProtocols

// Devices that are read by what they advertise, without a connection.
extension DeviceOpener {
  /// Listens to a device. Throws `misconfigured` where it needs a key and has none or a wrong one.
  func advertisements(
    of address: BluetoothAddress, by adapter: BluetoothAdapterName?
  ) async throws(AccessoryError) -> AdvertisementTransport {
    guard let driver, let advertisement = driver.advertisement else { throw withoutDriver }
    var key: [UInt8]?
    if advertisement.encryption != nil {
      guard let known = settings.advertisementKey else {
        throw AccessoryError(
          .misconfigured,
          "\(label) encrypts what it advertises, and \(driver.name) needs its key: put it into a profile, as "
            + "transport: {ble: {key_file: /PATH}}")
      }
      key = try await known.read(for: label)
    }
    guard let reader = AdvertisementReader(advertisement, key: key) else {
      throw AccessoryError(.misconfigured, "the key of \(label) must have 16 bytes")
    }
    var note: (@Sendable (String) -> Void)?
    if let tap { note = { tap.noted($0) } }
    return try await AdvertisementTransport.open(
      address, company: advertisement.manufacturer, by: adapter ?? settings.bluetoothAdapter, label: label, io: io,
      noting: note, reading: Self.reading(reader, label: label, firstOfKey: key?.first))
  }

  /// What is done with a company's data: they become a frame, or nothing.
  static func reading(
    _ reader: AdvertisementReader, label: String, firstOfKey: UInt8?
  ) -> AdvertisementTransport.Reading {
    let reader = Locked(reader)
    return { data, time throws(AccessoryError) in
      do throws(AdvertisementReader.Failure) {
        return try reader.withLock { reader throws(AdvertisementReader.Failure) in try reader.frame(of: data, at: time)
        }
      } catch {
        switch error {
        case .cut: return nil
        case .otherKey(let first):
          let ours = firstOfKey.map { Hexadecimal.string($0) } ?? "?"
          throw AccessoryError(
            .misconfigured,
            "the key of \(label) is wrong: its first byte is \(ours), and the device's is \(Hexadecimal.string(first))")
        }
      }
    }
  }
}
