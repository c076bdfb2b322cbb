// SPDX-License-Identifier: Apache-2.0

/// All there is to measure.
enum Suite {
  struct Group: Sendable {
    let name: String
    let run: @Sendable (Options) async throws -> [Row]
  }

  static let groups = [
    Group(name: "receive", run: StreamBenchmark.receive), Group(name: "send", run: StreamBenchmark.send),
    Group(name: "echo", run: EchoBenchmark.run), Group(name: "ea", run: ExternalAccessoryBenchmark.run),
    Group(name: "crowd", run: CrowdBenchmark.run),
    Group(name: "ev3", run: FlowBenchmark.run),
    Group(name: "file", run: FileBenchmark.run),
    Group(name: "decode", run: DecodeBenchmark.run), Group(name: "described", run: DescribedBenchmark.run),
    Group(name: "allocations", run: AllocationBenchmark.run),
    Group(name: "usb", run: USBBenchmark.run), Group(name: "idle", run: IdleBenchmark.run),
    Group(name: "start", run: StartBenchmark.run), Group(name: "sharing", run: SharingBenchmark.run),
  ]
}
