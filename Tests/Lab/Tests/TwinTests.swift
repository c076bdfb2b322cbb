// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

extension Plain {
  /// Two accessories with one serial number, through the commands that wait or name, plugged in in both orders, unplugged, with each
  /// other's nodes, and after a restart of the service. The table that is printed has no wrong device in it.
  @Suite(.timeLimit(.minutes(Patience.minutes(15)))) struct TwinTests {
    /// What the two are.
    enum Kind: String, CaseIterable, Sendable {
      /// FTDI adapters, which have terminals.
      case adapters
      /// UPSs, which have nodes of hidraw.
      case UPSs
      /// Batteries on lines that a link leads to.
      case packs

      var serial: String { self == .UPSs ? "000000000000" : "0001" }
      /// What is plugged in at the first port, while the one of the second port comes first.
      var holder: [String]? {
        self == .packs ? nil : ["simulate", "framed", "--usb", "--ftdi", "--serial", "HOLDER1"]
      }
    }

    /// The first one's port is the first of the controller, the second one's the next.
    enum Twin: String, CaseIterable, Sendable {
      case first, second
      var other: Twin { self == .first ? .second : .first }
      /// What its battery has, which tells them apart.
      var percent: Int { self == .first ? 40 : 80 }
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func start(_ arguments: [String], prefix: [String] = []) throws -> Program {
      return try Program(
        prefix + [Program.bridgeCLI] + arguments,
        environment: [
          "XDG_RUNTIME_DIR": directory.path, "XDG_CONFIG_HOME": directory.path, "PATH": "/usr/bin:/bin",
          "XDG_STATE_HOME": directory.path + "/state",
        ],
        directory: directory.path, limit: .seconds(900))
    }

    private func end(_ programs: Program?...) async throws {
      for program in programs.compactMap({ $0 }) {
        program.signal(SIGINT)
        _ = try await program.end()
      }
    }

    // MARK: - Plugging in

    /// A twin that is plugged in.
    private struct Plugged {
      let program: Program
      /// Its port: the last part of its folder in sysfs, or the link.
      let port: String
    }

    private func plug(_ kind: Kind, _ twin: Twin, _ more: Int = 0) async throws -> Plugged {
      let percent = "\(twin.percent + more)"
      let words =
        switch kind {
        case .adapters: ["simulate", "framed", "--usb", "--ftdi", "--percent", percent, "--progress", percent]
        case .UPSs: ["simulate", "ups", "--percent", percent]
        case .packs:
          ["simulate", "--profile", "jbd", "--percent", percent, "--link", "\(directory.path)/\(twin.rawValue)"]
        }
      let program = try start(words + ["--serial", kind.serial])
      let line = try await program.line(containing: "\(kind.serial) is plugged in at ")
      if kind == .packs { return Plugged(program: program, port: "\(directory.path)/\(twin.rawValue)") }
      return Plugged(program: program, port: String(line.split(separator: "/").last ?? ""))
    }

    /// Plugs both in, the one of `first` before the other one, each in its own port.
    private func plugBoth(_ kind: Kind, _ first: Twin, _ more: Int = 0) async throws -> [Twin: Plugged] {
      // The port of one that has just left may still be taken: the next one would get another.
      if kind != .packs { try await Kernel.waitUntilGone(kind.serial) }
      var holder: Program?
      if first == .second, let words = kind.holder {
        holder = try start(words)
        try await holder?.line(containing: "HOLDER1 is plugged in at ")
      }
      let one = try await plug(kind, first, more)
      // It is alone for a while.
      _ = try await node(one, kind)
      try await end(holder)
      if holder != nil { try await Kernel.waitUntilGone("HOLDER1") }
      let both = [first: one, first.other: try await plug(kind, first.other, more)]
      for plugged in both.values { _ = try await node(plugged, kind) }
      return both
    }

    /// The node of one, when a command sees it.
    private func node(_ plugged: Plugged, _ kind: Kind) async throws -> String {
      if kind == .packs { return plugged.port }
      var node = ""
      try await eventually("the node at \(plugged.port)", within: .seconds(60)) {
        let lines = try await start(["list", "--json"]).end().outputText
        // One document, in which each device begins with its access, and has its path before its port.
        for device in lines.split(separator: "{\"access\":") where device.contains("\"port\":\"\(plugged.port)\"") {
          guard device.contains("\"serial\":\"\(kind.serial)\""),
            let path = device.firstRange(of: "\"path\":\"").map({ device[$0.upperBound...].prefix { $0 != "\"" } })
          else { continue }
          node = path.filter { $0 != "\\" }
        }
        return !node.isEmpty && exists(node)
      }
      return node
    }

    private func name(_ plugged: Plugged, _ kind: Kind) -> String { "\(kind.serial)@\(plugged.port)" }

    // MARK: - The table

    private func row(_ kind: Kind, _ order: Twin, _ what: String, _ twin: Twin, _ found: String, isRight: Bool) {
      print(
        "lab: twins | \(kind.rawValue) | \(order.rawValue) first | \(what) | of the \(twin.rawValue) | \(found) |",
        isRight ? "right" : "WRONG")
      #expect(isRight, "\(kind) \(order) \(what): \(found)")
    }

    /// What each command of the first word says, asked by the name of one.
    private func ask(_ words: [String], _ kind: Kind, _ order: Twin, _ twin: Twin, _ plugged: Plugged, _ when: String)
      async throws
    {
      let what = ([words[0], "NAME"] + words.dropFirst()).joined(separator: " ") + ", \(when)"
      let ended = try await start([words[0], name(plugged, kind)] + words.dropFirst()).end()
      let text = ended.outputText
      let isRight = ended.status == 0 && text.contains("\(twin.percent)") && !text.contains("\(twin.other.percent) %")
      let shown = (text + ended.errorText).split(separator: "\n").first { $0.contains("\(twin.percent)") } ?? "nothing"
      row(kind, order, what, twin, String(shown.prefix(60)), isRight: isRight)
    }

    private static let questions = [["battery"], ["battery", "--history", "--csv"]]

    /// What NUT's client finds by which name.
    private func askNUT(_ host: String, _ kind: Kind, _ order: Twin, _ both: [Twin: Plugged], _ when: String)
      async throws
    {
      let tool = { (words: [String]) in
        try await Program(words, environment: ["PATH": "/usr/bin:/bin"], directory: directory.path).end()
      }
      for (twin, plugged) in both.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        let name = String(name(plugged, kind).map { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" ? $0 : "_" })
        var said = ""
        try? await eventually("\(name) by NUT", within: .seconds(60)) {
          let ended = try await tool(["/bin/upsc", "\(name)@\(host)", "battery.charge"])
          said = ended.outputText.isEmpty ? ended.errorText : ended.outputText
          return said == "\(twin.percent)\n"
        }
        let text = said.split(separator: "\n").joined(separator: " ")
        row(kind, order, "upsc \(name), \(when)", twin, text, isRight: text == "\(twin.percent)")
      }
    }

    @Test(arguments: Kind.allCases, Twin.allCases) func eachIsItself(kind: Kind, order: Twin) async throws {
      try #require(Kernel.isReady)
      try await withService(kind, order)
      try await withoutService(kind, order)
    }

    // MARK: - With a service

    private func serve(_ kind: Kind) throws -> Program {
      if kind == .packs {
        mkdir("\(directory.path)/accessory-bridge", 0o700)
        mkdir("\(directory.path)/accessory-bridge/profiles", 0o700)
      }
      return try start(["serve", "--reconnect-tries", "forever"])
    }

    private func withService(_ kind: Kind, _ order: Twin) async throws {
      var service = try serve(kind)
      try await eventually("the readings' socket", within: .seconds(60)) {
        exists("\(directory.path)/accessory-bridge/readings.socket")
      }
      let exporter = try start(["export", "nut", "--listen", "0"])
      let line = try await exporter.line(containing: " is open")
      let host = String(line.dropFirst("nut:".count).dropLast(" is open".count))
      var both = try await plugBoth(kind, order)
      for plugged in both.values { try await service.errors(containing: name(plugged, kind)) }
      for (twin, plugged) in both {
        try await eventually("the readings of the \(twin)", within: .seconds(120)) {
          try await start(["battery", name(plugged, kind)]).end().outputText.contains("\(twin.percent) %")
        }
        for words in Self.questions { try await ask(words, kind, order, twin, plugged, "both there") }
      }
      try await askNUT(host, kind, order, both, "both there")
      // Two followers, while both leave and come back in the other order, with each other's nodes.
      var followers: [Twin: Program] = [:]
      for (twin, plugged) in both {
        let follower = try start(["battery", name(plugged, kind), "--watch"])
        try await follower.line(containing: "\(twin.percent) %")
        followers[twin] = follower
      }
      for twin in [order, order.other] { try await end(both[twin]?.program) }
      for follower in followers.values { try await follower.errors(containing: "is gone") }
      let before = followers.mapValues { $0.transcript.value.lines.count }
      both = try await plugBoth(kind, order.other)
      for (twin, follower) in followers {
        try await follower.line(from: before[twin] ?? 0) { $0.contains("\(twin.percent) %") }
        let text = follower.transcript.value.outputText
        row(
          kind, order, "battery NAME --watch, both pulled and back in the other order", twin,
          "\(text.split(separator: "\n").count) readings", isRight: !text.contains("\(twin.other.percent) %"))
        try await end(follower)
      }
      try await askNUT(host, kind, order, both, "back in the other order")
      for (twin, plugged) in both {
        for words in Self.questions { try await ask(words, kind, order, twin, plugged, "back in the other order") }
      }
      // Only one is there after a restart.
      try await end(both[order]?.program, exporter, service)
      service = try serve(kind)
      let rest = try #require(both[order.other])
      try await service.errors(containing: "\(name(rest, kind)) is attached at")
      try await ask(["battery"], kind, order, order.other, rest, "alone after a restart")
      try await end(rest.program, service)
    }

    // MARK: - Without one

    /// Commands that have opened one themselves, by the path of its node, wait for that one.
    private func withoutService(_ kind: Kind, _ order: Twin) async throws {
      let fifo = #"rm -f input; mkfifo input && exec "$0" "$@" <>input"#
      var commands = [["battery", "--watch"]]
      if kind == .adapters {
        commands += [
          ["values", "progress", "--watch", "--poll", "200ms"], ["trace", "--ask"],
          ["console", "--input", "hex", "--reconnect", "--linger", "600s"],
        ]
      }
      for command in commands {
        // BATTERY #1, for a console.
        let ask = { () async throws in
          if command[0] != "console" { return }
          _ = try await start(["--version"], prefix: ["/bin/sh", "-c", "echo 0ff01103010000002600 > input"]).end()
        }
        var both = try await plugBoth(kind, order)
        let mine = try #require(both[.first])
        let path = try await node(mine, kind)
        let prefix = command[0] == "console" ? ["/bin/sh", "-c", fifo] : []
        let follower = try start([command[0], path] + command.dropFirst(), prefix: prefix)
        if command[0] == "console" {
          try await eventually("the fifo", within: .seconds(60)) { exists("\(directory.path)/input") }
        }
        try await ask()
        try await follower.line(containing: "\(Twin.first.percent)")
        for twin in Twin.allCases { try await end(both[twin]?.program) }
        try await follower.errors(containing: "is gone")
        let before = follower.transcript.value.lines.count
        // What is typed while it is gone is for it, too.
        try await ask()
        // The other one comes first, and has the node that was this one's.
        both = try await plugBoth(kind, .second, 1)
        try await follower.line(from: before) { $0.contains("\(Twin.first.percent + 1)") }
        let new = follower.transcript.value.lines.dropFirst(before)
        row(
          kind, order, "\(command[0]) PATH \(command.dropFirst().joined(separator: " ")), back after the other one",
          .first,
          "\(new.count) lines",
          isRight: !new.contains {
            $0.contains(" \(Twin.second.percent) %") || $0.contains(" \(Twin.second.percent + 1) %")
          })
        try await end(follower, both[.first]?.program, both[.second]?.program)
      }
    }
  }
}

extension Kernel {
  /// Waits until no USB device has this serial number.
  fileprivate static func waitUntilGone(_ serial: String) async throws {
    try await eventually("\(serial) to go", within: .seconds(60)) {
      !Directory.names(in: "/sys/bus/usb/devices").contains { text("/sys/bus/usb/devices/\($0)/serial") == serial }
    }
  }
}

extension Program {
  /// Waits until standard error has this text, or the program has ended.
  fileprivate func errors(containing text: String) async throws {
    let state = try await transcript.wait { $0.status != nil || $0.errorText.contains(text) }
    guard state.errorText.contains(text) else { throw Hang("\(text) in \(state.errorText)") }
  }
}
