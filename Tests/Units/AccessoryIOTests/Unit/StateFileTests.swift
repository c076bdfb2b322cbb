// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import TestSupport
import Testing

@testable import AccessoryIO

struct StateFileTests {
  /// The size of a file, and the bytes that the file system has given to it.
  private static func sizes(_ path: String) throws -> (size: Int, given: Int) {
    var file = stat()
    try #require(stat(path, &file) == 0)
    return (Int(file.st_size), Int(file.st_blocks) * 512)
  }

  /// Whether the file system of this folder can reserve blocks.
  private static func canReserve(in folder: String) throws -> Bool {
    let opened = open("\(folder)/try", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(opened >= 0)
    defer { close(opened) }
    return shim_reserve(opened, 0, 65_536) == 0
  }

  @Test func whatIsAddedFollowsWhatWasThere() throws {
    let directory = try TemporaryDirectory()
    let file = StateFile("s", in: directory.path)
    #expect(throws: (any Error).self, "there is no file yet") { try file.append([1]) }
    try file.replace(Array("one ".utf8))
    for word in ["two ", "", "three"] { try file.append(Array(word.utf8)) }
    #expect(try file.read(limit: 100) == Array("one two three".utf8))
    #expect(try Self.sizes(file.path).size == 13)
  }

  /// An SD card isn't told of the file system's free blocks at each write: only one in 128 KiB takes new ones.
  @Test func blocksAreReservedForManyWrites() throws {
    let directory = try TemporaryDirectory()
    guard try Self.canReserve(in: directory.path) else { return }
    let file = StateFile("s", in: directory.path)
    try file.replace([1])
    var given: [Int] = []
    for _ in 0..<40 {
      try file.append([UInt8](repeating: 2, count: 10_000))
      given.append(try Self.sizes(file.path).given)
    }
    #expect(try Self.sizes(file.path).size == 400_001)
    #expect(Set(given).count <= 4, "\(given)")
    // What is reserved goes with the file that is replaced.
    try file.replace([1])
    #expect(try Self.sizes(file.path).given <= 65_536)
  }
}
