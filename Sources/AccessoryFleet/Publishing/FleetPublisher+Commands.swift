// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

// Commands that come from the broker. Which there are, the service's configuration says; it checks each one again.

extension FleetPublisher {
  /// The commands that wait for one accessory, and the task that carries them out one after another.
  struct CommandQueue: Sendable {
    var worker: Task<Void, Never>
    var waiting: [@Sendable () async -> Void] = []
  }

  /// The most commands that wait for one accessory.
  private static let queueLimit = 8

  /// Subscribes to the permitted commands of an accessory that is attached, and to no others.
  func subscribeCommands(of level: TopicLevel) async {
    guard isConnected, let record = records[level], record.state.connected else { return }
    for command in record.facts.commands {
      let topic = topics.set(TopicLevel(naming: command.name), of: level)
      if subscribedCommands.insert(topic).inserted { await mqtt.subscribe(topic) }
    }
  }

  /// A message on a topic `set`.
  func command(_ name: TopicLevel, for level: TopicLevel, _ message: MQTTMessage) async {
    // A kept command would be carried out again at every start.
    guard !message.isRetained, let record = records[level],
      let command = record.facts.commands.first(where: { TopicLevel(naming: $0.name) == name })
    else { return }
    let id = FleetCall.id(of: message.payload)
    do throws(AccessoryError) {
      guard commandLimit.admit(now: clock.now) else {
        throw AccessoryError(.busy, "too many commands come from the broker: try again in a second")
      }
      guard record.state.connected, let service else {
        throw AccessoryError(.disconnected, "\(record.state.device.id) is not attached")
      }
      // The commands may have been read at a socket that decided about them, before the service was found again at one that
      // permits all.
      guard permitsCommands else {
        throw AccessoryError(.permissionDenied, "the service permits no commands at \(service.socketPath)")
      }
      let call = try FleetCall(message.payload, for: command)
      try enqueue(level) { [self] in
        await perform(call, command, level, service.device(record.place, label: record.state.device.id))
      }
    } catch {
      await answer(.init(.failure(error), id: id, at: Self.now), name, level)
    }
  }

  private func enqueue(_ level: TopicLevel, _ work: @escaping @Sendable () async -> Void) throws(AccessoryError) {
    guard commandQueues[level] != nil else {
      commandQueues[level] = CommandQueue(worker: Task { await carryOut(level, work) })
      return
    }
    guard commandQueues[level]!.waiting.count < Self.queueLimit else {
      throw AccessoryError(.busy, "too many commands wait for \(level): try again later")
    }
    commandQueues[level]!.waiting.append(work)
  }

  private func carryOut(_ level: TopicLevel, _ first: @escaping @Sendable () async -> Void) async {
    await first()
    while !Task.isCancelled, let queue = commandQueues[level], !queue.waiting.isEmpty {
      await commandQueues[level]!.waiting.removeFirst()()
    }
    commandQueues[level] = nil
  }

  private func perform(_ call: FleetCall, _ command: Bridge.Command, _ level: TopicLevel, _ device: BridgeDevice) async
  {
    let name = TopicLevel(naming: command.name)
    do throws(AccessoryError) {
      let reply = try await device.perform([Bridge.CommandCall(command.name, call.arguments)], isAnswered: true)
      await answer(FleetResult(reply, to: command, id: call.id, at: Self.now), name, level)
    } catch {
      await answer(.init(.failure(error), id: call.id, at: Self.now), name, level)
    }
  }

  private func answer(_ result: FleetResult, _ name: TopicLevel, _ level: TopicLevel) async {
    await mqtt.publish(MQTTMessage(topics.result(name, of: level), result.bytes))
  }
}
