// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore

/// What this program offers in the peripheral role of a `ScriptedRadio`, and the devices that use it. All but `open` and `take` is
/// called on the radio's queue.
final class ServingStage: Sendable {
  private struct Session: Sendable {
    var tell: @Sendable (ServingEvent) -> Void
    var services: [Int: ServedService] = [:]
    var offer: ServedOffer?
    /// The values that wait, and whether one was refused.
    var waiting: [(handle: Int, bytes: [UInt8])] = []
    var isAwaited = false
  }

  private struct Subscription: Hashable, Sendable {
    let session: Int
    let handle: Int
  }

  private struct Contents: Sendable {
    var sessions: [Int: Session] = [:]
    var nextSession = 0
    var centrals: [RadioPeer: ScriptedCentral] = [:]
    var subscriptions: [RadioPeer: Set<Subscription>] = [:]
    /// Who waits for an answer.
    var requests: [Int: Waiting] = [:]
    var nextRequest = 0
    var isHeld = false
  }

  private struct Waiting: Sendable {
    let session: Int
    let peer: RadioPeer
    let answer: @Sendable (Result<[UInt8], RadioFailure>) -> Void
  }

  private let contents = Locked(Contents())

  /// How many values wait until a manager must wait, too.
  private static let room = 16

  var sessionCount: Int { contents.withLock { $0.sessions.count } }

  var services: [String] {
    contents.withLock { contents in
      contents.sessions.keys.sorted().flatMap { id in
        (contents.sessions[id]?.services ?? [:]).sorted { $0.key < $1.key }.map(\.value.uuid.description)
      }
    }
  }

  var names: [String] {
    contents.withLock { contents in
      contents.sessions.keys.sorted().compactMap { id in contents.sessions[id]?.offer.map { $0.name ?? "" } }
    }
  }

  // MARK: - Managers

  func open(_ tell: @escaping @Sendable (ServingEvent) -> Void) -> Int {
    contents.withLock { contents in
      defer { contents.nextSession += 1 }
      contents.sessions[contents.nextSession] = Session(tell: tell)
      return contents.nextSession
    }
  }

  func tell(_ id: Int, _ event: ServingEvent) { contents.withLock { $0.sessions[id] }?.tell(event) }

  func set(_ state: RadioState) {
    if state != .on { for peer in contents.withLock({ $0.centrals.keys.sorted() }) { leave(peer) } }
    for id in contents.withLock({ $0.sessions.keys.sorted() }) { tell(id, .state(state)) }
  }

  func close(_ id: Int) {
    end(
      contents.withLock { contents in
        contents.sessions[id] = nil
        for peer in contents.subscriptions.keys {
          contents.subscriptions[peer] = contents.subscriptions[peer]?.filter { $0.session != id }
        }
        return Self.take(&contents) { $0.session == id }
      })
  }

  private static func take(_ contents: inout Contents, _ isMeant: (Waiting) -> Bool) -> [Waiting] {
    let taken = contents.requests.filter { isMeant($0.value) }
    for id in taken.keys { contents.requests[id] = nil }
    return Array(taken.values)
  }

  private func end(_ requests: [Waiting]) { for request in requests { request.answer(.failure(.disconnected)) } }

  /// Does what a manager asks. `report` is called when what is offered has changed, before the manager is told so.
  func obey(_ command: ServingCommand, _ id: Int, _ report: () -> Void) {
    switch command {
    case .publish(let service):
      contents.withLock { $0.sessions[id]?.services[service.number] = service }
      report()
      tell(id, .published(service.number, nil))
    case .withdraw(let number):
      contents.withLock { contents in
        let gone = contents.sessions[id]?.services.removeValue(forKey: number)
        let handles = Set((gone?.characteristics ?? []).map { Subscription(session: id, handle: $0.handle) })
        for peer in contents.subscriptions.keys { contents.subscriptions[peer]?.subtract(handles) }
      }
    case .offer(let offer):
      contents.withLock { $0.sessions[id]?.offer = offer }
      report()
      if offer != nil { tell(id, .offered(nil)) }
    case .answer(let request, let result):
      contents.withLock { $0.requests.removeValue(forKey: request) }?.answer(result)
    case .disconnect(let peer): leave(peer)
    }
  }

  /// Takes a value, on any thread. Returns false when there is no room.
  func take(_ handle: Int, _ bytes: [UInt8], _ id: Int) -> Bool {
    contents.withLock { contents in
      guard let waiting = contents.sessions[id]?.waiting else { return true }
      contents.sessions[id]?.isAwaited = waiting.count >= Self.room
      guard waiting.count < Self.room else { return false }
      contents.sessions[id]?.waiting.append((handle, bytes))
      return true
    }
  }

