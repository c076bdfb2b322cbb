// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryFleet

/// Addresses of brokers as people write them.
struct BrokerAddressTests {
  @Test(
    arguments: [
      ("mqtt://localhost", "localhost", 1_883, false, nil),
      ("mqtts://broker.example", "broker.example", 8_883, true, nil),
      ("mqtts://attic@broker.example:1234/", "broker.example", 1_234, true, "attic"),
      ("mqtt://a%40b@10.0.0.7", "10.0.0.7", 1_883, false, "a@b"),
      ("mqtt://[fe80::1]:1884", "fe80::1", 1_884, false, nil),
    ] as [(String, String, Int, Bool, String?)])
  func aBrokersAddressIsReadInItsParts(text: String, host: String, port: Int, usesTLS: Bool, user: String?) throws {
    let address = try BrokerAddress(text)
    #expect(address.host == host && address.port == port && address.usesTLS == usesTLS && address.user == user)
  }

  @Test(arguments: [
    "", "localhost", "tcp://localhost", "mqtt://", "mqtt://@host", "mqtt://host:0", "mqtt://host:65536",
    "mqtt://host:x",
    "mqtt://::1", "mqtt://[::1", "mqtt://[::1]x", "mqtt://a b", "mqtt://host/topic", "mqtt://%4@host",
    "mqtt://%00@host",
    "mqtt://" + String(repeating: "h", count: 300),
  ])
  func whatIsNoBrokersAddressIsRefused(text: String) {
    #expect(throws: AccessoryError.self) { try BrokerAddress(text) }
  }

  /// A password in the address is refused, and isn't repeated.
  @Test
  func aPasswordInTheAddressIsRefused() {
    let error = #expect(throws: AccessoryError.self) { try BrokerAddress("mqtt://attic:secret@host") }
    #expect(error?.message.contains("--password-file") == true && error?.message.contains("secret") == false)
  }
}
