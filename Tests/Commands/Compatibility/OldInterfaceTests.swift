// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryControl

/// The interface of the control socket has only grown since version 0.1, and a client of today takes what a service of
/// that version answers.
struct OldInterfaceTests {
  private typealias FieldType = InterfaceDescription.FieldType

  /// Whose side a value comes from: who gives it may give more, who takes it may want less.
  private enum Side { case client, service }

  @Test func theInterfaceHasOnlyGrown() throws {
    let old = try InterfaceDescription(try OldVersion.text("accessorybridge.Bridge.varlink"))
    let new = try InterfaceDescription(Bridge.text)
    #expect(new.name == old.name)
    var losses: [String] = []
    for (name, method) in old.methods {
      guard let now = new.methods[name] else {
        losses.append("method \(name) is gone")
        continue
      }
      losses += compare(method.input, now.input, .client, old, new).map { "\(name), a parameter: \($0)" }
      losses += compare(method.output, now.output, .service, old, new).map { "\(name), its answer: \($0)" }
    }
    for (name, fields) in old.errors {
      guard let now = new.errors[name] else {
        losses.append("error \(name) is gone")
        continue
      }
      losses += compare(fields, now, .service, old, new).map { "\(name): \($0)" }
    }
    for name in old.types.keys where new.types[name] == nil { losses.append("type \(name) is gone") }
    IntendedDifference.report(losses.sorted(), in: "accessorybridge.Bridge.varlink")
  }

  private func compare(
    _ old: [InterfaceDescription.Field], _ new: [InterfaceDescription.Field], _ side: Side,
    _ before: InterfaceDescription, _ now: InterfaceDescription,
    _ seen: Set<String> = []
  ) -> [String] {
    var losses = old.flatMap { field -> [String] in
      guard let other = new.first(where: { $0.name == field.name }) else { return ["\(field.name) is gone"] }
      return compare(field.type, other.type, side, before, now, seen).map { "\(field.name) \($0)" }
    }
    if side == .client {
      for field in new where !old.contains(where: { $0.name == field.name }) {
        if case .optional = field.type { continue }
        losses.append("\(field.name) is new, and older clients don't send it")
      }
    }
    return losses
  }

  private func compare(
    _ old: FieldType, _ new: FieldType, _ side: Side, _ before: InterfaceDescription, _ now: InterfaceDescription,
    _ seen: Set<String> = []
  ) -> [String] {
    switch (old, new) {
    case (.named(let name), .named(let other)) where name == other:
      guard let type = before.types[name], let its = now.types[other] else { return ["is of no type"] }
      // A type may have itself in it.
      if seen.contains(name) { return [] }
      return compare(type, its, side, before, now, seen.union([name]))
    case (.optional(let type), .optional(let its)): return compare(type, its, side, before, now, seen)
    // A client may be asked for less, and a service may give more.
    case (let type, .optional(let its)) where side == .client: return compare(type, its, side, before, now, seen)
    case (.optional(let type), let its) where side == .service: return compare(type, its, side, before, now, seen)
    case (.array(let type), .array(let its)), (.map(let type), .map(let its)):
      return compare(type, its, side, before, now, seen)
    case (.structure(let fields), .structure(let others)): return compare(fields, others, side, before, now, seen)
    case (.enumeration(let words), .enumeration(let others)):
      return words.filter { !others.contains($0) }.map { "is never \($0) any more" }
    default: return old == new ? [] : ["was \(old) and is \(new)"]
    }
  }

  // MARK: - Answers

  private typealias Reading = @Sendable ([UInt8]) throws -> Wire

  private static func reading<Method: ControlMethod>(_ type: Method.Type) -> (String, Reading) {
    (
      Method.method,
      { message in try Wire(encoding: ReplyMessage.read(message, to: type).reply) }
    )
  }

  private static let readings: [String: Reading] = Dictionary(
    uniqueKeysWithValues: [
      reading(Bridge.List.self), reading(Bridge.GetInfo.self), reading(Bridge.GetStatus.self),
      reading(Bridge.GetBattery.self), reading(Bridge.Request.self), reading(Bridge.GetCommands.self),
      reading(Bridge.Perform.self), reading(Bridge.ListFolder.self), reading(Bridge.MakeFolder.self),
      reading(Bridge.Remove.self), reading(Bridge.GetFile.self), reading(Bridge.SendFile.self),
      reading(Bridge.SupplyFile.self), reading(Bridge.Subscribe.self), reading(Bridge.Trace.self),
      reading(Bridge.Open.self), reading(Bridge.Attach.self), reading(Bridge.Expect.self),
      reading(Bridge.Detach.self),
    ])

