// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ExternalAccessory

/// A service whose numbers make no sense.
@Suite(.timeLimit(.minutes(5))) struct HostileServiceTests {
  private static func device(_ speed: String) -> String {
    #"{"id":"X1","path":"/dev/null","source":"named","links":[],"ways":[],"initialized":true,"usb":{"vendor_id":1,"#
      + #""product_id":1,"bus":0,"address":0,"node":"","port":"","speed_mbps":\#(speed),"interfaces":[]}}"#
  }

  private static func accessory(_ speed: String) -> String {
    #"{"device":\#(device(speed)),"state":"attached","tries":0,"protocols":["org.example.p"]}"#
  }

  /// Nothing of it becomes an accessory; what is right does.
  @Test(arguments: ["480", "-1e300", "1e300"], ["1.5", "1e300", "-1"]) func tellsOfNoAccessory(
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
        if case .came(let told_) = event { told.update { $0.append(told_.device.path) } }
      }
    }
    try await isReady.wait { $0 }
    #expect(told.value == (speed == "480" && time == "1.5" ? ["/dev/null"] : []))
    following.cancel()
    service.close()
    await following.value
  }
}
