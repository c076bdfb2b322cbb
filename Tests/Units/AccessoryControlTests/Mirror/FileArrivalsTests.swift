// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryControl

/// A service's folder that comes and goes with it.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct FileArrivalsTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var folder: String { directory.path + "/a/b" }

  private func make(_ path: String) throws { try #require(mkdir(path, 0o700) == 0) }

  private func makeSocket() throws {
    let descriptor = try FileDescriptor.open(
      folder + "/socket", .writeOnly, options: .create, permissions: [.ownerRead])
    try descriptor.close()
  }

  /// Waits for a signal while the socket is there.
  private func expectSignal(of starts: FileArrivals) async {
    for await _ in starts.signals where access(folder + "/socket", F_OK) == 0 { return }
    Issue.record("the signals have ended")
  }

  /// Each time the socket is created, also in new folders, there is a signal after it.
  @Test func aSignalFollowsEachCreatedSocket() async throws {
    let starts = FileArrivals(at: folder + "/socket")
    defer { starts.stop() }
    var first = starts.signals.makeAsyncIterator()
    #expect(await first.next() != nil)
    // Neither the folder nor the one above it was there.
    try make(directory.path + "/a")
    try make(folder)
    try makeSocket()
    await expectSignal(of: starts)
    // The folder is removed with the socket, and made again.
    try #require(unlink(folder + "/socket") == 0)
    try #require(rmdir(folder) == 0)
    try make(folder)
    try makeSocket()
    await expectSignal(of: starts)
    // Only the socket is made again.
    try #require(unlink(folder + "/socket") == 0)
    try makeSocket()
    await expectSignal(of: starts)
  }

  /// The folder is moved away, and another one takes its place.
  @Test func aReplacedFolderIsNoticed() async throws {
    try make(directory.path + "/a")
    try make(folder)
    let starts = FileArrivals(at: folder + "/socket")
    defer { starts.stop() }
    var first = starts.signals.makeAsyncIterator()
    #expect(await first.next() != nil)
    try #require(rename(folder, directory.path + "/old") == 0)
    try make(folder)
    try makeSocket()
    await expectSignal(of: starts)
  }

  @Test func aStoppedWatchKeepsItsFirstSignalAndGivesNoOther() async throws {
    let (stopped, other) = (FileArrivals(at: folder + "/socket"), FileArrivals(at: folder + "/socket"))
    defer { other.stop() }
    stopped.stop()
    let count = Watched(0)
    let counting = Task { for await _ in stopped.signals { count.update { $0 += 1 } } }
    defer { counting.cancel() }
    try await count.wait { $0 == 1 }
    var signals = other.signals.makeAsyncIterator()
    _ = await signals.next()
    try make(directory.path + "/a")
    // The watch that goes on gives two signals, one pause after the other. So the stopped one would have given its first by then.
    for _ in 1...2 { #expect(await signals.next() != nil) }
    #expect(count.value == 1)
  }
}
