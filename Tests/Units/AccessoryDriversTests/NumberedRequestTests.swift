// SPDX-License-Identifier: Apache-2.0

import AccessoryFamilies
import FamilyEV3
import Testing

@testable import AccessoryDrivers

/// The names of requests by number are a driver's; the numbers are anybody's.
@Suite struct NumberedRequestTests {
  private static let words: [(String, UInt8?, name: String)] = [
    ("identify", 0x01, "identify"), ("STATUS", 0x02, "status"), ("0x03", 0x03, "battery"), ("0X7d", 0x7D, "7d"),
    // These have names, but no word: their payloads are the link's.
    ("hello", nil, ""), ("0x00", 0x00, "hello"), ("0x", nil, ""), ("0x123", nil, ""), ("18", nil, ""), ("", nil, ""),
  ]

  @Test func theDriverNamesItsRequests() {
    let requests = DriverLibrary.builtIn.numberedRequests
    for (word, number, name) in Self.words {
      #expect(requests.number(word) == number, "\(word)")
      if let number { #expect(requests.name(number) == name, "\(word)") }
    }
  }

  @Test func withoutADriverThatNamesThemNumbersRemain() {
    let requests = DriverLibrary([.ev3]).numberedRequests
    #expect(requests.number("battery") == nil)
    #expect(requests.number("0x12") == 0x12)
    #expect(requests.name(0x12) == "12")
  }
}
