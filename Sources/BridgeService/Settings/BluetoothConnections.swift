// SPDX-License-Identifier: Apache-2.0

/// How many devices a Bluetooth adapter can be connected with at a time.
package struct BluetoothConnections: Sendable, Hashable {
  /// The number for adapters that aren't named. Many adapters hold seven.
  package var usual = 7
  /// The numbers of adapters, by the kernel's names.
  package var adapters: [String: Int] = [:]

  /// What a number may be.
  package static let range = 1...64

  package init() {}

  /// The number for an adapter.
  package func limit(of adapter: String) -> Int { adapters[adapter] ?? usual }
}
