import Domain
import EventStore
import Foundation
import Glibc
import Synchronization

/// Parallel work on many files whose results are taken one by one, in the order of the files.
///
/// It is the only concurrency of the program. A limited number of results wait in the order of the
/// files, so memory stays bounded however far the writer falls behind, or one file behind the
/// others; the order in which results are taken never depends on timing.
struct Workers {
  typealias Send<Output> = (Output) throws -> Void

  let count: Int
  /// Maximum total size of waiting results.
  ///
  /// It must be large enough that the worker on the second input need not wait for the first:
  /// otherwise only one would ever work.
  var waitingMax = 24

  /// Runs `work` on each of `inputs` in up to `count` threads, and passes every result to `take`.
  ///
  /// - Parameters:
  ///   - work: passes each result to the function that it receives, which throws when no more
  ///     results are wanted; an error of `work` itself is thrown after its results.
  ///   - size: returns the size of a result, which counts against the limit.
  ///   - take: called on this thread, in the order of `inputs`.
  func run<Input: Sendable, Output: Sendable>(
    _ inputs: [Input],
    _ work: @escaping @Sendable (Input, Send<Output>) throws -> Void,
    size: @escaping @Sendable (Output) -> Int = { _ in 1 },
    take: (Int, Output) throws -> Void
  ) throws {
    try run(inputs, eachBy: { work }, size: size, take: take)
  }

  /// The same, but each thread first creates its own `work`, with reusable buffers.
  func run<Input: Sendable, Output: Sendable>(
    _ inputs: [Input],
    eachBy makeWork: @escaping @Sendable () throws -> (Input, Send<Output>) throws -> Void,
    size: @escaping @Sendable (Output) -> Int = { _ in 1 },
    take: (Int, Output) throws -> Void
  ) throws {
    let results = ResultQueue<Result<Output, any Error>>(
      count: inputs.count, waitingMax: waitingMax
    ) { if case .success(let output) = $0 { size(output) } else { 1 } }
    let next = Atomic(0)
    var threads: [WorkerThread] = []
    while threads.count < min(count, inputs.count) {
      let thread = WorkerThread {
        let work = Result { try makeWork() }
        while case let index = next.add(1, ordering: .relaxed).oldValue, index < inputs.count {
          do {
            try work.get()(inputs[index]) { try results.put(.success($0), of: index) }
          } catch {
            try? results.put(.failure(error), of: index)
          }
          results.finish(index)
        }
      }
      guard let thread else { break }
      threads.append(thread)
    }
    // Without a free thread, the run is slower but its result is the same.
    if threads.isEmpty {
      let work = try makeWork()
      for (index, input) in inputs.enumerated() { try work(input) { try take(index, $0) } }
      return
    }
    defer {
      results.cancel()
      for thread in threads { thread.join() }
    }
    while let (index, output) = results.take() { try take(index, output.get()) }
  }
}

extension Workers {
  /// Runs `work` in a separate thread while `body` runs; returns when both are finished.
  static func beside<Value>(
    _ work: @escaping @Sendable () -> Void, _ body: () throws -> Value
  ) rethrows -> Value {
    let thread = WorkerThread(work)
    if thread == nil { work() }
    defer { thread?.join() }
    return try body()
  }

  /// Creates rows in parallel, and calls `write` with the rows of each piece, in order.
  func make<Rows: Sendable>(_ pieces: [RowPiece<Rows>], write: (Rows) throws -> Void) throws {
    try run(pieces, { piece, send in try send(piece()) }, take: { try write($1) })
  }

  /// Reads parts of the ledger in parallel, each at one moment, with one connection per worker, and
  /// passes every result to `take` in the order of `parts`; stops when the ledger must stop.
  func read<Part: Sendable, Output: Sendable>(
    _ ledger: Ledger, _ parts: [Part],
    _ work: @escaping @Sendable (Ledger, Part) throws -> Output, take: (Output) throws -> Void
  ) throws {
    let (path, stop) = (ledger.path, ledger.stop)
    try run(
      parts,
      eachBy: {
        let ledger = try Ledger.open(path: path, mode: .readOnly)
        ledger.stop = stop
        return { part, send in try send(ledger.atOneMoment { try work(ledger, part) }) }
      }, take: { try take($1) })
  }

