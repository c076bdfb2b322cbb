// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A mirror's connections with one service, and the questions that wait for it.
struct MirrorLink: Sendable {
  /// The connection for lists.
  var lists: BridgeClient
  /// Grows with every connect, so that answers of an earlier service aren't taken.
  let generation: UInt64
  /// Whether the service decides at this socket which commands are permitted.
  var permitsCommands = false
  /// The accessories that are to be asked for their readings, by their places.
  var queue: ArraySlice<String> = []
  var unread: Set<String> = []
  var readerCount = 0
  /// Whether the list is wanted, and is being asked for; and when it was had last, and how long that took.
  var (wantsList, isListing) = (false, false)
  var lastList: (MonotonicTime, took: Duration)?
  var tasks: [Task<Void, Never>] = [] {
    didSet { if tasks.count > 64 { tasks.removeFirst(32) } }
  }

  init(_ client: BridgeClient, generation: UInt64, listPatience: Duration) {
    lists = client
    lists.replyTimeout = listPatience
    self.generation = generation
  }

  func end() {
    for task in tasks { task.cancel() }
    lists.close()
  }
}

extension MirrorAnswers {
  /// Asks an accessory for its identity, and if wanted for its status, battery and values, and for the commands.
  init(asking device: BridgeDevice, commands wantsCommands: Bool, readings wantsReadings: Bool) async {
    self.init()
    if !wantsReadings {
      identity = (try? await device.info())?.identity
      return
    }
    var failureCount = 0
    func ask<Reply: Sendable>(_ question: () async throws(AccessoryError) -> Reply) async -> Reply? {
      do throws(AccessoryError) {
        return try await question()
      } catch {
        if error.kind != .unsupported { failureCount += 1 }
        return nil
      }
    }
    if wantsCommands { commands = (try? await device.commands())?.commands ?? [] }
    if let reply = await ask({ () async throws(AccessoryError) in try await device.status() }) {
      (identity, status) = (reply.identity, (reply.status, reply.age_ms))
    } else if let reply = await ask({ () async throws(AccessoryError) in try await device.info() }) {
      identity = reply.identity
    }
    if let reply = await ask({ () async throws(AccessoryError) in try await device.battery() }) {
      battery = (reply.battery, reply.age_ms)
    }
    values = await ask { () async throws(AccessoryError) in try await device.values() }?.values.map(\.value)
    self.failureCount = failureCount
  }
}
