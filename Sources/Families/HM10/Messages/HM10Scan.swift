// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A device that a scan found.
public typealias HM10Neighbour = RadioNeighbour

/// Collects the devices in the replies to a scan. A device that is found again keeps its place and its name.
public struct HM10Scan: Sendable, Hashable {
  /// The devices, in the order in which they were found, up to the limit.
  public private(set) var neighbours: [HM10Neighbour] = []
  /// Whether the scan has begun and is not over.
  public private(set) var isRunning = false
  /// How many devices are kept at most, as any number of devices may be in range.
  public let limit: Int

  private var places: [BluetoothAddress: Int] = [:]
  /// The index of the device to which the next signal strength and name belong.
  private var current: Int?

  /// A scan that has not begun.
  public init(limit: Int = 256) { self.limit = max(0, limit) }

  /// The devices, the strongest signal first and devices without a signal strength last. Equal ones stay in the order
  /// in which they were found.
  public var strongestFirst: [HM10Neighbour] {
    neighbours.enumerated().sorted { first, second in
      let (one, other) = (first.element.signalStrength ?? .min, second.element.signalStrength ?? .min)
      return one == other ? first.offset < second.offset : one > other
    }.map(\.element)
  }

  /// Takes a reply, and returns the device that it describes, with all that is known of it. Ignores replies that don't
  /// belong to a scan.
  ///
  /// A signal strength of 0 becomes nil, since modules report 0 if they don't know it.
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

  /// Makes the device with this address the current one; there is no current one if the limit is reached.
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
