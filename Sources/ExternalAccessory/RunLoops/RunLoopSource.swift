// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CoreFoundation
import Dispatch
import Foundation
import Synchronization

/// What runs on run loops when it is signalled.
protocol RunLoopWork: AnyObject, Sendable {
  /// Does a part of the work, on the run loop's thread. True when there is more, which runs after the run loop's other
  /// work.
  func perform() -> Bool
}

/// A source of work for the run loops that it is scheduled in: a version 0 `CFRunLoopSource`.
///
/// `RunLoop.perform` would not do: it doesn't wake a run loop that sleeps. Work for the main run loop's default mode, the
/// common modes included, is done on the main queue while that run loop doesn't run, as under `dispatchMain()` and
/// `static func main() async`. Work for other modes waits until they run.
final class RunLoopSource: Sendable {
  /// Where the run loop finds the work. Weak, as run loops keep their sources.
  private final class Target: Sendable {
    struct Ends: Sendable {
      weak var work: (any RunLoopWork)?
      weak var source: RunLoopSource?
    }

    let ends = Locked(Ends())
    /// Set until the work begins: so it is known that run loops have been woken already.
    let isSignalled = Atomic(false)

    /// Runs the work; true when there is more.
    func perform() -> Bool {
      _ = isSignalled.exchange(false, ordering: .acquiringAndReleasing)
      return ends.withLock { $0.work }?.perform() ?? false
    }
  }

  /// The source beneath.
  ///
  /// `@unchecked Sendable`: sources may be signalled, added, removed and invalidated from any thread by their
  /// documentation (CFRunLoopSource is locked inside).
  private struct Source: @unchecked Sendable { let source: CFRunLoopSource }

  private struct State: Sendable {
    var places: [RunLoopPlace] = []
    var isInvalid = false
    /// A block for this source waits on the main queue.
    var isOnMainQueue = false
  }

  private let target = Target()
  private let beneath: Source
  private let state = Locked(State())

  /// A source that isn't scheduled anywhere.
  init() {
    var context = CFRunLoopSourceContext()
    context.info = Unmanaged.passRetained(target).toOpaque()
    context.release = { if let info = $0 { Unmanaged<Target>.fromOpaque(info).release() } }
    context.perform = { info in
      guard let info else { return }
      let target = Unmanaged<Target>.fromOpaque(info).takeUnretainedValue()
      if target.perform() { target.ends.withLock { $0.source }?.goOn() }
    }
    beneath = Source(source: CFRunLoopSourceCreate(nil, 0, &context))
    target.ends.withLock { $0.source = self }
  }

  deinit { invalidate() }

  /// Sets what is run. Not kept.
  func run(_ work: any RunLoopWork) { target.ends.withLock { $0.work = work } }

  // MARK: - Scheduling

