// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryControl

/// What is known of accessories, by events and lists.
struct MirrorStateTests {
  private var state = MirrorState()
  private let now = MonotonicTime(nanoseconds: 100_000_000_000)

  init() {
    state.begin(service: "s")
    state.note(service: "s", isUp: true)
  }

  private static func device(_ id: String, _ path: String) -> Device {
    Device(id: id, path: path, source: .simulator)
  }

  private mutating func take(_ event: BridgeEvent) -> Device? { state.take(event, from: "s", now: now) }

  private mutating func arrive(_ id: String, at path: String) {
    let device = Self.device(id, path)
    #expect(take(.connected(device)) == device)
    var answers = MirrorAnswers()
    answers.battery = Read(BatteryReading(percent: 50))
    state.take(answers, of: device, from: "s", now: now)
  }

  private func freshness(_ id: String) -> MirrorSnapshot.Freshness? {
    let snapshot = state.snapshot
    return snapshot.accessories.first { $0.device.id == id }.map { snapshot.freshness(of: $0) }
  }

  @Test mutating func anAccessoryKeepsItsNumberAcrossPlugs() {
    let device = Self.device("A", "/1")
    _ = take(.present(device))
    #expect(freshness("A") == .stale)
    arrive("A", at: "/1")
    #expect(freshness("A") == .fresh)
    _ = take(.disconnected(device, .disconnected("/1")))
    #expect(freshness("A") == .gone)
    #expect(state.snapshot.accessories[0].battery == nil)
    // It comes back at another port, and keeps its number.
    arrive("A", at: "/2")
    #expect(state.snapshot.accessories.map(\.id) == [1])
    #expect(state.snapshot.accessories[0].disconnectCount == 1)
    state.lose(service: "s")
    #expect(freshness("A") == .stale)
  }

  /// The other twin that comes isn't the one that is away; and one that gets its port into its identity keeps its number.
  @Test mutating func twinsAreThemselves() {
    func twin(_ id: String, _ port: String, _ path: String) -> Device {
      let usb = USBIdentity(vendorID: 1, productID: 2, bus: 1, address: 3, node: "/dev/bus/usb/\(port)", port: port)
      return Device(id: id, path: path, source: .udev, serialNumber: "0001", terminal: path, usb: usb)
    }
    func numbers() -> [String: UInt64] {
      Dictionary(uniqueKeysWithValues: state.snapshot.accessories.map { ($0.device.id, $0.id) })
    }
    let first = twin("0001", "1-1.1", "/dev/ttyUSB0")
    _ = take(.connected(first))
    _ = take(.disconnected(first, .disconnected("/dev/ttyUSB0")))
    _ = take(.connected(twin("0001@1-1.1", "1-1.1", "/dev/ttyUSB0")))
    let second = twin("0001@1-1.2", "1-1.2", "/dev/ttyUSB1")
    _ = take(.connected(second))
    #expect(numbers() == ["0001@1-1.1": 1, "0001@1-1.2": 2])
    // Both leave, and come in the other order, with the other one's nodes.
    _ = take(.disconnected(second, .disconnected("/dev/ttyUSB1")))
    _ = take(.disconnected(twin("0001@1-1.1", "1-1.1", "/dev/ttyUSB0"), .disconnected("/dev/ttyUSB0")))
    _ = take(.connected(twin("0001@1-1.2", "1-1.2", "/dev/ttyUSB0")))
    _ = take(.connected(twin("0001@1-1.1", "1-1.1", "/dev/ttyUSB1")))
    #expect(numbers() == ["0001@1-1.1": 1, "0001@1-1.2": 2])
  }

  /// A list and the events come on two connections: whichever is first, the accessory is asked once.
  @Test mutating func whatAListHasToldIsNotAskedAgain() throws {
    let device = Self.device("A", "/1")
    let list = [Bridge.Accessory(device: device, state: .attached, profile: "p")]
    #expect(state.take(list, from: "s", now: now) == [device])
    var answers = MirrorAnswers()
    answers.battery = Read(BatteryReading(percent: 50))
    state.take(answers, of: device, from: "s", now: now)
    #expect(take(.present(device)) == nil)
    #expect(state.snapshot.accessories[0].battery?.percent == 50)
    #expect(state.take(list, from: "s", now: now) == [])
    // The service was restarted: it is asked once more, also where the list comes first.
    state.begin(service: "s")
    #expect(state.take(list, from: "s", now: now) == [device])
    #expect(take(.present(device)) == nil)
    state.begin(service: "s")
    #expect(take(.present(device)) == device)
    #expect(state.take(list, from: "s", now: now) == [])
  }

