// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The limit of an endpoint's clients.
public struct EndpointLimit: Sendable {
  /// The greatest number of clients. Further clients are refused.
  public let maximum: Int
  /// Whether there is only one client at a time, and a new client replaces it.
  public let newestWins: Bool
  let id: Int

  private static let lastID = Atomic<Int>(0)

  /// A limit for one endpoint. Two endpoints must not share one value, since clients are counted by its `id`.
  public init(maximum: Int = 512, newestWins: Bool = false) {
    self.maximum = maximum
    self.newestWins = newestWins
    id = Self.lastID.add(1, ordering: .relaxed).newValue
  }
}

/// An endpoint: a place where other programs connect to the shared device.
public protocol SharingEndpoint: Sendable {
  /// The endpoint's address for people: "tcp:127.0.0.1:7000".
  var label: String { get }
  /// Accepts no more clients, and removes the endpoint's files. Connected clients stay until the hub is closed.
  func close() async
}
