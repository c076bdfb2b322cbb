// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import Dispatch
import FamilyAF1

@testable import AccessorySharing

/// A hub with its device and its clients, which do what the input says: join, send, stop reading, leave, and are unplugged. What each
/// of them gets is checked after every step.
///
/// The hub runs on the I/O thread, and its router on a queue, as they always do; a step ends when both have nothing left to do.
final class SharingWorld {
  private let hub: SharingHub
  private let clock = ManualClock()
  private let byFrames: Bool
  private let rules: SharingRules
  private var device: SharedFuzzDevice
  private var clients: [SharedFuzzClient] = []
  /// All that ever joined, which read again at the end: one that has left may still hold up the others.
  private var all: [SharedFuzzClient] = []
  private var script: Script
  private var lastName = 0

  private static let mostClients = 6
  /// No input may have more sent than this, so that a run stays short.
  private var bytesLeft = 1 << 20

  init(_ script: Script) {
    self.script = script
    let choice = self.script.byte()
    byFrames = choice & 1 != 0
    var rules = SharingRules()
    rules.unplug = choice & 2 == 0 ? .keep : .hangUp
    rules.slowReader = [.close, .skip, .wait, .wait][Int(choice >> 2) & 3]
    rules.writers = byFrames ? .many : [.many, .many, .one, .none][Int(choice >> 4) & 3]
    rules.waitsForOnlyReader = choice & 0x40 == 0
    rules.bufferSize = 4_096
    self.rules = rules
    hub = SharingHub(rules, io: .shared, clock: clock)
    device = SharedFuzzDevice(byFrames: byFrames)
    attach()
  }

  func run() {
    join()
    while !script.isOver { step() }
    for transport in all.map(\.transport) + [device.transport] { post { transport.unstall() } }
    settle()
    check()
    checkWhatIsLost()
    let (hub, done) = (hub, DispatchSemaphore(value: 0))
    Task {
      await hub.close()
      done.signal()
    }
    done.wait()
  }

  private func step() {
    let operation = script.byte()
    switch operation & 15 {
    case 0: join()
    case 1: leave()
    case 2:
      guard let client = anyClient() else { return }
      client.isStalled.toggle()
      let (transport, isStalled) = (client.transport, client.isStalled)
      post { isStalled ? transport.stall() : transport.unstall() }
    case 3:
      let transport = device.transport
      post { operation & 16 == 0 ? transport.stall() : transport.unstall() }
    case 4: unplug()
    case 5: clock.advance(by: .milliseconds(50 * (1 + script.number(below: 60))))
    case 6...10:
      guard let client = anyClient(), bytesLeft > 0 else { return }
      bytesLeft -= client.send(kind: operation >> 4, count: Int(script.byte()) * 8, byFrames: byFrames)
    default:
      guard bytesLeft > 0 else { return }
      bytesLeft -= device.send(kind: operation >> 4, choice: script.number(below: 64), count: Int(script.byte()) * 8)
    }
    settle()
    check()
  }

  // MARK: - Coming and going

  private func anyClient() -> SharedFuzzClient? {
    clients.isEmpty ? nil : clients[script.number(below: clients.count)]
  }

  private func join() {
    // A name is a byte in what is sent.
    guard clients.count < Self.mostClients, lastName < 255 else { return }
    lastName += 1
    let client = SharedFuzzClient(lastName, recordsBefore: device.recordCount)
    let (transport, name) = (client.transport, lastName)
    client.id = onHub { $0.join(transport, name: "\(name)", kind: .local) }
    clients.append(client)
    all.append(client)
  }

  private func leave() {
    guard !clients.isEmpty else { return }
    let client = clients.remove(at: script.number(below: clients.count))
    let id = client.id
    switch script.byte() & 3 {
    case 0: client.transport.unplug()
    case 1: client.transport.end(nil)
    default: onHub { $0.dismiss(id, "no more") }
    }
    settle()
    client.check(byFrames: byFrames, mayMiss: true)
  }

  private func unplug() {
    device.transport.unplug()
    settle()
    check()
    if rules.unplug == .hangUp { clients.removeAll() }
    device = SharedFuzzDevice(byFrames: byFrames, after: device)
    attach()
  }

  private func attach() {
    let transport = device.transport
    let shared = SharedDevice(transport, routing: byFrames ? .af1(label: "device") : nil)
    onHub { $0.attach(shared) { _ in } }
  }

  // MARK: - What must hold

  private func check() {
    let state = onHub { hub in
      let clients = hub.parts.clients.all
      let frames = hub.parts.device.attached?.frames
      return (
        ids: Set(clients.values.filter { !$0.isLeaving }.map(\.id)),
        backlogs: clients.values.map(\.backlog.count).max() ?? 0, waiting: hub.parts.requests.waiting.count,
        pending: frames?.pending.reduce(0) { $0 + $1.count } ?? 0, count: clients.count
      )
    }
    precondition(state.backlogs <= rules.bufferSize + Delivery.heldBackRoom, "a client's buffer has no bound")
    precondition(state.waiting <= state.count, "a client waits twice")
    precondition(state.pending <= FrameRouter.unsentLimit + 65_536, "messages to the device have no bound")
    // Too slow, and disconnected.
    clients.removeAll { !state.ids.contains($0.id) }
    for client in clients { client.check(byFrames: byFrames, mayMiss: rules.slowReader == .skip) }
    device.check(writers: rules.writers)
  }

  /// At the end everybody reads: whoever is still there has all that the device has sent.
  private func checkWhatIsLost() {
    guard !byFrames, rules.slowReader != .skip else { return }
    for client in clients {
      precondition(client.hasAll(device.recordCount), "a reader misses what the device has sent")
    }
  }

  // MARK: - Threads

  private func post(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    IOThread.shared.post {
      body()
      done.signal()
    }
    done.wait()
  }

  @discardableResult
  private func onHub<Value: Sendable>(_ body: @escaping @Sendable (isolated SharingHub) -> Value) -> Value {
    let result = Shared<Value?>(nil)
    let hub = hub
    post {
      hub.enter { hub in
        let value = body(hub)
        result.withLock { $0 = value }
      }
    }
    guard let value = result.withLock({ $0 }) else { fatalError("the hub wasn't entered") }
    return value
  }

  /// Returns when the I/O thread and the router have nothing left to do.
  private func settle() {
    var idle = 0
    while idle < 3 { idle = onHub { $0.parts.device.attached?.frames?.router.isIdle ?? true } ? idle + 1 : 0 }
  }
}
