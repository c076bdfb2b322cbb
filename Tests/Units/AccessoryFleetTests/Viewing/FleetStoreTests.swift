// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Testing

@testable import AccessoryFleet

/// What a broker has told of a fleet.
struct FleetStoreTests {
  private let gateway = TopicLevel(naming: "attic")
  private let id = TopicLevel(naming: "SIM0001")

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func state(_ id: String = "SIM0001", name: String? = nil) -> [UInt8] {
    FleetState(
      Device(id: id, path: "/dev/ttyUSB0", source: .udev, name: name, serialNumber: id), connected: true, at: 1
    ).bytes
  }

  /// An accessory is connected when it is attached and its gateway is there, whatever comes first.
  @Test
  func anAccessoryIsConnectedWithItsGateway() throws {
    var store = FleetStore()
    let key = FleetStore.Key(gateway, id)
    #expect(
      store.take(.accessory(gateway: gateway, id, .availability), bytes("online")) == .accessory(key, .availability))
    #expect(store.accessory(key) == nil, "nobody knows what it is")
    _ = store.take(.accessory(gateway: gateway, id, .state), state())
    #expect(try #require(store.accessory(key)).state.isConnected == false, "nobody knows whether its gateway is there")
    #expect(store.take(.gateway(gateway, .availability), bytes("online")) == .gateway(gateway, isOnline: true))
    #expect(try #require(store.accessory(key)).state.isConnected)
    #expect(store.take(.gateway(gateway, .availability), bytes("online")) == nil, "that is no change")
    _ = store.take(.gateway(gateway, .availability), bytes("offline"))
    let one = try #require(store.accessory(key))
    #expect(!one.state.isConnected && one.isStale)
  }

  /// An empty message removes what was kept, and an accessory without anything is gone.
  @Test
  func anEmptyMessageRemovesWhatWasKept() {
    var store = FleetStore()
    _ = store.take(.accessory(gateway: gateway, id, .availability), bytes("online"))
    _ = store.take(.accessory(gateway: gateway, id, .state), state())
    _ = store.take(.accessory(gateway: gateway, id, .state), [])
    #expect(store.keys == [FleetStore.Key(gateway, id)])
    _ = store.take(.accessory(gateway: gateway, id, .availability), [])
    #expect(store.keys.isEmpty)
  }

  /// What a broker that was away doesn't send again is gone; what it sends again stays, also where that is no change.
  @Test
  func whatIsNotSentAgainIsGone() throws {
    var store = FleetStore()
    let (cellar, other) = (TopicLevel(naming: "cellar"), TopicLevel(naming: "SIM0002"))
    for gateway in [gateway, cellar] {
      _ = store.take(.gateway(gateway, .availability), bytes("online"))
      for id in [id, other] {
        _ = store.take(.accessory(gateway: gateway, id, .availability), bytes("online"))
        _ = store.take(.accessory(gateway: gateway, id, .state), state(id.text))
      }
    }
    #expect(store.endRenewal().isEmpty && store.keys.count == 4)
    store.renew()
    #expect(store.take(.gateway(gateway, .availability), bytes("online")) == nil)
    #expect(store.take(.accessory(gateway: gateway, id, .state), state(id.text)) == nil)
    let gone = [FleetStore.Key(gateway, other), FleetStore.Key(cellar, id), FleetStore.Key(cellar, other)].sorted()
    #expect(
      store.endRenewal()
        == gone.map { .accessory($0, .availability) } + [.gateway(cellar, isOnline: false)])
    #expect(store.keys == [FleetStore.Key(gateway, id)] && store.gateways == [gateway: true])
    #expect(try #require(store.accessory(.init(gateway, id))).state.isConnected)
    #expect(store.endRenewal().isEmpty)
  }

  /// More gateways, accessories and bytes than there is room for are dropped, and counted.
  @Test
  func theStoreIsBoundedAndCountsWhatItDrops() {
    var limits = FleetStore.Limits()
    (limits.gateways, limits.accessories, limits.bytes) = (2, 3, 10_000)
    var store = FleetStore(limits)
    for number in 0..<5 {
      _ = store.take(.gateway(TopicLevel(naming: "g\(number)"), .availability), bytes("online"))
    }
    #expect(store.gateways.count == 2 && store.dropped == 3)
    for number in 0..<5 {
      _ = store.take(.accessory(gateway: gateway, TopicLevel(naming: "a\(number)"), .availability), bytes("online"))
    }
    #expect(store.keys.count == 3 && store.dropped == 5)
    let long = [UInt8](repeating: 0x20, count: 6_000)
    #expect(store.take(.accessory(gateway: gateway, TopicLevel(naming: "a0"), .state), long) != nil)
    #expect(store.take(.accessory(gateway: gateway, TopicLevel(naming: "a1"), .state), long) == nil)
    // What takes the place of an older message needs no more room.
    #expect(store.take(.accessory(gateway: gateway, TopicLevel(naming: "a0"), .state), long + [0x20]) != nil)
    _ = store.take(.accessory(gateway: gateway, TopicLevel(naming: "a0"), .state), [])
    #expect(store.take(.accessory(gateway: gateway, TopicLevel(naming: "a1"), .state), long) != nil)
  }

  /// Messages that aren't what their topics promise change nothing.
  @Test
  func hostileMessagesChangeNothing() {
    var store = FleetStore()
    let key = FleetStore.Key(gateway, id)
    #expect(store.take(.gateway(gateway, .availability), bytes("perhaps")) == nil)
    #expect(store.take(.accessory(gateway: gateway, id, .availability), bytes("ONLINE")) == nil)
    _ = store.take(.accessory(gateway: gateway, id, .state), bytes("{"))
    _ = store.take(.accessory(gateway: gateway, id, .values), [0xFF])
    #expect(store.accessory(key) == nil)
    _ = store.take(.accessory(gateway: gateway, id, .state), state())
    #expect(store.accessory(key)?.values == nil)
    let tooLong = [UInt8](repeating: 0x20, count: FleetLimits.documentBytes + 1)
    #expect(store.take(.accessory(gateway: gateway, id, .state), tooLong) == nil)
    #expect(store.accessory(key) != nil)
  }

  // MARK: - Names

  private func fleet() -> [FleetAccessory] {
    var store = FleetStore()
    for (gateway, id, name) in [
      ("attic-1", "SIM0001", "Lamp"), ("attic-2", "SIM0001", "Lamp"), ("attic-2", "SIM00012", "Fan"),
      ("cellar", "tcp:10.0.0.7:502@3", "Meter"),
    ] {
      let gateway = TopicLevel(naming: gateway)
      _ = store.take(.gateway(gateway, .availability), bytes("online"))
      _ = store.take(.accessory(gateway: gateway, TopicLevel(naming: id), .state), state(id, name: name))
    }
    return store.keys.compactMap { store.accessory($0) }
  }

  private func found(_ text: String, gateway: String? = nil) -> [String] {
    FleetName(text, gateway: gateway).matches(among: fleet()).map(\.key.description)
  }

  /// An accessory is named by its id, serial number or name, with its gateway where that is needed.
  @Test
  func anAccessoryIsFoundByItsNames() {
    #expect(found("SIM0001") == ["attic-1:SIM0001", "attic-2:SIM0001"])
    #expect(found("attic-2:SIM0001") == ["attic-2:SIM0001"])
    #expect(found("SIM0001", gateway: "attic-1") == ["attic-1:SIM0001"])
    #expect(found("Fan") == ["attic-2:SIM00012"])
    #expect(found("SIM00012") == ["attic-2:SIM00012"])
    #expect(found("attic-2:SIM00") == ["attic-2:SIM0001", "attic-2:SIM00012"])
    #expect(found("attic:Fan") == ["attic-2:SIM00012"], "the beginning of a gateway's name")
    #expect(found("nothing").isEmpty && found("cellar:SIM0001").isEmpty && found("").isEmpty && found(":").isEmpty)
  }

  /// An id may have colons itself.
  @Test
  func anIDMayHaveColons() {
    let key = ["cellar:" + TopicLevel(naming: "tcp:10.0.0.7:502@3").text]
    #expect(found("tcp:10.0.0.7:502@3") == key)
    #expect(found("cellar:tcp:10.0.0.7:502@3") == key)
    #expect(found("tcp:10") == key)
  }

  /// The topics of a whole name are known without asking for all.
  @Test
  func topicsOfAWholeNameAreKnown() {
    #expect(FleetName("SIM0001").levels == [TopicLevel(naming: "SIM0001")])
    #expect(
      Set(FleetName("attic:FT4X1@2").levels)
        == [TopicLevel(naming: "attic:FT4X1@2"), TopicLevel(naming: "FT4X1@2")])
    let scope = FleetScope(gateway: "att", accessories: [id], [.availability, .state])
    #expect(scope.includes(gateway) && !scope.includes(TopicLevel(naming: "cellar")))
    #expect(
      scope.filters(gateway) == ["accessory-bridge/attic/SIM0001/availability", "accessory-bridge/attic/SIM0001/state"])
    #expect(FleetScope([.state]).filters(gateway) == ["accessory-bridge/attic/+/state"])
  }
}
