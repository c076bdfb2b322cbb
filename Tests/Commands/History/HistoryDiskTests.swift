// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// The history where its disk is really full, and where it is mounted for reading only. The service has a namespace of its own
/// with its state folder on a tmpfs; who isn't root gets a user namespace with it.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct HistoryDiskTests {
  /// A service whose state folder is a disk of its own.
  private struct Disk {
    let box: Sandbox
    let service: Program

    static var isRoot: Bool { geteuid() == 0 }

    /// Starts a service with a disk of `size`, on which `prepare`, a shell command, is done first.
    init(_ box: Sandbox, size: String, _ prepare: String) throws {
      self.box = box
      mkdir(box.directory.path + "/state", 0o700)
      let script = #"mount -t tmpfs -o size="$0",mode=700 none state && (cd state && eval "$1") && shift && exec "$@""#
      service = try box.start(
        ["serve", "--poll", "5s"],
        prefix: [
          "unshare", Self.isRoot ? "-m" : "-rm", "--propagation", "private", "/bin/sh", "-c", script, size, prepare,
        ],
        limit: .seconds(400))
    }

    /// The state folder, as the service sees it.
    private var folder: String { "/proc/\(service.pid)/root\(box.directory.path)/state" }

    /// The size of the history's file; nil where there is none.
    var size: Int? {
      var file = stat()
      return stat(folder + "/accessory-bridge/history", &file) == 0 ? Int(file.st_size) : nil
    }

    func remove(_ name: String) throws { try #require(unlink(folder + "/" + name) == 0) }

    func remount(_ option: String) async throws {
      let mount = ["mount", "-o", "remount,\(option)", box.directory.path + "/state"]
      let enter =
        ["nsenter", "-t", "\(service.pid)"] + (Self.isRoot ? ["-m"] : ["-U", "-m", "--preserve-credentials"])
      let ended = try await Program(
        enter + mount, environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"], directory: "/", limit: .seconds(20)
      ).end()
      try #require(ended.status == 0, "\(ended.errorText)")
    }

    /// Waits until the log says why there is nothing on the disk.
    func complained(_ text: String) async throws {
      let transcript = try await service.transcript.wait { transcript in
        transcript.status != nil || transcript.errorText.contains(text)
      }
      try #require(transcript.status == nil, "the service goes on: \(transcript.errorText)")
    }

    /// Waits until the history is on the disk, which may take a minute.
    func wrote() async throws {
      let transcript = try await service.transcript.wait { transcript in
        transcript.status != nil || transcript.errorText.contains("the history can be written again")
      }
      #expect(transcript.status == nil && (size ?? 0) > 0, "\(transcript.errorText)")
    }

    /// Ends the service, which must have complained once.
    func end(_ text: String) async throws {
      service.signal(SIGTERM)
      let ended = try await service.end()
      #expect(ended.status == 0, "\(ended.errorText)")
      // What is kept of equal serial numbers has a complaint of its own.
      let complaints = ended.errorText.split(separator: "\n").count { $0.contains(text) && $0.contains("the history") }
      #expect(complaints == 1, "\(ended.errorText)")
    }
  }

  private static func points(_ box: Sandbox) async throws -> Int {
    let document = try await box.run("battery", "SIM0001", "--history", "--json").json()
    return (document["series"]?.elements ?? []).reduce(0) { $0 + ($1["points"]?.elements.count ?? 0) }
  }

  /// A full disk: the service says it once, keeps the history in memory, and writes when there is room.
  @Test func aFullDiskKeepsTheHistoryInMemory() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      // The folder is there, and not a byte is free.
      let disk = try Disk(
        box, size: "64k", "mkdir -m 700 accessory-bridge; cat /dev/zero > filler 2> /dev/null; test -s filler")
      try await disk.service.errors(containing: "SIM0001 is attached at")
      let complaint = "the history can't be written"
      try await disk.complained(complaint)
      #expect((disk.size ?? 0) == 0)
      #expect(try await Self.points(box) > 0, "it is in memory")
      try disk.remove("filler")
      try await disk.wrote()
      try await disk.end(complaint)
    }
  }

  /// A disk that is mounted for reading only, as a worn SD card is after a restart, and later for writing again.
  @Test func aReadOnlyDiskKeepsTheHistoryInMemory() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      let disk = try Disk(box, size: "4m", #"mkdir -m 700 accessory-bridge; mount -o remount,ro "$PWD""#)
      let complaint = "read-only file system"
      try await disk.complained(complaint)
      try await disk.service.errors(containing: "SIM0001 is attached at")
      try await eventually("it is in memory") { try await Self.points(box) > 0 }
      #expect((disk.size ?? 0) == 0)
      try await disk.remount("rw")
      try await disk.wrote()
      try await disk.end(complaint)
    }
  }
}
