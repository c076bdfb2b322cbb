// SPDX-License-Identifier: Apache-2.0

import Glibc

// A target for libFuzzer: a family's driver, with its link and its exchange, at the other end of a device that does what
// the input says. The family is named by the environment, since each has a corpus of its own:
//
//   ACCESSORY_BRIDGE_FUZZ=framed|ev3|hm10|bluno|hm1x|mavlink|lines
//
// It may also be the name of a described protocol that comes with the package.
//
// With ACCESSORY_BRIDGE_FUZZ=description the input is a protocol's description; with decoder it is that and what is sent in
// that protocol; with simulator a description is made up from it, and a pretended accessory.
//
// With sharing the input says what the clients and the device of a sharing hub do. The hub runs on the threads on which it always
// runs, so time is the input's there, but not the turns of the threads within a step.
//
// With bluetooth the input says what a lying bus tells of Bluetooth devices.
//
// With nativeapi the input is what a client of the native API sends.
//
// The same bytes pass in a trace of that family, too, whose words are looked at.
//
// Time is the input's as well, and all tasks run on this one thread, one after another: an input does the same each time.

private let name = getenv("ACCESSORY_BRIDGE_FUZZ").map { String(cString: $0) } ?? ""

private let family: Family = {
  guard let family = Leaks.unwatched({ Family(name) }) else {
    fatalError("ACCESSORY_BRIDGE_FUZZ must name a family, not \(name)")
  }
  Schedule.begin()
  return family
}()

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 2 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  switch name {
  case "description": Descriptions.read(bytes)
  case "decoder": Descriptions.decode(bytes)
  case "simulator": Descriptions.simulate(bytes)
  case "sharing": SharingWorld(Script(bytes)).run()
  case "nativeapi": NativeAPI.talk(bytes)
  case "bluetooth":
    var bus = MadeUpBus(bytes)!
    _ = bus.run()
  default: useFamily(bytes)
  }
  return 0
}

private func useFamily(_ bytes: [UInt8]) {
  family.trace(bytes)
  let world = World(family, Script(bytes))
  world.run()
}
