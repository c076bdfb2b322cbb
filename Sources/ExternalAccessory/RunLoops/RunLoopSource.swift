// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CoreFoundation
import Dispatch
import Foundation
import Synchronization

/// Work that run loops do when its source is signalled.
protocol RunLoopWork: AnyObject, Sendable {
  /// Does a part of the work, on the run loop's thread. True when more is to be done, which the run loop does after its
  /// other work.
  func perform() -> Bool
}

/// A source of work for the run loops in which it is scheduled: a version 0 `CFRunLoopSource`.
///
/// `RunLoop.perform` isn't sufficient, since it doesn't wake a sleeping run loop. Work for the main run loop's default
/// mode, also as one of the common modes, is done on the main queue while that run loop isn't running, as under
/// `dispatchMain()` and `static func main() async`. Work for other modes waits until they run.
final class RunLoopSource: Sendable {
  /// Gives the run loop access to the work. The references are weak, since run loops retain their sources.
  private final class Target: Sendable {
    struct Ends: Sendable {
      weak var work: (any RunLoopWork)?
      weak var source: RunLoopSource?
    }

    let ends = Locked(Ends())
    /// Whether the source was signalled and the work hasn't begun, so the run loops were woken already.
    let isSignalled = Atomic(false)

    /// Does the work; true when more is to be done.
    func perform() -> Bool {
      _ = isSignalled.exchange(false, ordering: .acquiringAndReleasing)
      return ends.withLock { $0.work }?.perform() ?? false
    }
  }

  /// The Core Foundation source.
  ///
  /// `@unchecked Sendable`: by its documentation a source may be signalled, added, removed and invalidated from any
  /// thread (`CFRunLoopSource` has an internal lock).
  private struct Source: @unchecked Sendable { let source: CFRunLoopSource }

  private struct State: Sendable {
    var places: [RunLoopPlace] = []
    var isInvalid = false
    /// Whether a block of this source is pending on the main queue.
    var isOnMainQueue = false
  }

  private let target = Target()
  private let cfSource: Source
  private let state = Locked(State())

  /// A source that is scheduled nowhere.
  init() {
    var context = CFRunLoopSourceContext()
    context.info = Unmanaged.passRetained(target).toOpaque()
    context.release = { if let info = $0 { Unmanaged<Target>.fromOpaque(info).release() } }
    context.perform = { info in
      guard let info else { return }
      let target = Unmanaged<Target>.fromOpaque(info).takeUnretainedValue()
      if target.perform() { target.ends.withLock { $0.source }?.signalAgain() }
    }
    cfSource = Source(source: CFRunLoopSourceCreate(nil, 0, &context))
    target.ends.withLock { $0.source = self }
  }

  deinit { invalidate() }

  /// Sets the work. A weak reference.
  func run(_ work: any RunLoopWork) { target.ends.withLock { $0.work = work } }

  // MARK: - Scheduling

  /// Schedules the source in one more run loop and mode. Work that was signalled and not done is done there, too.
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
    CFRunLoopAddSource(loop, cfSource.source, place.modeName)
    wake()
  }

  /// Adds a timer to the run loop. A timer can be added from another thread through a `RunLoop` alone, and it wakes the
  /// run loop.
  private func askForLoop(_ place: RunLoopPlace) {
    let key = place.key
    // The timer holds only a weak reference, since Foundation never frees the timer.
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

  /// Called by the place's run loop, which is thereby known.
  private func arrived(_ key: RunLoopPlace.Key) {
    let found = state.withLock { state -> RunLoopPlace? in
      guard let index = state.places.firstIndex(where: { $0.key == key }) else { return nil }
      state.places[index].loop = CFRunLoopGetCurrent()
      state.places[index].timer = nil
      return state.places[index]
    }
    if let found { attach(found) }
  }

  /// Removes the source from a run loop and mode, if it is scheduled there.
  func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
    let place = RunLoopPlace(runLoop, mode)
    let loops = state.withLock { state -> [RunLoopPlace] in
      let removed = state.places.filter { $0.isSame(place) }
      state.places.removeAll { $0.isSame(place) }
      // A source in the common modes may be removed from a single one of them, which the run loop handles.
      return removed.isEmpty ? state.places.filter { $0.runLoop === runLoop }.prefix(1).map { $0 } : removed
    }
    for found in loops {
      found.timer?.invalidate()
      if let loop = found.loop { CFRunLoopRemoveSource(loop, cfSource.source, place.modeName) }
    }
  }

  /// Whether the source is scheduled in a run loop.
  var isScheduled: Bool { state.withLock { !$0.places.isEmpty } }

  /// Removes the source from all run loops for good.
  func invalidate() {
    let places = state.withLock { state in
      state.isInvalid = true
      defer { state.places = [] }
      return state.places
    }
    for place in places { place.timer?.invalidate() }
    CFRunLoopSourceInvalidate(cfSource.source)
    let key = ObjectIdentifier(target)
    Self.inMain.withLock { _ = $0.removeValue(forKey: key) }
  }

  // MARK: - Signalling

  /// Makes one of the run loops do the work soon. Several signals before the work begins count as one.
  func signal() {
    if !target.isSignalled.exchange(true, ordering: .acquiringAndReleasing) { wake() }
  }

  private func wake() {
    // `isSignalled` is set first: the main run loop, when it stops, looks for signalled sources after it has set
    // `MainRunLoopWatch.isStopping`.
    target.isSignalled.store(true, ordering: .sequentiallyConsistent)
    CFRunLoopSourceSignal(cfSource.source)
    let places = state.withLock { $0.places }
    var isInMain = false
    for place in places {
      if let loop = place.loop { CFRunLoopWakeUp(loop) }
      if place.isMain { isInMain = true }
    }
    if isInMain, needsMainQueue { useMainQueue() }
  }

  /// More work is to be done. The running run loop needs no waking, unless other run loops share the work.
  private func signalAgain() {
    guard state.withLock({ $0.places.count == 1 }) else { return wake() }
    target.isSignalled.store(true, ordering: .releasing)
    CFRunLoopSourceSignal(cfSource.source)
  }

  // MARK: - The main queue

  private struct WeakSource: Sendable { weak var object: RunLoopSource? }

  /// The valid sources that were scheduled in the main run loop.
  private static let inMain = Locked<[ObjectIdentifier: WeakSource]>([:])

  /// Called when the main run loop stops. Signalled work goes to the main queue, since the run loop may never run
  /// again.
  static func mainRunLoopStopped() {
    for source in inMain.withLock({ $0.values.compactMap(\.object) })
    where source.target.isSignalled.load(ordering: .sequentiallyConsistent)
      && source.isInMain(kCFRunLoopDefaultMode)
    {
      source.useMainQueue()
    }
  }

  /// Whether the main run loop does the work while it runs in this mode.
  private func isInMain(_ mode: CFString) -> Bool { CFRunLoopContainsSource(CFRunLoopGetMain(), cfSource.source, mode) }

  /// Whether the main run loop should do the work but can't, because it isn't running, or is running in another mode.
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
    // The main run loop is running after all, and does the work later. If it runs in a mode without this source,
    // nothing can be done now, and the next signal tries again. Retrying here would keep that run loop busy.
    if !isInMain(mode) { target.isSignalled.store(false, ordering: .sequentiallyConsistent) }
  }
}
