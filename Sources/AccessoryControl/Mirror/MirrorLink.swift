// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A mirror's connections with one service, and the pending requests to it.
struct MirrorLink: Sendable {
  /// The connection for lists.
  var lists: BridgeClient
  /// Grows with every connect, so that answers of an earlier service aren't taken.
  let generation: UInt64
  /// The view that gets the replies of accessories.
  var hooks = ServiceMirror.Hooks()
  /// Whether the service decides at this socket which commands are permitted.
  var permitsCommands = false
  /// The accessories whose readings must be requested, by their places.
  var queue: ArraySlice<String> = []
  var unread: Set<String> = []
  var readerCount = 0
  /// The last pauses before readings that couldn't be had were requested again, by the places of the accessories.
  var pauses: [String: Duration] = [:]
  /// Whether the list must be requested, and is being requested; when the last one came, and how long that took.
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
  /// Requests the wanted data of an accessory: its identity, status, battery and values, and with `commands` its
  /// commands.
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
      battery = await ask { () async throws(AccessoryError) in try await device.read() }
      return
    }
    if wantsCommands { commands = (try? await device.commands())?.commands ?? [] }
    let told: Read<StatusAndIdentity>? = await ask { () async throws(AccessoryError) in try await device.read() }
    if let told {
      (identity, status) = (told.identity, told.map(\.status))
    } else if let reply = await ask({ () async throws(AccessoryError) in try await device.info() }) {
      identity = reply.identity
    }
    battery = await ask { () async throws(AccessoryError) in try await device.read() }
    guard wanted.contains(.values) else { return }
    let all: Read<ReadValues>? = await ask { () async throws(AccessoryError) in try await device.read() }
    values = all?.value.map(\.value)
  }
}
