// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import CommandOutput
import Glibc

/// A service's readings of an accessory, for `history`, `battery --history` and `values --history`.
struct ShownHistory {
  /// Which series are shown.
  enum Wanted: Sendable {
    case battery, values, all
    case named([String])

    /// The names to ask the service for; nil for all.
    fileprivate var names: [String]? {
      switch self {
      case .battery: ReadingSeries.batteryNames
      case .values, .all: nil
      case .named(let names): names
      }
    }
  }

  /// The accessory that the user typed.
  let name: String?
  let wanted: Wanted
  let seconds: Double
  /// Whether comma-separated values are printed.
  let csv: Bool
  let plot: PictureFile?
  let json: Bool

  /// The height of each graph, in lines.
  private static let rows = 12
  /// The most graphs where nobody says which.
  private static let graphs = 8

  func show() async throws {
    let (device, all, energy) = try await find(wanted.names)
    var series = all
    if case .values = wanted { series = all.filter { !ReadingSeries.batteryNames.contains($0.name) } }
    if case .named(let names) = wanted,
      let missing = names.first(where: { name in
        !series.contains { $0.name == name || ReadingSeries.key(of: $0.name) == name }
      })
    {
      // The service was asked for these names only.
      let known = try await find(nil).1.map(\.name)
      let all = known.isEmpty ? "nothing has been read yet" : "there is history of \(known.joined(separator: ", "))"
      throw UsageError(
        "there is no history of \(missing): \(NearestWord.advice(missing, among: known, otherwise: all))")
    }
    // Documents and tables have all that was read.
    let drawn = if case .named = wanted { series } else { Array(series.drawn.prefix(Self.graphs)) }
    let now = WallClock.seconds
    let time = (now - seconds)...now
    if let file = plot?.path {
      let label = device?.id ?? name ?? ""
      let picture = HistoryPlot(title: label, series: drawn, time: time).text
      try LocalFile.write(Array(picture.utf8), to: file, replacing: false)
    }
    if json { return Output.json(HistoryDocument(device.map { DeviceDocument($0) }, seconds: seconds, series, energy)) }
    if csv { return HistoryTable.lines(series).forEach(Output.line) }
    if let file = plot?.path { return Output.note("The picture is in \(SafeText.escape(file, limit: 500)).") }
    guard drawn.contains(where: { $0.range != nil }) else {
      return Output.note("Nothing was read in the last \(AgeView.text(Int(seconds * 1_000))).")
    }
    let columns = max(20, Output.columns ?? 80)
    for (index, one) in drawn.enumerated() where one.range != nil {
      if index > 0 { Output.line("") }
      TextGraph.lines(one, columns: columns, rows: Self.rows, time: time).forEach(Output.line)
    }
    let left = series.filter { one in one.range != nil && !drawn.contains { $0.name == one.name } }
    if !left.isEmpty {
      Output.note("Not drawn unless named: \(left.map { SafeText.escape($0.name) }.joined(separator: ", ")).")
    }
    if case .values = wanted { return }
    guard seconds >= Energy.secondsOfHour, let energy, !energy.hours.isEmpty else { return }
    Output.line("")
    EnergyTable.lines(energy, time: time).forEach(Output.line)
  }

  /// Asks the services for the series with these names, nil for all, in the order in which all commands do.
  private func find(_ names: [String]?) async throws -> (Device?, [ReadingSeries], Energy?) {
    var missing: AccessoryError?
    var refusal: AccessoryError?
    for place in ServicePlace.all() {
      let client: BridgeClient
      do throws(AccessoryError) {
        client = try await ServiceEntry.connect(to: place, replyTimeout: .seconds(10))
      } catch {
        if !error.isNoService { refusal = error }
        continue
      }
      do throws(AccessoryError) {
        return try await client.energyHistory(
          of: name, names, last: .milliseconds(Int64(seconds * 1_000)))
      } catch {
        guard error.kind == .notFound || error.kind == .misconfigured else { throw error }
        missing = missing ?? error
      }
    }
    // A service looks at no files, so it doesn't know a link or a relative path.
    if let name, missing?.kind == .notFound, let held = try? await Door.finder().entry(DeviceName(name), all: true) {
      return try await held.calls(label: nil).energyHistory(names, last: .milliseconds(Int64(seconds * 1_000)))
    }
    throw missing ?? refusal
      ?? AccessoryError(
        .disconnected,
        "no service is running, and only a service keeps a history: start it with bridge-cli serve, or for the system with "
          + "systemctl start accessory-bridge")
  }
}

/// The name of a file for a picture on the command line.
struct PictureFile: FormArgument {
  static let form = "a file whose name ends in .svg, the only kind of picture that is written"
  let path: String

  init?(argument: String) {
    guard argument.count > 4, argument.suffix(4).lowercased() == ".svg" else { return nil }
    path = argument
  }
}