  /// Runs `work` on several paths in parallel, and throws the first error.
  func each(
    _ paths: [String], _ work: @escaping @Sendable (String) throws(SubledgerError) -> Void
  ) throws(SubledgerError) {
    do {
      try run(paths, { path, _ in try work(path) }, take: { (_: Int, _: Void) in })
    } catch {
      throw SubledgerError(error)
    }
  }
}

/// A pool of elements that workers pass to each other.
final class Pool<Element: Sendable>: Sendable {
  private let waiting = Mutex<[Element]>([])

  func put(_ element: Element) { waiting.withLock { $0.append(element) } }

  /// Takes an element; nil when the pool is empty.
  func take() -> Element? { waiting.withLock { $0.popLast() } }
}

final class Shared<Value: Sendable>: Sendable {
  private let shared: Mutex<Value>

  init(_ value: Value) { shared = Mutex(value) }

  var value: Value { shared.withLock { $0 } }

  func change(_ body: (inout Value) throws -> Void) throws {
    try shared.withLock { try body(&$0) }
  }
}

/// A thread of the operating system.
///
/// Dispatch waits forever when the system has no more threads; this type fails instead.
private struct WorkerThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let thread: pthread_t

  /// Starts `run` in a new thread; nil when the system has none.
  init?(_ run: @escaping @Sendable () -> Void) {
    let body = Unmanaged.passRetained(Body(run))
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, nil,
      { pointer in
        if let pointer { Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run() }
        return nil
      }, body.toOpaque())
    guard failure == 0 else {
      body.release()
      return nil
    }
    self.thread = thread
  }

  /// Waits until the thread has ended; call it once.
  func join() { pthread_join(thread, nil) }
}

/// Results that the writer has not received yet, in the order of the inputs.
private final class ResultQueue<Element: Sendable>: Sendable {
  private struct State {
    /// Waiting results by input.
    var elements: [[Element]]
    var isFinished: [Bool]
    /// The input whose results are taken now.
    var front = 0
    /// Total size of the waiting results.
    var waiting = 0
    var isCanceled = false

    /// Advances to the first input that has results or is not finished.
    mutating func advance() {
      while front < elements.count, elements[front].isEmpty, isFinished[front] { front += 1 }
    }
  }

  /// The compiler enforces access through the lock; it cannot do so with a condition variable, on
  /// which threads wait.
  private let state: Mutex<State>
  private let changed = NSCondition()
  private let waitingMax: Int
  private let size: @Sendable (Element) -> Int

  init(count: Int, waitingMax: Int, size: @escaping @Sendable (Element) -> Int) {
    self.waitingMax = waitingMax
    self.size = size
    state = Mutex(
      State(
        elements: Array(repeating: [], count: count),
        isFinished: Array(repeating: false, count: count)))
  }

  /// Waits until the element fits into the queue; throws when the reader has stopped.
  ///
  /// The next result of the current input always fits, whatever its size and even when results of
  /// later inputs fill the queue; otherwise the queue could block.
  func put(_ element: Element, of index: Int) throws(CancellationError) {
    let size = size(element)
    let hasPut = wait { (state) -> Bool? in
      if state.isCanceled { return false }
      let isNext = index == state.front && state.elements[index].isEmpty
      guard isNext || state.waiting + size <= waitingMax else { return nil }
      state.elements[index].append(element)
      state.waiting += size
      return true
    }
    if !hasPut { throw CancellationError() }
  }

  func finish(_ index: Int) {
    wait { state in
      state.isFinished[index] = true
      state.advance()
      return true
    }
  }

  /// Waits for the next result; nil when all inputs have finished and all results were taken.
  func take() -> (Int, Element)? {
    wait { (state) -> (Int, Element)?? in
      let front = state.front
      guard front < state.elements.count else { return .some(nil) }
      guard !state.elements[front].isEmpty else { return nil }
      let element = state.elements[front].removeFirst()
      state.waiting -= size(element)
      state.advance()
      return (front, element)
    }
  }

  /// Lets waiting workers continue to their end.
  func cancel() {
    wait { state in
      state.isCanceled = true
      state.elements = state.elements.map { _ in [] }
      return true
    }
  }

  /// Runs `change` until it returns a value, then wakes the other threads; a `change` that returns
  /// nil must not change anything.
  @discardableResult
  private func wait<Value>(_ change: (inout State) -> Value?) -> Value {
    changed.lock()
    defer { changed.unlock() }
    while true {
      if let value = state.withLock({ change(&$0) }) {
        changed.broadcast()
        return value
      }
      changed.wait()
    }
  }
}
