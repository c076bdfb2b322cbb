// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryDiscovery

/// A service's folder that comes and goes with it.
@Suite(.timeLimit(.minutes(1))) struct ServiceStartsTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var folder: String { directory.path + "/a/b" }

  private func make(_ path: String) throws { try #require(mkdir(path, 0o700) == 0) }

  private func makeSocket() throws {
    let descriptor = try FileDescriptor.open(
      folder + "/socket", .writeOnly, options: .create, permissions: [.ownerRead])
    try descriptor.close()
  }

  private func isThere() -> Bool { access(folder + "/socket", F_OK) == 0 }

  /// Each time the socket is created, also in new folders, there is a signal after it.
  @Test func foldersThatComeAndGo() async throws {
    let starts = ServiceStarts(at: folder + "/socket")
    defer { starts.stop() }
    var signals = starts.signals.makeAsyncIterator()
    #expect(await signals.next() != nil)
    for depth in [0, 1, 2] {
      if depth == 0 { try make(directory.path + "/a") }
      if depth < 2 { try make(folder) }
      try makeSocket()
      var isSeen = false
      while !isSeen, await signals.next() != nil { isSeen = isThere() }
      #expect(isSeen)
      // Nothing is left of it that a later signal could be of.
      try #require(unlink(folder + "/socket") == 0)
      if depth < 1 {
        try #require(rmdir(folder) == 0)
      }
    }
  }

  /// What is above the folder is moved away, and another one takes its place.
  @Test func aFolderInsteadOfAnother() async throws {
    try make(directory.path + "/a")
    try make(folder)
    let starts = ServiceStarts(at: folder + "/socket")
    defer { starts.stop() }
    var signals = starts.signals.makeAsyncIterator()
    #expect(await signals.next() != nil)
    try #require(rename(folder, directory.path + "/old") == 0)
    try make(folder)
    try makeSocket()
    var isSeen = false
    while !isSeen, await signals.next() != nil { isSeen = isThere() }
    #expect(isSeen)
  }

  @Test func stopped() async throws {
    let starts = ServiceStarts(at: folder + "/socket")
    starts.stop()
    try make(directory.path + "/a")
    var signals = starts.signals.makeAsyncIterator()
    #expect(await signals.next() != nil)
  }
}
