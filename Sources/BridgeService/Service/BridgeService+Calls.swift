// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import Glibc

// The calls that read: those with one reply, and the streams of events and traces.

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
      uptime_ms: Attachment.milliseconds(Readings.age(of: context.started.clock, now: clock.bootTime)),
      socket: configuration.socket, accessories: attachments.count,
      attached: attachments.count(.attached) + attachments.count(.lent),
      clients: clients.count,
      limits: Bridge.ServiceLimits(
        accessories: Self.deviceLimit, attached: configuration.maximumAttached, clients: limits.clients,
        clients_of_one_user: limits.clientsOfOneUser), readings_socket: configuration.readingsSocket)
  }

  package func list(_ call: Bridge.List, from caller: Caller) async throws(CallError) -> Bridge.List.Reply {
    guard call.absent == true else { return Bridge.List.Reply(accessories: attachments.ordered.map { facts($0) }) }
    // A reply has a limit.
    var room = AbsentAccessories.byteLimit
    let held = attachments.ordered.map { attachment in
      let isThere = attachment.machine.state == .attached || attachment.machine.state == .lent
      var facts = facts(attachment, wantsLast: !isThere && !attachment.machine.isResting)
      room -= facts.last?.byteLimit ?? 0
      if room < 0 { facts.last = nil }
      return facts
    }
    return Bridge.List.Reply(accessories: held + memory.all(on: self))
  }

  /// An accessory's facts with its raised alarms, and with its last readings where they are wanted.
  func facts(_ attachment: Attachment, wantsLast: Bool = false) -> Bridge.Accessory {
    var facts = attachment.facts(clock)
    if wantsLast {
      let (last, age) = attachment.last(now: clock.bootTime, wallClock: wallClock)
      if last != Bridge.LastReadings() { facts.last = last }
      facts.readings_age_ms = facts.readings_age_ms ?? age
    }
    if let problem = problemOfTurns(attachment) { facts.problem = Bridge.Problem(problem) }
    facts.alarms = alarms.raised(attachment.alarmKey) ?? []
    facts.unfit_alarms = alarms.unfit(attachment)
    return facts
  }

  package func info(_ call: Bridge.GetInfo, from caller: Caller) async throws(CallError) -> Bridge.GetInfo.Reply {
    if let record = absent(call.device) {
      return Bridge.GetInfo.Reply(accessory: record, identity: record.last?.identity)
    }
    let attachment = try find(call.device)
    if attachment.machine.state == .lent {
      return Bridge.GetInfo.Reply(
        accessory: facts(attachment),
        identity: (attachment.readings.identity?.value))
    }
    let (held, open) = try await contact(call.device)
    let line: Bridge.Line?
    do throws(AccessoryError) {
      line = try await (open.opened.session?.line?.status()).map(Bridge.Line.init)
    } catch {
      throw CallError(error, device: held.device.id)
    }
    let details = open.accessory?.protocolDetails
    let identity = open.accessory == nil ? nil : try await identity(call.device)
    return Bridge.GetInfo.Reply(
      accessory: facts(held), line: line, protocol: details, identity: identity)
  }

  private func identity(_ device: String?) async throws(CallError) -> AccessoryIdentity {
    let clock = clock
    let attachment = try find(device)
    if let identity = rememberedIdentity(attachment) { return identity }
    let (_, identity) = try await work(device) { attachment, accessory throws(AccessoryError) in
      let identity = try await accessory.identify()
      attachment.readings.note(identity, at: clock.bootTime)
      return identity
    }
    return identity
  }

  /// The last identity of an accessory that can't be asked now; nil where it can.
  func rememberedIdentity(_ attachment: Attachment) -> AccessoryIdentity? {
    AccessoryPoll.Part.allCases.contains { isRemembered($0, attachment) } ? attachment.readings.identity?.value : nil
  }

  package func request(_ call: Bridge.Request, from caller: Caller) async throws(CallError) -> Bridge.Request.Reply {
    let requests = drivers.numberedRequests
    guard let number = requests.number(call.command) else { throw .invalidParameter("command") }
    let payload = call.payload ?? []
    let clock = clock
    let limit = TimeLimit.duration(call.timeout_ms)
    do throws(CallError) {
      // Check this before opening the device, which takes long if the accessory doesn't answer.
      try checkBytes(of: try find(call.device), isAsked: call.write == true)
      let (held, reply) = try await work(call.device) { attachment, accessory throws(AccessoryError) in
        try await TimeLimit.run(limit, clock, label: accessory.label) { () throws(AccessoryError) in
          try await accessory.asking(toWrite: call.write == true).request(number, payload: payload)
        }
      }
      return Bridge.Request.Reply(
        device: held.target, command: requests.name(number), command_byte: number,
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
    if let step = call.step, !step.isFinite || step < 1 { throw .invalidParameter("step") }
    let device: Device?
    let answer: HistoryAnswer?
    var values: ValuesReading?
    do throws(CallError) {
      let attachment = try find(call.device)
      (device, values) = (attachment.target, attachment.readings.values)
      answer = await history.answer(of: attachment.historyKey, last: call.since, on: self)
    } catch {
      // The history stays after the accessory is gone.
      let gone = absent(call.device)?.device
      guard gone != nil || error.accessoryError.kind == .notFound, let id = gone.map(historyKey) ?? call.device,
        let known = await history.answer(of: id, last: call.since, on: self)
      else {
        throw error
      }
      (device, answer) = (gone, known)
    }
    guard let answer else { return Bridge.GetHistory.Reply(device: device, series: []) }
    return await Self.reply(device, answer, values, call)
  }

  /// Converts on another thread, so that the service isn't delayed.
  @concurrent private static func reply(
    _ device: Device?, _ answer: HistoryAnswer, _ values: ValuesReading?, _ call: Bridge.GetHistory
  ) async -> Bridge.GetHistory.Reply {
    Bridge.GetHistory.Reply(
      device: device,
      series: answer.series(call.names).map { series in
        var series = series
        series.importance = values?[series.name]?.value.importance ?? series.importance
        return Bridge.Series(series.folded(to: call.step ?? 0))
      },
      energy: call.energy == true ? Bridge.HourlyEnergy(answer.energy) : nil)
  }

  // MARK: - Events

  package func subscribe(
    _ call: Bridge.Subscribe, from caller: Caller, _ answers: ReplySender<Bridge.Event>
  ) async throws(CallError) {
    let wanted = try call.device.map { text throws(CallError) in try find(text) }
    let again = wanted.map { SameAgain($0.device) }
    let (key, stream) = clients.events.subscribe(
      values: call.values == true, alarms: call.alarms == true, found: call.found == true,
      changes: call.changes == true)
    // Take these before anything is sent: every later change is an event.
    let raised = call.alarms == true ? alarms.raisedEvents(of: wanted, on: self) : []
    defer { clients.events.unsubscribe(key) }
    for attachment in attachments.ordered where wanted == nil || wanted === attachment {
      let isTold = attachment.contact.isTold
      guard isTold || call.found == true && attachment.machine.state != .failed else { continue }
      try await answers.send(
        Bridge.Event(isTold ? .present : .found, time: wallClock, device: attachment.target))
    }
    for event in raised { try await answers.send(event) }
    try await answers.send(Bridge.Event(.ready, time: wallClock))
    // So the device is also followed when it comes back as another attachment.
    for await entry in stream where again.map({ again in entry.event.device.map(again.fits) ?? false }) ?? true {
      try await answers.send(entry.event)
    }
    if Task.isCancelled || isClosing { return }
    throw CallError(
      AccessoryError(.busy, "this client doesn't read its events fast enough, and too many are waiting"),
      device: call.device)
  }

  // MARK: - Traces

  package func trace(
    _ call: Bridge.Trace, from caller: Caller, _ answers: ReplySender<Bridge.TracePiece>
  ) async throws(CallError) {
    let attachment = try find(call.device, asLine: true)
    let (listener, stop) = attachment.contact.taps.listen()
    defer { stop() }
    try await answers.send(Bridge.TracePiece(TapHub.Piece(clock.now)))
    // Each send waits until the client has read. Meanwhile the listener buffers the traffic; beyond its limit, bytes
    // are dropped and counted.
    for await _ in listener.signals {
      for piece in listener.take() { try await answers.sendWhenRead(Bridge.TracePiece(piece)) }
    }
    let lost = listener.takeLoss()
    if lost > 0 { try await answers.send(Bridge.TracePiece(TapHub.Piece(clock.now, lostBytes: lost))) }
    if Task.isCancelled || isClosing { return }
    throw CallError(.disconnected(attachment.target.address.description), device: attachment.device.id)
  }
}

extension TapHub.Piece {
  /// A piece without bytes.
  fileprivate init(_ time: MonotonicTime, lostBytes: Int = 0) {
    self.init(time: time, direction: .toDevice, bytes: [], lostBytes: lostBytes)
  }
}

extension Bridge.TracePiece {
  fileprivate init(_ piece: TapHub.Piece) {
    self.init(
      time: Double(piece.time.nanoseconds) / 1e9, direction: piece.direction, bytes: piece.bytes,
      lost_bytes: piece.lostBytes == 0 ? nil : piece.lostBytes)
    note = piece.note
  }
}
