// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryControl
import AccessoryCore
import AccessoryExport
import AccessoryIO
import ArgumentParser
import BridgeService
import CommandOutput
import Logging

struct NotifyCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "notify",
    abstract: "Tells people of alarms: by ntfy, a webhook, mail or a program.",
    discussion: """
      The ways are in the service's configuration (messages: in service.yaml; Documentation/alarms.md). It follows the service \
      (bridge-cli serve) and tells of each alarm once when it is raised and once when it is cleared. What can't be sent waits on \
      disk, and is tried again.

      EXAMPLES
        bridge-cli notify --test
        bridge-cli notify
      """)

  @Flag(help: "Send a test message by each way, say what happened, and end.")
  var test = false
  @Option(
    help: .value("file", "Read this file instead of service.yaml in the usual folders."),
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?
  @Option(help: .value("level", "How much to log: debug, info, notice, warning or error."))
  var logLevel = Logger.Level.info
  @OptionGroup var services: ExportedServices
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let contents: ServiceFile.Contents
    do throws(ProfileProblems) {
      contents = try await ServiceFile.contents(config, await KnownProfiles.store)
    } catch {
      throw AccessoryError(error.kind, error.problems.map(\.description).joined(separator: "; "))
    }
    guard !contents.messages.isEmpty else {
      throw AccessoryError(
        .misconfigured,
        "service.yaml names no way: add one under messages, for example {ntfy: https://ntfy.sh/my-topic} (Documentation/alarms.md)"
      )
    }
    if test { return try await sendTests(contents.messages) }
    try await tell(contents)
  }

  // MARK: - Following the services

  private func tell(_ contents: ServiceFile.Contents) async throws {
    let log = ServiceLog.logger(BridgeCLI.name, logLevel, json: output.json)
    defer { ServiceLog.finish() }
    let rules = AlarmRules(contents.alarms)
    let file = StateFile.folder(of: "accessory-bridge").map { StateFile("messages", in: $0) }
    let notifier = AlarmNotifier(
      contents.messages, file: file, wallClock: { WallClock.seconds },
      log: { line in
        switch line {
        case .info(let text): log.info("\(text)")
        case .notice(let text): log.notice("\(text)")
        case .warning(let text): log.warning("\(text)")
        }
      },
      choose: { alarm, device, driver, profile in
        rules.ways(ofAlarm: alarm, id: device.id, serial: device.serialNumber, profile: profile, driver: driver)
      },
      send: { message, way in await Self.send(message, way) })
    try await notifier.open()
    let names = contents.messages.map { SafeText.escape($0.name) }.joined(separator: ", ")
    log.info("telling of alarms by \(names)")
    var hooks = ServiceMirror.Hooks()
    hooks.happened = { event, place, _ in await notifier.take(event, of: place) }
    hooks.trouble = { error in
      guard !(error.isNoService || error.kind == .permissionDenied) || !services.socket.isEmpty else { return }
      log.notice("\(SafeText.escape(error.message, limit: 1_000)); waiting for it")
    }
    let places = services.places.map { ServiceMirror.Service($0, isExpected: !services.socket.isEmpty) }
    let notice = ServiceNotifier()
    await notice.report(.ready)
    await ServiceMirror(.alarms).run(places, hooks)
    await notice.report(.stopping)
    await notifier.close()
    throw CancellationError()
  }

  /// Sends a message on a queue of its own, which may block for half a minute.
  private static func send(_ message: AlarmMessage, _ way: MessageWay) async -> MessageOutcome {
    await SetupQueue(label: "message").run { MessageSender().send(message, by: way) }
  }

  // MARK: - A test

  private func sendTests(_ ways: [MessageWay]) async throws {
    let outcomes = await withTaskGroup(of: (Int, MessageOutcome).self) { group in
      for (index, way) in ways.enumerated() {
        group.addTask { (index, await Self.send(.test(at: WallClock.seconds), way)) }
      }
      var outcomes = [MessageOutcome](repeating: .failed(""), count: ways.count)
      for await (index, outcome) in group { outcomes[index] = outcome }
      return outcomes
    }
    for (way, outcome) in zip(ways, outcomes) {
      let reason: String? =
        switch outcome {
        case .sent: nil
        case .failed(let reason), .refused(let reason): reason
        }
      if output.json {
        Output.json(MessageTestDocument(way: way.name, sent: reason == nil, reason: reason))
      } else {
        let name = SafeText.escape(way.name)
        Output.wrapped(reason.map { "\(name): not sent: \($0)" } ?? "\(name): sent to \(Self.target(way))", indent: 2)
      }
    }
    let failed = outcomes.count { $0 != .sent }
    guard failed == 0 else {
      throw AccessoryError(.ioFailure, "\(Amount.of(failed, "way")) of \(ways.count) didn't work")
    }
  }

  /// The target for people. A whole URL may be a secret.
  private static func target(_ way: MessageWay) -> String {
    switch way.kind {
    case .ntfy(let url), .webhook(let url):
      SafeText.escape(String(url.split(separator: "/").dropFirst().first ?? ""), limit: 200)
    case .mail(let address, _): SafeText.escape(address, limit: 200) + " (the mail program has taken it)"
    case .run(let program): SafeText.escape(program, limit: 200)
    }
  }
}

/// What became of a test message, for `notify --test --json`.
private struct MessageTestDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.messageTest
  let time = WallClock.seconds
  let way: String
  let sent: Bool
  /// Why it wasn't sent, and what to do.
  let reason: String?

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(schema, forKey: .schema)
    try fields.encode(document, forKey: .document)
    try fields.encode(time, forKey: .time)
    try fields.encode(way, forKey: .way)
    try fields.encode(sent, forKey: .sent)
    try fields.encode(reason, forKey: .reason)
  }

  private enum Keys: String, CodingKey { case schema, document, time, way, sent, reason }
}
