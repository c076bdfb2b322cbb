// SPDX-License-Identifier: Apache-2.0

/// A device that a scan found.
public struct RadioNeighbour: Sendable, Hashable {
  /// Its address.
  public var address: BluetoothAddress
  /// The type of its address, 0…2, if the module says so.
  public var addressType: Int?
  /// Its name, as the device sends it. Escape it before showing it.
  public var name: String?
  /// Its signal strength, in dBm.
  public var signalStrength: Int?
  /// The index with which the module can connect to it; nil unless it is one of the first six.
  public var index: Int?

  /// A device. Only its address must be known.
  public init(
    address: BluetoothAddress, addressType: Int? = nil, name: String? = nil, signalStrength: Int? = nil,
    index: Int? = nil
  ) {
    self.address = address
    self.addressType = addressType
    self.name = name
    self.signalStrength = signalStrength
    self.index = index
  }
}
