// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import FamilyHIDPower

/// A simulated UPS: a USB device at the kernel's virtual port, for every program that uses UPSs on USB.
public actor UPSSimulator: HostedSimulator {
  /// The configuration of a simulator.
  public struct Configuration: Sendable {
    /// The simulated UPS.
    public var model = UPSModel.plain
    /// Its state when it is plugged in.
    public var state = UPSState()
    /// The serial number.
    public var serialNumber = "UPS0001"
    /// Whether its report descriptor has 4,703 bytes, as that of an Eaton 9PX: more than the kernel accepts.
    public var hasLongDescriptor = false
    /// The most bytes of its report descriptor that it returns; nil for all.
    public var descriptorLimit: Int?
    /// Whether it refuses each feature report once.
    public var refusesFirst = false
    /// Whether it leaves the bus for a second when its input power fails or returns.
    public var dropsAtPowerEvents = false
    /// The time until it goes silent, from each plug and each reset on its bus; only a reset brings it back. Nil: never.
    public var silentAfter: Duration?
    /// The simulated faults. Only `unplug` and `replug` have an effect.
    public var faults = Faults()
    /// The USB port to plug it into.
    public var port: any USBHost = KernelHost()

    /// A UPS on mains power with a full battery.
    public init() {}
  }

  /// An event of the simulator.
  public enum Event: SimulatorEvent {
    /// It was plugged in, at this path in sysfs.
    case pluggedIn(path: String)
    /// It was unplugged.
    case unplugged
    /// Its input power has failed (false) or returned (true).
    case power(Bool)
    /// Its charge has changed, in percent.
    case charge(Int)
    /// The host has set a usage: the beeper, the test, or the delay before the output is switched off.
    case set(String, Int)
    /// It has gone silent.
    case silent
    /// The output was switched off.
    case off
  }

  package nonisolated let executor = DispatchExecutor(label: "accessory.simulator.ups")
  package nonisolated let io: IOThread
  /// The simulator's events, for one reader. The stream ends with `stop`.
  public nonisolated let events: AsyncStream<Event>
  package var host: PlugHost<Event>

  private let configuration: Configuration
  private let descriptor: HIDReportDescriptor
  /// The current state of the UPS.
  public private(set) var state: UPSState
  private var toldPercent: Int
  /// Incremented when a delay is set, so that an earlier delay has no effect.
  private var delays = 0

  /// The interval at which the battery is updated. Real UPSs report at about this interval.
  private static let interval = Duration.seconds(1)
  /// How long a UPS stays off the bus after a power event, and how long a test takes.
  private static let (dropTime, testTime) = (Duration.seconds(1), Duration.seconds(10))

  /// The simulator's serial dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A simulator that isn't plugged in yet.
  public init(_ configuration: Configuration, io: IOThread = .shared) {
    self.io = io
    var configuration = configuration
    configuration.model.spoil(&configuration.state)
    self.configuration = configuration
    var bytes = configuration.model.descriptor
    if configuration.hasLongDescriptor { Self.lengthen(&bytes) }
    descriptor = HIDReportDescriptor(bytes)
    state = configuration.state
    toldPercent = Int(configuration.state.percent)
    var identity = configuration.model.identity
    identity.serialNumber = configuration.serialNumber
    let features = configuration.state.reports([.feature], of: descriptor).map(\.1)
    identity.reports = SimulatedReports(
      descriptor: bytes,
      features: Dictionary(features.map { ($0[0], $0) }) { first, _ in first },
      descriptorLimit: configuration.descriptorLimit, refusesFirst: configuration.refusesFirst)
    host = PlugHost(.usb(identity, host: configuration.port), DiscoveryHints(), configuration.faults)
    events = host.events
  }

  /// Lengthens a descriptor by items without effect, before its last end of a collection: usage minimums of two or three bytes each.
  private static func lengthen(_ bytes: inout [UInt8], to length: Int = 4_703) {
    var missing = length - bytes.count
    guard missing >= 3, let last = bytes.popLast() else { return }
    if missing % 2 == 1 {
      bytes += [0x1A, 0, 0]
      missing -= 3
    }
    for _ in 0..<(missing / 2) { bytes += [0x19, 0] }
    bytes.append(last)
  }

  /// Plugs the UPS in, unless it is plugged in. Returns its path in sysfs. Throws what the USB host throws, and `cancelled` after
  /// `stop`.
  @discardableResult
  public func plugIn() async throws(AccessoryError) -> String { try await putPlug() }

  /// Unplugs the UPS. It is plugged in again later if the faults say so.
  public func unplug() { pullPlug() }

  /// Unplugs the UPS for good. Returns when everything is closed.
  public func stop() async { await stopHosting() }

  package func pluggedIn() {
    tell()
    tick()
    fallSilent()
  }

  private func fallSilent() {
    guard let time = configuration.silentAfter else { return }
    afterThisPlug(time) { simulator in
      simulator.host.continuation.yield(.silent)
      simulator.offer(SimulatedReports.silence)
    }
  }

  private func tick() {
    afterThisPlug(Self.interval) { simulator in
      simulator.state.advance(seconds: 1)
      let percent = Int(simulator.state.percent)
      if percent != simulator.toldPercent {
        simulator.toldPercent = percent
        simulator.host.continuation.yield(.charge(percent))
        simulator.tell()
      }
      simulator.tick()
    }
  }

  /// Cuts or restores its input power.
  public func setMains(_ hasMains: Bool) {
    guard state.hasMains != hasMains else { return }
    state.hasMains = hasMains
    host.continuation.yield(.power(hasMains))
    guard configuration.dropsAtPowerEvents else { return tell() }
    pullPlug()
    after(Self.dropTime) { simulator in Task { try? await simulator.plugIn() } }
  }

  /// Sends all reports: feature reports go to endpoint 0, where the device keeps them, input reports to the host.
  private func tell() {
    for (kind, report) in state.reports([.feature, .input], of: descriptor) { offer([kind.rawValue] + report) }
  }

  package func received() {
    var bytes = host.buffer[...]
    for count in host.messages {
      take(Array(bytes.prefix(count)))
      bytes = bytes.dropFirst(count)
    }
  }

  private func take(_ report: [UInt8]) {
    // A reset on its bus has ended the silence.
    if report == SimulatedReports.awake { return fallSilent() }
    let usages = state.take(report, of: descriptor)
    if usages.contains(PowerUsage.audibleAlarm) { host.continuation.yield(.set("beeper", state.beeper)) }
    if usages.contains(PowerUsage.test) {
      host.continuation.yield(.set("test", state.test))
      if state.test == 5 {
        after(Self.testTime) { simulator in
          guard simulator.state.test == 5 else { return }
          simulator.state.test = 1
          simulator.tell()
        }
      }
    }
    if !usages.isDisjoint(with: PowerCommand.loadOff.usages) { delayWasSet() }
    tell()
  }

  private func delayWasSet() {
    delays += 1
    let (delay, era) = (state.shutdownDelay, delays)
    host.continuation.yield(.set("shutdown_delay", delay))
    guard delay >= 0 else { return }
    let field = descriptor.fields.first { $0.kind == .feature && PowerCommand.loadOff.usages.contains($0.usage) }
    after(.seconds(Int(field?.amount(Int64(delay)) ?? Double(delay)))) { simulator in
      if simulator.delays == era { simulator.host.continuation.yield(.off) }
    }
  }
}
