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
        "Subscribe": Self.subscription([
          #"{"event":"present","time":\#(time),"device":\#(Self.device(speed))}"#, #"{"event":"ready","time":1}"#,
        ]),
        "List": [#"{"accessories":[\#(Self.accessory(speed))]}"#],
        "Info": [#"{"accessory":\#(Self.accessory(speed))}"#],
      ])
    let told = Watched<[String]>([])
    let isReady = Watched(false)
    let following = Task {
      await ServiceAccessories.follow(place) {
        isReady.update { $0 = true }
      } _: { event in
        if case .came(let device, _) = event { told.update { $0.append(device.address.description) } }
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

  /// These events, behind which the subscription stays open.
  private static func subscription(_ events: [String]) -> [String] {
    ["!" + events.map { #"{"parameters":\#($0),"continues":true}"# }.joined(separator: "\0")]
  }

  /// What following a service tells in all, if it answers so and ends when the last of these accessories has come.
  private func told(
    _ last: String, limit: Int = ReplyLimits.devices, _ answers: [String: [String]]
  ) async throws -> [String] {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/socket"
    let service = try CannedService(at: place, answers)
    let told = Watched<[String]>([])
    let following = Task {
      await ServiceAccessories.follow(place, limit: limit, ready: {}) { event in
        let text =
          switch event {
          case .came(let device, _): "came \(device.address) \(device.name?.prefix(3) ?? "")"
          case .went(let device): "went \(device.address) \(device.name?.prefix(3) ?? "")"
          case .tooMany(let error): "\(error.message)"
          }
        told.update { $0.append(text) }
      }
    }
    try await told.wait { $0.contains("came \(last)") }
    service.close()
    try await told.wait { $0.contains("went \(last)") }
    following.cancel()
    await following.value
    return told.value
  }

  private static let ready = #"{"event":"ready","time":1}"#

  @Test func aDeviceToldTwiceIsOneAccessory() async throws {
    let again = try await told(
      "/dev/gadget1 A",
      [
        "Subscribe": Self.subscription([
          Self.event("present", Self.gadget(1)), Self.event("connected", Self.gadget(1)), Self.ready,
          Self.event("connected", Self.gadget(1)),
        ]),
        "List": [#"{"accessories":[\#(Self.held(1, name: "A"))]}"#],
      ])
    #expect(again == ["came /dev/gadget1 A", "went /dev/gadget1 A"])
  }

  /// One that was gone for a moment, as nobody looked, has gone and come.
  @Test func aDeviceThatWasGoneIsAnotherAccessory() throws {
    var view = ServiceAccessories.View(place: "s", limit: 3)
    var accessory = MirroredAccessory(service: "s", device: Device(.terminal("/dev/x"), source: .udev))
    accessory.record = Bridge.Accessory(
      device: accessory.device, state: .attached, profile: "p", protocols: ["org.example.p"])
    func names(_ accessory: MirroredAccessory) -> [String] {
      view.take(MirrorChange(services: [], accessories: [accessory])).map {
        switch $0 {
        case .came: "came"
        case .went: "went"
        case .tooMany: "too many"
        }
      }
    }
    #expect(names(accessory) == ["came"] && names(accessory) == [])
    accessory.disconnectCount = 1
    #expect(names(accessory) == ["went", "came"] && names(accessory) == [])
    // Until it is described again it is what it was, unless it has gone meanwhile.
    let record = accessory.record
    accessory.record = nil
    #expect(names(accessory) == [])
    accessory.disconnectCount = 2
    #expect(names(accessory) == ["went"])
    accessory.record = record
    #expect(names(accessory) == ["came"])
    // The service can't be asked any more.
    accessory.isReported = false
    #expect(names(accessory) == ["went"])
  }

  /// What is beyond is passed over, and that is told once.
  @Test func devicesBeyondTheLimitArePassedOver() async throws {
    let told = try await told(
      "/dev/gadget1 ", limit: 3,
      [
        "Subscribe": Self.subscription((1...8).map { Self.event("present", Self.gadget($0)) } + [Self.ready]),
        "List": [#"{"accessories":[\#((1...8).map { Self.held($0) }.joined(separator: ","))]}"#],
      ])
    #expect(told.filter { $0.hasPrefix("came") } == (1...3).map { "came /dev/gadget\($0) " })
    #expect(told.filter { $0.hasPrefix("went") } == (1...3).map { "went /dev/gadget\($0) " })
    #expect(told.filter { $0.contains("reports more than 3 accessories") }.count == 1 && told.count == 7)
  }

  /// A program that a service tells of one twice, and that it is gone, knows nothing of it any more.
  @Test func nothingIsLeftOfWhatWasToldTwice() async throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/socket"
    let events = ["present", "connected", "disconnected"].map { Self.event($0, Self.gadget(1)) }
    let service = try CannedService(
      at: place,
      ["Subscribe": Self.subscription(events + [Self.ready]), "List": [#"{"accessories":[]}"#]])
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
