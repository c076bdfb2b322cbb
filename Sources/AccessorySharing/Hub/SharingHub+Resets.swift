// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The state of the resets that clients begin by DTR and RTS.
struct ResetState: Sendable {
  /// Finds resets in the clients' changes of DTR and RTS; nil before the first change.
  var detector: LineResetDetector?
  /// The number of scripts that run or wait to run.
  var scriptCount = 0
  /// Clients whose bytes wait until the scripts have ended.
  var waiting: [HubClient.ID] = []
  /// The client whose sequence is being followed.
  var owner: HubClient.ID?
  /// Whether `followOutputs` has queued work behind the last script.
  var isFollowing = false
  /// The timer that ends a client's own sequence after `sequenceLimit`.
  var limit: TimerToken?

  /// Whether a script controls DTR and RTS, so that their real state may differ from the state that clients have set.
  var ownsOutputs: Bool { scriptCount > 0 || detector?.current != nil }
}

/// Resets by DTR and RTS. When a client begins a reset sequence, the hub runs its own script with exact times, and answers each of the
/// client's changes at once.
extension SharingHub {
  /// How long a client's own sequence may take after the script was started.
  private static let sequenceLimit = Duration.seconds(5)
  /// The number of scripts that may wait. Beyond it a client's changes are made one after another, and the client waits for each.
  private static let scriptLimit = 4

  private var resets: [LineReset] { rules.resets.isEmpty ? deviceResets : rules.resets }

  /// Handles a change of DTR or RTS when the rules contain resets. Returns true when the client can be answered at once; false when the
  /// change is to be made on the line.
  func takeReset(_ request: LineRequest, of client: HubClient) -> Bool {
    guard case .set(let raised, let lowered) = request, device?.line != nil, hasModemLines,
      reset.detector != nil || !resets.isEmpty, reset.scriptCount < Self.scriptLimit
    else { return false }
    var detector = reset.detector ?? LineResetDetector(resets, outputs: memory.outputs)
    let verdict = detector.take(raising: raised, lowering: lowered)
    reset.detector = detector
    lineUsers.insert(client.id)
    switch verdict {
    case .apply:
      guard reset.scriptCount > 0 else { return false }
      followOutputs()
    case .ignore: break
    case .run(let found): run(found, of: client)
    case .finish:
      cancelLimit()
      followOutputs()
    }
    memory.note(request)
    return true
  }

  private func run(_ found: LineReset, of client: HubClient) {
    reset.scriptCount += 1
    reset.isFollowing = false
    cancelLimit()
    reset.owner = client.id
    if reset.detector?.current != nil {
      reset.limit = clock.schedule(at: clock.now + Self.sequenceLimit) { [weak self] in
        self?.onThread { $0.giveUpSequence() }
      }
    }
    let name = client.name
    report(.reset(name, sequence: found.name))
    enqueue { hub in
      if let transport = hub.device, let line = transport.line {
        await hub.drained(transport)
        do throws(AccessoryError) {
          try await found.script.run(on: line, clock: hub.clock)
        } catch {
          hub.report(.lineRefused(name, reason: error.message))
        }
      }
      hub.scriptEnded()
    }
    // The client's sequence consists of this one change: after the script, the lines are set as the client has set them.
    if reset.detector?.current == nil { followOutputs() }
  }

  private func scriptEnded() {
    reset.scriptCount -= 1
    guard reset.scriptCount == 0 else { return }
    let all = reset.waiting
    reset.waiting = []
    for id in all {
      guard let client = clients[id] else { continue }
      client.isBusy = false
      work(client)
    }
  }

  /// Makes a client's bytes wait until the scripts have ended. Returns false when no script runs.
  func waitsForReset(_ client: HubClient) -> Bool {
    guard reset.scriptCount > 0 else { return false }
    client.isBusy = true
    reset.waiting.append(client.id)
    return true
  }

  /// A client has left. If its sequence is being followed, the other clients' changes count again.
  func resetLeft(by id: HubClient.ID) {
    guard reset.owner == id else { return }
    cancelLimit()
    giveUpSequence()
  }

  private func giveUpSequence() {
    reset.owner = nil
    reset.limit = nil
    if reset.detector?.giveUp() == true { followOutputs() }
  }

  private func cancelLimit() {
    if let limit = reset.limit { clock.cancel(limit) }
    reset.limit = nil
  }

  /// Sets DTR and RTS as the clients have set them, after the scripts that run.
  private func followOutputs() {
    guard !reset.isFollowing else { return }
    reset.isFollowing = true
    enqueue { hub in
      hub.reset.isFollowing = false
      guard let outputs = hub.reset.detector?.outputs, let line = hub.device?.line else { return }
      try? await line.set(raising: outputs, lowering: ModemLines.outputs.subtracting(outputs))
    }
  }

  /// Forgets the clients' states of DTR and RTS. Called when the last client has left or the device is gone.
  func forgetResets() {
    cancelLimit()
    (reset.detector, reset.owner) = (nil, nil)
  }
}
