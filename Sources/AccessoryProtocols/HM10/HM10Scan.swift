// SPDX-License-Identifier: Apache-2.0

/// A device that a scan found.
public struct HM10Neighbour: Sendable, Hashable {
  /// Its address.
  public var address: BluetoothAddress
  /// The type of its address, 0…2, if the module says so.
  public var addressType: Int?
  /// Its name, as it is sent out: escape it before showing it.
  public var name: String?
  /// How strong its signal is, in dBm.
  public var signalStrength: Int?
  /// By which it can be connected to, if it is one of the first six.
  public var index: Int?

  /// A neighbour of which nothing but the address need be known.
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

/// What the replies to a scan add up to. A device that is found again keeps its place and its name.
public struct HM10Scan: Sendable, Hashable {
  /// The devices in the order in which they were found, without those beyond the limit.
  public private(set) var neighbours: [HM10Neighbour] = []
  /// Whether the scan has begun and is not over.
  public private(set) var isRunning = false
  /// How many devices are kept at most. The air decides how many there are.
  public let limit: Int

  private var places: [BluetoothAddress: Int] = [:]
  /// Whose strength and name come next.
  private var current: Int?

  /// A scan that has not begun.
  public init(limit: Int = 256) { self.limit = max(0, limit) }

  /// The devices with the strongest signal first; those without one last, each in the order in which they were found.
  public var strongestFirst: [HM10Neighbour] {
    neighbours.enumerated().sorted { first, second in
      let (one, other) = (first.element.signalStrength ?? .min, second.element.signalStrength ?? .min)
      return one == other ? first.offset < second.offset : one > other
    }.map(\.element)
  }

  /// Takes a reply, and returns the device of which it tells something, as it is known now. What has nothing to do with
  /// a scan changes nothing.
  ///
  /// Strength 0 is none: so modules say that they don't know it.
  @discardableResult
  public mutating func take(_ reply: HM10Reply) -> HM10Neighbour? {
    switch reply {
    case .discovery(.began):
      self = HM10Scan(limit: limit)
      isRunning = true
    case .discovery(.ended):
      isRunning = false
      current = nil
    case .discovery(.found(let address, let type)):
      find(address)
      return change { $0.addressType = type ?? $0.addressType }
    case .discovery(.beacon(let beacon)):
      find(beacon.address)
      return change { $0.signalStrength = beacon.signalStrength }
    case .discovery(.advertisement(let advertisement)):
      find(advertisement.address)
      return change { $0.signalStrength = Int(advertisement.signalStrength) }
    case .signalStrength(let strength): return change { $0.signalStrength = strength == 0 ? nil : strength }
    case .name(let name): return change { if !name.isEmpty { $0.name = name } }
    default: break
    }
    return nil
  }

  /// Makes the device with this address the current one; none if there are too many.
  private mutating func find(_ address: BluetoothAddress) {
    current = places[address]
    guard current == nil, neighbours.count < limit else { return }
    current = neighbours.count
    places[address] = neighbours.count
    let index = HM10Limits.indices.contains(neighbours.count) ? neighbours.count : nil
    neighbours.append(HM10Neighbour(address: address, index: index))
  }

  private mutating func change(_ body: (inout HM10Neighbour) -> Void) -> HM10Neighbour? {
    guard let current else { return nil }
    body(&neighbours[current])
    return neighbours[current]
  }
}
