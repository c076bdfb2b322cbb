// SPDX-License-Identifier: Apache-2.0

// What runs after a failure is awaited behind the catch clause, not in it: the optimizer of Swift 6.3.1 crashes on some awaits there.

/// Runs `body`. If it throws, runs `cleanUp`, and then throws the same error.
package func attempt<Value, Failure: Error>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Value,
  onFailure cleanUp: (Failure) async -> Void
) async throws(Failure) -> Value {
  let failure: Failure
  do throws(Failure) { return try await body() } catch { failure = error }
  await cleanUp(failure)
  throw failure
}

/// Runs `body`, and then `cleanUp`, whether `body` throws or not.
package func attempt<Value, Failure: Error>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Value,
  finally cleanUp: () async -> Void
) async throws(Failure) -> Value {
  let result: Result<Value, Failure>
  do throws(Failure) { result = .success(try await body()) } catch { result = .failure(error) }
  await cleanUp()
  return try result.get()
}

/// Runs `body`. If it throws, returns what `other` makes of the error.
package func attempt<Value, Failure: Error, Other: Error>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Value,
  or other: (Failure) async throws(Other) -> Value
) async throws(Other) -> Value {
  let failure: Failure
  do throws(Failure) { return try await body() } catch { failure = error }
  return try await other(failure)
}
