// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import Dispatch

/// A Bluetooth radio that a test plays, in place of the computer's: no adapter, no bluetoothd, no waiting.
///
/// A `CBCentralManager` that is made within `use` finds its peripherals there. Whatever happens is told at once, in order.
public final class ScriptedRadio: Sendable {
  /// Whether it can be used.
  public enum State: Sendable, Equatable {
    /// It is on.
    case on
    /// It is off.
    case off
    /// The system's Bluetooth has ended, and may come back.
    case resetting
    /// There is no Bluetooth.
    case unsupported
    /// This user may not use it.
    case unauthorized
  }

  /// What goes on, for tests to wait for.
  public struct Status: Sendable, Equatable {
    /// How many managers search.
    public internal(set) var searches = 0
    /// The ids of the peripherals that are connected.
    public internal(set) var connected: Set<String> = []
    /// The ids of the peripherals that are waited for.
    public internal(set) var awaited: Set<String> = []
    /// How many managers use this radio.
    public internal(set) var managers = 0
    /// The UUIDs of the services that this program offers, in small letters.
    public internal(set) var services: [String] = []
    /// The names that this program advertises; empty ones for advertisements without a name.
    public internal(set) var names: [String] = []
    /// How many values are held back because a manager's queue doesn't take them.
    public internal(set) var heldValues = 0
  }

  fileprivate struct Connection: Sendable {
    var link: RadioLink
    var isMade = false
    var notifying: Set<Int> = []
  }

  fileprivate struct Session: Sendable {
    var tell: @Sendable (RadioEvent) -> Void
    var search: RadioSearch?
    var connections: [RadioPeer: Connection] = [:]
    var isHeld = false
    var held: [RadioEvent] = []
  }

  private struct Contents: Sendable {
    var state: State
    var peripherals: [ScriptedPeripheral] = []
    var sessions: [Int: Session] = [:]
    var nextSession = 0
  }

  /// What goes on now.
  public let status = Watched(Status())
  private let contents: Locked<Contents>
  /// The peripheral role.
  let stage = ServingStage()
  /// Everything happens here, in order.
  let queue = DispatchQueue(label: "ScriptedRadio")

  /// A radio with these peripherals, which advertise.
  public init(_ state: State = .on, _ peripherals: [ScriptedPeripheral] = []) {
    contents = Locked(Contents(state: state))
    for peripheral in peripherals { add(peripheral) }
  }

  /// Runs `body`, and has managers that it makes use this radio.
  public func use<Result>(_ body: () throws -> Result) rethrows -> Result {
    try Radios.$ofTask.withValue(self, operation: body)
  }

  /// Has all managers that are made from now on in this program use this radio.
  public func install() { Radios.install(self) }

  /// Has managers use the computer's Bluetooth again.
  public static func uninstall() { Radios.install(nil) }

  /// Adds a peripheral.
  public func add(_ peripheral: ScriptedPeripheral) {
    peripheral.state.withLock { $0.radio = self }
    contents.withLock { $0.peripherals.append(peripheral) }
    advertise(peripheral)
  }

  /// Switches it on or off. At anything but `on` all searches and connections end.
  public func set(_ state: State) {
    queue.async { [self] in
      let tells = contents.withLock { contents in
        contents.state = state
        if state != .on {
          for id in contents.sessions.keys {
            contents.sessions[id]?.search = nil
            contents.sessions[id]?.connections = [:]
          }
        }
        return contents.sessions.values.map(\.tell)
      }
      for tell in tells { tell(.state(state.radio)) }
      stage.set(state.radio)
      report()
    }
  }

  /// Returns when everything that was asked before has been done.
  public func settle() async { await withCheckedContinuation { done in queue.async { done.resume() } } }

  // MARK: - What peripherals do

  func advertise(_ peripheral: ScriptedPeripheral) {
    queue.async { [self] in
      for session in contents.withLock({ Array($0.sessions.keys) }) { advertise(peripheral, to: session) }
    }
  }

  private func advertise(_ peripheral: ScriptedPeripheral, to id: Int) {
    guard peripheral.state.withLock({ $0.isInReach }) else { return }
    let session = contents.withLock { $0.sessions[id] }
    guard let session, session.search?.fits(peripheral.advertisement.services) == true,
      session.connections[peripheral.peer]?.isMade != true
    else { return }
    session.tell(.found(peripheral.advertisement))
  }

  func tellName(of peripheral: ScriptedPeripheral) {
    queue.async { [self] in
      let name = peripheral.advertisement.name
      for (session, _) in connections(of: peripheral) { session.tell(.named(peripheral.peer, name)) }
    }
  }

