// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import AccessoryTesting
import Glibc
import TestSupport
import Testing

@testable import AccessoryDrivers

/// What a setup writes and takes away, below a folder in place of the root, with programs that only note what they are told.
struct SetupTests {
  private let root: TemporaryDirectory
  private let told = Watched<[String]>([])
  /// The units that are enabled.
  private let enabled = Watched<Set<String>>([])

  init() throws { root = try TemporaryDirectory() }

  /// A machine on which the program that begins with these words fails, and the change of this number is interrupted.
  private func machine(failing failure: String? = nil, stoppingAt stop: Int? = nil) -> SetupMachine {
    var machine = SetupMachine()
    (machine.root, machine.user, machine.hasSystemd, machine.hasUserSystemd) = (root.path, 0, true, false)
    (machine.settings, machine.profiles) = (
      root.path + "/home/.config/accessory-bridge", root.path + "/home/.config/accessory-bridge/profiles"
    )
    machine.run = { [told, enabled] words throws(AccessoryError) in
      let line = words.joined(separator: " ")
      if line.contains("is-enabled") {
        if enabled.value.contains(words.last ?? "") { return }
        throw AccessoryError(.ioFailure, "disabled")
      }
      told.update { $0.append(line) }
      if let failure, line.hasPrefix(failure) { throw AccessoryError(.ioFailure, "\(line) failed") }
      if line.contains(" enable ") { enabled.update { _ = $0.insert(words.last ?? "") } }
      if line.contains(" disable ") { enabled.update { _ = $0.remove(words.last ?? "") } }
    }
    let count = Watched(0)
    machine.willChange = { () throws(AccessoryError) in
      let number = count.update { count in
        count += 1
        return count
      }
      if number == stop { throw AccessoryError(.cancelled, "interrupted") }
    }
    return machine
  }

  private static let adapter = Device(
    .terminal("/dev/ttyUSB7"), source: .udev, serialNumber: "A50285BI",
    usb: USBIdentity(
      vendorID: 0x0403, productID: 0x6001, bus: 1, address: 7, node: "/dev/bus/usb/001/007", port: "1-1.1"))

