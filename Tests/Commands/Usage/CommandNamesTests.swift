// SPDX-License-Identifier: Apache-2.0

import AccessoryFamilies
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// Which commands there are, what each of their names does, and how much help they have.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct CommandNamesTests {
  /// Old names work for one more release: they do the same, tell programs nothing of it, and aren't shown.
  @Test(arguments: [
    ("ls", "file ls"), ("get-file", "file get"), ("send-file", "file send"), ("rm", "file rm"), ("mkdir", "file mkdir"),
    ("profile check", "check"), ("service check", "check"), ("share check", "check"), ("service", "info"),
    ("detach", "attach"), ("identify", "profile identify"), ("udev-rules", "profile udev-rules"),
    ("scan", "bluetooth scan"), ("connect", "bluetooth connect"), ("remote show", "bluetooth remote show"),
  ])
  func oldNamesOfCommandsStillWork(old: String, new: String) async throws {
    try await Sandbox.with { box in
      let words = (old: old.split(separator: " ").map(String.init), new: new.split(separator: " ").map(String.init))
      let before = try await box.run(words.old + ["--help"])
      let now = try await box.run(words.new + ["--help"])
      #expect(before.status == 0 && before.outputText == now.outputText && before.errorText == "")
      #expect(try await box.run(["help"] + words.old).outputText == now.outputText)
      let help = try await box.run("--help").outputText
      #expect(!help.contains("\n  \(words.old[0]) ") || ["profile"].contains(words.old[0]))
    }
  }

  /// Only a person at a terminal is told the new name, apart from the result.
  @Test func aPersonIsToldTheNewName() async throws {
    try await Sandbox.with { box in
      try await Tmux.with(box, columns: 100, rows: 30) { tmux in
        try await tmux.type("clear; \(Sandbox.command) udev-rules >rules; echo ended $?")
        try await tmux.press("Enter")
        let screen = try await tmux.wait(for: "ended ")
        #expect(screen.contains { $0.contains("udev-rules is called bridge-cli profile udev-rules now") }, "\(screen)")
      }
      let rules = try SmallFile.read(box.directory.path + "/rules", limit: 1 << 20)
      #expect(try await box.run("profile", "udev-rules").output == rules)
    }
  }

  /// Each kind of file is recognized by what is in it; a kind that is named counts more.
  @Test func filesAreRecognizedByTheirContents() async throws {
    try await Sandbox.with { box in
      let files = [
        ("service.yaml", "commands: []\n", "it permits no command"),
        ("share.yaml", "device: A1\ntcp: 7000\n", "a share of A1"),
        ("profile.yaml", "name: mine\nmatch: {serial: X}\ndriver: framed\n", "profile mine"),
      ]
      for (name, text, praise) in files {
        try box.directory.write(Array(text.utf8), to: name)
        let ended = try await box.run("check", name)
        #expect(ended.status == 0 && ended.outputText == "\(name): fine, \(praise)\n", "\(ended.errorText)")
      }
      let all = try await box.run(["check"] + files.map(\.0))
      #expect(all.status == 0 && all.lines.count == 3)
      let wrong = try await box.run("check", "share.yaml", "--as", "profile")
      #expect(wrong.status == EX_CONFIG && wrong.outputText.contains("tcp"), "\(wrong.outputText)")
      try box.directory.write(Array("tcp: nonsense\n".utf8), to: "bad.yaml")
      let bad = try await box.run("check", "bad.yaml", "share.yaml")
      #expect(
        bad.status == EX_CONFIG && bad.lines.count == 2 && bad.lines[0].hasPrefix("bad.yaml:1:"), "\(bad.outputText)")
      #expect(try await box.run("check", "none.yaml").status == EX_NOINPUT)
      // A mistyped key doesn't make another kind of it.
      try box.directory.write(Array("commands: []\nalarm: []\n".utf8), to: "typo.yaml")
      #expect(try await box.run("check", "typo.yaml").outputText.contains("did you mean alarms?"))
    }
  }

  @Test func whatCanBeSetIsSet() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate(kind: "ev3")
      let preview = try await box.run("set", "volume=30", "--dry-run")
      #expect(preview.status == 0 && preview.outputText.contains("would send"), "\(preview.errorText)")
      #expect(try await box.run("set", "EV3", "volume=30").status == 0)
      let volume = try await box.run("values", "EV3", "volume", "--plain")
      #expect(volume.outputText == "30\n", "\(volume.errorText)")
      for (words, expected) in [
        (["EV3", "volume=101"], "volume must be a whole number from 0 to 100"),
        (["EV3", "colour=red"], "these can be set:"),
        (["EV3"], "NAME=VALUE"), ([], "NAME=VALUE"), (["EV3", "volume=1", "sleep-time=2"], "can't be set together"),
      ] {
        let ended = try await box.run(["set"] + words)
        #expect(ended.status == EX_USAGE && ended.errorText.contains(expected), "\(words): \(ended.errorText)")
      }
    }
  }

  /// Setting needs the same two permissions as any other write.
  @Test func settingIsAWrite() async throws {
    try await Sandbox.with { box in
      try box.directory.write(
        Array(
          """
          protocol: pack
          version: 1
          framings:
            line:
              layout: [data, end: "\\n"]
              max: 32
          messages:
            any: {framing: line, pattern: "!{text}", pushed: true}
          requests:
            mosfets:
              send: line
              data: [{argument: charge}, " ", {argument: discharge}]
              arguments: {charge: {type: text, from: 0, to: 1}, discharge: {type: text, from: 0, to: 1}}
              write: true
          """.utf8), to: "pack.yaml")
      let pack = try await box.simulate(kind: "described", "--profile", "./pack.yaml")
      let words = ["set", pack.path, "--driver", "./pack.yaml"]
      let both = words + ["charge=0", "discharge=1"]
      let refused = try await box.run(both)
      #expect(refused.status == EX_NOPERM && refused.errorText.contains("--write"), "\(refused.errorText)")
      let notAllowed = try await box.run(both + ["--write"])
      #expect(
        notAllowed.status == EX_NOPERM && notAllowed.errorText.contains("writes: allowed"), "\(notAllowed.errorText)")
      let half = try await box.run(words + ["charge=0"])
      #expect(half.status == EX_USAGE && half.errorText.contains("discharge must be set together with charge"))
      let preview = try await box.run(both + ["--dry-run"])
      #expect(preview.status == 0 && preview.outputText.contains("30 20 31 0A".lowercased()), "\(preview.outputText)")
    }
  }

  /// A request is found by the values that the description says it sets, which are typed as they are shown.
  @Test func aValueIsSetByItsOwnName() async throws {
    try await Sandbox.with { box in
      try box.directory.write(
        Array(
          """
          protocol: heater
          version: 1
          framings:
            line: {layout: [data, end: "\\n"]}
          messages:
            state: {pattern: "S{mode} {heat}", types: {mode: {type: word, translate: {N: on, F: off}}, heat: {type: number, value: raw / 10}}}
          requests:
            state: {send: line, data: "S", reply: state}
            start: {send: line, data: "N", write: true, sets: {mode: on}}
            stop: {send: line, data: "F", write: true, sets: {mode: off}}
            warm:
              send: line
              data: ["H", {argument: to}]
              arguments: {to: {type: text, from: 0, to: 999, value: raw / 10}}
              write: true
              sets: {heat: "{to}"}
          """.utf8), to: "heater.yaml")
      let heater = try await box.simulate(kind: "described", "--profile", "./heater.yaml")
      let words = ["set", heater.path, "--driver", "./heater.yaml", "--dry-run"]
      for (setting, sent) in [("mode=off", "46 0a"), ("mode=ON", "4e 0a"), ("heat=21.5", "48 32 31 35 0a")] {
        let preview = try await box.run(words + [setting])
        #expect(preview.status == 0 && preview.outputText.contains(sent), "\(preview.outputText)\(preview.errorText)")
      }
      for (settings, problem) in [
        (["mode=auto"], "mode can't be set to auto: it can be off, on"),
        (["heat=21.55"], "heat can't be set to 21.55: the protocol has no number for this value"),
        (["mode=on", "heat=1"], "mode and heat can't be set"),
      ] {
        let refused = try await box.run(words + settings)
        #expect(refused.status == EX_USAGE && refused.errorText.contains(problem), "\(refused.errorText)")
      }
    }
  }

  /// A value alone, as `upsc` prints it.
  @Test func plainValuesArePrintedAlone() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate(kind: "described", "--profile", "jbd")
      let values = try await box.run("values", "SIM0001", "sensor_count", "cell_count", "--plain")
      #expect(values.lines.count == 2 && values.lines[1] == "15", "\(values.outputText)\(values.errorText)")
      #expect(try await box.run("values", "SIM0001", "--plain").status == EX_USAGE)
      #expect(try await box.run("values", "SIM0001", "nothing", "--plain").status == EX_USAGE)
    }
  }

  /// The service's readings under a name of their own, the battery's and the others together.
  @Test func theHistoryIsPrintedAsTableAndDocument() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      #expect(try await box.run("battery", "SIM0001", "--wait", "10").status == 0)
      let table = try await box.run("history", "SIM0001", "battery.percent", "--last", "30m", "--csv")
      #expect(table.lines.first == "time,battery.percent (%)" && table.lines.count > 1, "\(table.outputText)")
      let all = try await box.run("history", "--json").json()
      #expect((all["series"]?.elements ?? []).count >= 2)
      let missing = try await box.run("history", "SIM0001", "nothing")
      #expect(missing.status == EX_USAGE && missing.errorText.contains("there is no history of nothing"))
      #expect(try await box.run("history", "--last", "401d").status == EX_USAGE)
    }
  }

  /// Kinds stand in tables, by the names that people know.
  @Test func kindsAreListedInTables() async throws {
    try await Sandbox.with { box in
      let drivers = try await box.run("drivers")
      let jbd = try #require(drivers.lines.first { $0.hasPrefix("jbd ") })
      #expect(jbd.contains("Overkill Solar") && jbd.contains("yes"), "\(jbd)")
      #expect(drivers.lines.contains { $0.hasPrefix("hm1x ") && $0.hasSuffix("HM-1X cars") })
      let kinds = try await box.run("simulate", "--list")
      #expect(kinds.lines.contains { $0.hasPrefix("ev3 ") } && kinds.lines.contains { $0.hasPrefix("jbd ") })
      // Whatever is in the table is a driver, or can be simulated.
      let known = try await box.run("drivers", "--json").json()["drivers"]?.elements ?? []
      #expect(known.count == drivers.lines.count - 1)
      for driver in known {
        let name = driver["name"]?.text ?? ""
        // A kind that can only be read has no writes, whatever other bytes could do to it.
        let commands = try #require(DriverLibrary.builtIn.driver(named: name)).commands
        #expect(driver["writes"] == .bool(commands.contains(where: \.isWrite)), "\(name)")
        guard ["jbd", "vedirect", "ev3", "hid-power"].contains(name) else { continue }
        let list = try await box.run("request", "--list", "--driver", name)
        #expect(list.status == 0 && list.outputText.contains("(a write: ") == commands.contains(where: \.isWrite))
      }
      #expect(known.contains { $0["writes"] == true } && known.contains { $0["writes"] == false })
      let help = try await box.run("battery", "--help").outputText
      #expect(!help.contains("jbd") && help.contains("drivers"))
    }
  }

  @Test func aKindHasItsOwnHelp() async throws {
    try await Sandbox.with { box in
      let help = try await box.run("simulate", "--profile", "jbd", "--help")
      #expect(help.status == 0 && help.errorText == "")
      for part in ["Overkill Solar", "battery.voltage", "cell_count", "counters", "refused", "help simulators"] {
        #expect(help.outputText.contains(part), "\(part)")
      }
      #expect(!help.outputText.contains("epever"))
      for words in [["jbd", "-h"], ["described", "--profile=jbd", "-h"], ["described", "jbd", "--help"]] {
        #expect(try await box.run(["simulate"] + words).outputText == help.outputText, "\(words)")
      }
      #expect(try await box.run("help", "simulate", "jbd").outputText == help.outputText)
      #expect(
        try await box.run("simulate", "--profile", "ev3", "--help").outputText
          == box.run("simulate", "ev3", "--help").outputText)
      #expect(try await box.run("simulate", "--profile", "nope", "--help").status == EX_USAGE)
      for topic in ["line", "serving", "simulators"] {
        let text = try await box.run("help", topic)
        #expect(text.status == 0 && text.outputText.contains("USAGE"), "\(topic)")
      }
      #expect(try await box.run("help", "simulators").outputText.contains("--sleep-after"))
    }
  }

  /// DTR and RTS, as the wire at the other end sees them.
  @Test func aBoardIsReset() async throws {
    try await Sandbox.with { box in
      let plug = try box.start(["simulate", "loopback", "--rfc2217", "0"], limit: Sandbox.longLife)
      let place = String(try await plug.line(containing: "is plugged in at ").split(separator: " at ").last ?? "")
      let unknown = try await box.run("reset", place)
      #expect(unknown.status == EX_CONFIG && unknown.errorText.contains("--reset esp"), "\(unknown.errorText)")
      let restart = try await box.run("reset", place, "--reset", "esp")
      #expect(restart.status == 0 && restart.outputText.hasSuffix(": restart\n"), "\(restart.errorText)")
      let loader = try await box.run("reset", place, "boot-loader", "--reset", "esp")
      #expect(loader.status == 0 && loader.outputText.hasSuffix(": boot loader\n"), "\(loader.errorText)")
      // Only for the boot loader is DTR raised.
      try await plug.line(containing: "DTR after")
      let other = try await box.run("reset", place, "nonsense", "--reset", "esp")
      #expect(other.status == EX_USAGE && other.errorText.contains("boot-loader, restart"))
      // A pseudo-terminal has no such lines.
      let terminal = try await box.simulate()
      #expect(try await box.run("reset", terminal.path, "--reset", "esp").status == EX_UNAVAILABLE)
    }
  }

  @Test func metricsAreExportedAsJSON() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      #expect(try await box.run("battery", "SIM0001", "--wait", "10").status == 0)
      let metrics = try await box.run("export", "metrics", "--once", "--json").json()["metrics"]?.elements ?? []
      #expect(!metrics.isEmpty && metrics.allSatisfy { $0["samples"]?.elements.isEmpty == false })
    }
  }

  @Test func aPathWithoutAFileIsNotFound() async throws {
    try await Sandbox.with { box in
      let ended = try await box.run("battery", "./nofile")
      #expect(ended.status == EX_NOINPUT && ended.errorText.contains("./nofile, and no such file: "))
      #expect(!(try await box.run("battery", "nobody").errorText.contains("file")))
    }
  }

  /// So much is shown, and no more: whatever is added here should replace something. (`setup` added 250 words and four options: it replaces
  /// a page of commands, and each of its questions can be answered by an option.)
  @Test func helpStaysShort() async throws {
    try await Sandbox.with { box in
      let help = try JSON(try await box.run("--experimental-dump-help").outputText)["command"] ?? nil
      var (words, options, pages) = (0, Set<String>(), [[String]]())
      func collect(_ command: JSON, _ path: [String]) {
        guard command["shouldDisplay"] != .bool(false), path.last != "help" else { return }
        pages.append(path)
        for argument in command["arguments"]?.elements ?? [] where argument["shouldDisplay"] != .bool(false) {
          if argument["kind"]?.text != "positional", let name = argument["preferredName"]?["name"]?.text {
            options.insert(name)
          }
        }
        for next in command["subcommands"]?.elements ?? [] { collect(next, path + [next["commandName"]?.text ?? ""]) }
      }
      collect(help, [])
      for page in pages {
        let text = try await box.run(page + ["--help"]).outputText
        words += text.split { $0 == " " || $0 == "\n" }.count
      }
      // `export home-assistant`, which takes the place of a broker and its program, has three options of its own, and 190 words of help.
      // `name` and `forget` are two of the commands, with the options --area and --clear, and 300 words of help.
      #expect(pages.filter { $0.count == 1 }.count <= 31, "\(pages)")
      #expect(options.count <= 125, "\(options.sorted())")
      #expect(words <= 9_900, "\(words) words in \(pages.count) helps")
    }
  }
}
