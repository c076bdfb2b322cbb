// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryDrivers

/// The words for raw requests are the drivers', and numbers are anybody's.
@Suite struct RawRequestTests {
  private static let words: [(String, RawRequest?)] = [
    ("identify", RawRequest(0x01, name: "identify")), ("STATUS", RawRequest(0x02, name: "status")),
    ("0x03", RawRequest(0x03, name: "battery")), ("0X7d", RawRequest(0x7D, name: "7d")),
    // These have names, but no word: their payloads are the link's.
    ("hello", nil), ("0x00", RawRequest(0x00, name: "hello")), ("0x", nil), ("0x123", nil), ("18", nil), ("", nil),
  ]

  @Test func areTheDrivers() {
    for (word, request) in Self.words { #expect(DriverLibrary.builtIn.rawRequest(word) == request, "\(word)") }
  }

  @Test func withoutADriverThatNamesThem() {
    #expect(DriverLibrary([.ev3]).rawRequest("battery") == nil)
    #expect(DriverLibrary([.ev3]).rawRequest("0x12") == RawRequest(0x12, name: "12"))
  }
}