  /// An answer is made before what was reported since the question.
  @Test mutating func anAnswerDoesNotReplaceALaterReport() throws {
    let device = Self.device("A", "/1")
    _ = take(.connected(device))
    var answers = MirrorAnswers()
    answers.askTime = now
    answers.battery = Read(BatteryReading(percent: 50))
    answers.status = Read(AccessoryStatus(state: .idle))
    let later = now + .milliseconds(1)
    _ = state.take(.battery(device, BatteryReading(percent: 40)), from: "s", now: later)
    let news = state.take(answers, of: device, from: "s", now: later)
    let taken = try #require(news)
    #expect(taken.battery == nil && taken.status?.value.state == .idle)
    #expect(state.snapshot.accessories[0].battery?.percent == 40)
    #expect(state.snapshot.accessories[0].status?.state == .idle)
    _ = take(.disconnected(device, .disconnected("/1")))
    let late = state.take(answers, of: device, from: "s", now: later)
    #expect(late == nil)
  }

  @Test mutating func eventsAreTheLatest() {
    arrive("A", at: "/1")
    let device = Self.device("A", "/1")
    _ = take(.battery(device, BatteryReading(percent: 40)))
    _ = take(.values(device, [AccessoryValue("a", number: 1), AccessoryValue("b", number: 2)]))
    _ = take(.values(device, [AccessoryValue("b", number: 3)]))
    _ = take(.status(device, AccessoryStatus(state: .busy)))
    _ = take(.requestFailed(device, AccessoryError(.refused, "no")))
    let accessory = state.snapshot.accessories[0]
    #expect(accessory.battery?.percent == 40)
    #expect(accessory.values.values.map(\.number) == [1, 3])
    #expect(accessory.status?.state == .busy)
    #expect(accessory.requestFailureCount == 1)
    // Of what nobody has told of, nothing is kept.
    _ = take(.battery(Self.device("B", "/9"), BatteryReading(percent: 40)))
    #expect(state.snapshot.accessories.count == 1)
  }

  /// Each reading has its own age; whether they are stale is what the service says.
  @Test mutating func eachMirroredReadingHasItsOwnAge() {
    arrive("A", at: "/1")
    let device = Self.device("A", "/1")
    _ = state.take(.battery(device, BatteryReading(percent: 40)), from: "s", now: now)
    _ = state.take(.status(device, AccessoryStatus(state: .idle)), from: "s", now: now + .seconds(5))
    let later = now + .seconds(8)
    #expect(state["/1", "s"]?.battery(at: later)?.age == .seconds(8))
    #expect(state["/1", "s"]?.status(at: later) == Read(AccessoryStatus(state: .idle), age: .seconds(3)))
    var record = Bridge.Accessory(device: device, state: .attached)
    (record.readings_age_ms, record.stale) = (8_000, true)
    state.take([record], from: "s", now: later)
    #expect(state["/1", "s"]?.battery(at: later)?.isStale == true)
    #expect(state.staleTime == nil)
    (record.stale, record.fresh_ms) = (nil, 2_000)
    state.take([record], from: "s", now: later)
    #expect(state["/1", "s"]?.battery(at: later)?.isStale == false)
    #expect(state.staleTime == later + .seconds(2))
    // A service that is gone isn't asked again and again.
    state.lose(service: "s")
    #expect(state.staleTime == nil)
  }

  /// An event says how old the readings are, by the service's rule; one that doesn't changes nothing about it.
  @Test mutating func theServiceDecidesWhatIsStale() {
    arrive("A", at: "/1")
    let device = Self.device("A", "/1")
    var record = Bridge.Accessory(device: device, state: .attached)
    record.readingsAge = .init(oldest: .seconds(12), isStale: true)
    state.take([record], from: "s", now: now)
    // Its values have come, but its battery is still old.
    let values = [AccessoryValue("a", number: 1)]
    _ = take(.values(device, values))
    #expect(freshness("A") == .stale)
    _ = take(.values(device, values, .init(oldest: .seconds(13), isStale: true)))
    #expect(freshness("A") == .stale && state["/1", "s"]?.readTime == now + .seconds(-13))
    _ = take(.battery(device, BatteryReading(percent: 40), .init(oldest: .seconds(1), fresh: .seconds(9))))
    #expect(freshness("A") == .fresh && state["/1", "s"]?.readTime == now + .seconds(-1))
    #expect(state.staleTime == now + .seconds(9))
  }