  private func plan(
    _ name: String = "cellar", alarms: [String] = [], scope: SetupPlan.Scope = .system
  ) throws -> SetupPlan {
    let found = IdentificationFind(kind: "jbd", step: 1, line: nil, facts: [])
    let profile = try #require(
      IdentifiedProfile(
        found, at: Self.adapter, among: [], name: name, like: nil, alarms: try alarms.map { try AlarmRule($0) },
        drivers: .builtIn))
    return try SetupPlan(profile, scope: scope, drivers: .builtIn)
  }

  /// A plan with all that can be in one.
  private func wholePlan(_ name: String = "cellar") throws -> SetupPlan {
    var plan = try plan(name, alarms: ["battery < 20 %"])
    plan.files += [
      .init(.broker, "broker: mqtt://me@broker.example\n"), .init(.password, "secret\n"), .init(.ups, "[Service]\n"),
    ]
    plan.outlets = [.web, .homeAssistant, .mqtt, .nut]
    return plan
  }

  /// Every folder and file below the root, with its mode and its content.
  private func tree() throws -> [String] {
    try Self.paths(below: root.path).map { path in
      var file = stat()
      guard lstat(path, &file) == 0 else { throw Hang(path) }
      let text =
        file.st_mode & S_IFMT == S_IFDIR
        ? "" : String(decoding: try SmallFile.read(path, limit: 1 << 20), as: UTF8.self)
      return "\(path) \(String(file.st_mode, radix: 8)) \(text)"
    }
  }

  private static func paths(below folder: String) -> [String] {
    Directory.names(in: folder).sorted().flatMap { name -> [String] in
      [folder + "/" + name] + paths(below: folder + "/" + name)
    }
  }

  // MARK: - What is written

  @Test func aProfileAndARuleAreWrittenAndTold() throws {
    let setup = try Setup(plan(), on: machine())
    #expect(setup.plan.hasRule && setup.entries.map(\.change) == [.new, .new] && !setup.isChange)
    try setup.perform()
    for path in setup.paths {
      var file = stat()
      #expect(stat(path, &file) == 0 && file.st_mode & 0o777 == 0o644, "\(path)")
      let folder = path.split(separator: "/").dropLast().joined(separator: "/")
      #expect(stat("/" + folder, &file) == 0 && file.st_mode & 0o777 == 0o755, "\(folder)")
    }
    let rule = String(decoding: try SmallFile.read(setup.paths[1], limit: 1 << 16), as: UTF8.self)
    #expect(rule.contains("A50285BI") && rule.contains("accessory-bridge.service"))
    #expect(told.value.last == "systemctl reload-or-restart accessory-bridge.service")
    // A second time changes nothing.
    let before = try tree()
    let again = try Setup(plan(), on: machine())
    #expect(again.isChange && again.entries.map(\.change) == [.same, .same])
    try again.perform()
    #expect(try tree() == before)
  }

  @Test func secretsAreForTheirOwnerOnly() throws {
    let setup = try Setup(wholePlan(), on: machine())
    try setup.perform()
    let path = try #require(setup.entries.first { $0.role == .password }?.path)
    var file = stat()
    #expect(stat(path, &file) == 0 && file.st_mode & 0o777 == 0o600)
    #expect(told.value.contains("systemctl enable --now accessory-bridge-web.service"))
    #expect(told.value.contains("systemctl daemon-reload"))
  }

  /// A setup for a user's own service writes nothing outside the user's folders, and tells that service alone.
  @Test func aUsersSetupStaysInTheUsersFolders() throws {
    var machine = machine()
    machine.service = 4_711
    let setup = try Setup(plan(scope: .user), on: machine)
    try setup.perform()
    #expect(setup.paths == [root.path + "/home/.config/accessory-bridge/profiles/cellar.yaml"])
    #expect(told.value == ["kill -HUP 4711"])
    try SetupUndo("cellar", scope: .user, on: machine).perform()
    #expect(try tree() == [])
  }

  // MARK: - Whole or not at all

  /// Whichever change it is interrupted at, files and units are as before: of a new setup, of one that adds to another, and of one that
  /// takes from it. The steps are those of the record, which is written twice, of the files, and of the commands.
  @Test(arguments: [("new", 2 + 5 + 8), ("adding", 2 + 4 + 6), ("taking", 2 + 4 + 6)])
  func anInterruptionAtAnyStepLeavesEverythingAsItWas(kind: String, count: Int) throws {
    let (small, large) = (try plan(), try wholePlan())
    if kind != "new" { try Setup(kind == "adding" ? small : large, on: machine()).perform() }
    let (before, wasEnabled) = (try tree(), enabled.value)
    var steps = 0
    for step in 1...100 {
      let setup = try Setup(kind == "taking" ? small : large, on: machine(stoppingAt: step))
      do { try setup.perform() } catch {
        #expect(error.kind == .cancelled)
        #expect(try tree() == before && enabled.value == wasEnabled, "step \(step)")
        steps = step
        continue
      }
      break
    }
    #expect(steps == count, "\(told.value)")
    try SetupUndo("cellar", scope: .system, on: machine()).perform()
    #expect(try tree() == [])
  }

  /// Whichever command fails, the tree of files is as before.
  @Test(arguments: [
    "udevadm control", "udevadm trigger", "systemctl daemon-reload", "systemctl reload", "systemctl enable",
  ])
  func aCommandThatFailsLeavesNothing(command: String) throws {
    let setup = try Setup(wholePlan(), on: machine(failing: command))
    let error = #expect(throws: AccessoryError.self) { try setup.perform() }
    #expect(error?.message.contains("failed; everything is as it was before") == true, "\(error?.message ?? "")")
    #expect(try tree() == [])
    #expect(told.value.contains("systemctl disable --now accessory-bridge-web.service"))
  }

  /// Whenever its process is killed, `--undo` takes away what is there.
  @Test func whatAKilledSetupLeftIsUndone() throws {
    for step in 2...100 {
      let helper = machine()
      var machine = machine()
      let count = Watched(0)
      let after = Watched<[String]?>(nil)
      machine.willChange = { () throws(AccessoryError) in
        guard
          count.update({
            $0 += 1; return $0
          }) == step
        else { return }
        try SetupUndo("cellar", scope: .system, on: helper).perform()
        let left = Result { try tree() }
        after.update { $0 = try? left.get() }
        throw AccessoryError(.cancelled, "killed")
      }
      do { try Setup(wholePlan(), on: machine).perform() } catch {
        #expect(after.value == [], "step \(step)")
        continue
      }
      #expect(step > 10)
      return
    }
    Issue.record("a setup has fewer steps")
  }

  /// What is there already isn't replaced, and isn't taken away.
  @Test func aForeignFileStays() throws {
    let path = root.path + "/etc/accessory-bridge/profiles/cellar.yaml"
    try machine().put(Array("# mine\n".utf8), at: path, isOpen: true)
    let before = try tree()
    let error = #expect(throws: AccessoryError.self) { _ = try Setup(plan(), on: machine()) }
    #expect(error?.code == .errno(EEXIST) && error?.message.contains(path) == true)
    #expect(try tree() == before)
    // One with the same content isn't ours, either.
    let text = try #require(try plan().files.first?.text)
    try machine().put(Array(text.utf8), at: path, isOpen: true)
    try Setup(plan(), on: machine()).perform()
    try SetupUndo("cellar", scope: .system, on: machine()).perform()
    #expect(access(path, F_OK) == 0)
    #expect(access(root.path + "/etc/udev", F_OK) != 0)
  }

  // MARK: - Undone, changed, shared

  @Test func undoingLeavesTheTreeAsBefore() throws {
    #expect(mkdir(root.path + "/etc", 0o755) == 0)
    let before = try tree()
    try Setup(wholePlan(), on: machine()).perform()
    #expect(SetupUndo.names(.system, on: machine()) == ["cellar"])
    let undo = try SetupUndo("cellar", scope: .system, on: machine())
    #expect(undo.removed.count == 5 && undo.kept == [] && undo.units.count == 4)
    try undo.perform()
    #expect(try tree() == before)
    #expect(throws: AccessoryError.self) { _ = try SetupUndo("cellar", scope: .system, on: machine()) }
  }

  /// Undoing that is interrupted says how to go on, and can be repeated.
  @Test func anInterruptedUndoIsRepeated() throws {
    for step in 1...100 {
      try Setup(wholePlan(), on: machine()).perform()
      let undo = try SetupUndo("cellar", scope: .system, on: machine(stoppingAt: step))
      do { try undo.perform() } catch {
        #expect(error.message.contains("To go on: sudo bridge-cli setup --undo cellar"), "\(error.message)")
        try SetupUndo("cellar", scope: .system, on: machine()).perform()
        #expect(try tree() == [] && enabled.value == [], "step \(step)")
        continue
      }
      #expect(step > 10 && told.value.last == "systemctl try-reload-or-restart accessory-bridge.service")
      #expect(try tree() == [])
      return
    }
    Issue.record("undoing has fewer steps")
  }

  @Test func aFileThatWasChangedSinceIsKeptAndTold() throws {
    let setup = try Setup(wholePlan(), on: machine())
    try setup.perform()
    try machine().put(Array("# by hand\n".utf8), at: setup.paths[0], isOpen: true)
    // Nor is it changed by a second setup.
    #expect(throws: AccessoryError.self) { _ = try Setup(wholePlan(), on: machine()) }
    let undo = try SetupUndo("cellar", scope: .system, on: machine())
    #expect(undo.kept == [.init(path: setup.paths[0], reason: "it was changed since")])
    try undo.perform()
    #expect(try tree().filter { !$0.contains(" 4") }.count == 1)
  }

  /// A second setup changes the first: what it doesn't need any more is taken away.
  @Test func aSecondSetupChangesTheFirst() throws {
    try Setup(wholePlan(), on: machine()).perform()
    let second = try Setup(plan(alarms: ["battery < 30 %"]), on: machine())
    #expect(second.isChange && second.entries.map(\.change) == [.changed, .same, .removed, .removed, .removed])
    try second.perform()
    let stops = told.value.firstIndex(of: "systemctl disable --now accessory-bridge-web.service")
    #expect(stops != nil, "\(told.value)")
    #expect(try tree().contains { $0.hasPrefix(second.paths[0]) && $0.contains("30 %") })
    try SetupUndo("cellar", scope: .system, on: machine()).perform()
    #expect(try tree() == [])
  }

  /// What a second setup doesn't ask for again stays, and belongs to another one, too, that uses it.
  @Test func whatIsKeptStaysAndIsShared() throws {
    try Setup(wholePlan(), on: machine()).perform()
    let past = try SetupPast("cellar", scope: .system, on: machine())
    #expect(
      past.roles == [.profile, .rule, .broker, .password, .ups] && past.outlets == [.web, .homeAssistant, .mqtt, .nut])
    for name in ["cellar", "attic"] {
      var plan = try plan(name)
      (plan.kept, plan.outlets) = ([.broker, .password], [.mqtt])
      let setup = try Setup(plan, on: machine())
      #expect(setup.entries.filter { $0.change == .same && $0.text == nil }.map(\.role) == [.broker, .password])
      try setup.perform()
    }
    let first = try SetupUndo("cellar", scope: .system, on: machine())
    #expect(first.kept.count == 2 && !first.units.contains("accessory-bridge-fleet.service"), "\(first)")
    try first.perform()
    try SetupUndo("attic", scope: .system, on: machine()).perform()
    #expect(try tree() == [])
  }

  /// What two setups have is there until the second is undone, whichever that is.
  @Test(arguments: [["cellar", "attic"], ["attic", "cellar"]])
  func whatTwoSetupsShareStaysForTheOther(order: [String]) throws {
    for name in ["cellar", "attic"] {
      var plan = try wholePlan(name)
      plan.files.removeAll { $0.role == .ups }
      try Setup(plan, on: machine()).perform()
    }
    let first = try SetupUndo(order[0], scope: .system, on: machine())
    #expect(first.kept.count == 2 && first.units == [])
    try first.perform()
    #expect(access(root.path + "/etc/accessory-bridge/fleet.yaml", F_OK) == 0)
    try SetupUndo(order[1], scope: .system, on: machine()).perform()
    #expect(try tree() == [])
  }

  // MARK: - Names and plans

  @Test(
    arguments: [
      ("House battery", "house-battery"), ("my-jbd", "my-jbd"), ("  Küche 2 ", "k-che-2"), ("../../etc", "etc"),
      ("…", nil),
      (String(repeating: "a", count: 200), String(repeating: "a", count: 64)),
    ] as [(String, String?)])
  func aNameIsMadeOfWhatAPersonTypes(text: String, name: String?) { #expect(SetupName.of(text) == name) }

  /// The part that runs as root takes no path from a plan, and no name that could be one.
  @Test func aPlanOfAnotherProcessIsChecked() throws {
    for name in ["../x", "", ".", "a/b", "-x"] {
      var plan = try plan()
      plan.name = name
      #expect(throws: AccessoryError.self) { _ = try Setup(plan, on: machine()) }
    }
    var twice = try plan()
    twice.files.append(twice.files[0])
    #expect(throws: AccessoryError.self) { try twice.check() }
    var foreign = try plan(scope: .user)
    foreign.files.append(.init(.rule, ""))
    #expect(throws: AccessoryError.self) { try foreign.check() }
    #expect(try tree() == [])
  }

  @Test func whoMayNotIsToldBeforeAnythingIsDone() {
    var (stranger, container) = (machine(), machine())
    (stranger.user, container.hasSystemd) = (1_000, false)
    for (place, kind) in [(stranger, AccessoryError.Kind.permissionDenied), (container, .unsupported)] {
      #expect { try place.checkSystem(Self.adapter) } throws: { ($0 as? AccessoryError)?.kind == kind }
    }
    #expect { try machine(failing: "systemctl cat").checkSystem(Self.adapter) } throws: {
      ($0 as? AccessoryError)?.message.contains("isn't installed here") == true
    }
    #expect(throws: Never.self) { try machine().checkSystem(Self.adapter) }
  }

  /// A profile that keeps another one's settings says only those that it wouldn't have anyway.
  @Test func aProfileLikeAnotherIsShort() throws {
    var model = Profile(name: "theirs", rules: [], driver: "framed")
    model.baudRate = 57_600
    model.allowsWrites = true
    let found = IdentificationFind(kind: "framed", step: 0, line: nil, facts: [])
    let profile = try #require(
      IdentifiedProfile(
        found, at: Self.adapter, among: [], name: "lamp", like: model, alarms: [try AlarmRule("fault")],
        drivers: .builtIn))
    let read = try ProfileReader.read(
      Array(profile.text.utf8), file: "lamp.yaml", drivers: .builtIn, protocols: DriverLibrary.builtIn.protocols)
    #expect(read.name == "lamp" && read.baudRate == 57_600 && read.allowsWrites && read.alarms.count == 1)
    #expect(read.rules.first?.fits(Self.adapter) == true)
    #expect(!profile.text.contains("policies") && !profile.text.contains("poll"), "\(profile.text)")
  }

  /// Many UPSs have no serial number, and no path that a rule of udev's could have.
  @Test func aUPSWithoutASerialNumberGoesByItsMake() throws {
    var ups = Device(
      .hidraw("/dev/hidraw0"), source: .udev,
      usb: USBIdentity(
        vendorID: 0x0665, productID: 0x5161, bus: 1, address: 7, node: "/dev/bus/usb/001/007", port: "1-1.1"))
    ups.hid = HIDIdentity(node: "/dev/hidraw0", applications: [0x0084_0004])
    let model = try #require(DriverLibrary.builtIn.driver(named: "hid-power")?.profiles.first)
    let profile = try #require(
      IdentifiedProfile(
        IdentificationFind(named: "hid-power"), at: ups, among: [], name: "rack", like: model, alarms: [],
        drivers: .builtIn))
    #expect(profile.text.contains("vendor: 0x0665, product: 0x5161"), "\(profile.text)")
    #expect(try SetupPlan(profile, scope: .system, drivers: .builtIn).hasRule)
  }
}
