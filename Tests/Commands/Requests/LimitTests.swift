// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// Commands with little: few descriptors, and files that give nothing.
@Suite(.timeLimit(.minutes(10))) struct LimitTests {
  /// However few descriptors the accessories leave, the service answers: it keeps one for a client.
  @Test(arguments: [12, 14, 16, 20]) func aServiceWithFewDescriptorsStillAnswers(limit: Int) async throws {
    try await Sandbox.with { box in
      for _ in 0..<3 { _ = try await box.simulate() }
      let service = try box.start(
        ["serve"], prefix: ["/bin/sh", "-c", "ulimit -n \(limit); exec \"$0\" \"$@\""], limit: Sandbox.longLife)
      try await service.errors(containing: "looking for accessories", times: 1)
      for _ in 0..<5 {
        let answer = try await box.run("service", "--json")
        #expect(answer.status == 0 && !answer.isHung, "\(answer.errorText)")
      }
      service.signal(SIGTERM)
      #expect(try await !service.end().isHung)
    }
  }

  /// A service with too little memory says so, where it would be aborted by its first allocation that fails. How much a program
  /// uses before depends on how it was built, so all limits are tried from where it doesn't start at all.
  @Test(.disabled(if: ThisProcess.isSanitized, "a sanitizer needs terabytes of addresses"), arguments: ["-v", "-d"])
  func aServiceWithLittleMemorySaysSo(option: String) async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      let bytes = try SmallFile.read("/proc/\(service.pid)/status", limit: 16_384)
      let fields = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      let name = try #require(fields.firstIndex(of: option == "-v" ? "VmPeak:" : "VmData:"))
      let idle = try #require(Int(fields[name + 1]))
      service.signal(SIGTERM)
      try await service.end()
      var refused = 0
      for missing in stride(from: 20_000, through: 2_000, by: -2_000) {
        let ended = try await box.run(
          ["serve", "--exit-idle", "100ms"],
          prefix: ["/bin/sh", "-c", "ulimit \(option) \(idle - missing); exec \"$0\" \"$@\""])
        #expect(ended.status ?? -1 >= 0, "\(missing): \(ended.errorText)")
        guard ended.status == EX_CONFIG else { continue }
        refused += 1
        #expect(ended.errorText.contains("limit of memory (ulimit \(option)) is "), "\(ended.errorText)")
        #expect(ended.errorText.contains("the service needs "), "\(ended.errorText)")
      }
      #expect(refused > 0)
    }
  }

  /// Nobody writes to the named pipe; Ctrl-C is heard all the same.
  @Test func ctrlCEndsAWaitForAPipe() async throws {
    try await Sandbox.with { box in
      #expect(mkfifo(box.directory.path + "/pipe", 0o600) == 0)
      let command = try box.start("replay", "./pipe")
      let folder = "/proc/\(command.pid)/fd"
      try await eventually("it has opened the pipe") {
        Directory.names(in: folder).contains { SymbolicLink.target(of: folder + "/" + $0)?.hasSuffix("/pipe") == true }
      }
      command.signal(SIGINT)
      let ended = try await command.end()
      #expect(!ended.isHung && ended.status == 130, "\(ended)")
    }
  }

  /// What another program writes into a pipe is read to its end, as a file is.
  @Test func aPipeIsReadToItsEnd() async throws {
    try await Sandbox.with { box in
      let text = "#accessory-bridge-recording 1 silence=1\nnonsense\n"
      try box.directory.write(Array(text.utf8), to: "file")
      let file = try await box.run("replay", "./file")
      let pipe = try await box.run(
        ["replay", "/dev/stdin"], prefix: ["/bin/sh", "-c", "(sleep 0.1; cat file) | \"$0\" \"$@\""])
      #expect(file.status != 0 && pipe.status == file.status && !pipe.isHung)
      let same = pipe.errorText.split(separator: "/dev/stdin").joined(separator: "./file")
      #expect(same == file.errorText, "\(pipe.errorText)")
    }
  }
}
