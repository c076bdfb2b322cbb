// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import Glibc
import TestSupport
import Testing

/// `trace` of an accessory that says more than anybody can read, and its recording where there is no room.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct TraceFloodTests {
  /// Bytes of a flood: a trace without a bound keeps all of them, and more beside.
  private static let floodBytes = 8 << 20
  /// What a process may grow meanwhile.
  private static let growthLimit = 6 << 20

  /// An accessory that answers what it is asked.
  private static var accessory: ScriptedAccessory {
    ScriptedAccessory { request in
      switch request.command {
      case .identify: .reply(Array("M\0N\0Y\0S1\0F\0H\0".utf8))
      case .battery: .reply([1, 5])
      case .status: .reply([0, 0, 0, 0])
      default: .silence
      }
    }
  }

  /// Memory of a process that is its own, in bytes, as proc(5) tells.
  private static func memory(of pid: pid_t) -> Int {
    let bytes = (try? SmallFile.read("/proc/\(pid)/statm", limit: 256)) ?? []
    let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    return pages.count > 2 ? (pages[1] - pages[2]) * Int(sysconf(CInt(_SC_PAGESIZE))) : 0
  }

  /// A long event, of which a trace shows the beginning.
  private static let event = ScriptedAccessory.event(
    AF1Command(rawValue: 0x55), number: 1, [UInt8](repeating: 7, count: 4_000))

  /// Sends events, as fast as they are taken.
  private static func flood(_ session: AccessorySession, _ count: Int = floodBytes) async throws {
    let piece = Array(repeatElement(event, count: 16).joined())
    for _ in 0..<(count / piece.count) { try await session.write(piece) }
  }

  /// A pipe that nobody reads yet, as of a pager that a person has left standing; gives our end.
  private static func pipe(in box: Sandbox) throws -> CInt {
    let path = box.directory.path + "/fifo"
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    // The smallest: F_SETPIPE_SZ of <linux/fcntl.h>.
    try #require(reader >= 0 && fcntl(reader, 1_031, 4_096) >= 0)
    return reader
  }

  private static func waiting(_ pipe: CInt) -> Int {
    var count: CInt = 0
    return ioctl(pipe, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
  }

  private static let intoThePipe = ["/bin/sh", "-c", "exec \"$0\" \"$@\" > fifo"]

  /// The memory stays, and Ctrl-C, once, ends it.
  @Test(arguments: [false, true]) func aTraceThatNobodyReadsStaysSmall(throughTheService: Bool) async throws {
    let terminal = try await Self.accessory.onPseudoTerminal()
    // Plugged in until the end: a session that is let go of closes its transport.
    let session = AccessorySession(terminal.transport)
    try await Sandbox.with { box in
      let announcement = try Announced(terminal.path, in: box)
      defer { announcement.end() }
      var watched: [pid_t] = []
      if throughTheService {
        let service = try await box.serve()
        try await service.errors(containing: "is attached at")
        watched.append(service.pid)
      }
      let pipe = try Self.pipe(in: box)
      defer { close(pipe) }
      let trace = try box.start(["trace", "--ask"], prefix: Self.intoThePipe)
      watched.append(trace.pid)
      try await eventually("the first frames") { Self.waiting(pipe) > 100 }
      let before = watched.map(Self.memory)
      try await Self.flood(session)
      let growth = zip(watched.map(Self.memory), before).map { $0 - $1 }
      if ThisProcess.ownMemoryIsTelling {
        #expect(growth.allSatisfy { $0 < Self.growthLimit }, "grown by \(growth) bytes")
      }
      trace.signal(SIGINT)
      let ended = try await trace.end()
      #expect(ended.status == 0, "\(ended.errorText)")
      #expect(ended.errorText.contains("nobody reads the output"), "\(ended.errorText)")
    }
    await session.close()
  }

  /// Ctrl-C, once, also ends it when the accessory was unplugged while nobody read.
  @Test func ctrlCEndsAnUnreadTraceAfterAnUnplug() async throws {
    let terminal = try await Self.accessory.onPseudoTerminal()
    let session = AccessorySession(terminal.transport)
    try await Sandbox.with { box in
      let announcement = try Announced(terminal.path, in: box)
      let pipe = try Self.pipe(in: box)
      defer { close(pipe) }
      let trace = try box.start(["trace", "--ask"], prefix: Self.intoThePipe)
      try await eventually("the first frames") { Self.waiting(pipe) > 100 }
      try await Self.flood(session, 1 << 20)
      announcement.end()
      await session.close()
      try await eventually("the trace has closed the terminal") {
        let folder = "/proc/\(trace.pid)/fd"
        return !Directory.names(in: folder).contains {
          SymbolicLink.target(of: "\(folder)/\($0)")?.hasPrefix("/dev/pts/") == true
        }
      }
      trace.signal(SIGINT)
      let ended = try await trace.end()
      #expect(ended.status == 0, "\(ended.errorText)")
      #expect(ended.errorText.contains("nobody reads the output"), "\(ended.errorText)")
    }
  }

  /// What is shown when the reader goes on says where bytes are missing; so does the recording; and in the end how many.
  @Test func whatWasDroppedIsTold() async throws {
    let terminal = try await Self.accessory.onPseudoTerminal()
    let session = AccessorySession(terminal.transport)
    try await Sandbox.with { box in
      let announcement = try Announced(terminal.path, in: box)
      defer { announcement.end() }
      let pipe = try Self.pipe(in: box)
      defer { close(pipe) }
      let trace = try box.start(["trace", "--ask", "--record", "session.trace"], prefix: Self.intoThePipe)
      try await eventually("the first frames") { Self.waiting(pipe) > 100 }
      try await Self.flood(session, 3 << 20)
      var shown: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      try await eventually("the loss", within: .seconds(60)) {
        let count = read(pipe, &buffer, buffer.count)
        shown += buffer.prefix(max(0, count))
        // Something must pass to be shown behind the gap.
        if count <= 0 { _ = terminal.transport.output.offer(Self.event) }
        return String(decoding: shown.suffix(70_000), as: UTF8.self).contains(" bytes are missing here: ")
      }
      trace.signal(SIGINT)
      let ended = try await trace.end()
      #expect(ended.status == 0)
      #expect(ended.errorText.contains("came too fast to be shown, and were dropped"), "\(ended.errorText)")
      let again = try await box.run("trace", "session.trace", "--json")
      #expect(again.status == 0)
      let lost = try again.lines.filter { $0.contains(#""kind":"lost""#) }.map { try JSON($0) }
      #expect(lost.allSatisfy { $0["lost_bytes"]?.double ?? 0 > 0 && $0["direction"] == .null })
      let sum = lost.reduce(0) { $0 + ($1["lost_bytes"]?.double ?? 0) }
      #expect(ended.errorText.hasPrefix("\(Int(sum)) bytes came"), "\(ended.errorText)")
    }
    await session.close()
  }

  /// The file may not grow beyond a few kilobytes, as on a full disk: the trace says so and ends, without Ctrl-C.
  @Test(.disabled(if: ThisProcess.isSanitized, "a sanitizer's own files are larger"), arguments: [false, true])
  func aFullDiskEndsARecording(throughTheService: Bool) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      if throughTheService {
        let service = try await box.serve()
        try await service.errors(containing: "SIM0001 is attached at")
      }
      let ended = try await box.run(
        ["trace", "--poll", "5ms", "--record", "session.trace"],
        prefix: ["/bin/sh", "-c", "ulimit -f 8; exec \"$0\" \"$@\""])
      #expect(ended.status == EX_IOERR)
      #expect(ended.errorText.contains("can't write to session.trace: "), "\(ended.errorText)")
      // What is in it is whole up to there.
      let again = try await box.run("trace", "session.trace")
      #expect(again.status == 0 && again.lines.count > 10)
    }
  }

  @Test func aRecordingToAFullDeviceIsAnError() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let ended = try await box.run("trace", "--record", "/dev/full")
      #expect(ended.status == EX_IOERR)
      #expect(ended.errorText.contains("can't write to /dev/full: "), "\(ended.errorText)")
    }
  }
}
