// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryControl

/// What a client takes of the numbers in answers.
@Suite(.timeLimit(.minutes(5))) struct ReplyNumberTests {
  private func read<Method: ControlMethod>(_ text: String, _ method: Method.Type) -> Result<Method.Reply, ControlError>
  {
    Result { () throws(ControlError) in
      try ReplyMessage.read(Array(#"{"parameters":\#(text)}"#.utf8), to: method).reply
    }
  }

  @Test(arguments: [
    ("0", true), ("4294967295", true), ("4294967296", false), ("-1", false), ("1e300", false), ("-0.5", false),
  ])
  func theTimeOfAPiece(time: String, isTaken: Bool) {
    let piece = read(#"{"time":\#(time),"direction":"to_device","bytes_hex":""}"#, Bridge.Trace.self)
    #expect((try? piece.get()) != nil || !isTaken)
    #expect((try? piece.get())?.moment != nil || !isTaken)
    guard !isTaken else { return }
    let error = #expect(throws: ControlError.self) { try piece.get() }
    #expect(error?.accessoryError.kind == .badData)
    #expect(error?.accessoryError.message.contains("time can't be") == true)
  }

  @Test func whatTheSampleSaysIsTaken() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    _ = try await client.call(Bridge.List())
    _ = try await client.call(Bridge.GetInfo())
    _ = try await client.call(Bridge.GetBattery())
    _ = try await client.call(Bridge.GetStatus())
    _ = try await client.call(Bridge.GetCommands())
    await sample.server.close()
  }

  /// A stream's messages wait within a bound of bytes too.
  @Test func longMessagesPauseAStream() async throws {
    let queue = MessageQueue {}
    var taken = 0
    while queue.append([UInt8](repeating: 0, count: 300_000)) { taken += 1 }
    #expect(taken == 3)
  }
}
