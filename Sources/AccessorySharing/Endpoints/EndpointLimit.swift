// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How many clients an endpoint takes in.
public struct EndpointLimit: Sendable {
  /// So many at a time; more are turned away.
  public let maximum: Int
  /// There is one client at a time, and who comes takes its place.
  public let newestWins: Bool
  let id: Int

  private static let lastID = Atomic<Int>(0)

  /// A limit of one endpoint, not to be given to two.
  public init(maximum: Int = 512, newestWins: Bool = false) {
    self.maximum = maximum
    self.newestWins = newestWins
    id = Self.lastID.add(1, ordering: .relaxed).newValue
  }
}

/// Where a device is shared.
public protocol SharingEndpoint: Sendable {
  /// Where clients find it, for people: "tcp:127.0.0.1:7000".
  var label: String { get }
  /// Takes no more clients in, and removes what they found it by. Those that are there stay until the hub is closed.
  func close() async
}
