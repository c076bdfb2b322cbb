// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AccessoryDiscovery

@Suite struct DeviceResolverTests {
  static let red = Device(path: "/dev/pts/9991", source: .simulator, name: "Red gadget", serialNumber: "X-1")
  static let blue = Device(path: "/dev/pts/9992", source: .simulator, name: "Blue gadget", serialNumber: "X-10")
  static let plain = Device(path: "/dev/pts/9993", source: .simulator)

  private func resolve(_ text: String?, _ devices: Device...) throws -> Device {
    try DeviceResolver.resolve(text, among: devices)
  }

  @Test func nothingTyped() throws {
    #expect(try resolve(nil, Self.red) == Self.red)
    #expect(throws: ResolutionError.noDevices) { try resolve(nil) }
    #expect(throws: ResolutionError.ambiguous(nil, [Self.red, Self.blue])) { try resolve(nil, Self.red, Self.blue) }
  }

  @Test(arguments: ["X-1", "Red gadget", "Red", "R", "/dev/pts/9991x"]) func namesOfOne(text: String) throws {
    if text.hasPrefix("/") {
      #expect(throws: ResolutionError.noMatch(text)) { try resolve(text, Self.red, Self.blue) }
    } else {
      #expect(try resolve(text, Self.red, Self.blue, Self.plain) == Self.red)
    }
  }

  /// "X-1" is a whole serial number and the beginning of another.
  @Test func aWholeNameGoesBeforeABeginning() throws {
    #expect(try resolve("X-1", Self.blue, Self.red) == Self.red)
    #expect(try resolve("X-10", Self.blue, Self.red) == Self.blue)
    #expect(throws: ResolutionError.ambiguous("X-", [Self.red, Self.blue])) { try resolve("X-", Self.red, Self.blue) }
  }

  @Test func twoWithTheSameName() {
    var other = Self.blue
    other.name = Self.red.name
    #expect(throws: ResolutionError.ambiguous("Red gadget", [Self.red, other])) {
      try resolve("Red gadget", Self.red, other)
    }
  }

  /// A device without a serial number goes by its path.
  @Test func withoutASerialNumber() {
    #expect(Self.plain.id == Self.plain.path)
    var empty = Self.plain
    empty.serialNumber = ""
    #expect(empty.id == Self.plain.path)
    #expect(Self.red.id == "X-1")
  }

  @Test func nobody() {
    for text in ["Y", "x-1", "no such thing", "/no/such/path", ""] {
      #expect(throws: ResolutionError.self) { try resolve(text, Self.red, Self.blue) }
    }
  }

  // MARK: - Paths

  @Test func pathsAndLinks() throws {
    let directory = try TemporaryDirectory()
    let node = directory.path + "/node"
    try directory.write([], to: "node")
    #expect(symlink("node", directory.path + "/link") == 0)
    #expect(symlink("link", directory.path + "/second") == 0)
    let known = Device(path: node, source: .simulator, serialNumber: "N")
    for name in ["node", "link", "second", "./link", "../" + directory.path.split(separator: "/").last! + "/link"] {
      #expect(try resolve(directory.path + "/" + name, Self.red, known) == known)
    }
    #expect(try resolve(node, Self.red) == Device(path: node, source: .named))
    let link = directory.path + "/second"
    #expect(try resolve(link, Self.red) == Device(path: node, link: link, source: .named))
  }

  /// What a path's beginning would fit is still another device.
  @Test func aPathIsNeverABeginning() {
    #expect(throws: ResolutionError.noMatch("/dev/pts/999")) { try resolve("/dev/pts/999", Self.red) }
  }

  @Test func aNameBelowDev() throws {
    #expect(try resolve("null", Self.red) == Device(path: "/dev/null", source: .named))
    #expect(try resolve("pts/ptmx", Self.red) == Device(path: "/dev/pts/ptmx", source: .named))
  }

  /// An accessory's own name goes before a file's.
  @Test func anAccessoryGoesBeforeAFile() throws {
    var device = Self.red
    device.name = "null"
    #expect(try resolve("null", device, Self.blue) == device)
    #expect(try resolve("/dev/null", device, Self.blue) == Device(path: "/dev/null", source: .named))
  }

  @Test func aLinkThatLeadsNowhere() throws {
    let directory = try TemporaryDirectory()
    #expect(symlink("gone", directory.path + "/link") == 0)
    #expect(throws: ResolutionError.noMatch(directory.path + "/link")) { try resolve(directory.path + "/link") }
    // In a circle there is something, only it can't be opened: opening says so.
    #expect(symlink("circle", directory.path + "/circle") == 0)
    #expect(try resolve(directory.path + "/circle").path == directory.path + "/circle")
  }

  // MARK: - What is said

  @Test func errorsNameWhatThereIs() {
    let twin = Device(path: "/dev/pts/9994", source: .simulator, serialNumber: "X-1")
    #expect(
      "\(ResolutionError.ambiguous("X", [Self.blue, Self.red]))" == "X fits 2 accessories, say more of one: X-1, X-10")
    #expect(
      "\(ResolutionError.ambiguous(nil, [twin, Self.blue, Self.red]))"
        == "there are 3 accessories, say which: X-1 at /dev/pts/9991, X-1 at /dev/pts/9994, X-10")
    #expect("\(ResolutionError.noMatch("Y"))".contains("Y"))
    #expect("\(ResolutionError.noDevices)".contains("bridge-cli simulate framed"))
  }
}
