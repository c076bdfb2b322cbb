// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What a command says, and which status it ends with, when an accessory can't be talked to.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct FailureTests {
  @Test func commandsWithoutAnyAccessoryFindNone() async throws {
    try await Sandbox.with { box in
      for command in ["battery", "status", "info"] {
        let ended = try await box.run(command)
        #expect(ended.status == EX_NOINPUT)
        #expect(ended.outputText == "")
        #expect(ended.errorText.contains("no accessory found"))
      }
      let document = try await box.run("battery", "--json")
      #expect(document.status == EX_NOINPUT)
      #expect(document.errorText == "")
      let error = try document.json()["error"]
      #expect(
        error?.without("message")
          == ["kind": "not_found", "errno": nil, "libusb": nil, "refusal": nil, "exit_status": 66])
    }
  }

  /// With too few descriptors there is an error, whatever is missing then, and never a crash.
  @Test(arguments: 4...12) func tooFewDescriptorsAreAnErrorAndNoCrash(_ count: Int) async throws {
    try await Sandbox.with { box in
      for command in [["list"], ["battery"]] {
        let ended = try await box.run(
          command, prefix: ["/bin/sh", "-c", "ulimit -n \(count); exec \"$0\" \"$@\""])
        #expect((ended.status ?? -1) >= 0, "\(command) with \(count) descriptors: \(ended.errorText)")
        if count == 4 {
          #expect(ended.status == EX_IOERR)
          #expect(ended.errorText.contains("too many open files: raise the limit of open files (ulimit -n)"))
        }
      }
    }
  }

  @Test func tooFewDescriptorsAreADocumentAsWell() async throws {
    try await Sandbox.with { box in
      let ended = try await box.run(
        ["battery", "--json"], prefix: ["/bin/sh", "-c", "ulimit -n 4; exec \"$0\" \"$@\""])
      #expect(ended.status == EX_IOERR)
      #expect(ended.errorText == "")
      #expect(try ended.json()["error"]?["kind"] == "io_failure")
    }
  }

  @Test(arguments: ["SIM0009", "/dev/no-such-port", "./no-such-link"])
  func aMissingAccessoryIsNotFound(name: String) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let battery = try await box.run("battery", name)
      #expect(battery.status == EX_NOINPUT)
      #expect(battery.errorText.contains(name))
    }
  }

  @Test func aPortOfAnotherProcessIsBusy() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      let holder = try box.start("battery", "--watch")
      _ = try await holder.lines(1)
      let second = try await box.run("battery")
      #expect(second.status == EX_UNAVAILABLE)
      #expect(second.errorText.contains(simulator.path))
      #expect(second.errorText.contains("bridge-cli"))
      #expect(second.errorText.contains(String(holder.pid)))
      let document = try await box.run("battery", "--json").json()
      #expect(document["error"]?["kind"] == "busy")
      // And it can be had as soon as the other is gone, however that went.
      holder.signal(SIGKILL)
      try await holder.end()
      // A killed program can't end its exclusive mode: the simulator does, once the kernel has told it.
      var again = try await box.run("battery")
      for _ in 0..<100 where again.status == EX_UNAVAILABLE { again = try await box.run("battery") }
      #expect(again.status == 0)
    }
  }

  @Test func aSilentDeviceIsATemporaryFailure() async throws {
    let terminal = try await PseudoTerminal.open()
    try await Sandbox.with { box in
      let battery = try await box.run("battery", terminal.path, "--driver", "framed")
      #expect(battery.status == EX_TEMPFAIL)
      #expect(battery.errorText.contains("\(terminal.path) does not answer"))
    }
    await terminal.transport.close()
  }

  /// Told at once: over a line this slow, an answer would be waited for for minutes.
  @Test func anUnplugAmidARequestIsReportedAtOnce() async throws {
    let accessory = ScriptedAccessory { _ in .silence }
    let terminal = try await accessory.onPseudoTerminal()
    try await Sandbox.with { box in
      let request = try box.start(
        "request", terminal.path, "echo", "aa", "--json", "--baud", "300", "--driver", "framed")
      try await accessory.requests.wait { $0.last?.command == .echo }
      await terminal.transport.close()
      let ended = try await request.end()
      #expect(ended.status == EX_UNAVAILABLE)
      #expect(try ended.json()["error"]?["kind"] == "disconnected")
      #expect(accessory.requests.value.map(\.command) == [.hello, .echo])
    }
  }

  /// The same, after half of the answer.
  @Test func anUnplugAmidAnAnswerIsReported() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--unplug-after", "1", "--link", "acc")
      let request = try await box.run("request", "acc", "echo", "aabbcc")
      #expect(request.status == EX_UNAVAILABLE)
      #expect(request.errorText.contains("was disconnected"))
      #expect(try await simulator.program.end().status == 0)
      #expect(box.directory.names() == [])
    }
  }

  @Test(
    arguments: [("battery", []), ("status", [0]), ("status", [0, 0, 0]), ("info", [0x41, 0x42])] as [(String, [UInt8])])
  func senselessAnswersAreDataErrors(command: String, payload: [UInt8]) async throws {
    let accessory = ScriptedAccessory { $0.command == .hello ? .silence : .reply(payload) }
    let terminal = try await accessory.onPseudoTerminal()
    try await Sandbox.with { box in
      let ended = try await box.run(command, terminal.path, "--driver", "framed")
      #expect(ended.status == EX_DATAERR)
      #expect(ended.errorText.contains(terminal.path))
      #expect(ended.outputText == "")
    }
    await terminal.transport.close()
  }

  @Test func pathsOfNoSerialPortAreRefused() async throws {
    try await Sandbox.with { box in
      try box.directory.write([1, 2, 3], to: "file")
      for path in ["./file", "/dev/null", box.directory.path] {
        let battery = try await box.run("battery", path, "--driver", "framed")
        #expect(battery.status == (path == "/dev/null" ? EX_UNAVAILABLE : EX_USAGE))
        #expect(battery.errorText.contains(path))
      }
      #expect(box.directory.names() == ["file"])
    }
  }

  /// Root may open everything, unless it gives that up.
  @Test func aPortWithoutPermissionIsExplained() async throws {
    let isRoot = geteuid() == 0
    let terminal = try await PseudoTerminal.open()
    #expect(chmod(terminal.path, isRoot ? 0o660 : 0o000) == 0)
    if isRoot { #expect(chown(terminal.path, 65_534, try #require(group("dialout"))) == 0) }
    try await Sandbox.with { box in
      let prefix = ["setpriv", "--clear-groups", "--bounding-set=-dac_override,-dac_read_search"]
      let battery = try await box.run(["battery", terminal.path], prefix: isRoot ? prefix : [])
      #expect(battery.status == EX_NOPERM)
      #expect(battery.errorText.contains(terminal.path))
      if isRoot {
        #expect(battery.errorText.contains("belongs to group dialout, you are not in it"))
        #expect(battery.errorText.contains("sudo usermod -aG dialout $USER"))
      }
    }
    await terminal.transport.close()
  }

  private func group(_ name: String) -> gid_t? { getgrnam(name).map { $0.pointee.gr_gid } }
}
