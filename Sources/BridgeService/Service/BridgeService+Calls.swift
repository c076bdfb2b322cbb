// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols
import Glibc

// Calls with one reply.

extension BridgeService: BridgeHandler {
  /// The product and the version of the service.
  package nonisolated var information: ServiceInformation { configuration.information }

  package func service(
    _ call: Bridge.GetService, from caller: Caller
  ) async throws(CallError) -> Bridge.GetService.Reply {
    let limits = configuration.clientLimits
    return Bridge.GetService.Reply(
      product: configuration.information.product, version: configuration.information.version,
      process: Int(getpid()), started: context.started.wallClock,
      uptime_ms: age(context.started.clock),
      socket: configuration.socket, accessories: attachments.count,
      attached: attachments.count(.attached) + attachments.count(.lent),
      clients: clients.count,
      limits: Bridge.ServiceLimits(
        accessories: Self.deviceLimit, attached: configuration.maximumAttached, clients: limits.clients,
        clients_of_one_user: limits.clientsOfOneUser), readings_socket: configuration.readingsSocket)
  }

  package func list(_ call: Bridge.List, from caller: Caller) async throws(CallError) -> Bridge.List.Reply {
    Bridge.List.Reply(accessories: attachments.ordered.map { facts($0) })
  }

  /// An accessory's facts with its raised alarms.
  func facts(_ attachment: Attachment) -> Bridge.Accessory {
    var facts = attachment.facts(clock)
    facts.alarms = alarms.raised(attachment)
    facts.unfit_alarms = alarms.unfit(attachment)
    return facts
  }

  package func info(_ call: Bridge.GetInfo, from caller: Caller) async throws(CallError) -> Bridge.GetInfo.Reply {
    let attachment = try find(call.device)
    if attachment.machine.state == .lent {
      return Bridge.GetInfo.Reply(
        accessory: facts(attachment),
        identity: (attachment.readings.identity?.value).map(Bridge.Identity.init))
    }
    let (held, open) = try await contact(call.device)
    let line: Bridge.Line?
    do throws(AccessoryError) {
      line = try await (open.session.line?.status()).map(Bridge.Line.init)
    } catch {
      throw CallError(error, device: held.device.id)
    }
    let details = open.accessory?.protocolDetails
    let identity = open.accessory == nil ? nil : try await identity(call.device)
    return Bridge.GetInfo.Reply(
      accessory: facts(held), line: line, protocol: details, identity: identity)
  }

  private func identity(_ device: String?) async throws(CallError) -> Bridge.Identity {
    let clock = clock
    let (_, identity) = try await work(device) { attachment, accessory throws(AccessoryError) in
      let identity = try await accessory.identify()
      attachment.readings.note(identity, at: clock.bootTime)
      return identity
    }
    return Bridge.Identity(identity)
  }

  package func status(_ call: Bridge.GetStatus, from caller: Caller) async throws(CallError) -> Bridge.GetStatus.Reply {
    let attachment = try find(call.device)
    if attachment.machine.state == .lent {
      guard let status = attachment.readings.status, let identity = attachment.readings.identity else {
        throw attachment.lending.refusal(attachment)
      }
      return Bridge.GetStatus.Reply(
        device: Bridge.Device(attachment.target), status: Bridge.Status(status.value),
        identity: Bridge.Identity(identity.value), age_ms: age(status.time),
        stale: isStale(.status, status.time, attachment), alarms: alarms.raised(attachment),
        unfit_alarms: alarms.unfit(attachment))
    }
    let (held, (status, missing)) = try await work(call.device) { _, accessory throws(AccessoryError) in
      (try await accessory.status(), accessory.missing)
    }
    note(status, held, isEvent: false)
    return Bridge.GetStatus.Reply(
      device: Bridge.Device(held.target), status: Bridge.Status(status), identity: try await identity(call.device),
      alarms: alarms.raised(held), unfit_alarms: alarms.unfit(held), missing: missing)
  }

