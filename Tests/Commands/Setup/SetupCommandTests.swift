// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// `setup`: from the device to its first reading, each question answered wrongly once, interrupted everywhere, and undone.
///
/// The tests have no systemd, so it sets up a service of the user's own; `SetupTests` of the lab have the system's.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct SetupCommandTests {
  /// A question, what is typed wrongly and what is said of it, and a right answer.
  private struct Question {
    let asked: String
    let wrong: [(typed: String, said: String)]
    let right: String
  }

  /// All questions about a port where nobody knows what hangs there.
  private static func questions(_ path: String) -> [Question] {
    [
      Question(
        asked: "to plug it in:", wrong: [("99", "Type p, or the path"), ("/dev/pts/none", "/dev/pts/none")], right: path
      ),
      Question(asked: "Enter to find out:", wrong: [("jdb", "did you mean jbd?")], right: "jbd"),
      Question(asked: "A name for it:", wrong: [("…", "has letters or digits")], right: "House pack"),
      Question(asked: "Enter for no place:", wrong: [("/dev/x", "The place")], right: "Attic"),
      Question(
        asked: "a rule of your own:", wrong: [("9", "numbers from 1 to"), ("battery << 3", "A rule is like")],
        right: "1,2"),
      Question(
        asked: "or none:", wrong: [("moon", "the places are"), ("webb", "did you mean web?")],
        right: "web home-assistant mqtt"),
      Question(
        asked: "The MQTT broker", wrong: [("x", "mqtt://"), ("", "mqtt://")], right: "mqtt://me@broker.example"),
      Question(asked: "The password", wrong: [("", "1 to 512")], right: "very secret"),
      Question(asked: "Do this? [Y/n]", wrong: [("maybe", "Type y or n.")], right: "y"),
    ]
  }

  /// Everything in the sandbox's folder, with its content.
  private func tree(_ box: Sandbox, _ folder: String = "") throws -> [String] {
    try box.directory.names(in: folder).flatMap { name -> [String] in
      let path = folder.isEmpty ? name : folder + "/" + name
      var file = stat()
      guard lstat(box.directory.path + "/" + path, &file) == 0 else { return [] }
      if file.st_mode & S_IFMT == S_IFDIR { return try [path + "/"] + tree(box, path) }
      let bytes =
        file.st_mode & S_IFMT == S_IFREG ? try SmallFile.read(box.directory.path + "/" + path, limit: 1 << 20) : []
      return ["\(path) \(String(decoding: bytes, as: UTF8.self))"]
    }
  }

  @Test func everyQuestionAnsweredWronglyOnceIsAskedAgain() async throws {
    try await Sandbox.with { box in
      let port = try openPseudoTerminal(raw: true)
      let before = try tree(box)
      let setup = try box.sit("setup")
      var seen = 0
      for question in Self.questions(port.path) {
        seen = try await setup.wait(for: question.asked, from: seen)
        for (typed, said) in question.wrong {
          setup.type(typed + "\n")
          seen = try await setup.wait(for: said, from: seen)
          seen = try await setup.wait(for: question.asked, from: seen)
        }
        #expect(try tree(box) == before, "\(question.asked)")
        setup.type(question.right + "\n")
      }
      #expect(try await setup.end() == 0, "\(setup.state.value.text)")
      let text = setup.state.value.text
      #expect(!text.contains("very secret") && text.contains("(not shown)"))
      #expect(text.contains("To undo it: bridge-cli setup --undo house-pack"))
      let profile = try await box.run("check", "profiles/house-pack.yaml")
      #expect(profile.status == 0, "\(profile.outputText)\(profile.errorText)")
      let files = try tree(box)
      #expect(
        files.contains {
          $0.hasPrefix("profiles/house-pack.yaml") && $0.contains("battery < 20 %") && !$0.contains("fault")
        })
      #expect(files.contains("config/accessory-bridge/mqtt-password very secret\n"))
      let undone = try await box.run("setup", "--undo", "House pack")
      #expect(undone.status == 0 && undone.outputText.contains("house-pack.yaml"), "\(undone.errorText)")
      #expect(try tree(box) == before)
      withExtendedLifetime(port) {}
    }
  }

  /// Ctrl-C and the end of the input at each question: nothing is written, and nothing was sent.
  @Test(arguments: [true, false])
  func anInterruptionAtAnyQuestionWritesNothing(bySignal: Bool) async throws {
    try await Sandbox.with { box in
      let port = try openPseudoTerminal(raw: true)
      let questions = Self.questions(port.path)
      for last in questions.indices {
        let before = try tree(box)
        let setup = try box.sit("setup")
        var seen = 0
        for question in questions[...last] {
          seen = try await setup.wait(for: question.asked, from: seen)
          if question.asked != questions[last].asked { setup.type(question.right + "\n") }
        }
        let settings = setup.settings
        if bySignal { setup.signal(SIGINT) } else { setup.type([4]) }
        #expect(try await setup.end() == (bySignal ? 128 + SIGINT : EX_UNAVAILABLE), "\(setup.state.value.text)")
        #expect(try tree(box) == before, "\(questions[last].asked)")
        // The terminal shows again what is typed.
        if questions[last].asked == "The password" { #expect(setup.settings != settings) }
      }
      withExtendedLifetime(port) {}
    }
  }

  /// Whoever doesn't know what it is has it found out: with permission, and without it nothing is sent.
  @Test func aKindIsFoundOutWithPermission() async throws {
    try await Sandbox.with { box in
      let device = try RateDevice(answeringAs: "jbd")
      let setup = try box.sit("setup", device.path, "--show", "none", "--alarm", "none", "--name", "cellar")
      var seen = try await setup.wait(for: "Enter to find out:")
      setup.type("\n")
      seen = try await setup.wait(for: "Go on? [y/N] ", from: seen)
      #expect(device.allBytes.isEmpty)
      setup.type("n\n")
      seen = try await setup.wait(for: "Nothing was sent.", from: seen)
      seen = try await setup.wait(for: "Enter to find out:", from: seen)
      #expect(device.allBytes.isEmpty)
      setup.type("\n")
      seen = try await setup.wait(for: "Go on? [y/N] ", from: seen)
      setup.type("y\n")
      seen = try await setup.wait(for: "Found jbd at 9600 baud", from: seen)
      seen = try await setup.wait(for: "Do this? [Y/n]", from: seen)
      setup.type("\n")
      #expect(try await setup.end() == 0, "\(setup.state.value.text)")
      #expect(try tree(box).contains { $0.hasPrefix("profiles/cellar.yaml") && $0.contains("protocol: jbd") })
    }
  }

  /// "Plug it in": the device that comes is meant.
  @Test func theDeviceThatComesIsMeant() async throws {
    try await Sandbox.with { box in
      let other = try await box.simulate("--serial", "OTHER")
      let setup = try box.sit("setup", "--show", "none", "--alarm", "none", "--name", "lamp")
      try await setup.wait(for: "to plug it in:")
      setup.type("p\n")
      try await setup.wait(for: "Plug it in now.")
      let simulator = try await box.simulate("--serial", "COMES")
      try await setup.wait(for: "COMES came, at ")
      try await setup.wait(for: "Do this? [Y/n]")
      setup.type("y\n")
      #expect(try await setup.end() == 0, "\(setup.state.value.text)")
      #expect(try tree(box).contains { $0.hasPrefix("profiles/lamp.yaml") && $0.contains("COMES") })
      try await simulator.stop()
      try await other.stop()
    }
  }

  /// With a service: attached at once, its reading shown; a second setup changes the first, and undoing takes everything away.
  @Test func theServiceAttachesItAndASecondSetupChangesTheFirst() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      let service = try box.start(["serve", "--socket", box.runtime.path + "/s"], limit: Sandbox.longLife)
      try await service.errors(containing: "is attached at")
      let socket = ["ACCESSORY_BRIDGE_SOCKET": box.runtime.path + "/s"]
      func setup(_ words: String...) async throws -> Program.Transcript {
        try await box.run(["setup"] + words, environment: socket)
      }
      let before = try tree(box)
      let first = try await setup("--yes", "--name", "Lamp")
      #expect(first.status == 0 && first.outputText.contains("57 %"), "\(first.outputText)\(first.errorText)")
      #expect(first.errorText.contains("SIM0001 is attached") && first.errorText.contains("Next: "))
      let names = try tree(box).map { $0.prefix { $0 != " " } }
      let second = try await setup("--yes", "--name", "Another", "--alarm", "battery < 90 %")
      #expect(second.status == 0 && second.errorText.contains("lamp.yaml"), "\(second.errorText)")
      #expect(try tree(box).map { $0.prefix { $0 != " " } } == names)
      let alarmed = try await box.run(["battery"], environment: socket)
      #expect(alarmed.outputText.contains("battery < 90 %"), "\(alarmed.outputText)")
      let undone = try await setup("--undo", "lamp")
      #expect(undone.status == 0, "\(undone.errorText)")
      #expect(try tree(box) == before)
      let unknown = try await setup("--undo", "lamp")
      #expect(unknown.status == EX_NOINPUT && unknown.errorText.contains("nothing was set up"), "\(unknown.errorText)")
      try await simulator.stop()
    }
  }

  /// A service that ends in between: the error says that nothing was written, and nothing is.
  @Test func aServiceThatCantBeToldLeavesNothing() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      try box.directory.makeFolders(of: "profiles/x")
      #expect(chmod(box.directory.path + "/profiles", 0o500) == 0)
      let before = try tree(box)
      // Root may write everywhere.
      let isRoot = geteuid() == 0
      if isRoot { try box.directory.write(Array("name: mine\n".utf8), to: "profiles/lamp.yaml") }
      let ended = try await box.run("setup", "--yes", "--name", "lamp")
      #expect(ended.status == (isRoot ? EX_CANTCREAT : EX_NOPERM), "\(ended.errorText)")
      #expect(ended.errorText.contains(isRoot ? "nothing was written" : "everything is as it was before"))
      if isRoot { unlink(box.directory.path + "/profiles/lamp.yaml") }
      #expect(try tree(box) == before)
      try await simulator.stop()
    }
  }

  @Test func withoutATerminalItAsksNothing() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      let before = try tree(box)
      for words in [["setup"], ["setup", "--json"]] {
        let ended = try await box.run(words)
        #expect(ended.status == EX_USAGE && (ended.errorText + ended.outputText).contains("--yes"))
      }
      let dry = try await box.run("setup", "--dry-run")
      #expect(dry.status == 0 && dry.errorText.contains("my-framed.yaml (new)"), "\(dry.errorText)")
      #expect(dry.errorText.contains("Nothing was written."))
      #expect(try tree(box) == before)
      let document = try await box.run("setup", "--yes", "--json").json()
      #expect(document["document"] == "setup" && document["done"] == true && document["scope"] == "user")
      #expect(document["files"]?[0]?["change"] == "new" && document["undo"] == "bridge-cli setup --undo my-framed")
      let kept = try await box.run("setup", "--undo", "my-framed", "--dry-run", "--json").json()
      #expect(kept["document"] == "setup_undone" && kept["done"] == false && kept["kept"] == [])
      #expect(try await box.run("setup", "--undo", "my-framed").status == 0)
      #expect(try tree(box) == before)
      try await simulator.stop()
    }
  }

  @Test(
    arguments: [
      (["--yes", "--show", "webb"], "did you mean web?"), (["--yes", "--show", "moon"], "the places are"),
      (["--yes", "--driver", "jdb", "/dev/null"], "did you mean jbd?"),
      (["--yes", "--name", "…"], "--name needs letters"),
      (["--yes", "--alarm", "battery << 3"], "column"), (["--yes", "--broker", "x"], "mqtt://"),
      (["--undo", "x", "--name", "y"], "nothing else"), (["--yes"], "no device was found"),
      (["--yes", "--password-file", "x"], "--broker"),
      (["--yes", "--driver", "jbd", "/dev/null", "--name", "jbd"], "the name of a kind"),
    ] as [([String], String)])
  func aWrongOptionIsAUsageError(words: [String], said: String) async throws {
    try await Sandbox.with { box in
      let ended = try await box.run(["setup"] + words)
      #expect(ended.status == EX_USAGE && ended.errorText.contains(said), "\(ended.errorText)")
      #expect(try tree(box) == [])
    }
  }

  @Test func aDeviceOnTheNetworkIsRefusedAtOnce() async throws {
    try await Sandbox.with { box in
      let ended = try await box.run("setup", "tcp:127.0.0.1:9", "--driver", "jbd", "--yes")
      #expect(ended.status == EX_UNAVAILABLE && ended.errorText.contains("network.md"), "\(ended.errorText)")
      #expect(try tree(box) == [])
    }
  }

  /// A person's whole way in a window of 80 columns.
  @Test func itFitsInAWindow() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      try await Tmux.with(box, rows: 40) { tmux in
        try await tmux.type("\(Sandbox.command) setup")
        try await tmux.press("Enter")
        for asked in ["Which one?", "A name for it:", "Where is it", "Alarms:", "Where should it be seen"] {
          let screen = try await tmux.wait(for: asked)
          #expect(screen.allSatisfy { $0.count <= 80 })
          try await tmux.press("Enter")
        }
        try await tmux.wait(for: "Do this? [Y/n]")
        try await tmux.press("Enter")
        try await tmux.wait(for: "Next: bridge-cli top")
      }
      #expect(try tree(box).contains { $0.hasPrefix("profiles/my-framed.yaml") })
      try await simulator.stop()
    }
  }

  /// It says of each UPS of NUT's whether it can be taken over, and sets up the one that can.
  @Test func aUPSOfNUTsIsTakenOver() async throws {
    try await Sandbox.with { box in
      let port = try openPseudoTerminal(raw: true)
      try box.directory.write(
        Array(
          """
          maxretry = 3
          [rack]  # in the cellar
            driver = "blazer_ser"
            port = \(port.path)
          [smart]
            driver = apcsmart
            port = /dev/ttyS0
          [usb]
            driver = nutdrv_qx
            port = auto
          [net]
            driver = snmp-ups

          """.utf8), to: "ups.conf")
      let ended = try await box.run("setup", "--from", "ups.conf", "--yes")
      #expect(ended.status == 0, "\(ended.errorText)")
      for said in [
        "rack (blazer_ser): can be taken over, by the driver megatec",
        "smart (apcsmart): can't be taken over: APC's serial",
        "usb (nutdrv_qx): can't be taken over", "net (snmp-ups): can't be taken over: no driver here",
        "systemctl disable --now nut-server nut-driver@rack",
      ] { #expect(ended.errorText.contains(said), "\(said): \(ended.errorText)") }
      #expect(
        try tree(box).contains {
          $0.hasPrefix("profiles/rack.yaml") && $0.contains("protocol: megatec") && $0.contains("on_battery = yes")
        })
      withExtendedLifetime(port) {}
    }
  }
}
