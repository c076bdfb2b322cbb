// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessorySimulator
import Glibc
import TestSupport
import Testing

/// What a person types as DEVICE means the same for the command, the service and a Swift program.
@Suite("Typed names", .serialized, .timeLimit(.minutes(Patience.minutes(4)))) struct TypedNameTests {
  /// What became of a name.
  enum Answer: Hashable {
    case percent(Int?)
    /// There is no such accessory.
    case unknown
    /// The text fits several, or can't be read.
    case unclear
    case other(String)

    init(_ error: AccessoryError) {
      switch error.kind {
      case .notFound: self = .unknown
      case .misconfigured: self = .unclear
      default: self = .other(error.description)
      }
    }
  }

  private static func library(_ accessories: Accessories, _ text: String?) async -> Answer {
    do throws(AccessoryError) {
      let accessory = try await accessories.open(text)
      let reading = try await accessory.readBattery().value
      await accessory.close()
      return .percent(reading.percent)
    } catch {
      return Answer(error)
    }
  }

  private static func service(_ place: Place, _ text: String?) async -> Answer {
    do throws(AccessoryError) {
      let client = try await BridgeClient.connect(to: place.socket, replyTimeout: .seconds(60))
      guard let text else {
        // The call without a name.
        let (device, _) = try await client.history(of: nil)
        return .other("\(device?.id ?? "")")
      }
      let read: Read<BatteryReading> = try await client.device(text).read()
      return .percent(read.percent)
    } catch {
      return Answer(error)
    }
  }

  private static func command(_ place: Place, _ text: String?) async throws -> Answer {
    let program =
      // Without a name battery shows all.
      if let text { try place.start("bridge-cli", "battery", text) } else { try place.start("bridge-cli", "status") }
    let result = try await program.end()
    switch result.status {
    case 0:
      let number = result.outputText.split(separator: " %").first?.split(separator: " ").last
      return .percent(number.flatMap { Int($0) })
    case EX_NOINPUT: return .unknown
    case EX_USAGE: return .unclear
    default: return .other("\(result.status ?? -1): \(result.errorText)")
    }
  }

  @Test func libraryAndCommandsFindTheSameByAName() async throws {
    let place = try Place()
    let link = place.runtime.path + "/red"
    let red = try await place.simulate(percent: 11) {
      $0.device.identity.serialNumber = "X-100"
      $0.link = link
    }
    let blue = try await place.simulate(percent: 22) { $0.device.identity.serialNumber = "X-200" }
    let accessories = place.accessories
    let known = try await accessories.list()
    let node = try #require(known.first { $0.device.serialNumber == "X-100" }?.device.address.node)
    let table: [(text: String?, answer: Answer)] = [
      ("X-100", .percent(11)), ("X-1", .percent(11)), (node, .percent(11)),
      (String(node.dropFirst("/dev/".count)), .percent(11)), (link, .percent(11)), ("X-200", .percent(22)),
      ("X-", .unclear), (nil, .unclear), ("usb:x", .unclear), ("nobody", .unknown), ("x-100", .unknown),
      (node + "0000", .unknown), ("X-100@", .unknown),
    ]
    for (text, answer) in table {
      #expect(await Self.library(accessories, text) == answer, "the library, opening \(text ?? "nothing")")
      #expect(try await Self.command(place, text) == answer, "the command, opening \(text ?? "nothing")")
    }
    let service = try await place.serve(2)
    for (text, answer) in table {
      #expect(await Self.library(accessories, text) == answer, "the library, by the service, \(text ?? "nothing")")
      #expect(try await Self.command(place, text) == answer, "the command, by the service, \(text ?? "nothing")")
      #expect(await Self.service(place, text) == answer, "the service, \(text ?? "nothing")")
    }
    service.signal(SIGTERM)
    try await service.end()
    await red.stop()
    await blue.stop()
  }
}