  /// Alarms stay over a disconnect, until they are cleared or the service is gone.
  @Test mutating func mirroredAlarmsStayUntilTheyAreCleared() {
    arrive("A", at: "/1")
    let device = Self.device("A", "/1")
    for name in ["low", "hot", "low"] {
      _ = take(.alarm(device, .init(name: name, rule: "fault", since: 1), .raised))
    }
    #expect(state.snapshot.accessories[0].alarms?.map(\.name) == ["low", "hot"])
    _ = take(.disconnected(device, .disconnected("A")))
    _ = take(.alarm(device, .init(name: "hot", rule: "fault", since: 1), .cleared))
    #expect(state.snapshot.accessories[0].alarms?.map(\.name) == ["low"])
    state.lose(service: "s")
    #expect(state.snapshot.accessories[0].alarms == nil)
  }

  /// Alarms by rules of the view are no service's: its list and its end leave them.
  @Test mutating func alarmsOfTheViewStayBesideThoseOfTheService() {
    arrive("A", at: "/1")
    let device = Self.device("A", "/1")
    let alarm = AccessoryAlarm(name: "low", rule: "battery < 60 %", since: 1)
    _ = state.takeChanged()
    state.take(own: alarm, .raised, of: device, from: "s")
    #expect(state.takeChanged() == [1])
    state.take([Bridge.Accessory(device: device, state: .attached)], from: "s", now: now)
    _ = take(.disconnected(device, .disconnected("A")))
    state.lose(service: "s")
    #expect(state.snapshot.accessories[0].ownAlarms == [alarm] && state.snapshot.accessories[0].alarms == nil)
    state.take(own: alarm, .cleared, of: device, from: "s")
    state.take(own: alarm, .raised, of: Self.device("B", "/1"), from: "s")
    #expect(state.snapshot.accessories[0].ownAlarms == [])
  }

  @Test mutating func anotherDeviceTakesTheFormersPlace() {
    arrive("A", at: "/1")
    arrive("C", at: "/1")
    #expect(freshness("A") == .gone)
    #expect(freshness("C") == .fresh)
    #expect(state["/1", "s"]?.device.id == "C")
    // What is told of the one that is waited for isn't told of the other one.
    let waiting = Bridge.Accessory(device: Self.device("A", "/1"), state: .waiting, tries: 2)
    let attached = Bridge.Accessory(device: Self.device("C", "/1"), state: .attached)
    for list in [[waiting, attached], [attached, waiting]] {
      state.take(list, from: "s", now: now)
      _ = take(.disconnected(waiting.device, .disconnected("A")))
      _ = take(.alarm(waiting.device, .init(name: "silent", rule: "silent", since: 1), .raised))
      #expect(freshness("C") == .fresh && freshness("A") == .gone)
      #expect(state["/1", "s"]?.alarms ?? [] == [])
    }
  }

  @Test mutating func aListUpdatesWhatTheMirrorKnows() {
    arrive("A", at: "/1")
    arrive("B", at: "/2")
    var a = Bridge.Accessory(device: Self.device("A", "/1"), state: .attached, driver: "jbd")
    (a.readings_age_ms, a.stale) = (2_000, true)
    let c = Bridge.Accessory(device: Self.device("C", "/3"), state: .opening)
    state.take([a, c], from: "s", now: now)
    #expect(freshness("A") == .stale)
    #expect(freshness("B") == .gone)
    #expect(freshness("C") == nil)
    #expect(state.snapshot.accessories[0].readTime == now + .seconds(-2))
    #expect(state.snapshot.accessories[0].driver == "jbd")
    a.stale = nil
    state.take([a], from: "s", now: now)
    #expect(freshness("A") == .fresh)
    a.state = .waiting
    a.tries = 2
    state.take([a], from: "s", now: now)
    #expect(freshness("A") == .gone)
  }

  /// A view that shows what a service waits for has one accessory for each record, and the same before and after.
  @Test mutating func listedAccessoriesAreKnownBeforeAndAfterTheyAreOpen() {
    state = MirrorState(keepsAbsent: true)
    state.begin(service: "s")
    state.note(service: "s", isUp: true)
    func shown() -> [String] {
      state.snapshot.accessories.map {
        "\($0.id) \($0.device.id) \($0.device.place) \($0.isConnected) \($0.record?.state.rawValue ?? "unlisted")"
      }
    }
    func record(_ id: String, _ path: String, _ attachment: Bridge.AttachmentState) -> Bridge.Accessory {
      Bridge.Accessory(device: Self.device(id, path), state: attachment, tries: attachment == .waiting ? 1 : 0)
    }
    let (a, b) = (record("A", "/1", .opening), record("B", "/2", .waiting))
    #expect(state.take([a, b], from: "s", now: now) == [])
    #expect(shown() == ["1 A /1 false opening", "2 B /2 false waiting"])
    arrive("A", at: "/1")
    #expect(shown()[0] == "1 A /1 true unlisted" && freshness("A") == .fresh)
    _ = take(.disconnected(Self.device("A", "/1"), .disconnected("/1")))
    state.take([record("A", "/3", .waiting), b], from: "s", now: now)
    #expect(shown() == ["1 A /3 false waiting", "2 B /2 false waiting"])
    #expect(state.takeChanged() == [1, 2])
    // What was there stays when it is no longer listed; what never was, goes.
    state.take([], from: "s", now: now)
    #expect(shown() == ["1 A /3 false unlisted"])
    #expect(state.takeChanged() == [1, 2])
  }

