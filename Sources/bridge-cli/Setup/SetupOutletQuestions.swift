// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput
import FleetCommands
import Glibc

/// Where an accessory is seen: asks for the outlets, and for what they need.
struct SetupOutletQuestions {
  let options: SetupCommand
  let questions: SetupQuestions
  let machine: SetupMachine

  /// Adds the outlets, with the files and units that they need, to the plan.
  func add(to plan: inout SetupPlan, _ past: SetupPast, _ device: Device, _ kind: SetupKind) async throws {
    let isUser = plan.scope == .user
    let program = SymbolicLink.target(of: "/proc/self/exe") ?? "/usr/bin/bridge-cli"
    let machine = machine
    func possible(_ text: String) throws -> [SetupOutlet] {
      let outlets: [SetupOutlet]
      do { outlets = try SetupAnswers.outlets(text) } catch { throw WrongAnswer("\(error)") }
      if !isUser, outlets.contains(.mqtt), !machine.hasUnit(SetupOutlet.mqtt.unit) {
        throw WrongAnswer("mqtt needs the package accessory-bridge-fleet, which isn't installed.")
      }
      return outlets
    }
    if let show = options.show {
      do { plan.outlets = try possible(show) } catch let error as WrongAnswer { throw UsageError(error.text) }
    } else {
      let usual = past.outlets.isEmpty ? "none" : past.outlets.map(\.rawValue).joined(separator: ",")
      plan.outlets = try await questions.ask(
        "Where should it be seen, besides bridge-cli? web, home-assistant, mqtt, nut, metrics, or none:", usual: usual,
        possible)
    }
    if isUser, machine.hasUserSystemd {
      if machine.service == nil {
        plan.files.append(
          .init(.serviceUnit, SetupUnit.text("holds accessories and answers for them", program + " serve")))
      } else {
        plan.kept.append(.serviceUnit)
      }
      for outlet in plan.outlets {
        let (what, words) = SetupUnit.command(of: outlet, program: program, settings: machine.settings ?? "")
        plan.files.append(.init(outlet.role, SetupUnit.text(what, words)))
      }
    }
    if plan.outlets.contains(.mqtt) { try await addBroker(to: &plan) }
    if plan.outlets.contains(.nut), !isUser, KnownDrivers.driver(named: kind.find.kind)?.isUPS == true {
      try await addShutdown(to: &plan, past, device, program)
    }
  }

  private func addBroker(to plan: inout SetupPlan) async throws {
    let file = (plan.scope == .system ? "/etc/accessory-bridge" : machine.settings ?? "") + "/fleet.yaml"
    // Another accessory is published already.
    if options.broker == nil, access(file, F_OK) == 0 {
      plan.kept += [.broker, .password]
      return Output.note("The broker is the one of \(file).")
    }
    let broker: String
    if let text = options.broker {
      broker = text
    } else {
      broker = try await questions.ask("The MQTT broker, like mqtt://broker.example:", usual: nil) { text in
        do { try SetupAnswers.check(broker: text) } catch { throw WrongAnswer("\(error)") }
        return text
      }
    }
    let secret = (machine.settings ?? "") + "/mqtt-password"
    let hasPassword = PublisherText.hasUser(broker: broker)
    plan.files.append(
      .init(
        .broker, PublisherText.text(broker: broker, passwordFile: hasPassword && plan.scope == .user ? secret : nil)))
    guard hasPassword else { return }
    let password: String
    if let path = options.passwordFile {
      password = try await SetupQueue(label: "password").run { () throws(AccessoryError) in
        try SecretFile.password(path)
      }
    } else {
      password = try await questions.ask("The password of its user, which isn't shown:", usual: nil, isSecret: true) {
        text in
        guard (1...512).contains(text.utf8.count) else { throw WrongAnswer("A password has 1 to 512 bytes.") }
        return text
      }
    }
    plan.files.append(.init(.password, password + "\n"))
  }

  private func addShutdown(
    to plan: inout SetupPlan, _ past: SetupPast, _ device: Device, _ program: String
  ) async throws {
    let name = Self.lastingName(device, plan)
    let isSafe = name.utf8.allSatisfy { byte in
      let scalar = Character(UnicodeScalar(byte))
      return scalar.isASCII && (scalar.isLetter || scalar.isNumber || "-_.:@/".contains(scalar))
    }
    let had = past.roles.contains(.ups)
    // Of two drop-ins that name the UPS, one would go unheard.
    let other = await SetupQueue(label: "setup").run { [machine, plan] in
      SetupUndo.names(plan.scope, on: machine).first { name in
        name != plan.name && (try? SetupPast(name, scope: plan.scope, on: machine))?.roles.contains(.ups) == true
      }
    }
    if let other {
      return Output.note(
        "This computer's UPS is \(other). Where it has two, one drop-in names both: Documentation/nut.md")
    }
    let question = "Does it supply this computer? Then upsmon can shut it down."
    guard isSafe, questions.isAsking ? try await questions.agrees(question, usual: had) : had else { return }
    plan.files.append(.init(.ups, SetupUnit.shutdown(name, program: program)))
  }

  /// A name of the device that stays when others come: its serial number, if the profile goes by that; its port; its make.
  private static func lastingName(_ device: Device, _ plan: SetupPlan) -> String {
    let goesBySerial = plan.files.contains { $0.role == .profile && $0.text.contains(" serial: ") }
    if goesBySerial, let serial = device.serialNumber { return serial }
    for folder in ["/dev/serial/by-path/", "/dev/serial/by-id/"] {
      if let link = device.links.first(where: { $0.hasPrefix(folder) }) { return link }
    }
    guard let usb = device.usb, device.terminal == nil else { return device.place }
    return "usb:\(HexNumber.text(usb.vendorID)):\(HexNumber.text(usb.productID))"
  }
}
