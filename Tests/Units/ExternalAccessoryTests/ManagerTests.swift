// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessorySimulator
import ExternalAccessory
import FamilyAF1
import FamilyAF1Simulator
import TestSupport
import Testing

/// What a program was told by the manager, in order.
final class Diary: NSObject, EAAccessoryDelegate, Sendable {
  enum Entry: Sendable, Equatable {
    case connected(Int, isSelected: Bool)
    case disconnected(Int)
    case connectedMessage(Int, isSelected: Bool)
    case disconnectedMessage(Int)
    case delegate(Int)
    case stream(Stream.Event)
  }

  let entries = Watched<[Entry]>([])
  private let observers = Locked<[Handed<any NSObjectProtocol>]>([])
  private let tokens = Locked<[NotificationCenter.ObservationToken]>([])

  init(_ manager: EAAccessoryManager) {
    super.init()
    let center = NotificationCenter.default
    for name in [Notification.Name.EAAccessoryDidConnect, .EAAccessoryDidDisconnect] {
      let observer = center.addObserver(forName: name, object: manager, queue: nil) { [weak self] notification in
        #expect(MainQueue.isCurrent)
        self?.note(notification)
      }
      let handed = Handed(value: observer)
      observers.withLock { $0.append(handed) }
    }
    let connect = center.addObserver(of: manager, for: .accessoryDidConnect) { [weak self] message in
      self?.add(.connectedMessage(message.accessory.connectionID, isSelected: message.userSelected))
    }
    let disconnect = center.addObserver(of: manager, for: .accessoryDidDisconnect) { [weak self] message in
      self?.add(.disconnectedMessage(message.accessory.connectionID))
    }
    tokens.withLock { $0 += [connect, disconnect] }
  }

  private func note(_ notification: Notification) {
    guard let accessory = notification.userInfo?[EAAccessoryKey] as? EAAccessory else { return }
    let selected = notification.userInfo?[EAAccessorySelectedKey] as? EAAccessory
    #expect(selected == nil || selected === accessory)
    add(
      notification.name == .EAAccessoryDidConnect
        ? .connected(accessory.connectionID, isSelected: selected != nil) : .disconnected(accessory.connectionID))
  }

  func add(_ entry: Entry) { entries.update { $0.append(entry) } }

  func accessoryDidDisconnect(_ accessory: EAAccessory) {
    #expect(MainQueue.isCurrent)
    add(.delegate(accessory.connectionID))
  }

  func end() {
    for observer in observers.withLock({ $0 }) { NotificationCenter.default.removeObserver(observer.value) }
    for token in tokens.withLock({ $0 }) { NotificationCenter.default.removeObserver(token) }
  }
}

/// Returns when all that was to be told on the main queue has been told.
func mainQueueBarrier() async {
  await withCheckedContinuation { continuation in
    DispatchQueue.main.async { continuation.resume() }
  }
}

