// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A mirror's connections with one service, and the questions that wait for it.
struct MirrorLink: Sendable {
  /// The connection for lists.
  var lists: BridgeClient
  /// Grows with every connect, so that answers of an earlier service aren't taken.
  let generation: UInt64
  /// The view that learns what accessories have answered.
  var hooks = ServiceMirror.Hooks()
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
  /// Asks an accessory for what is wanted: its identity, status, battery and values, and with `commands` for those.
  init(asking device: BridgeDevice, for wanted: ServiceMirror.Interests, commands wantsCommands: Bool) async {
    self.init()
    var failureCount = 0
    func ask<Reply: Sendable>(_ question: () async throws(AccessoryError) -> Reply) async -> Reply? {
      do throws(AccessoryError) {
        return try await question()
      } catch {
        if error.kind != .unsupported { failureCount += 1 }
        return nil
      }
    }
    defer { self.failureCount = failureCount }
    guard wanted.contains(.readings) else {
      if wanted.contains(.identities) { identity = (try? await device.info())?.identity }
      guard wanted.contains(.batteries) else { return }
      let reply = await ask { () async throws(AccessoryError) in try await device.battery() }
      battery = reply.map { ($0.battery, $0.age_ms) }
      return
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
    guard wanted.contains(.values) else { return }
    values = await ask { () async throws(AccessoryError) in try await device.values() }?.values.map(\.value)
  }
}