  package func battery(_ call: Bridge.GetBattery, from caller: Caller) async throws(CallError)
    -> Bridge.GetBattery.Reply
  {
    let attachment = try find(call.device)
    if attachment.machine.state == .lent {
      guard let battery = attachment.readings.battery else { throw attachment.lending.refusal(attachment) }
      return remembered(battery, attachment)
    }
    do throws(CallError) {
      let (held, (battery, missing)) = try await work(call.device) { _, accessory throws(AccessoryError) in
        (try await accessory.battery(), accessory.missing)
      }
      let reading = note(battery, held, isEvent: false)
      // One that sends its readings by itself is not asked: the last one is the answer, however old it is.
      if held.readings.toldAge(now: clock.bootTime) != nil, let told = held.readings.battery {
        return remembered(told, held)
      }
      return Bridge.GetBattery.Reply(
        device: Bridge.Device(held.target), battery: Bridge.Battery(reading), alarms: alarms.raised(held),
        missing: missing)
    } catch {
      // An accessory that reports its battery by itself may have no request for it: the last reading is returned.
      guard error.accessoryError.kind == .unsupported, let held = try? find(call.device),
        let battery = held.readings.battery
      else {
        throw error
      }
      return remembered(battery, held)
    }
  }

  /// The last reading with its age.
  private func remembered(_ battery: Readings.Reading<BatteryReading>, _ attachment: Attachment)
    -> Bridge.GetBattery.Reply
  {
    Bridge.GetBattery.Reply(
      device: Bridge.Device(attachment.target), battery: Bridge.Battery(battery.value), age_ms: age(battery.time),
      stale: isStale(.battery, battery.time, attachment), alarms: alarms.raised(attachment))
  }

  private func age(_ time: MonotonicTime) -> Int {
    Attachment.milliseconds(Readings.age(of: time, now: clock.bootTime))
  }

  /// True for a stale reading, otherwise nil: the protocol leaves the field out then.
  func isStale(_ part: AccessoryPoll.Part, _ time: MonotonicTime, _ attachment: Attachment) -> Bool? {
    attachment.readings.isStale(part, time, now: clock.bootTime) ? true : nil
  }

  package func request(_ call: Bridge.Request, from caller: Caller) async throws(CallError) -> Bridge.Request.Reply {
    guard let command = AF1Command(word: call.command) else { throw .invalidParameter("command") }
    let payload = call.payload ?? []
    let clock = clock
    let limit = TimeLimit.duration(call.timeout_ms)
    do throws(CallError) {
      // Checked before contact is made, which takes long with an accessory that doesn't answer.
      try checkBytes(of: try find(call.device), isAsked: call.write == true)
      let (held, reply) = try await work(call.device) { attachment, accessory throws(AccessoryError) in
        try await TimeLimit.run(limit, clock, label: accessory.label) { () throws(AccessoryError) in
          try await accessory.asking(toWrite: call.write == true).request(command.rawValue, payload: payload)
        }
      }
      return Bridge.Request.Reply(
        device: Bridge.Device(held.target), command: command.name.lowercased(), command_byte: command.rawValue,
        reply: Bridge.Request.Answer(reply))
    } catch {
      if let attachment = try? find(call.device) { tell(.requestFailed, attachment, problem: error.accessoryError) }
      throw error
    }
  }

  // MARK: - History

  package func history(_ call: Bridge.GetHistory, from caller: Caller) async throws(CallError)
    -> Bridge.GetHistory.Reply
  {
    if let since = call.since, !since.isFinite || since < 0 { throw .invalidParameter("since") }
    let device: Bridge.Device?
    let extract: HistoryExtract?
    do throws(CallError) {
      let attachment = try find(call.device)
      (device, extract) = (
        Bridge.Device(attachment.target), history.extract(of: attachment.device.id, last: call.since, on: self)
      )
    } catch {
      // What was read of an accessory stays when the accessory is gone.
      guard error.accessoryError.kind == .notFound, let id = call.device,
        let known = history.extract(of: id, last: call.since, on: self)
      else {
        throw error
      }
      (device, extract) = (nil, known)
    }
    return Bridge.GetHistory.Reply(device: device, series: await Self.series(extract, call.names))
  }

  /// Converts on another thread: the service continues meanwhile.
  @concurrent private static func series(_ extract: HistoryExtract?, _ names: [String]?) async -> [Bridge.Series] {
    (extract?.series(names) ?? []).map { Bridge.Series($0) }
  }
}

extension AF1Command {
  /// The command with this name or number ("0x12").
  package init?(word: String) {
    let word = word.lowercased()
    let named: [AF1Command] = [.identify, .status, .battery, .echo]
    if let command = named.first(where: { $0.name.lowercased() == word }) {
      self = command
    } else if word.hasPrefix("0x"), word.utf8.count <= 4, let number = UInt8(word.dropFirst(2), radix: 16) {
      self.init(rawValue: number)
    } else {
      return nil
    }
  }
}