  /// Sends the values that wait.
  func flush() {
    for id in contents.withLock({ $0.isHeld ? [] : $0.sessions.keys.sorted() }) {
      let (values, isAwaited, receivers) = contents.withLock { contents in
        let receivers = contents.subscriptions.flatMap { peer, wanted in
          wanted.filter { $0.session == id }.compactMap { wish in contents.centrals[peer].map { (wish.handle, $0) } }
        }
        let session = contents.sessions[id]
        contents.sessions[id]?.waiting = []
        contents.sessions[id]?.isAwaited = false
        return (session?.waiting ?? [], session?.isAwaited ?? false, receivers)
      }
      for (handle, bytes) in values {
        for (wanted, central) in receivers where wanted == handle {
          let text = uuid(of: handle, in: id)
          central.received(text, Array(bytes.prefix(GATTPacket.room(in: central.packetSize))))
        }
      }
      if isAwaited { tell(id, .ready) }
    }
  }

  func hold(_ isHeld: Bool) {
    contents.withLock { $0.isHeld = isHeld }
    flush()
  }

  // MARK: - Devices

  private func uuid(of handle: Int, in id: Int) -> String {
    contents.withLock { contents in
      contents.sessions[id]?.services.values.lazy.flatMap(\.characteristics).first { $0.handle == handle }
    }?.uuid.description ?? ""
  }

  private func find(_ uuid: BluetoothUUID) -> (Subscription, ServedCharacteristic)? {
    contents.withLock { contents in
      for (id, session) in contents.sessions.sorted(by: { $0.key < $1.key }) {
        for (_, service) in session.services.sorted(by: { $0.key < $1.key }) {
          if let found = service.characteristics.first(where: { $0.uuid == uuid }) {
            return (Subscription(session: id, handle: found.handle), found)
          }
        }
      }
      return nil
    }
  }

  func request(
    _ central: ScriptedCentral, _ uuid: BluetoothUUID, offset: Int, _ bytes: [UInt8]?, needsAnswer: Bool,
    _ answer: @escaping @Sendable (Result<[UInt8], RadioFailure>) -> Void
  ) {
    guard let (place, characteristic) = find(uuid) else { return answer(.failure(.noAttribute)) }
    let isAllowed = characteristic.properties & (bytes == nil ? 0x02 : needsAnswer ? 0x08 : 0x04) != 0
    guard isAllowed else { return answer(.failure(.refused(bytes == nil ? 2 : 3))) }
    if bytes == nil, let value = characteristic.value {
      return answer(offset <= value.count ? .success(Array(value.dropFirst(offset))) : .failure(.refused(7)))
    }
    let id = contents.withLock { contents in
      contents.nextRequest += 1
      contents.centrals[central.peer] = central
      if needsAnswer {
        contents.requests[contents.nextRequest] = Waiting(session: place.session, peer: central.peer, answer: answer)
      }
      return contents.nextRequest
    }
    tell(
      place.session,
      .request(
        ServingRequest(id, central.served, place.handle, offset: offset, bytes: bytes, needsAnswer: needsAnswer)))
    if !needsAnswer { answer(.success([])) }
  }

  func subscribe(_ central: ScriptedCentral, _ uuid: BluetoothUUID, _ isOn: Bool) -> Bool {
    guard let (place, characteristic) = find(uuid), characteristic.properties & 0x30 != 0 else { return false }
    let isNews = contents.withLock { contents in
      contents.centrals[central.peer] = central
      var wanted = contents.subscriptions[central.peer] ?? []
      let isNews = isOn ? wanted.insert(place).inserted : wanted.remove(place) != nil
      contents.subscriptions[central.peer] = wanted
      return isNews
    }
    if isNews {
      let (served, handle) = (central.served, place.handle)
      tell(place.session, isOn ? .subscribed(served, handle: handle) : .unsubscribed(served, handle: handle))
    }
    return true
  }

  func leave(_ peer: RadioPeer) {
    let (central, wanted, sessions, requests) = contents.withLock { contents in
      let requests = Self.take(&contents) { $0.peer == peer }
      return (
        contents.centrals.removeValue(forKey: peer), contents.subscriptions.removeValue(forKey: peer) ?? [],
        contents.sessions.keys.sorted(), requests
      )
    }
    guard let central else { return }
    end(requests)
    for place in wanted.sorted(by: { $0.handle < $1.handle }) {
      tell(place.session, .unsubscribed(central.served, handle: place.handle))
    }
    for id in sessions { tell(id, .left(peer)) }
  }
}

/// A manager's conversation with the radio.
struct ScriptedServing: ServingSession {
  let radio: ScriptedRadio
  let id: Int

  func send(_ command: ServingCommand) {
    radio.queue.async { [radio, id] in
      radio.stage.obey(command, id, radio.report)
      radio.report()
    }
  }

  func notify(_ handle: Int, _ value: [UInt8]) -> Bool {
    guard radio.stage.take(handle, value, id) else { return false }
    radio.queue.async { [radio] in radio.stage.flush() }
    return true
  }

  func close() {
    radio.queue.async { [radio, id] in
      radio.stage.close(id)
      radio.report()
    }
  }
}