  /// What was read last of an accessory stays when it goes, is no reading that counts, and is over when it is back. A new view has it from
  /// the list, until the service forgets it.
  @Test mutating func theLastReadingsOfAnAbsentAccessoryStay() {
    state = MirrorState(keepsAbsent: true)
    state.begin(service: "s")
    state.note(service: "s", isUp: true)
    arrive("A", at: "/1")
    _ = take(.disconnected(Self.device("A", "/1"), .disconnected("/1")))
    func one() -> MirroredAccessory? { state.snapshot.accessories.first }
    #expect(one()?.battery == nil && one()?.last?.battery?.percent == 50 && one()?.lastReadings.battery?.percent == 50)
    var gone = Bridge.Accessory(device: Self.device("A", "/1"), state: .failed, driver: "jbd")
    (gone.absent, gone.last_seen, gone.readings_age_ms, gone.stale) = (true, 1_000, 5_000, true)
    gone.last = Bridge.LastReadings(battery: BatteryReading(percent: 49))
    gone.alarms = [AccessoryAlarm(name: "low", rule: "battery < 60 %", since: 900)]
    gone.device.given = GivenName(name: "House battery")
    state.take([gone], from: "s", now: now)
    #expect(one()?.last?.battery?.percent == 49 && one()?.record?.last_seen == 1_000 && one()?.alarms?.count == 1)
    #expect(one()?.readTime == now + .seconds(-5) && one()?.device.given?.name == "House battery")
    #expect(freshness("A") == .gone && one()?.driver == "jbd")
    arrive("A", at: "/2")
    #expect(one()?.last == nil && one()?.battery?.percent == 50 && state.snapshot.accessories.count == 1)
    _ = take(.disconnected(Self.device("A", "/2"), .disconnected("/2")))
    state.take([gone], from: "s", now: now)
    state.take([], from: "s", now: now)
    #expect(state.snapshot.accessories.isEmpty)
  }

  @Test mutating func anAccessoryGetsAnotherName() {
    arrive("A", at: "/1")
    let named = Self.device("A", "/1").called(GivenName(name: "House battery", area: "Attic"))
    #expect(take(.changed(named)) == nil)
    #expect(state.snapshot.accessories.map(\.device.given?.area) == ["Attic"] && freshness("A") == .fresh)
    state.take([Bridge.Accessory(device: Self.device("A", "/1"), state: .attached)], from: "s", now: now)
    #expect(state.snapshot.accessories.map(\.device.given) == [nil])
  }

  /// Of twins without a port in their identities each keeps its number, in whichever order they come.
  @Test mutating func listedTwinsAreThemselves() {
    state = MirrorState(keepsAbsent: true)
    let twins = ["/1", "/2"].map {
      Bridge.Accessory(device: Self.device("A", $0), state: .waiting, tries: 1)
    }
    for list in [twins, twins.reversed(), twins] { state.take(list, from: "s", now: now) }
    #expect(state.snapshot.accessories.map(\.device.place) == ["/1", "/2"])
    for path in ["/1", "/2"] { arrive("A", at: path) }
    #expect(state.snapshot.accessories.map(\.device.place) == ["/1", "/2"])
  }

  @Test mutating func anAccessoryIsReplacedWhileAnotherIsAtItsPlace() {
    arrive("A", at: "/1")
    arrive("C", at: "/1")
    func replaced() -> [Bool] { state.snapshot.accessories.map(\.isReplaced) }
    #expect(replaced() == [true, false])
    _ = take(.disconnected(Self.device("C", "/1"), .disconnected("/1")))
    #expect(replaced() == [false, false])
    arrive("C", at: "/1")
    arrive("A", at: "/2")
    #expect(replaced() == [false, false])
  }

