// SPDX-License-Identifier: Apache-2.0

/// What a figure must be.
enum Requirement: Sendable {
  /// Of the peer's figure, at least this share.
  case ratioAtLeast(Double)
  /// At most so many times the peer's figure.
  case ratioAtMost(Double)
  /// At most this, in the row's unit.
  case atMost(Double)

  var text: String {
    switch self {
    case .ratioAtLeast(let bound): "≥ \(Format.number(bound)) ×"
    case .ratioAtMost(let bound): "≤ \(Format.number(bound)) ×"
    case .atMost(let bound): "≤ \(Format.number(bound))"
    }
  }

  func isMet(ours: Double, ratio: Double?) -> Bool {
    switch self {
    case .ratioAtLeast(let bound): ratio.map { $0 >= bound } ?? false
    case .ratioAtMost(let bound): ratio.map { $0 <= bound } ?? false
    case .atMost(let bound): ours <= bound
    }
  }
}

/// One figure of the result.
struct Row: Sendable, Encodable {
  let group: String
  let name: String
  let unit: String
  /// The median of the rounds.
  let ours: Double
  /// Who did the same work in the same rounds: "C" is the plain loop.
  let peer: String?
  /// The peer's figure.
  let theirs: Double?
  /// The median of the ratios of each round, and the outermost of them.
  let ratio: Double?
  let ratioMin: Double?
  let ratioMax: Double?
  let requirement: String?
  let met: Bool?

  /// A row of one figure a round, with that of the peer in the same round where there is one.
  init(
    _ group: String, _ name: String, unit: String, ours: [Double], peer: String = "C", theirs: [Double] = [],
    requirement: Requirement? = nil
  ) {
    self.group = group
    self.name = name
    self.unit = unit
    self.ours = ours.median
    let ratios = zip(ours, theirs).map { $0 / $1 }
    self.peer = theirs.isEmpty ? nil : peer
    self.theirs = theirs.isEmpty ? nil : theirs.median
    ratio = ratios.isEmpty ? nil : ratios.median
    ratioMin = ratios.min()
    ratioMax = ratios.max()
    self.requirement = requirement?.text
    met = requirement?.isMet(ours: self.ours, ratio: ratio)
  }
}
