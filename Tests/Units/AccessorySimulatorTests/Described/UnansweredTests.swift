// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import AccessorySimulator

/// One request that isn't answered hides nothing else: of every kind that ships, each request in turn.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct UnansweredTests {
  /// The kinds with several requests that are made without the user.
  static let kinds = DescriptionLibrary.builtIn.names.filter { name in
    DescriptionLibrary.builtIn.described(name).map {
      asked(by: $0.description).count > 1 && $0.description.advertisement == nil
    }
      ?? false
  }

  /// The requests of the plan, and those for the identity.
  private static func asked(by description: ProtocolDescription) -> [Int] {
    var start: [Int] = []
    for case .request(let request, _) in description.plan.start where !description.lacksParameter(of: request) {
      start.append(request)
    }
    let all = start + description.plannedRequests + description.requestsForIdentity
    return Array(Set(all.filter { description.requests[$0].reply != nil })).sorted()
  }

  /// What is told in one reading, and what it is said to lack; nil if it fails because the accessory doesn't answer.
  private struct Reading {
    var told: [String: String]?
    var missing: String?
  }

  private static func read(_ bench: QuirkBench) async throws -> [String: Reading] {
    func reading(_ body: () async throws(AccessoryError) -> Read<[String: String]>) async throws -> Reading {
      do throws(AccessoryError) {
        let read = try await body()
        return Reading(told: read.value, missing: read.missing)
      } catch {
        guard error.kind == .timedOut else { throw error }
        return Reading()
      }
    }
    let accessory = bench.accessory
    var readings: [String: Reading] = [:]
    // First, since values may come with the identity, too.
    readings["status"] = try await reading { () throws(AccessoryError) in
      try await accessory.readStatusAndIdentity().map { ["status": "\($0.status)", "identity": "\($0.identity)"] }
    }
    let lacks = Driver(accessory.description).lacks
    if !lacks.contains(.battery) {
      readings["battery"] = try await reading { () throws(AccessoryError) in
        try await accessory.readBattery().map { battery in
          var told: [String: String] = [:]
          for term in Vocabulary.battery where term.isKnown(in: battery) {
            told[term.key] =
              "\(term.value(in: battery) ?? 0) \(term.word(in: battery) ?? "") \(term.names(in: battery) ?? [])"
          }
          return told
        }
      }
    }
    if !lacks.contains(.values) {
      readings["values"] = try await reading { () throws(AccessoryError) in
        try await accessory.readValues().map { values in
          var told: [String: String] = [:]
          for value in values { told[value.name] = value.content.map { "\($0)" } }
          return told
        }
      }
    }
    return readings
  }

  @Test(arguments: kinds) func oneUnansweredRequestHidesNothingElse(kind: String) async throws {
    let timeout = Duration.milliseconds(150)
    let description = try QuirkBench.description(kind)
    let plain = try await QuirkBench.with(kind, timeout: timeout) { try await Self.read($0) }
    #expect(plain.values.allSatisfy { $0.told != nil && $0.missing == nil })
    for request in Self.asked(by: description) {
      let name = description.requests[request].name
      // What the other replies mean depends on the generation, which this one tells: without it, they aren't read.
      if ["jk02", "neey"].contains(kind), name == "about" { continue }
      let readings: [String: Reading]
      do throws(AccessoryError) {
        readings = try await attempt { () throws(AccessoryError) in
          do {
            return try await QuirkBench.with(kind, timeout: timeout) { device, _ in
              device.quirks.unanswered = [request]
            } _: {
              try await Self.read($0)
            }
          } catch { throw error as? AccessoryError ?? AccessoryError(.ioFailure, "\(error)") }
        } onFailure: { _ in
        }
      } catch {
        // Nothing else would show that it is there.
        #expect(
          error.kind == .timedOut && Set(description.plannedRequests).isSubset(of: [request]), "\(kind): \(error)")
        continue
      }
      for (part, reading) in readings {
        let before = try #require(plain[part]?.told)
        guard let told = reading.told else {
          let wanted = part == "battery" ? DescribedPart.isBattery : DescribedPart.isValue
          let sources = description.sources(of: wanted)
          let others = description.plannedRequests.filter { other in
            other != request
              && description.requests[other].reply.map { description.needed($0).contains(where: sources.contains) }
                ?? false
          }
          #expect(part != "status" && others.isEmpty, "\(kind) without \(name) tells no \(part)")
          continue
        }
        let lost = before.keys.filter { told[$0] != before[$0] }
        let isNamed = reading.missing?.contains(name) ?? false
        #expect(
          lost.isEmpty || isNamed || description.requests[request].isOptional
            || description.messages.contains(where: \.isPushed),
          "\(kind) without \(name) doesn't say why \(part) lacks \(lost)")
      }
    }
  }
}
