// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Does again what a file of steps says; see Tests/Data/Compatibility/README.md for their form.
struct Replay {
  private let box: Sandbox
  private var simulators: [Program] = []
  /// Those of them that nobody has seen plugged in yet: simulators that follow each other start at once.
  private var starting: [Program] = []
  /// Programs that go on until the end, by the indices of their steps.
  private var running: [(step: Int, program: Program)] = []
  private var connections: [String: OldConnection] = [:]
  private var transfer = ""
  private var steps: [Wire]

  /// The steps with what they come to now: "status", "documents", "replies".
  static func run(_ steps: [Wire]) async throws -> [Wire] {
    let results = Watched<[Wire]>([])
    try await Sandbox.with { box in
      var replay = Replay(box: box, steps: steps)
      let done = try await replay.run()
      results.update { $0 = done }
    }
    return results.value
  }

  /// The same, where no command builds on what another did: each is run in a sandbox of its own, where everything but the
  /// other commands is there, and all at once.
  static func runEach(_ steps: [Wire]) async throws -> [Wire] {
    let others = steps.filter { $0["run"] == nil }
    // What is printed by a program that is there for all commands shows what all of them did.
    if others.contains(where: { $0["documents"] != nil || $0["replies"] != nil }) {
      throw Hang("steps of which only commands have results")
    }
    var results = steps
    try await withThrowingTaskGroup(of: (Int, Wire?).self) { group in
      for (index, step) in steps.enumerated() where step["run"] != nil {
        group.addTask { (index, try await run(others + [step]).last) }
      }
      for try await (index, result) in group { if let result { results[index] = result } }
    }
    return results
  }

  private init(box: Sandbox, steps: [Wire]) { (self.box, self.steps) = (box, steps) }

  private mutating func run() async throws -> [Wire] {
    for index in steps.indices {
      let step = here(steps[index])
      do {
        if step["simulate"] == nil { try await pluggedIn() }
        try await perform(step, index)
      } catch {
        throw Hang("step \(index), \(Growth.text(steps[index]).prefix(200)): \(error)")
      }
    }
    try await pluggedIn()
    // Who looks on has to have seen all before anything is ended.
    for (step, program) in running {
      if let count = steps[step]["lines"]?.whole { _ = try await program.lines(count) }
    }
    // Those that look on, then the service, then what it holds.
    for (step, program) in running.reversed() {
      program.signal(SIGINT)
      keep(documents: try await program.end().lines, step)
    }
    return steps
  }

  private mutating func perform(_ step: Wire, _ index: Int) async throws {
    if let name = step["write"]?.text {
      if name.contains("/") { mkdir(box.directory.path + "/" + name.prefix { $0 != "/" }, 0o700) }
      try box.directory.write(Array((step["text"]?.text ?? "").utf8), to: name)
    } else if let arguments = step["simulate"]?.texts {
      let program = try box.start(["simulate"] + arguments, limit: Sandbox.longLife)
      simulators.append(program)
      starting.append(program)
      running.append((index, program))
    } else if let arguments = step["serve"]?.texts {
      let program = try box.start(["serve"] + arguments, limit: Sandbox.longLife)
      try await program.errors(containing: "looking for accessories")
      for name in step["attached"]?.texts ?? [] { try await program.errors(containing: "\(name) is attached at") }
      running.append((index, program))
    } else if let arguments = step["start"]?.texts {
      let program = try box.start(arguments, limit: Sandbox.longLife)
      _ = try await program.lines(step["first"]?.whole ?? 0)
      running.append((index, program))
    } else if let arguments = step["run"]?.texts {
      let ended = try await run(arguments, input: step["input"]?.text, user: step["as"]?.text)
      keep(documents: ended.lines, index)
      set("status", .int(ended.status ?? -1), index)
    } else if let number = step["kill"]?.whole {
      simulators[number].signal(SIGKILL)
      _ = try await simulators[number].end()
    } else if step["call"] != nil || step["on"] != nil {
      try await call(step, index)
    } else {
      throw Hang("a step that is known")
    }
  }