  func tellTable(of peripheral: ScriptedPeripheral) {
    queue.async { [self] in
      let table = peripheral.state.withLock { $0.table.services }
      for (session, connection) in connections(of: peripheral) { session.tell(.tableChanged(connection.link, table)) }
    }
  }

  func appeared(_ peripheral: ScriptedPeripheral) {
    queue.async { [self] in
      for (id, session) in contents.withLock({ $0.sessions }) {
        if let connection = session.connections[peripheral.peer], !connection.isMade { connect(connection.link, id) }
      }
    }
    advertise(peripheral)
  }

  func end(_ peripheral: ScriptedPeripheral, _ failure: RadioFailure) {
    queue.async { [self] in
      let ended = connections(of: peripheral)
      contents.withLock { contents in
        for id in contents.sessions.keys where contents.sessions[id]?.connections[peripheral.peer]?.isMade == true {
          contents.sessions[id]?.connections[peripheral.peer] = nil
        }
      }
      for (session, connection) in ended { session.tell(.ended(connection.link, failure)) }
      report()
    }
  }

  func send(_ bytes: [UInt8], _ uuid: BluetoothUUID, _ peripheral: ScriptedPeripheral) {
    queue.async { [self] in
      guard let handle = peripheral.state.withLock({ $0.table.characteristic(uuid) }) else { return }
      let tells = contents.withLock { contents -> [(@Sendable (RadioEvent) -> Void, RadioEvent)] in
        var tells: [(@Sendable (RadioEvent) -> Void, RadioEvent)] = []
        for (id, session) in contents.sessions {
          guard let connection = session.connections[peripheral.peer], connection.notifying.contains(handle) else {
            continue
          }
          let event = RadioEvent.value(connection.link, handle: handle, bytes)
          if session.isHeld { contents.sessions[id]?.held.append(event) } else { tells.append((session.tell, event)) }
        }
        return tells
      }
      for (tell, event) in tells { tell(event) }
      report()
    }
  }

  /// Does what waits for a peripheral, before what is asked later.
  func resume(_ peripheral: ScriptedPeripheral) {
    queue.async { [self] in
      let waiting = peripheral.state.withLock { state in
        defer { (state.isPaused, state.waiting) = (false, []) }
        return state.waiting
      }
      for work in waiting { work() }
      report()
    }
  }

  private func connections(of peripheral: ScriptedPeripheral) -> [(Session, Connection)] {
    contents.withLock { contents in
      contents.sessions.values.compactMap { session in
        session.connections[peripheral.peer].flatMap { $0.isMade ? (session, $0) : nil }
      }
    }
  }

  func report() {
    let (sessions, ids) = contents.withLock { contents in
      (Array(contents.sessions.values), Dictionary(contents.peripherals.map { ($0.peer, $0.id) }) { first, _ in first })
    }
    var status = Status()
    status.managers = sessions.count + stage.sessionCount
    (status.services, status.names) = (stage.services, stage.names)
    for session in sessions {
      if session.search != nil { status.searches += 1 }
      status.heldValues += session.held.count
      for (peer, connection) in session.connections {
        guard let id = ids[peer] else { continue }
        if connection.isMade { status.connected.insert(id) } else { status.awaited.insert(id) }
      }
    }
    self.status.update { [status] in $0 = status }
  }

  // MARK: - What managers ask

  fileprivate func open(_ tell: @escaping @Sendable (RadioEvent) -> Void) -> Int {
    let id = contents.withLock { contents in
      defer { contents.nextSession += 1 }
      contents.sessions[contents.nextSession] = Session(tell: tell)
      return contents.nextSession
    }
    queue.async { [self] in
      tell(.state(contents.withLock { $0.state }.radio))
      report()
    }
    return id
  }

  fileprivate func close(_ id: Int) {
    queue.async { [self] in
      _ = contents.withLock { $0.sessions.removeValue(forKey: id) }
      report()
    }
  }

  fileprivate var known: [RadioKnown] {
    let (peripherals, sessions) = contents.withLock { ($0.peripherals, Array($0.sessions.values)) }
    return peripherals.map { peripheral in
      let (advertisement, table) = peripheral.state.withLock { ($0.advertisement, $0.table.services) }
      let isConnected = sessions.contains { $0.connections[peripheral.peer]?.isMade == true }
      return RadioKnown(
        peripheral.peer, name: advertisement.name, isConnected: isConnected,
        services: isConnected ? table.map(\.uuid) : advertisement.services)
    }
  }

  fileprivate func take(_ command: RadioCommand, _ id: Int) {
    queue.async { [self] in
      obey(command, id)
      report()
    }
  }

