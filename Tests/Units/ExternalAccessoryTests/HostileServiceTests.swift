// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import TestSupport
import Testing

@testable import ExternalAccessory

/// A service whose numbers make no sense, or that tells of more than there can be.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct HostileServiceTests {
  private static func device(_ speed: String) -> String {
    #"{"id":"X1","path":"/dev/null","source":"named","links":[],"ways":[],"initialized":true,"usb":{"vendor_id":1,"#
      + #""product_id":1,"bus":0,"address":0,"node":"","port":"","speed_mbps":\#(speed),"interfaces":[]}}"#
  }

  private static func accessory(_ speed: String) -> String {
    #"{"device":\#(device(speed)),"state":"attached","tries":0,"protocols":["org.example.p"]}"#
  }

  /// Nothing of it becomes an accessory; what is right does.
  @Test(arguments: ["480", "-1e300", "1e300"], ["1.5", "1e300", "-1"]) func wrongDevicesOfAServiceAreIgnored(
    speed: String, time: String
  ) async throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/socket"
    let service = try CannedService(
      at: place,
      [
        "Subscribe": [
          #"{"event":"present","time":\#(time),"device":\#(Self.device(speed))}"#, #"{"event":"ready","time":1}"#, "{}",
        ],
        "List": [#"{"accessories":[\#(Self.accessory(speed))]}"#],
        "Info": [#"{"accessory":\#(Self.accessory(speed))}"#],
      ])
    let told = Watched<[String]>([])
    let isReady = Watched(false)
    let following = Task {
      await ServiceAccessories.follow(place) {
        isReady.update { $0 = true }
      } _: { event in
        if case .came(let told_) = event { told.update { $0.append(told_.device.address.description) } }
      }
    }
    try await isReady.wait { $0 }
    #expect(told.value == (speed == "480" && time == "1.5" ? ["/dev/null"] : []))
    following.cancel()
    service.close()
    await following.value
  }

  // MARK: - More than there can be

  private static func gadget(_ number: Int, _ source: String = "udev", name: String = "") -> String {
    #"{"id":"X\#(number)","path":"/dev/gadget\#(number)","source":"\#(source)","name":"\#(name)","links":[],"ways":[],"#
      + #""initialized":true}"#
  }

  private static func held(_ number: Int, name: String = "") -> String {
    #"{"device":\#(gadget(number, name: name)),"state":"attached","tries":0,"protocols":["org.example.p"]}"#
  }

  private static func event(_ event: String, _ device: String) -> String {
    #"{"event":"\#(event)","time":1,"device":\#(device)}"#
  }

  /// What following a service tells in all, if it answers so and then closes the connection.
  private func told(limit: Int = ReplyLimits.devices, _ answers: [String: [String]]) async throws -> [String] {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/socket"
    let service = try CannedService(at: place, answers)
    let told = Watched<[String]>([])
    let following = Task {
      await ServiceAccessories.follow(place, limit: limit, ready: {}) { event in
        let text =
          switch event {
          case .came(let told): "came \(told.device.address) \(told.device.name?.prefix(3) ?? "")"
          case .went(let device): "went \(device.address) \(device.name?.prefix(3) ?? "")"
          case .tooMany(let error): "\(error.message)"
          }
        told.update { $0.append(text) }
      }
    }
    // When the connection has ended, what was there has gone.
    try await told.wait { $0.last == "went /dev/gadget9 end" }
    following.cancel()
    service.close()
    await following.value
    return told.value.dropLast(2)
  }

  /// The last that such a service tells of.
  private static let last = [event("present", gadget(9)), "{}"]

  @Test func aDeviceToldTwiceIsOneAccessory() async throws {
    let again = try await told([
      "Subscribe": [
        Self.event("present", Self.gadget(1)), Self.event("connected", Self.gadget(1)),
        Self.event("disconnected", Self.gadget(1)), Self.event("disconnected", Self.gadget(1)),
      ] + Self.last,
      "List": [#"{"accessories":[\#(Self.held(1, name: "A")),\#(Self.held(9, name: "end"))]}"#],
    ])
    #expect(again == ["came /dev/gadget1 A", "came /dev/gadget1 A", "went /dev/gadget1 A"])
  }

  /// What was told before has gone.
  @Test func aDeviceToldOtherwiseReplacesTheFirst() async throws {
    let otherwise = try await told([
      "Subscribe": [
        Self.event("present", Self.gadget(1)), Self.event("connected", Self.gadget(1, "named")),
        Self.event("disconnected", Self.gadget(1)),
      ] + Self.last,
      "List": [#"{"accessories":[\#(Self.held(1, name: "A")),\#(Self.held(9, name: "end"))]}"#],
      "Info": [#"{"accessory":\#(Self.held(1, name: "B"))}"#],
    ])
    #expect(
      otherwise == ["came /dev/gadget1 A", "went /dev/gadget1 A", "came /dev/gadget1 B", "went /dev/gadget1 B"])
  }

  /// What is beyond is passed over, and that is told once; one that has gone makes room.
  @Test func devicesBeyondTheLimitArePassedOver() async throws {
    let told = try await told(
      limit: 3,
      [
        "Subscribe": (1...8).map { Self.event("present", Self.gadget($0)) }
          + (1...8).map { Self.event("disconnected", Self.gadget($0)) } + Self.last,
        "List": [
          #"{"accessories":[\#((1...8).map { Self.held($0) }.joined(separator: ",")),\#(Self.held(9, name: "end"))]}"#
        ],
      ])
    #expect(told.filter { $0.hasPrefix("came") } == (1...3).map { "came /dev/gadget\($0) " })
    #expect(told.filter { $0.hasPrefix("went") } == (1...3).map { "went /dev/gadget\($0) " })
    #expect(told.filter { $0.contains("reports more than 3 accessories") }.count == 1 && told.count == 7)
  }

  /// A program that a service tells of one twice, and that it is gone, knows nothing of it any more.
  @Test func nothingIsLeftOfWhatWasToldTwice() async throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/socket"
    // As one answer, behind which the connection stays.
    let events = ["present", "connected", "disconnected"].map { Self.event($0, Self.gadget(1)) }
    let messages = (events + [#"{"event":"ready","time":1}"#]).map { #"{"parameters":\#($0),"continues":true}"# }
    let service = try CannedService(
      at: place,
      ["Subscribe": ["!" + messages.joined(separator: "\0")], "List": [#"{"accessories":[\#(Self.held(1))]}"#]])
    let source = FakeSource()
    let manager = EAAccessoryManager(sources: [source], services: [place])
    #expect(manager.connectedAccessories.isEmpty)
    // This one is found without the service, which alone knew what it can be opened for.
    source.add(Device(.terminal("/dev/gadget1"), source: .udev))
    source.add(.af1(at: "/dev/gadget9"))
    try await eventually("another") { manager.connectedAccessories.contains { $0.name == "Gadget" } }
    #expect(manager.connectedAccessories.count == 1)
    service.close()
  }
}
