/// The sums that the summary and the page of a set show; each file is read once.
public struct SetSums: Sendable {
  private let cubes: [String: Cube]

  /// The sums of all `shapes`.
  public init(_ cubes: [Cube]) {
    self.cubes = Dictionary(cubes.map { ($0.report, $0) }) { first, _ in first }
  }

  /// The sums of a report, which has a shape.
  public subscript(report: String) -> Cube { cubes[report] ?? Cube(CubeShape(report)) }

  /// What to add up, the longest files first.
  public static let shapes = [
    CubeShape(
      "revenue_daily", by: ["period", "provider", "app_id", "store"],
      of: ["gross_usd", "refunds_usd", "net_usd"], months: 3),
    CubeShape(
      "revenue_monthly", by: ["period", "provider", "app_id", "store", "amount_basis"],
      of: ["charges", "refunds", "gross_usd", "refunds_usd", "net_usd", "proceeds_usd"]),
    CubeShape(.renewalsMonthly, by: ["period", "app_id", "renewal_ordinal"]),
    CubeShape("retention_monthly", by: ["cohort", "period_index"], of: ["eligible", "retained"]),
    CubeShape(.churnMonthly, by: ["period", "app_id"]),
    CubeShape(.mrrMonthly, by: ["period", "app_id"]),
    CubeShape(.trialsMonthly, by: ["period", "app_id"]),
    CubeShape(.qualityMonthly, by: ["period", "app_id"]),
    CubeShape(
      "deliveries_daily", by: ["day"],
      of: [
        "delivered", "distinct_events", "duplicates_exact", "duplicates_semantic", "conflicts",
        "late", "latency_p50_s", "latency_p95_s",
      ], greatest: ["latency_p50_s", "latency_p95_s"], months: 3),
    CubeShape(.inputs, by: ["status"]), CubeShape(.drill, by: ["code"]),
  ]
}
