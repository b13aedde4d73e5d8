import Domain
import EventStore
import Foundation
import Glibc
import Synchronization

/// Work on many files in parallel whose results are taken one by one, in the order of the files.
///
/// The only concurrency of the program. Results wait in the order of the files, and only so many of
/// them, so that memory stays bounded however far the writer falls behind, or one file behind the
/// others; the order in which results are taken never depends on timing.
struct Workers {
  typealias Send<Output> = (Output) throws -> Void

  let count: Int
  /// How much may wait at most, in the sizes of results.
  ///
  /// Whoever works on the second input must not stand still until the first is done: then only one
  /// would ever work.
  var waitingMax = 24

  /// Runs `work` on each of `inputs` in up to `count` threads and hands every result to `take`.
  ///
  /// - Parameters:
  ///   - work: makes results and passes each to the function it is given, which throws when the
  ///     rest is no longer wanted; what it throws itself is thrown behind its results.
  ///   - size: how much of the queue's limit a result takes.
  ///   - take: called on this thread, in the order of `inputs`.
  func run<Input: Sendable, Output: Sendable>(
    _ inputs: [Input],
    _ work: @escaping @Sendable (Input, Send<Output>) throws -> Void,
    size: @escaping @Sendable (Output) -> Int = { _ in 1 },
    take: (Int, Output) throws -> Void
  ) throws {
    try run(inputs, eachBy: { work }, size: size, take: take)
  }

  /// The same, where each thread makes its own `work` first, with reusable buffers.
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
    let claim: @Sendable () -> Int? = {
      let position = next.add(1, ordering: .relaxed).oldValue
      return position < inputs.count ? position : nil
    }
    var threads: [WorkerThread] = []
    while threads.count < min(count, inputs.count) {
      let thread = WorkerThread {
        let work = Result { try makeWork() }
        while let index = claim() {
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
    // A system without a thread to spare makes the run slower and no different.
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
  /// Does `work` in a thread of its own while `body` goes on; both are done when it returns.
  static func beside<Value>(
    _ work: @escaping @Sendable () -> Void, _ body: () throws -> Value
  ) rethrows -> Value {
    let thread = WorkerThread(work)
    if thread == nil { work() }
    defer { thread?.join() }
    return try body()
  }

  /// Makes rows in parallel and calls `write` with the rows of each piece, in order.
  func make<Rows: Sendable>(_ pieces: [RowPiece<Rows>], write: (Rows) throws -> Void) throws {
    try run(pieces, { piece, send in try send(piece.rows()) }, take: { try write($1) })
  }

  /// Reads parts of the ledger in parallel, each at one moment, by one connection for each worker,
  /// and hands every result to `take` in the order of `parts`; stops when the ledger is to stop.
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

  /// Does `work` on several paths at once, and throws the first failure.
  func each(
    _ paths: [String], _ work: @escaping @Sendable (String) throws(SubledgerError) -> Void
  ) throws(SubledgerError) {
    var failure: SubledgerError?
    try? run(
      paths,
      { path, send in try send(Result { () throws(SubledgerError) in try work(path) }) },
      take: { _, result in
        if case .failure(let error) = result { failure = failure ?? error }
      })
    if let failure { throw failure }
  }
}

/// What workers hand on to each other: whoever is done puts it down for whoever comes next.
final class Relay<Element: Sendable>: Sendable {
  private let waiting = Mutex<[Element]>([])

  func put(_ element: Element) { waiting.withLock { $0.append(element) } }

  /// Nil when others have all there is.
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

/// A thread of the system.
///
/// Dispatch waits forever when the system has no more threads; this throws.
private struct WorkerThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let thread: pthread_t

  /// Starts `run` in a thread of its own; nil when there is none to be had.
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

  /// Waits until the thread has ended; to be called once.
  func join() { pthread_join(thread, nil) }
}

/// Results that the writer has not received yet, in the order of the inputs.
private final class ResultQueue<Element: Sendable>: Sendable {
  private struct State {
    /// Of each input, what waits.
    var elements: [[Element]]
    var isFinished: [Bool]
    /// The input whose results are taken now.
    var front = 0
    /// The sizes of all that waits.
    var waiting = 0
    var isCanceled = false

    /// Advances to the first input that has results or is not finished.
    mutating func advance() {
      while front < elements.count, elements[front].isEmpty, isFinished[front] { front += 1 }
    }
  }

  /// The compiler enforces access through the lock; it cannot do so with a condition, which threads
  /// wait for.
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

  /// Lets waiting workers go on to their end.
  func cancel() {
    wait { state in
      state.isCanceled = true
      state.elements = state.elements.map { _ in [] }
      return true
    }
  }

  /// Runs `change` until it returns a value, and wakes the other threads then; a `change` that
  /// returns nil must not change anything.
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
