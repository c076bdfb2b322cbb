// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

/// What a client goes through with an HM-10 that sends back what it is sent: the whole of the central role.
package final class Story {
  /// Something wasn't as it must be.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private var central: Central?
  private var calls: AsyncStream<Call>.Iterator
  /// Has the test do something with the module or the adapter: `module disconnect`, `module vanish`, `module return`, `power off`,
  /// `power on`, `bluetoothd kill`, `bluetoothd start`.
  private let order: (String) async throws -> Void
  private let say: (String) -> Void
  private var start = Date()

  package init(
    module name: String = "HMSoft", say: @escaping (String) -> Void, order: @escaping (String) async throws -> Void
  ) {
    let central = Central(looksFor: name)
    (self.central, calls) = (central, central.calls.makeAsyncIterator())
    (self.say, self.order) = (say, order)
  }

  package func tell() async throws {
    try await find()
    try await converse()
    try await lose()
    try await switchOff()
    try await restart()
    central?.letGo()
    central = nil
    said("everything is let go")
  }

  // MARK: - Steps

  private func find() async throws {
    _ = try await next { $0 == .state(.poweredOn) }
    try manager.scanForPeripherals(withServices: [CBUUID(string: "FFE0")])
    _ = try await next { if case .found = $0 { true } else { false } }
    try manager.stopScan()
    said("found, at \(try module.identifier)")
    try await connect()
    said("connected and discovered: \(try module.services?.count ?? 0) services")
  }

  /// Connects, discovers, and has the port send.
  private func connect() async throws {
    try manager.connect(try module)
    try await expect(.connected)
    try module.discoverServices([CBUUID(string: "FFE0")])
    try await expect(.services(nil))
    guard let service = try module.services?.first, try module.services?.count == 1 else { throw failed("one service") }
    try module.discoverCharacteristics([CBUUID(string: "FFE1")], for: service)
    try await expect(.characteristics(nil))
    try module.setNotifyValue(true, for: try port)
    try await expect(.notifying(true, nil))
  }

  private func converse() async throws {
    let count = 1_000
    let sent = (1...count).map { Data("\($0)\n".utf8) }
    let (module, port) = (try module, try port)
    var received: [Data] = []
    for packet in sent {
      while !module.canSendWriteWithoutResponse { if let data = try await valueOrReady() { received.append(data) } }
      module.writeValue(packet, for: port, type: .withoutResponse)
    }
    while received.count < count { if let data = try await valueOrReady() { received.append(data) } }
    guard received == sent else { throw failed("1,000 answers in order") }
    said("1,000 writes, and as many notifications in order")
    module.readValue(for: port)
    guard case .value(_, nil) = try await next({ if case .value = $0 { true } else { false } }) else {
      throw failed("a value that is read")
    }
    said("read")
    module.readRSSI()
    let strength = try await next { if case .strength = $0 { true } else { false } }
    switch strength {
    case .strength(let number, nil) where -127...20 ~= number: said("the strength of the signal: \(number) dBm")
    // Nothing of it was heard lately, and a connection isn't measured.
    case .strength(127, let error?) where error == CBError.Code.operationNotSupported.rawValue:
      said("no strength of the signal")
    default: throw failed("\(strength)")
    }
    try await echo("hello")
    module.setNotifyValue(false, for: port)
    try await expect(.notifying(false, nil))
    module.setNotifyValue(true, for: port)
    try await expect(.notifying(true, nil))
    try await echo("once more")
    said("notifications off and on")
  }

  private func lose() async throws {
    try await order("module disconnect")
    try await expect(.disconnected(CBError.peripheralDisconnected.rawValue))
    guard try module.state == .disconnected, try module.services == nil else { throw failed("nothing is left") }
    said("the module disconnects")
    try await connect()
    try await echo("again")
    said("connected again")
    try manager.cancelPeripheralConnection(try module)
    try await expect(.disconnected(nil))
    said("the client disconnects")
    try await connect()
    try await order("module vanish")
    let loss = try await next { if case .disconnected = $0 { true } else { false } }
    guard loss != .disconnected(nil) else { throw failed("a loss with an error") }
    said("it vanishes: \(loss)")
    // Waits for it, however long that takes.
    try manager.connect(try module)
    try await order("module return")
    try await expect(.connected)
    try manager.cancelPeripheralConnection(try module)
    try await expect(.disconnected(nil))
    said("a connection that waited is made when it returns")
  }

  private func switchOff() async throws {
    try await connect()
    try await order("power off")
    _ = try await next { $0 == .state(.poweredOff) }
    guard try module.state == .disconnected else { throw failed("disconnected without power") }
    said("power off")
    try await order("power on")
    _ = try await next { $0 == .state(.poweredOn) }
    let known = try manager.retrievePeripherals(withIdentifiers: [try module.identifier])
    guard known.first === (try module) else { throw failed("the same object: \(known)") }
    try await connect()
    try await echo("with power")
    said("power on")
  }

  private func restart() async throws {
    try await order("bluetoothd kill")
    _ = try await next { if case .state(let state) = $0 { state != .poweredOn } else { false } }
    guard try module.state == .disconnected else { throw failed("disconnected without bluetoothd") }
    said("bluetoothd has died: \(try manager.state)")
    try await order("bluetoothd start")
    _ = try await next { $0 == .state(.poweredOn) }
    try await connect()
    try await echo("the end")
    said("bluetoothd is back")
  }

  // MARK: - Means

  private var manager: CBCentralManager { get throws { try found(central?.manager, "a manager") } }
  private var module: CBPeripheral { get throws { try found(central?.module, "a module") } }
  private var port: CBCharacteristic { get throws { try found(central?.port, "the port FFE1") } }

  private func found<Object>(_ object: Object?, _ what: String) throws -> Object {
    guard let object else { throw failed(what) }
    return object
  }

  private func echo(_ text: String) async throws {
    let (module, port) = (try module, try port)
    module.writeValue(Data(text.utf8), for: port, type: .withoutResponse)
    let answer = try await next { if case .value = $0 { true } else { false } }
    guard answer == .value(Data(text.utf8), nil) else { throw failed("\(text) comes back, not \(answer)") }
  }

  private func valueOrReady() async throws -> Data? {
    let call = try await next { call in
      if case .value = call { return true }
      return call == .ready
    }
    if case .value(let data, nil) = call { return data }
    guard call == .ready else { throw failed("\(call)") }
    return nil
  }

  /// The next call, which must be this one. The program that has started this one ends it when nothing comes.
  private func expect(_ wanted: Call) async throws {
    let call = try await next { $0 != .ready }
    guard call == wanted else { throw failed("\(wanted), not \(call)") }
  }

  /// The next call that is wanted.
  private func next(_ isWanted: (Call) -> Bool) async throws -> Call {
    while let call = await calls.next(isolation: #isolation) { if isWanted(call) { return call } }
    throw failed("another call")
  }

  private func failed(_ what: String) -> Failure { Failure(description: "expected: \(what)") }

  private func said(_ text: String) {
    say("ok: \(text) (\(Int(Date().timeIntervalSince(start) * 1_000)) ms)")
    start = Date()
  }
}
