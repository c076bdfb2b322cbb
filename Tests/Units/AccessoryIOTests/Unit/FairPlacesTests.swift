// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryIO

/// Who gives way when all places are taken.
@Suite struct FairPlacesTests {
  private func origin(_ host: String) -> FairPlaces.Origin { FairPlaces.Origin(NetworkAddress(host: host, port: 1)) }

  /// Those with a question mark have only connected.
  private func yielding(to newcomer: String, _ hosts: [String]) -> Int? {
    FairPlaces.yielding(
      to: origin(newcomer),
      among: hosts.enumerated().map { id, host in
        FairPlaces.Client(id, origin(host.replacing("?", with: "")), isSettled: !host.hasSuffix("?"))
      })
  }

  @Test func theLastOfTheAddressWithMostGivesWay() {
    #expect(yielding(to: "10.0.0.9", ["10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.3"]) == 2)
    #expect(yielding(to: "10.0.0.3", ["10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.3"]) == 2)
  }

  /// Otherwise two addresses would throw each other out in turns.
  @Test func nobodyGivesWayToItsEqual() {
    #expect(yielding(to: "10.0.0.1", ["10.0.0.1", "10.0.0.1"]) == nil)
    #expect(yielding(to: "10.0.0.9", ["10.0.0.1", "10.0.0.2", "10.0.0.3"]) == nil)
    #expect(yielding(to: "10.0.0.2", ["10.0.0.1", "10.0.0.1", "10.0.0.2"]) == nil)
    #expect(yielding(to: "10.0.0.2", []) == nil)
  }

  /// Connections of which nothing comes keep nobody away, and who was answered stays.
  @Test func connectionsWithoutARequestGiveWay() {
    #expect(yielding(to: "10.0.0.1", ["10.0.0.1", "10.0.0.1?", "10.0.0.1?"]) == 1)
    #expect(yielding(to: "10.0.0.2", ["10.0.0.1", "10.0.0.1?", "10.0.0.1"]) == 1)
    #expect(yielding(to: "10.0.0.1", ["10.0.0.1", "10.0.0.2?", "10.0.0.1"]) == nil)
  }

  /// One machine has all addresses of a network of 64 bits.
  @Test func anIPv6NetworkIsOneOrigin() {
    #expect(origin("2001:db8:1:2::1") == origin("2001:db8:1:2:ffff::9"))
    #expect(origin("2001:db8:1:2::1") != origin("2001:db8:1:3::1"))
    #expect(origin("10.0.0.1") != origin("10.0.0.2"))
    #expect(FairPlaces.Origin(nil) == FairPlaces.Origin(nil))
  }
}
