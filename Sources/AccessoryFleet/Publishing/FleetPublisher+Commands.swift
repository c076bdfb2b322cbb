// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

// Commands from the broker. The service's configuration says which commands are permitted, and the service checks each one again.

extension FleetPublisher {
  /// Handles a message on a topic `set`. Every message gets an answer, except retained ones and those for an accessory that was never
  /// here.
  func command(_ name: TopicLevel, for level: TopicLevel, _ message: MQTTMessage) async {
    // A retained command would run again at every start.
    guard !message.isRetained, let record = records[level] else { return }
    let id = FleetCall.id(of: message.payload)
    do throws(AccessoryError) {
      guard commands.admit(now: clock.now) else {
        throw AccessoryError(.busy, "too many commands come from the broker: try again in a second")
      }
      guard record.state.isConnected, let service else {
        throw AccessoryError(.disconnected, "\(record.state.device.id) is not attached")
      }
      // The commands may have been read at a restricted socket before the service was found again at one that permits everything.
      guard await mirror.permitsCommands(of: Self.place) else {
        throw AccessoryError(
          .permissionDenied,
          "the service at \(service.socketPath) permits no commands: only its socket for readings does")
      }
      let label = record.state.device.id
      let device = record.state.accessory.record.map { service.device($0, label: label) } ?? service.device(label)
      let first: CommandQueues<TopicLevel>.Work = { [self] in await perform(name, message.payload, id, level, device) }
      try commands.add(first, for: level) { Task { await performAll(level, first) } }
    } catch {
      await answer(.init(.failure(error), id: id, at: Self.now), name, level)
    }
  }

  private func performAll(_ level: TopicLevel, _ first: CommandQueues<TopicLevel>.Work) async {
    await first()
    while let next = commands.next(of: level) { await next() }
  }

  private func perform(
    _ name: TopicLevel, _ payload: [UInt8], _ id: String?, _ level: TopicLevel, _ device: BridgeDevice
  ) async {
    do throws(AccessoryError) {
      let command = try await permitted(name, level, device)
      let call = try FleetCall(payload, for: command)
      let reply = try await device.perform([Bridge.CommandCall(command.name, call.arguments)], isAnswered: true)
      await answer(FleetResult(reply, to: command, id: id, at: Self.now), name, level)
    } catch {
      await answer(.init(.failure(error), id: id, at: Self.now), name, level)
    }
  }

  /// The command with this name, if the service permits it. An unknown name is looked up again, since the service may have read a new
  /// configuration.
  private func permitted(
    _ name: TopicLevel, _ level: TopicLevel, _ device: BridgeDevice
  ) async throws(AccessoryError) -> CommandDescription {
    func known() -> CommandDescription? { records[level]?.facts.commands.first { TopicLevel(naming: $0.name) == name } }
    if let command = known() { return command }
    let commands = try await device.commands().commands
    records.note(commands, of: level)
    flushSoon()
    guard let command = commands.first(where: { TopicLevel(naming: $0.name) == name }) else {
      throw AccessoryError(
        .permissionDenied,
        "the configuration of the service doesn't permit the command \(name): service.yaml on the gateway names those that may be sent"
      )
    }
    return command
  }

  private func answer(_ result: FleetResult, _ name: TopicLevel, _ level: TopicLevel) async {
    await mqtt.publish(MQTTMessage(topics.result(name, of: level), result.bytes))
  }
}
