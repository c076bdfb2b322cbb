// SPDX-License-Identifier: Apache-2.0

import Glibc

// A target for libFuzzer: a family's driver, with its link and its exchange, at the other end of a device that does what
// the input says. The family is named by the environment, since each has a corpus of its own:
//
//   ACCESSORY_BRIDGE_FUZZ=framed|ev3|hm10|bluno|hm1x|lines
//
// With ACCESSORY_BRIDGE_FUZZ=description the input is a protocol's description, and what is sent in that protocol.
//
// The same bytes pass in a trace of that family, too, whose words are looked at.
//
// Time is the input's as well, and all tasks run on this one thread, one after another: an input does the same each time.

private let name = getenv("ACCESSORY_BRIDGE_FUZZ").map { String(cString: $0) } ?? ""

private let family: Family = {
  guard let family = Family(rawValue: name) else { fatalError("ACCESSORY_BRIDGE_FUZZ must name a family, not \(name)") }
  Schedule.begin()
  return family
}()

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 2 else { return 0 }
  if name == "description" {
    Descriptions.run(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
  }
  family.trace(UnsafeBufferPointer(start: data, count: count))
  let world = World(family, Script(Array(UnsafeBufferPointer(start: data, count: count))))
  world.run()
  return 0
}