  private func obey(_ command: RadioCommand, _ id: Int) {
    let (session, isOn) = contents.withLock { ($0.sessions[id], $0.state == .on) }
    guard let session else { return }
    switch command {
    case .search(let search):
      contents.withLock { $0.sessions[id]?.search = isOn ? search : nil }
      for peripheral in contents.withLock({ $0.peripherals }) { advertise(peripheral, to: id) }
    case .connect(let link):
      guard isOn else { return session.tell(.ended(link, .connectionFailed)) }
      contents.withLock { $0.sessions[id]?.connections[link.peer] = Connection(link: link) }
      connect(link, id)
    case .disconnect(let link):
      guard session.connections[link.peer]?.link == link else { return }
      _ = contents.withLock { $0.sessions[id]?.connections.removeValue(forKey: link.peer) }
      session.tell(.ended(link, nil))
    case .hold(let isHeld):
      contents.withLock { $0.sessions[id]?.isHeld = isHeld }
      while let event = contents.withLock({ contents -> RadioEvent? in
        guard contents.sessions[id]?.isHeld == false, contents.sessions[id]?.held.isEmpty == false else { return nil }
        return contents.sessions[id]?.held.removeFirst()
      }) { session.tell(event) }
    case .discover(let link), .read(let link, _), .write(let link, _, _), .writeCommand(let link, _, _),
      .notify(let link, _, _), .measure(let link):
      guard let peripheral = contents.withLock({ $0.peripherals.first { $0.peer == link.peer } }) else { return }
      let waits = peripheral.state.withLock { state in
        if state.isPaused {
          state.waiting.append { [weak self] in self?.obey(command, id) }
        }
        return state.isPaused
      }
      if !waits, session.connections[link.peer]?.link == link { answer(command, peripheral, session.tell, id) }
    }
  }

  private func connect(_ link: RadioLink, _ id: Int) {
    guard let peripheral = contents.withLock({ $0.peripherals.first { $0.peer == link.peer } }) else { return }
    let (isReachable, refuses, size) = peripheral.state.withLock {
      ($0.isInReach && $0.advertisement.isConnectable, $0.refusesConnections, $0.packetSize)
    }
    guard isReachable else { return }
    let tell = contents.withLock { contents in
      if refuses {
        contents.sessions[id]?.connections[link.peer] = nil
      } else {
        contents.sessions[id]?.connections[link.peer]?.isMade = true
      }
      return contents.sessions[id]?.tell
    }
    tell?(refuses ? .ended(link, .connectionFailed) : .connected(link, packetSize: size))
    report()
  }

  private func answer(
    _ command: RadioCommand, _ peripheral: ScriptedPeripheral, _ tell: @Sendable (RadioEvent) -> Void, _ id: Int
  ) {
    switch command {
    case .discover(let link): tell(.table(link, .success(peripheral.state.withLock { $0.table.services })))
    case .read(let link, let handle): tell(.read(link, handle: handle, peripheral.read(handle)))
    case .write(let link, let handle, let bytes):
      tell(.written(link, handle: handle, peripheral.write(handle, bytes, isCommand: false)))
    case .writeCommand(let link, let handle, let bytes):
      _ = peripheral.write(handle, bytes, isCommand: true)
      tell(.sent(link))
    case .notify(let link, let handle, let isOn):
      contents.withLock { contents in
        if isOn {
          contents.sessions[id]?.connections[link.peer]?.notifying.insert(handle)
        } else {
          contents.sessions[id]?.connections[link.peer]?.notifying.remove(handle)
        }
      }
      tell(.notifying(link, handle: handle, .success(isOn)))
    case .measure(let link): tell(.strength(link, .success(peripheral.advertisement.strength)))
    case .search, .connect, .disconnect, .hold: break
    }
  }
}

extension ScriptedRadio: Radio {
  package func begin(_ tell: @escaping @Sendable (RadioEvent) -> Void) -> any RadioSession {
    ScriptedSession(radio: self, id: open(tell))
  }

  package func beginServing(_ tell: @escaping @Sendable (ServingEvent) -> Void) -> any ServingSession {
    let id = stage.open(tell)
    queue.async { [self] in
      stage.tell(id, .state(contents.withLock { $0.state }.radio))
      report()
    }
    return ScriptedServing(radio: self, id: id)
  }
}

private struct ScriptedSession: RadioSession {
  let radio: ScriptedRadio
  let id: Int

  var known: [RadioKnown] { radio.known }
  func send(_ command: RadioCommand) { radio.take(command, id) }
  func close() { radio.close(id) }
}

extension ScriptedRadio.State {
  fileprivate var radio: RadioState {
    switch self {
    case .on: .on
    case .off: .off
    case .resetting: .resetting
    case .unsupported: .unsupported
    case .unauthorized: .unauthorized
    }
  }
}
