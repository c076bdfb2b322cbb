// SPDX-License-Identifier: Apache-2.0

extension AccessoryStatus: Codable {
  private enum CodingKeys: String, CodingKey {
    case state
    case faultCode = "fault_code"
    case progress = "progress_percent"
    case reportsFaults = "reports_faults"
  }

  /// Writes the fields of the service's interface and of JSON documents. Unknown fields are left out.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(state?.word, forKey: .state)
    try fields.encodeIfPresent(faultCode, forKey: .faultCode)
    try fields.encodeIfPresent(progress, forKey: .progress)
    try fields.encode(reportsFaults, forKey: .reportsFaults)
  }

  /// Reads what `encode` writes. An unknown word becomes nil; a percentage beyond `ReadingLimits` is an error. Earlier
  /// versions wrote `not_initialized` for every unknown state, and not whether faults are reported.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let reports = try fields.decodeIfPresent(Bool.self, forKey: .reportsFaults)
    let known = try fields.decodeIfPresent(String.self, forKey: .state).flatMap(AccessoryState.init(word:))
    self.init(
      state: reports == nil && known == .notInitialized ? nil : known,
      faultCode: try fields.decodeIfPresent(UInt16.self, forKey: .faultCode),
      progress: try fields.decodeIfPresent(Int.self, forKey: .progress),
      reportsFaults: reports ?? (known != nil && known != .notInitialized))
    try ReplyLimits.check(progress, ReadingLimits.percent, CodingKeys.progress.rawValue)
  }
}
