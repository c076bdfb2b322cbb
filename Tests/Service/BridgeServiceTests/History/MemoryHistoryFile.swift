// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import SystemPackage
import TestSupport

@testable import BridgeService

/// A file in memory, whose writes may fail.
final class MemoryHistoryFile: HistoryFile {
  struct State: Sendable {
    var bytes: [UInt8]?
    var appends = 0
    var replacements = 0
    var failure: AccessoryError?
    var readFailure: AccessoryError?
  }

  let state = Watched(State())
  let path = "/state/history"

  init(_ bytes: [UInt8]? = nil) { state.update { $0.bytes = bytes } }

  var writes: Int { state.value.appends + state.value.replacements }
  var size: Int { state.value.bytes?.count ?? 0 }

  func prepare() throws(AccessoryError) {}

  func read(limit: Int) throws(AccessoryError) -> [UInt8]? {
    if let failure = state.value.readFailure { throw failure }
    return state.value.bytes.map { Array($0.prefix(limit)) }
  }

  private func change(_ body: @Sendable (inout State) -> Void) throws(AccessoryError) {
    if let failure = state.value.failure { throw failure }
    state.update { body(&$0) }
  }

  func append(_ bytes: [UInt8]) throws(AccessoryError) {
    if state.value.bytes == nil { throw AccessoryError(errno: .noSuchFileOrDirectory, "writing \(path)") }
    try change { state in
      state.bytes = (state.bytes ?? []) + bytes
      state.appends += 1
    }
  }

  func replace(_ bytes: [UInt8]) throws(AccessoryError) {
    try change { state in
      state.bytes = bytes
      state.replacements += 1
    }
  }
}
