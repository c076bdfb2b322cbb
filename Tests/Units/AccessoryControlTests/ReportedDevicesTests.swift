// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryControl

/// What a client keeps of what a service tells of.
@Suite struct ToldDevicesTests {
  @Test func reportedDevicesAreBoundedInNumber() {
    var told = ReportedDevices<Int>(countLimit: 2)
    var isKept = [told.keep(1, for: "a"), told.keep(2, for: "b"), told.keep(3, for: "c")]
    #expect(isKept == [true, true, false] && told.values == [1, 2])
    // One that is known is replaced, and one that has gone makes room.
    isKept = [told.keep(4, for: "a")]
    #expect(told.remove("b") == 2 && told.remove("b") == nil)
    isKept += [told.keep(5, for: "c"), told.keep(6, for: "d")]
    #expect(isKept == [true, true, false] && told["a"] == 4 && told.values == [4, 5])
  }

  @Test func reportedDevicesAreBoundedInSize() {
    var told = ReportedDevices<Int>(byteLimit: 10)
    var isKept = [told.keep(1, for: "a", size: 5), told.keep(2, for: "b", size: 4), told.keep(3, for: "b", size: 3)]
    #expect(isKept == [true, false, true])
    // What is too long to replace another leaves that one as it is.
    isKept = [told.keep(4, for: "b", size: 4), told.keep(5, for: "a", size: 6)]
    #expect(isKept == [false, false] && told.values == [1, 3])
    told.remove("a")
    isKept = [told.keep(7, for: "b", size: 9)]
    #expect(isKept == [true] && told.values == [7])
  }
}