  /// Waits until the simulators that were started are plugged in.
  private mutating func pluggedIn() async throws {
    for program in starting {
      try await program.line { $0.contains(" is plugged in at ") || $0.contains("\"plugged_in\"") }
    }
    starting = []
  }

  private func run(_ arguments: [String], input: String?, user: String?) async throws -> Program.Transcript {
    var prefix: [String] = []
    if let user { prefix += ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"] }
    if input != nil { prefix += ["/bin/sh", "-c", #"printf '%s' "$INPUT" | "$0" "$@""#] }
    return try await box.run(arguments, environment: input.map { ["INPUT": $0] } ?? [:], prefix: prefix)
  }

  /// Makes a call, or goes on to read what one is answered.
  private mutating func call(_ step: Wire, _ index: Int) async throws {
    let name = step["on"]?.text ?? "step \(index)"
    let connection: OldConnection
    if let open = connections[name] { connection = open } else { connection = try OldConnection(box.socket) }
    connections[name] = step["on"] == nil ? nil : connection
    if let message = step["call"] { try await connection.send(message.bytes) }
    var replies: [Wire] = []
    let limit = step["take"]?.whole ?? .max
    while replies.count < limit {
      let reply = try Wire(Array(there(try await connection.message()).utf8))
      replies.append(reply)
      if let id = reply["parameters"]?["transfer"]?.text { transfer = id }
      if reply["continues"] != .bool(true) { break }
      if let last = step["until"]?.text, reply["parameters"]?["event"]?.text == last { break }
    }
    set("replies", .array(OldVersion.isRecording ? Growth.examples(replies) : replies), index)
  }

  // MARK: - Results

  private mutating func keep(documents lines: some Sequence<String>, _ index: Int) {
    let documents = lines.compactMap { try? Wire(Array(there(Array($0.utf8)).utf8)) }
    // What isn't JSON is for people.
    guard !documents.isEmpty else { return }
    set("documents", .array(OldVersion.isRecording ? Growth.examples(documents) : documents), index)
  }

  private mutating func set(_ name: String, _ value: Wire, _ index: Int) {
    var fields = steps[index].fields ?? [:]
    fields[name] = value
    steps[index] = .object(fields)
  }

  // MARK: - Names of this run

  /// A step with the names that things have in this run.
  private func here(_ step: Wire) -> Wire {
    switch step {
    case .string(let text):
      .string(
        text.replacing("$DIRECTORY", with: box.directory.path).replacing("$RUNTIME", with: box.runtime.path).replacing(
          "$TRANSFER", with: transfer))
    case .array(let elements): .array(elements.map(here))
    case .object(let fields): .object(fields.mapValues(here))
    default: step
    }
  }

  private func there(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).replacing(box.directory.path, with: "$DIRECTORY").replacing(
      box.runtime.path, with: "$RUNTIME")
  }
}

/// A connection to the service on which messages go out as they were written.
final class OldConnection: Sendable {
  private let descriptor: FileDescriptor
  private let unread = Locked<[UInt8]>([])

  init(_ path: String) throws {
    descriptor = try UnixSocket.create(blocking: true)
    Patience.limit(descriptor, seconds: 60)
    try UnixSocket.connect(descriptor, to: path)
  }

  deinit { Socket.close(descriptor) }

  func send(_ message: [UInt8]) async throws {
    try await blocking { [self] in
      var rest = (message + [0])[...]
      while !rest.isEmpty { rest = rest.dropFirst(try Socket.send(rest, to: descriptor)) }
    }
  }

  /// The next message, without its NUL.
  func message() async throws -> [UInt8] {
    try await blocking { [self] in
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let message: [UInt8]? = unread.withLock { bytes in
          guard let end = bytes.firstIndex(of: 0) else { return nil }
          defer { bytes.removeSubrange(...end) }
          return Array(bytes[..<end])
        }
        if let message { return message }
        let count = read(descriptor.rawValue, &buffer, buffer.count)
        guard count > 0 else { throw Hang("an answer; read gives \(count), errno \(errno)") }
        let piece = buffer[..<count]
        unread.withLock { $0 += piece }
      }
    }
  }
}
