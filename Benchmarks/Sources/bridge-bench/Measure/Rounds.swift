// SPDX-License-Identifier: Apache-2.0

/// One of several ways to do the same work: run once a round, gives the round's figures.
struct Contender {
  let name: String
  let run: () async throws -> [Double]

  init(_ name: String, _ run: @escaping () async throws -> [Double]) {
    self.name = name
    self.run = run
  }
}

/// Runs contenders in turn, so that what else the machine does meets all of them alike.
enum Rounds {
  /// The figures of each contender, one array a round. The order is turned round every time; a first round, in which
  /// caches and buffers are filled, does not count.
  static func run(_ count: Int, _ contenders: [Contender]) async throws -> [[[Double]]] {
    var figures = [[[Double]]](repeating: [], count: contenders.count)
    for round in 0...count {
      let order = Array(contenders.indices)
      for index in round % 2 == 0 ? order : order.reversed() {
        let result = try await contenders[index].run()
        if round > 0 { figures[index].append(result) }
      }
    }
    return figures
  }
}
