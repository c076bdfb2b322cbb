// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension DescribedAccessory: RequestMaker {
  func make(_ request: Int, tries: Int?) async throws(AccessoryError) -> Bool {
    try await ask(request, tries: tries)
    return true
  }
  func knows(_ request: Int) -> Bool { true }
  func isOptional(_ request: Int, _ error: AccessoryError) -> Bool { description.requests[request].isOptional }
  func remember<Result>(_ body: (inout RequestMemory) -> Result) -> Result { memory.withLock { body(&$0) } }
  func lose(_ request: Int) { latestValues.lose(request) }
  var isTelling: Bool { latestValues.isTelling(now: clock.bootTime) }

  /// What the accessory doesn't answer or refuses, of these requests or of all.
  func silence(of requests: [Int]? = nil) -> String? {
    memory.withLock { $0.sentence(of: requests, label: label) { description.requests[$0].name } }
  }

  /// What the accessory doesn't answer at present.
  public var unanswered: String? { silence() }
}