  /// What each error is to a program that uses the client.
  private static let kinds: [String: AccessoryError.Kind] = [
    "Disconnected": .disconnected, "Busy": .busy, "PermissionDenied": .permissionDenied, "NoSuchDevice": .notFound,
    "TimedOut": .timedOut, "Cancelled": .cancelled, "Refused": .refused, "BadData": .badData,
    "Unsupported": .unsupported, "Misconfigured": .misconfigured, "IOFailure": .ioFailure,
    "AmbiguousDevice": .misconfigured, "LimitReached": .busy,
  ]

  /// Each answer that the service of version 0.1 gave, with the method that it belongs to.
  private static func answers() throws -> [(file: String, method: String, reply: Wire)] {
    typealias Answers = [(file: String, method: String, reply: Wire)]
    return try OldVersion.names(in: "service", ending: ".jsonl").flatMap { name -> Answers in
      var methods: [String: String] = [:]
      return try OldVersion.values("service/\(name).jsonl").flatMap { step -> Answers in
        let connection = step["on"]?.text ?? ""
        if let method = step["call"]?["method"]?.text { methods[connection] = method }
        return (step["replies"]?.elements ?? []).map { ("service/\(name).jsonl", methods[connection] ?? "", $0) }
      }
    }
  }

  @Test func aClientTakesWhatAnOldServiceAnswers() throws {
    var (methods, errors): (Set<String>, Set<String>) = ([], [])
    var losses: [String: [String]] = [:]
    for (file, method, reply) in try Self.answers() {
      if let name = reply["error"]?.text {
        guard let read = Self.readings[method] else { continue }
        let failure = #expect(throws: ControlError.self) { _ = try read(reply.bytes) }
        guard case .answer(let error)? = failure else {
          Issue.record("\(file), \(method): \(String(describing: failure))")
          continue
        }
        let short = String(name.split(separator: ".").last ?? "")
        if name.hasPrefix("accessorybridge.Bridge.") {
          errors.insert(short)
          #expect(error.accessoryError.kind == Self.kinds[short], "\(name)")
        }
        #expect(error.name == name && Wire.object(error.parameters) == reply["parameters"] ?? .object([:]))
      } else if let read = Self.readings[method] {
        methods.insert(method)
        let taken = try read(reply.bytes)
        // Nothing of it is lost on the way. Only the word by which version 0.1 said that a state isn't known is read as unknown.
        let told = reply["parameters"] ?? .object([:])
        let isUnknown = told["status"]?["state"]?.text == "not_initialized" && told["status"]?["reports_faults"] == nil
        let found = Growth.losses(told, taken).filter { !(isUnknown && $0 == "status.state is gone") }
        losses[file, default: []] += found.map { "\(method): \($0)" }
      }
    }
    for file in losses.keys.sorted() {
      #expect(losses[file] == [], "\(file): the client drops or changes what it is told")
    }
    let old = try InterfaceDescription(try OldVersion.text("accessorybridge.Bridge.varlink"))
    #expect(methods == Set(old.methods.keys.map { "accessorybridge.Bridge.\($0)" }), "an answer of every method")
    #expect(errors.isSubset(of: Set(old.errors.keys)))
    // The others can't be brought about at will: their form is that of Disconnected.
    #expect(Set(old.errors.keys).subtracting(errors).isSubset(of: ["IOFailure", "PermissionDenied", "BadData"]))
  }

  /// Errors that no real conversation has: each as the interface of version 0.1 has it.
  @Test(arguments: ["IOFailure", "PermissionDenied", "BadData"])
  func rareErrorsOfTheOldInterfaceAreRead(name: String) throws {
    let message = """
      {"error":"accessorybridge.Bridge.\(name)","parameters":{"device":"X1","errno":5,"message":"it failed","refusal":3}}
      """
    let read = try #require(Self.readings[Bridge.GetStatus.method])
    let failure = #expect(throws: ControlError.self) { _ = try read(Array(message.utf8)) }
    #expect(failure?.accessoryError.kind == Self.kinds[name])
    #expect(failure?.accessoryError.message.contains("it failed") == true)
  }
}
