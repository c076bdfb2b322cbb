// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import AccessoryIO
import ArgumentParser
import CommandOutput

struct Request: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "request",
    abstract: "Sends a command to an accessory of any gateway, and shows its answer.",
    discussion: """
      A gateway performs only the commands that the configuration of its service names, with arguments within the \
      limits that it sets. bridge-cli request --list shows the commands of each driver.

      EXAMPLES
        bridge-fleet request attic:EV3 beep --broker mqtt://broker.example
        bridge-fleet request EV3 set-volume volume=50
        bridge-fleet request EV3 identify --timeout 30s --json
      """)

  @Argument(help: .value("accessory", "The accessory: [GATEWAY:]ID.")) var accessory: String
  @Argument(help: "The command's name.")
  var command: String
  @Argument(help: .value("name=value", "The command's arguments.")) var arguments: [String] = []
  @OptionGroup var fleet: FleetOptions
  @OptionGroup var output: OutputOptions

  func validate() throws { _ = try call() }

  private func call() throws -> FleetCall {
    var named: [String: String] = [:]
    for argument in arguments {
      guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex else {
        throw ValidationError("\(argument) is not an argument: write NAME=VALUE")
      }
      let name = String(argument[..<equals])
      guard named.updateValue(String(argument[argument.index(after: equals)...]), forKey: name) == nil else {
        throw ValidationError("\(name) is given twice")
      }
    }
    return FleetCall(named, id: RandomName.digits())
  }

  func run() async throws {
    let call = try call()
    try await FleetSession.with(fleet, follows: true) { session in
      let one = try await session.find(accessory)
      guard one.state.isConnected else {
        throw AccessoryError(
          .disconnected, one.isOnline ? "\(one.key) is not connected" : "the gateway of \(one.key) is offline")
      }
      show(try await answer(to: call, of: one, session), of: one)
    }
  }

  /// Sends the call and waits for its answer.
  private func answer(
    to call: FleetCall, of one: FleetAccessory, _ session: FleetSession
  ) async throws -> [CommandAnswer] {
    let topics = FleetTopics(one.key.gateway)
    let level = TopicLevel(naming: command)
    let (set, result) = (topics.set(level, of: one.key.accessory), topics.result(level, of: one.key.accessory))
    let timeout = fleet.timeout.duration
    let (reader, command) = (session.reader, command)
    let waiting = Task { () async throws -> [CommandAnswer] in
      try await reader.subscribe(result, within: timeout)
      guard await reader.publish(MQTTMessage(set, call.bytes)) else {
        throw AccessoryError(.busy, "too many messages wait for the broker")
      }
      while let news = await reader.next() {
        switch news {
        case .result(result, let bytes):
          // Others send commands, too, and anybody may answer.
          guard let answer = try? FleetResult(bytes), answer.id == call.id else { continue }
          return try answer.outcome.get()
        case .change(.gateway(one.key.gateway, isOnline: false)):
          throw AccessoryError(
            .disconnected,
            "the gateway of \(one.key) went offline; it isn't known whether \(SafeText.escape(command)) was performed"
          )
        case .refused(let error), .disconnected(let error, _): throw error
        default: continue
        }
      }
      throw AccessoryError(
        .timedOut,
        "\(one.key) did not answer \(SafeText.escape(command)) in time: the configuration of its gateway's service must name "
          + "the command, and its broker must let the gateway read \(set)")
    }
    let timer = IOThread.shared.schedule(at: .now + timeout) { waiting.cancel() }
    defer { IOThread.shared.cancel(timer) }
    let answer = try await WaitingLine.during("waiting for \(one.key) to answer", limit: timeout) {
      try await withTaskCancellationHandler {
        try await waiting.value
      } onCancel: {
        waiting.cancel()
      }
    }
    return answer
  }

  private func show(_ answers: [CommandAnswer], of one: FleetAccessory) {
    if output.json { return Output.json(one.document(AnswersDocument(one.device, answers))) }
    for answer in answers where !answer.values.isEmpty { Output.line(ValueView.line(answer.values)) }
  }
}