  /// Schedules in one more place. What has been signalled and not been done is done there too.
  func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
    let place = RunLoopPlace(runLoop, mode)
    let isNew = state.withLock { state in
      guard !state.isInvalid, !state.places.contains(where: { $0.isSame(place) }) else { return false }
      state.places.append(place)
      return true
    }
    guard isNew else { return }
    if place.isMain {
      Self.inMain.withLock { $0[ObjectIdentifier(target)] = WeakSource(object: self) }
      MainRunLoopWatch.watch(place.modeName)
    }
    if place.loop != nil {
      attach(place)
    } else {
      askForLoop(place)
    }
  }

  private func attach(_ place: RunLoopPlace) {
    guard let loop = place.loop else { return }
    CFRunLoopAddSource(loop, beneath.source, place.modeName)
    wake()
  }

  /// A timer is what another thread can put into a run loop that it only knows as a `RunLoop`, and what wakes it.
  private func askForLoop(_ place: RunLoopPlace) {
    let key = place.key
    // Holds next to nothing, as it is never freed.
    let timer = Timer(fire: Date(), interval: 0, repeats: false) { [weak self] _ in
      KnownRunLoops.noteCurrent()
      self?.arrived(key)
    }
    let isWanted = state.withLock { state in
      guard let index = state.places.firstIndex(where: { $0.isSame(place) }) else { return false }
      state.places[index].timer = timer
      return true
    }
    if isWanted { place.runLoop.add(timer, forMode: place.mode) }
  }

  /// Called by the run loop of that place.
  private func arrived(_ key: RunLoopPlace.Key) {
    let found = state.withLock { state -> RunLoopPlace? in
      guard let index = state.places.firstIndex(where: { $0.key == key }) else { return nil }
      state.places[index].loop = CFRunLoopGetCurrent()
      state.places[index].timer = nil
      return state.places[index]
    }
    if let found { attach(found) }
  }

  /// Takes it out of a place, where it is there.
  func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
    let place = RunLoopPlace(runLoop, mode)
    let loops = state.withLock { state -> [RunLoopPlace] in
      let removed = state.places.filter { $0.isSame(place) }
      state.places.removeAll { $0.isSame(place) }
      // One that is in the common modes may be taken out of one of them: the run loop knows how.
      return removed.isEmpty ? state.places.filter { $0.runLoop === runLoop }.prefix(1).map { $0 } : removed
    }
    for found in loops {
      found.timer?.invalidate()
      if let loop = found.loop { CFRunLoopRemoveSource(loop, beneath.source, place.modeName) }
    }
  }

  /// Whether it is in any run loop.
  var isScheduled: Bool { state.withLock { !$0.places.isEmpty } }

  /// Takes it out of all run loops, for good.
  func invalidate() {
    let places = state.withLock { state in
      state.isInvalid = true
      defer { state.places = [] }
      return state.places
    }
    for place in places { place.timer?.invalidate() }
    CFRunLoopSourceInvalidate(beneath.source)
    let key = ObjectIdentifier(target)
    Self.inMain.withLock { _ = $0.removeValue(forKey: key) }
  }

  // MARK: - Signalling

  /// Makes the work run soon on one of the run loops that it is scheduled in. Several signals before that count once.
  func signal() {
    if !target.isSignalled.exchange(true, ordering: .acquiringAndReleasing) { wake() }
  }

  private func wake() {
    // In this order: the main run loop, when it stops, looks for signalled sources after it has said that it stops.
    target.isSignalled.store(true, ordering: .sequentiallyConsistent)
    CFRunLoopSourceSignal(beneath.source)
    let places = state.withLock { $0.places }
    var isInMain = false
    for place in places {
      if let loop = place.loop { CFRunLoopWakeUp(loop) }
      if place.isMain { isInMain = true }
    }
    if isInMain, needsMainQueue { useMainQueue() }
  }

  /// More is to be done, by the run loop that is just doing it and so needs no waking, unless there are others.
  private func goOn() {
    guard state.withLock({ $0.places.count == 1 }) else { return wake() }
    target.isSignalled.store(true, ordering: .releasing)
    CFRunLoopSourceSignal(beneath.source)
  }

  // MARK: - The main queue

  private struct WeakSource: Sendable { weak var object: RunLoopSource? }

  /// Those that were scheduled in the main run loop and are not invalid.
  private static let inMain = Locked<[ObjectIdentifier: WeakSource]>([:])

  /// Called when the main run loop stops: what it was told to do and hasn't done goes to the main queue, as it may not
  /// run again.
  static func mainRunLoopStopped() {
    for source in inMain.withLock({ $0.values.compactMap(\.object) })
    where source.target.isSignalled.load(ordering: .sequentiallyConsistent)
      && source.isInMain(kCFRunLoopDefaultMode)
    {
      source.useMainQueue()
    }
  }

  /// Whether the main run loop would do the work while it runs in this mode.
  private func isInMain(_ mode: CFString) -> Bool { CFRunLoopContainsSource(CFRunLoopGetMain(), beneath.source, mode) }

  /// Whether the main run loop should do the work and may not, as it doesn't run, or in another mode.
  private var needsMainQueue: Bool {
    if !MainRunLoopWatch.isStopping, let mode = CFRunLoopCopyCurrentMode(CFRunLoopGetMain()), isInMain(mode) {
      return false
    }
    return isInMain(kCFRunLoopDefaultMode)
  }

  private func useMainQueue() {
    let isNew = state.withLock { state in
      defer { state.isOnMainQueue = true }
      return !state.isOnMainQueue
    }
    guard isNew else { return }
    DispatchQueue.main.async { [weak self] in self?.runOnMainQueue() }
  }

  private func runOnMainQueue() {
    state.withLock { $0.isOnMainQueue = false }
    guard target.isSignalled.load(ordering: .sequentiallyConsistent), isInMain(kCFRunLoopDefaultMode) else { return }
    guard let mode = CFRunLoopCopyCurrentMode(CFRunLoopGetMain()) else {
      if target.perform() { wake() }
      return
    }
    // The main run loop runs after all, and does the work in its turn. In a mode that the source isn't in, and that
    // serves the main queue, nothing can be done now: the next signal tries again. Trying again by itself would keep
    // that run loop awake.
    if !isInMain(mode) { target.isSignalled.store(false, ordering: .sequentiallyConsistent) }
  }
}
