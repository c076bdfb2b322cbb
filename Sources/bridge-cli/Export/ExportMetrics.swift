// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO
import ArgumentParser
import CommandOutput

struct ExportMetrics: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics",
    abstract: "Writes or serves readings as metrics, for Prometheus and programs that read its formats.",
    discussion: """
      PLACE is HOST:PORT, or a port alone, which listens on 127.0.0.1. --textfile writes for node_exporter, after each change.

      EXAMPLES
        bridge-cli export metrics --once
        bridge-cli export metrics --textfile /var/lib/prometheus/node-exporter/accessories.prom
        bridge-cli export metrics --listen 0.0.0.0:9879 --allow 10.0.0.7 --host gateway.local
      """)

  @Option(help: .value("file", "Write this file, whose name ends in .prom."), completion: .file(extensions: ["prom"]))
  var textfile: String?
  @Option(help: .value("place", "Serve the metrics at this address; may be repeated."), transform: ListeningPlace.read)
  var listen: [ListeningPlace] = []
  @Option(
    help: .value("net", "Let machines of this network connect; may be repeated."), transform: NetworkArgument.read)
  var allow: [NetworkArgument] = []
  @Option(help: .value("name", "Also answer requests for this host name; may be repeated.")) var host: [String] = []
  @Option(
    help: .value("time", "Write the file at this interval, instead of after each change."),
    transform: SecondsArgument.read)
  var interval: SecondsArgument?
  @Flag(help: "Write the metrics once, and end.")
  var once = false
  @OptionGroup var services: ExportedServices
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard once || textfile != nil || !listen.isEmpty else {
      throw ValidationError("choose where the metrics go: --textfile FILE, --listen 9879 or --once")
    }
    if once, !listen.isEmpty || interval != nil {
      throw ValidationError("--once ends after one writing: leave out --listen and --interval")
    }
    if interval != nil, textfile == nil { throw ValidationError("--interval is for --textfile") }
    if let interval, interval.duration < .seconds(1) { throw ValidationError("--interval must be at least 1s") }
    if textfile == "" { throw ValidationError("--textfile needs a path") }
    for place in listen { try place.check(allow) }
  }

  func run() async throws {
    if once { return try await writeOnce() }
    if output.json { Interruption.endWithOutput() }
    defer { ServiceLog.finish() }
    let view = ExportView(json: output.json)
    let feed = ReadingsFeed(alarms: true)
    let server = ExportServer(feed, limit: 32) { [hosts = HostNames(host)] _ in
      MetricsSession(hosts: hosts, version: BridgeCLI.version) { (.now, WallClock.seconds) }
    }
    for place in listen {
      place.note(allow)
      let place = try await server.listen(at: place.host, port: place.port, networks: allow.map(\.network)) {
        view.refused($0)
      }
      view.listening("http://\(place.network)/metrics")
    }
    let writing = textfile.map { file in Task { try await write(file, feed) } }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await services.follow(with: feed, view) }
      if let writing {
        group.addTask {
          try await withTaskCancellationHandler {
            try await writing.value
          } onCancel: {
            writing.cancel()
          }
        }
      }
      try await group.next()
      group.cancelAll()
    }
    await server.close()
    throw CancellationError()
  }

  private func families(_ readings: ReadingsSnapshot) -> [MetricFamily] {
    AccessoryMetrics.families(readings, now: .now, wallClock: WallClock.seconds, version: BridgeCLI.version)
  }

  private func text(_ readings: ReadingsSnapshot) -> String { MetricsFormat.prometheus.text(families(readings)) }

  private func writeOnce() async throws {
    let feed = ReadingsFeed(alarms: true)
    var failure: AccessoryError?
    var count = 0
    for place in services.places {
      do throws(AccessoryError) {
        try await feed.mirror.readOnce(place)
        count += 1
      } catch {
        // At some of the usual sockets there may be no service.
        if failure == nil || !error.isNoService { failure = error }
      }
    }
    let families = families(await feed.snapshot)
    let text = MetricsFormat.prometheus.text(families)
    if let textfile {
      try await Self.write(text, to: textfile)
    } else if count > 0 {
      output.json ? Output.json(MetricsDocument(families)) : Output.text(text)
    }
    if count > 0, failure.map({ $0.isNoService || $0.kind == .permissionDenied }) ?? true { return }
    throw failure.map { $0.isNoService && services.socket.isEmpty ? .noService : $0 } ?? .noService
  }

  private static func write(_ text: String, to file: String) async throws(AccessoryError) {
    try await SetupQueue(label: file).run { () throws(AccessoryError) in
      try LocalFile.write(Array(text.utf8), to: file, replacing: true)
    }
  }

  /// Writes the file now, and after each change or each interval, until the task is cancelled.
  private func write(_ file: String, _ feed: ReadingsFeed) async throws {
    var news = feed.news.makeAsyncIterator()
    while !Task.isCancelled {
      let readings = interval == nil ? await feed.snapshot : await feed.refreshed()
      try await Self.write(text(readings), to: file)
      await IOThread.shared.sleep(for: interval?.duration ?? .seconds(1))
      if interval == nil, await news.next() == nil { return }
    }
  }
}
