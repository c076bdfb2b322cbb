// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Resets by DTR and RTS. When a client begins a reset sequence, the hub runs its own script with exact times, and answers each of the
/// client's changes at once.
final class HubResets: HubPart {
  /// Finds resets in the clients' changes of DTR and RTS; nil before the first change.
  private(set) var detector: LineResetDetector?
  /// The number of scripts that run or wait to run.
  private(set) var scriptCount = 0
  /// Clients whose bytes wait until the scripts have ended.
  private var waiting: [HubClient.ID] = []
  /// The client whose sequence is being followed.
  private var owner: HubClient.ID?
  /// Whether `followOutputs` has queued work behind the last script.
  private var isFollowing = false
  /// The timer that ends a client's own sequence after `sequenceLimit`.
  private var limit: TimerToken?

  /// How long a client's own sequence may take after the script was started.
  private static let sequenceLimit = Duration.seconds(5)
  /// The number of scripts that may wait. Beyond it a client's changes are made one after another, and the client waits for each.
  private static let scriptLimit = 4

  /// Whether a script controls DTR and RTS, so that their real state may differ from the state that clients have set.
  var ownOutputs: Bool { scriptCount > 0 || detector?.current != nil }

  private var known: [LineReset] { rules.resets.isEmpty ? device.attached?.resets ?? [] : rules.resets }

  /// Handles a change of DTR or RTS when the rules contain resets. Returns true when the client can be answered at once; false when the
  /// change is to be made on the line.
  func take(_ request: LineRequest, of client: HubClient) -> Bool {
    guard case .set(let raised, let lowered) = request, device.control != nil, line.hasModemLines,
      detector != nil || !known.isEmpty, scriptCount < Self.scriptLimit
    else { return false }
    var detector = detector ?? LineResetDetector(known, outputs: line.memory.outputs)
    let verdict = detector.take(raising: raised, lowering: lowered)
    self.detector = detector
    line.isUsed(by: client.id)
    switch verdict {
    case .apply:
      guard scriptCount > 0 else { return false }
      followOutputs()
    case .ignore: break
    case .run(let found): run(found, of: client)
    case .finish:
      cancelLimit()
      followOutputs()
    }
    line.note(request)
    return true
  }

  private func run(_ found: LineReset, of client: HubClient) {
    scriptCount += 1
    isFollowing = false
    cancelLimit()
    owner = client.id
    if detector?.current != nil { limit = after(Self.sequenceLimit) { $0.resets.giveUpSequence() } }
    let name = client.name
    report(.reset(name, sequence: found.name))
    line.enqueue { await $0.resets.runScript(of: found, name) }
    // The client's sequence consists of this one change: after the script, the lines are set as the client has set them.
    if detector?.current == nil { followOutputs() }
  }

  private func runScript(of found: LineReset, _ name: String) async {
    if let attached = device.attached, let control = attached.transport.line {
      await line.drained(attached)
      do throws(AccessoryError) {
        try await found.script.run(on: control, clock: clock)
      } catch {
        report(.lineRefused(name, reason: error.message))
      }
    }
    scriptCount -= 1
    guard scriptCount == 0 else { return }
    let all = waiting
    waiting = []
    for id in all {
      guard let client = clients[id] else { continue }
      client.intake.isBusy = false
      requests.work(client)
    }
  }

  /// Makes a client's bytes wait until the scripts have ended. Returns false when no script runs.
  func delay(_ client: HubClient) -> Bool {
    guard scriptCount > 0 else { return false }
    client.intake.isBusy = true
    waiting.append(client.id)
    return true
  }

  /// A client has left. If its sequence is being followed, the other clients' changes count again.
  func left(by id: HubClient.ID) {
    guard owner == id else { return }
    cancelLimit()
    giveUpSequence()
  }

  private func giveUpSequence() {
    owner = nil
    limit = nil
    if detector?.giveUp() == true { followOutputs() }
  }

  private func cancelLimit() {
    if let limit { clock.cancel(limit) }
    limit = nil
  }

  /// Sets DTR and RTS as the clients have set them, after the scripts that run.
  private func followOutputs() {
    guard !isFollowing else { return }
    isFollowing = true
    line.enqueue { await $0.resets.setOutputs() }
  }

  private func setOutputs() async {
    isFollowing = false
    guard let outputs = detector?.outputs, let control = device.control else { return }
    try? await control.set(raising: outputs, lowering: ModemLines.outputs.subtracting(outputs))
  }

  /// Forgets the clients' states of DTR and RTS. Called when the last client has left or the device is gone.
  func forget() {
    cancelLimit()
    (detector, owner) = (nil, nil)
  }
}
