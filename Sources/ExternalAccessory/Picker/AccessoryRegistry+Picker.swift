// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import Foundation

/// The picker waits for an accessory that matches a filter, and searches by Bluetooth at the same time. Filters and
/// completions are called on the main thread.
extension AccessoryRegistry {
  /// A device that may be picked.
  private typealias Candidate = (neighbour: EABluetoothNeighbour, device: Device, profile: Profile)

  // MARK: - Beginning

  /// Waits for an accessory to be connected. Returns a number with which the wait can be cancelled.
  func pick(_ filter: NSPredicate?, completion: EABluetoothAccessoryPickerCompletion?) -> Int {
    let id = state.withLock { state in
      state.lastPickerID += 1
      return state.lastPickerID
    }
    post(.picking(PickerRequest(id: id, filter: filter, completion: completion)))
    return id
  }

  func beginPicking(_ request: PickerRequest) {
    let (id, io) = (request.id, IOThread.shared)
    let isMeant = state.withLock { state in
      state.pickers.append(request)
      return request.filter != nil || state.chooser != nil
    }
    _ = io.schedule(at: io.now + scanTimeout) { [weak self] in self?.post(.pickingTimeOver(id)) }
    // Without a filter or a chooser it isn't known which of the nearby devices is meant.
    guard let bluetooth, isMeant else { return }
    work(for: id) { [weak self] in
      do throws(AccessoryError) {
        let devices = try await bluetooth.search()
        self?.post(.found(id, devices))
      } catch {
        if error.kind != .cancelled { self?.noteOnce(error) }
      }
    }
  }

  /// Runs what is cancelled with the picker.
  private func work(for id: Int, _ body: @escaping @Sendable () async -> Void) {
    let task = Task.detached(executorPreference: TaskQueue.shared) { await body() }
    searches.withLock { $0[id] = task }
  }

  // MARK: - Choosing

  /// The search by Bluetooth has found these devices.
  func found(_ id: Int, _ devices: [Device]) {
    let (request, chooser, known) = state.withLock { state in
      let known = state.accessories.map(\.port.device)
      let new = devices.filter { device in !known.contains { $0.isSame(as: device) } }
      return (
        state.pickers.first { $0.id == id }, state.chooser,
        new.compactMap { device in state.profile(forPicked: device).map { (device, $0) } }
      )
    }
    guard let request else { return }
    let candidates = known.map { device, profile -> Candidate in
      (EABluetoothNeighbour(device, profile), device, profile)
    }.filter { request.fits($0.neighbour.name) }
    // An accessory of another kind may still come.
    guard let first = candidates.first else { return }
    guard chooser != nil || candidates.count == 1 else { return endPicker(id, .resultFailed) }
    // The user may take any time.
    state.withLock { state in
      if let index = state.pickers.firstIndex(where: { $0.id == id }) { state.pickers[index].isChoosing = true }
    }
    work(for: id) { [weak self] in
      let choice = chooser == nil ? first.neighbour : await chooser?(candidates.map(\.neighbour))
      if let candidate = candidates.first(where: { $0.neighbour == choice }) {
        await self?.connect(candidate, for: id)
      } else {
        self?.endPicking(id, .resultCancelled)
      }
    }
  }

  private func connect(_ candidate: Candidate, for id: Int) async {
    guard let bluetooth, isPicking(id) else { return }
    do throws(AccessoryError) {
      try await bluetooth.reach(opener(candidate.device, candidate.profile))
    } catch {
      noteOnce(error)
      return endPicking(id, .resultFailed)
    }
    // The picker may have been cancelled in the meantime.
    guard isPicking(id) else { return }
    came(candidate.device, candidate.profile)
    // The connection, which is posted before this, ends it well; unless it was connected in another way, or is lost again.
    endPicking(id, .resultNotFound)
  }

  private func isPicking(_ id: Int) -> Bool { state.withLock { state in state.pickers.contains { $0.id == id } } }

  // MARK: - Ending

  func endPicking(_ id: Int, _ code: EABluetoothAccessoryPickerError.Code) { post(.pickingEnded(id, code)) }

  /// The time for waiting is over, unless something was found and the user is choosing.
  func timeIsOver(_ id: Int) {
    let isChoosing = state.withLock { state in state.pickers.contains { $0.id == id && $0.isChoosing } }
    if !isChoosing { endPicker(id, .resultNotFound) }
  }

  func endPicker(_ id: Int, _ code: EABluetoothAccessoryPickerError.Code) {
    let accessories = accessories
    guard let request = takePicker(where: { $0.id == id }) else { return }
    // No accessory was connected, but a matching one has been connected all the time.
    let isThere = code == .resultNotFound && accessories.contains { request.fits($0.name) }
    request.completion?(EABluetoothAccessoryPickerError(isThere ? .alreadyConnected : code))
  }

  /// Removes the first picker that matches, and cancels its tasks. The filter is called outside the lock.
  func takePicker(where fits: (PickerRequest) -> Bool) -> PickerRequest? {
    guard let request = state.withLock({ $0.pickers }).first(where: fits) else { return nil }
    state.withLock { $0.pickers.removeAll { $0.id == request.id } }
    searches.withLock { $0.removeValue(forKey: request.id) }?.cancel()
    return request
  }
}

extension AccessoryRegistry.State {
  /// The profile of a Bluetooth device, if it is picked: the one whose rules match it; or else the only one with a protocol
  /// that the program wants.
  fileprivate func profile(forPicked device: Device) -> Profile? {
    // A user picks a device by its name. The name doesn't identify a device that was only received in a search.
    var named = device
    named.bluetooth = nil
    for device in [device, named] {
      if let own = profiles.profile(for: device), !own.protocolStrings.isEmpty { return own }
    }
    let wanted = profiles.profiles.filter { !Set($0.protocolStrings).isDisjoint(with: pickedProtocols) }
    return wanted.count == 1 ? wanted[0] : nil
  }
}