@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct ManagerTests {
  @Test func anAccessorysPropertiesAreThoseOfItsDevice() throws {
    let bench = try Bench()
    let accessory = try bench.accessory
    #expect(accessory === bench.manager.connectedAccessories.first, "one object a connection")
    #expect(accessory.isConnected)
    #expect(accessory.connectionID != EAConnectionIDNone)
    #expect(accessory.name == "Gadget")
    #expect(accessory.manufacturer == "Maker")
    #expect(accessory.modelNumber == "M1")
    #expect(accessory.serialNumber == "G1")
    #expect(accessory.firmwareRevision == "")
    #expect(accessory.hardwareRevision == "")
    #expect(accessory.dockType == "")
    #expect(accessory.protocolStrings == [framed])
    #expect(accessory.delegate == nil)
    #expect(accessory.description.contains("Gadget"))
  }

  /// From a real simulator, through its announcement.
  @Test func anAnnouncedSimulatorIsConnected() async throws {
    let directory = try TemporaryDirectory()
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.announcementDirectory = directory.path
    let simulator = AF1Simulator(configuration)
    try await simulator.plugIn()
    let manager = EAAccessoryManager(sources: [SimulatorSource(directory: directory.path)])
    let accessory = try #require(manager.connectedAccessories.first)
    #expect(accessory.name == "Simulated accessory")
    #expect(accessory.serialNumber == "SIM0001")
    #expect(accessory.firmwareRevision == "1.0.0")
    #expect(accessory.hardwareRevision == "A")
    #expect(accessory.protocolStrings == [framed])
    let session = try EASession.open(accessory, forProtocol: framed)
    await simulator.unplug()
    try await eventually("the disconnection") { !accessory.isConnected }
    #expect(manager.connectedAccessories.isEmpty)
    try await simulator.plugIn()
    try await eventually("it to come back") { manager.connectedAccessories.count == 1 }
    #expect(manager.connectedAccessories[0] !== accessory)
    #expect(manager.connectedAccessories[0].connectionID != accessory.connectionID)
    _ = session
    await simulator.stop()
  }

  @Test func onlyDevicesWithProtocolsAreShown() throws {
    let source = FakeSource([Device(.node("/dev/ttyUSB0"), source: .named, serialNumber: "X")])
    let manager = EAAccessoryManager(sources: [source, FakeSource()])
    #expect(manager.connectedAccessories.isEmpty)
    manager.register(profile: Profile(name: "x", rules: [DeviceRule(serialNumber: "X")]))
    #expect(manager.connectedAccessories.isEmpty, "a profile without protocols shows none")
    manager.register(
      profile: Profile(name: "x", rules: [DeviceRule(serialNumber: "X")], protocolStrings: ["com.example.x"]))
    #expect(manager.connectedAccessories.map(\.protocolStrings) == [["com.example.x"]])
    manager.register(profile: Profile(name: "y", rules: [DeviceRule(serialNumber: "X")], protocolStrings: ["y"]))
    #expect(
      manager.connectedAccessories.map(\.protocolStrings) == [["com.example.x"]], "connected ones stay as they are")
  }

  @Test func aFailedSourceHidesNoOther() throws {
    let error = AccessoryError(.misconfigured, "no directory")
    let bench = try Bench()
    let manager = EAAccessoryManager(sources: [FakeSource(error: error), bench.source])
    #expect(manager.connectedAccessories.count == 1)
    #expect(manager.discoveryErrors == [error])
  }

  @Test func notificationsComeOnlyWhileRegistered() async throws {
    let bench = try Bench()
    let diary = Diary(bench.manager)
    defer { diary.end() }
    bench.manager.registerForLocalNotifications()
    bench.manager.registerForLocalNotifications()
    let first = try bench.accessory
    first.delegate = diary
    await mainQueueBarrier()
    #expect(diary.entries.value == [], "nothing is told of what was there before")
    bench.source.remove(bench.device)
    try await diary.entries.wait { $0.count == 3 }
    bench.source.add(bench.device)
    try await diary.entries.wait { $0.count == 5 }
    let second = try bench.accessory
    #expect(second.connectionID != first.connectionID)
    #expect(
      diary.entries.value == [
        .disconnected(first.connectionID), .disconnectedMessage(first.connectionID), .delegate(first.connectionID),
        .connected(second.connectionID, isSelected: false), .connectedMessage(second.connectionID, isSelected: false),
      ])
    bench.manager.unregisterForLocalNotifications()
    second.delegate = diary
    bench.source.remove(bench.device)
    try await diary.entries.wait { $0.count == 6 }
    await mainQueueBarrier()
    #expect(diary.entries.value.last == .delegate(second.connectionID), "the delegate needs no registration")
    #expect(diary.entries.value.count == 6)
  }

  /// Runs `body` while the main queue stands still.
  private func whileMainWaits(_ body: () async throws -> Void) async throws {
    let (isIn, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    DispatchQueue.main.async {
      isIn.signal()
      mayLeave.wait()
    }
    try await blocking { isIn.wait() }
    defer { mayLeave.signal() }
    try await body()
  }

  /// What came and went while the main thread was busy is told in order, each in its turn.
  @Test func aBusyMainThreadIsToldInOrder() async throws {
    let bench = try Bench()
    let diary = Diary(bench.manager)
    defer { diary.end() }
    bench.manager.registerForLocalNotifications()
    let other = Device.af1(at: "/dev/null", serial: "G2")
    try await whileMainWaits {
      for _ in 0..<10 {
        bench.source.add(other)
        bench.source.remove(other)
      }
      bench.source.add(other)
      try await eventually("the last of them") { bench.manager.connectedAccessories.last?.connectionID == 12 }
    }
    try await diary.entries.wait { $0.count >= 42 }
    await mainQueueBarrier()
    let told = (2...12).flatMap { (id: Int) -> [Diary.Entry] in
      [
        .connected(id, isSelected: false), .connectedMessage(id, isSelected: false), .disconnected(id),
        .disconnectedMessage(id),
      ]
    }
    #expect(diary.entries.value == told.dropLast(2))
  }

  /// What waits to be told is bounded. Beyond that, what came and went is left out, but never what is there in the end.
  @Test func manyNotificationsAreCoalesced() async throws {
    let bench = try Bench()
    let diary = Diary(bench.manager)
    defer { diary.end() }
    bench.manager.registerForLocalNotifications()
    let other = Device.af1(at: "/dev/null", serial: "G2")
    try await whileMainWaits {
      for _ in 0..<1_000 {
        bench.source.add(other)
        bench.source.remove(other)
      }
      bench.source.add(other)
      try await eventually("the last of them") { bench.manager.connectedAccessories.last?.connectionID == 1_002 }
    }
    try await diary.entries.wait { $0.contains(.connectedMessage(1_002, isSelected: false)) }
    await mainQueueBarrier()
    let told = diary.entries.value
    // Two entries for each of 256 news, of which each connection but the last has its disconnection.
    #expect((500...520).contains(told.count))
    #expect(told.count { if case .connected = $0 { true } else { false } } == told.count / 4 + 1)
    #expect(told.suffix(2) == [.connected(1_002, isSelected: false), .connectedMessage(1_002, isSelected: false)])
  }

  /// The documented order: the bytes that had arrived, the end of the streams, the notification, the delegate.
  @Test func anUnplugIsToldInTheDocumentedOrder() async throws {
    for isHangUpFirst in [true, false] {
      try await LoopThread.with { thread in
        let bench = try Bench()
        let diary = Diary(bench.manager)
        defer { diary.end() }
        bench.manager.registerForLocalNotifications()
        let accessory = try bench.accessory
        accessory.delegate = diary
        let recorder = Recorder(readLimit: 10) { stream, event in
          if event != .hasSpaceAvailable, event != .openCompleted { diary.add(.stream(event)) }
          // Slowly: all else must wait for it.
          if event == .hasBytesAvailable { usleep(2_000) }
        }
        let session = try bench.session()
        try await bench.terminal.write(pattern(100))
        try await eventually("all bytes to have arrived") {
          session.input.open()
          return session.input.hasBytesAvailable
        }
        try await thread.run { session.start(recorder, in: .current) }
        try await recorder.wait(for: .openCompleted, ofInput: false)
        if isHangUpFirst {
          bench.terminal.unplug()
        } else {
          bench.source.remove(bench.device)
          bench.terminal.unplug()
        }
        try await diary.entries.wait { $0.contains(.delegate(accessory.connectionID)) }
        #expect(recorder.bytes.value == pattern(100))
        #expect(!accessory.isConnected)
        #expect(
          diary.entries.value.suffix(5) == [
            .stream(.endEncountered), .stream(.endEncountered), .disconnected(accessory.connectionID),
            .disconnectedMessage(accessory.connectionID), .delegate(accessory.connectionID),
          ])
        #expect(diary.entries.value.dropLast(5).allSatisfy { $0 == .stream(.hasBytesAvailable) })
        #expect((session.input.streamError as NSError?)?.localizedDescription.contains("was disconnected") == true)
        bench.source.remove(bench.device)
        await mainQueueBarrier()
        #expect(diary.entries.value.count { $0 == .delegate(accessory.connectionID) } == 1, "told once")
      }
    }
  }

  /// A client that doesn't look after its streams doesn't keep the notification back for long.
  @Test func unreadBytesDoNotDelayAnUnplug() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let diary = Diary(bench.manager)
      defer { diary.end() }
      bench.manager.registerForLocalNotifications()
      let recorder = Recorder(readLimit: 0)
      let session = try bench.session()
      try await thread.run { session.start(recorder, in: .current) }
      try await bench.terminal.write([1])
      try await recorder.wait(for: .hasBytesAvailable, ofInput: true)
      bench.unplug()
      try await diary.entries.wait { $0.count == 2 }
      #expect(session.input.read(10) == [1])
      try await recorder.wait(for: .endEncountered, ofInput: true)
    }
  }

  // MARK: - The picker

  @Test func thePickedAccessoryIsMarkedAsSelected() async throws {
    let bench = try Bench()
    let diary = Diary(bench.manager)
    defer { diary.end() }
    bench.manager.registerForLocalNotifications()
    let manager = bench.manager
    let asked = Watched(0)
    let picking = Task { @MainActor in
      try await manager.showBluetoothAccessoryPicker(
        withNameFilter: NSPredicate { name, _ in
          asked.update { $0 += 1 }
          return (name as? String) == "Wanted"
        })
    }
    // When the task has begun to wait, nobody tells: others come and go until one was looked at.
    let other = Device.af1(at: "/dev/null", name: "Other", serial: "O")
    while asked.value == 0 {
      bench.source.add(other)
      try await diary.entries.wait { if case .connectedMessage = $0.last { true } else { false } }
      bench.source.remove(other)
      try await diary.entries.wait { if case .disconnectedMessage = $0.last { true } else { false } }
    }
    let former = diary.entries.value.count
    bench.source.add(.af1(at: "/dev/zero", name: "Wanted", serial: "W"))
    try await picking.value
    try await diary.entries.wait { $0.count == former + 2 }
    let id = try #require(manager.connectedAccessories.last).connectionID
    #expect(
      diary.entries.value[..<former].allSatisfy {
        switch $0 {
        case .connected(_, isSelected: true), .connectedMessage(_, isSelected: true): false
        default: true
        }
      })
    #expect(
      diary.entries.value[former...] == [
        .connected(id, isSelected: true), .connectedMessage(id, isSelected: true),
      ])
  }

  /// One that has gone again before its connection is told is told, but not picked.
  @Test func anAccessoryGoneBeforeItsPickIsNotPicked() async throws {
    let bench = try Bench()
    let diary = Diary(bench.manager)
    defer { diary.end() }
    bench.manager.registerForLocalNotifications()
    let isPicked = Watched(false)
    bench.manager.showBluetoothAccessoryPicker(withNameFilter: nil) { error in
      #expect(error == nil)
      isPicked.update { $0 = true }
    }
    await mainQueueBarrier()
    let other = Device.af1(at: "/dev/null", serial: "O")
    try await whileMainWaits {
      bench.source.add(other)
      bench.source.remove(other)
      bench.source.add(.af1(at: "/dev/zero", serial: "W"))
      try await eventually("the last of them") { bench.manager.connectedAccessories.last?.connectionID == 3 }
    }
    try await isPicked.wait { $0 }
    #expect(
      diary.entries.value == [
        .connected(2, isSelected: false), .connectedMessage(2, isSelected: false), .disconnected(2),
        .disconnectedMessage(2), .connected(3, isSelected: true), .connectedMessage(3, isSelected: true),
      ])
  }

  @Test func pickingWithoutAMatchFindsNothing() async throws {
    let bench = try Bench()
    let manager = EAAccessoryManager(sources: [bench.source], scanTimeout: .milliseconds(10))
    let result = Watched<[Int]>([])
    manager.showBluetoothAccessoryPicker(withNameFilter: NSPredicate { _, _ in false }) { error in
      #expect(MainQueue.isCurrent)
      let error = error as NSError?
      #expect(error?.domain == EABluetoothAccessoryPickerErrorDomain)
      result.update { $0.append(error?.code ?? -1) }
    }
    manager.showBluetoothAccessoryPicker(withNameFilter: nil) { error in
      let code = (error as? EABluetoothAccessoryPickerError)?.code.rawValue ?? -1
      result.update { $0.append(code) }
    }
    try await result.wait { $0.count == 2 }
    #expect(Set(result.value) == [1, 0], "one is there that fits everything")
    do {
      try await manager.showBluetoothAccessoryPicker(withNameFilter: NSPredicate { _, _ in false })
      Issue.record("nothing fits")
    } catch EABluetoothAccessoryPickerError.resultNotFound {}
  }

  @Test func aCancelledPickIsReportedAsCancelled() async throws {
    let manager = EAAccessoryManager(sources: [])
    let picking = Task { @MainActor in try await manager.showBluetoothAccessoryPicker(withNameFilter: nil) }
    picking.cancel()
    let error = await #expect(throws: EABluetoothAccessoryPickerError.self) { try await picking.value }
    #expect(error?.code == .resultCancelled)
    let isGoing = Watched(false)
    let other = Task { @MainActor in
      isGoing.update { $0 = true }
      try await manager.showBluetoothAccessoryPicker(withNameFilter: nil)
    }
    try await isGoing.wait { $0 }
    await mainQueueBarrier()
    other.cancel()
    let second = await #expect(throws: EABluetoothAccessoryPickerError.self) { try await other.value }
    #expect(second?.code == .resultCancelled)
  }
}