  /// A hostile list is no more than there is room for, and no accessory that is listed makes room for another.
  @Test mutating func listedAccessoriesAreBounded() {
    state = MirrorState(countLimit: 8, keepsAbsent: true)
    let list = (0..<20).map { Bridge.Accessory(device: Self.device("A\($0)", "/\($0)"), state: .opening) }
    for _ in 0..<3 { state.take(list, from: "s", now: now) }
    #expect(state.snapshot.accessories.map(\.id) == Array(1...8))
    #expect(take(.connected(Self.device("new", "/new"))) == nil)
    state.take([], from: "s", now: now)
    #expect(state.snapshot.accessories.isEmpty)
  }

  /// The list may know of an accessory before its event: its readings are asked for, too.
  @Test mutating func aListedAccessoryIsAskedBeforeItsEvent() {
    let device = Self.device("A", "/1")
    let record = Bridge.Accessory(device: device, state: .attached)
    #expect(state.take([record], from: "s", now: now) == [device])
    #expect(state.take([record], from: "s", now: now) == [])
  }

  /// Those that a service doesn't report when it is there again are gone.
  @Test mutating func theServiceStartsAgain() {
    arrive("A", at: "/1")
    arrive("B", at: "/2")
    state.lose(service: "s")
    state.begin(service: "s")
    _ = take(.present(Self.device("B", "/2")))
    _ = take(.ready)
    #expect(freshness("A") == .gone)
    #expect(state.snapshot.accessories.map(\.isConnected) == [false, true])
  }

  @Test mutating func failedFirstQuestionsLeaveAnAccessoryStale() {
    let device = Self.device("A", "/1")
    _ = take(.connected(device))
    var failed = MirrorAnswers()
    failed.failureCount = 3
    state.take(failed, of: device, from: "s", now: now)
    #expect(freshness("A") == .stale)
    #expect(state.snapshot.accessories[0].readingFailureCount == 3)
    // An accessory without any readings is as it should be.
    _ = take(.connected(device))
    state.take(MirrorAnswers(), of: device, from: "s", now: now)
    #expect(freshness("A") == .fresh)
  }

  @Test mutating func theMirrorIsBoundedInNumber() {
    state = MirrorState(countLimit: 8)
    state.begin(service: "s")
    for number in 0..<8 { _ = take(.connected(Self.device("A\(number)", "/\(number)"))) }
    #expect(take(.connected(Self.device("new", "/new"))) == nil)
    #expect(state.snapshot.services[0].hasTooMany)
    for number in [5, 2] { _ = take(.disconnected(Self.device("A\(number)", "/\(number)"), .disconnected(""))) }
    #expect(take(.connected(Self.device("new", "/new"))) != nil)
    #expect(state.snapshot.accessories.count == 8)
    // The one that was away the longest is forgotten.
    state.note(service: "s", isUp: true)
    #expect(freshness("A5") == nil)
    #expect(freshness("A2") == .gone)
  }

  @Test mutating func theMirrorIsBoundedInSize() {
    state = MirrorState(byteLimit: 20_000)
    state.begin(service: "s")
    let device = Self.device("A", "/1")
    _ = take(.connected(device))
    let text = String(repeating: "x", count: 200)
    let values = (0..<200).map { AccessoryValue("v\($0)", content: .text(text)) }
    _ = take(.values(device, values))
    #expect(state.snapshot.accessories[0].values.entries.isEmpty)
    #expect(state.snapshot.services.first?.hasTooMany == true)
    _ = take(.values(device, Array(values.prefix(20))))
    #expect(state.snapshot.accessories[0].values.entries.count == 20)
    // What is there can always go.
    _ = take(.disconnected(device, AccessoryError(.disconnected, String(repeating: "y", count: 100_000))))
    #expect(freshness("A") == .stale || freshness("A") == .gone)
    #expect(state.snapshot.accessories[0].isConnected == false)
  }

  /// A storm of plugs takes time in proportion to its number, and leaves no more than there are.
  @Test mutating func aStormOfPlugsLeavesOnlyTheAccessories() {
    for round in 0..<3 {
      for number in 0..<2_000 { _ = take(.connected(Self.device("A\(number)", "/\(round)/\(number)"))) }
      #expect(state.takeChanged().count == 2_000)
      for number in 0..<2_000 {
        _ = take(.disconnected(Self.device("A\(number)", "/\(round)/\(number)"), .disconnected("")))
      }
    }
    #expect(state.snapshot.accessories.count == 2_000)
    #expect(state.snapshot.accessories.allSatisfy { $0.disconnectCount == 3 })
  }
}
