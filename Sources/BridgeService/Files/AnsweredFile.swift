// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

/// A file that is fetched from an accessory and sent to a client piece by piece, as fast as the client reads. No piece
/// is buffered here.
struct AnsweredFile: FileSink {
  let answers: ReplySender<Bridge.GetFile.Reply>

  func begin(size: Int) async throws(AccessoryError) { try await send(Bridge.GetFile.Reply(.begin, size_bytes: size)) }

  func insert(_ bytes: [UInt8], at offset: Int) async throws(AccessoryError) {
    if !bytes.isEmpty { try await send(Bridge.GetFile.Reply(bytes, at: offset)) }
  }

  private func send(_ reply: Bridge.GetFile.Reply) async throws(AccessoryError) {
    do throws(CallError) {
      try await answers.sendWhenRead(reply)
    } catch {
      throw AccessoryError(.cancelled, "the client has disconnected")
    }
  }
}
